//! Every scheme answers rightly while a writer changes the table.

use table::live::{Change, Entry as Live, LiveLists};

use super::*;

const TRIAL_TEST: Duration = Duration::from_millis(12);

/// Addresses that change sides with every version. As many as one page of the table has them in.
const SIDES: u32 = 200;

fn list_of(parity: u32) -> Entries {
    let mut list = Entries::default();
    list.v4.addresses = (0..SIDES).map(|place| 2 * place + parity).collect();
    list
}

/// One version has the even addresses, the other the odd ones.
fn versions() -> [Table; 2] {
    [0, 1].map(|parity| Arc::new(CompiledLists::compile(&[&list_of(parity)]).expect("compiles")))
}

/// The same two versions by turns, as changes.
fn writer() -> Mutex<Writer> {
    let mut parity = 0;
    let next = move |_: &LiveLists| {
        let (old, new) = (parity, 1 - parity);
        parity = new;
        let sides = (0..SIDES).map(|place| 2 * place);
        sides
            .flat_map(|even| {
                let [old, new] = [old, new].map(|parity| Live::address_v4(even + parity));
                [Change::remove(0, old), Change::add(0, new)]
            })
            .collect()
    };
    Mutex::new(Writer::new(list_of(0), Box::new(next)).expect("compiles"))
}

fn array_of(parity: u32) -> Arc<ArrayTable> {
    Arc::new(array(&list_of(parity)).expect("memory"))
}

/// Sources are even, destinations odd.
fn bench() -> Bench {
    let mut places = (0..2 * SIDES).cycle();
    let stream = Stream::drawn(|| places.next().unwrap_or(0)).expect("memory");
    Bench {
        cpus: allowed_cpus(),
        read: writer(),
        unread: writer(),
        apart: versions(),
        array: array_of(0),
        stream,
        trial: TRIAL_TEST,
    }
}

/// Each frame has one address of either version, so that whichever version it is held against,
/// one of the two is found: none is if it met a table half changed, both if it met two. A mutex
/// taken twice is the one scheme between whose two lookups the version may change.
#[test]
fn a_frame_meets_one_version() {
    let bench = bench();
    let writers = if bench.cpus.len() > 1 {
        vec![false, true]
    } else {
        vec![false]
    };
    for writer in writers {
        for scheme in Scheme::EVERY {
            let variant = Variant {
                scheme,
                threads: 1,
                writer,
            };
            for share in bench.shares(variant, 0, TRIAL_TEST) {
                assert!(share.frames > 0 && share.seconds > 0.0, "{scheme:?}");
                if scheme != Scheme::MutexTwice || !writer {
                    assert_eq!((share.uneven, share.hits), (0, share.frames), "{scheme:?}");
                }
            }
        }
    }
}

/// A replacement is seen by whoever reads next, unless nobody is to see it.
#[test]
fn readers_see_what_the_writer_put_in() {
    let [even, odd] = versions();
    for scheme in Scheme::EVERY {
        let shared = scheme::Shared::new(&even, &array_of(0), 2);
        let mut access = shared.access(scheme, 1);
        let mut masks = [table::ListMask::EMPTY; 2];
        let mut found = || {
            access.look_up(&[2, 3], &mut masks);
            masks.map(|mask| !mask.is_empty())
        };
        assert_eq!(found(), [true, false], "{scheme:?}");
        shared.replace(scheme, Arc::clone(&odd));
        let kept = scheme.reads_one_table();
        assert_eq!(found(), [kept, !kept], "{scheme:?}");
    }
}

/// The writer of a trial changes the table: readers of a later one begin with another version.
#[test]
fn trials_leave_the_table_changed() {
    let bench = bench();
    if bench.cpus.len() < 2 {
        return;
    }
    let first = locked(&bench.read).version();
    let variant = Variant {
        scheme: Scheme::Ours,
        threads: 1,
        writer: true,
    };
    bench.shares(variant, 0, TRIAL_TEST);
    let (_, begun) = bench.source(Scheme::RwLockBurst);
    assert!(!Arc::ptr_eq(&first, &begun));
    // Without a lock as with one, but for what says that it was never changed.
    let (_, same) = bench.source(Scheme::None);
    assert!(Arc::ptr_eq(&begun, &same));
    let (_, unchanged) = bench.source(Scheme::Unchanged);
    assert!(Arc::ptr_eq(&unchanged, &bench.apart[0]));
}

#[test]
fn all_threads_take_part() {
    let bench = bench();
    let most = bench.cpus.len();
    for (scheme, shares) in [(Scheme::Ours, most), (Scheme::Preempted, most + 1)] {
        let variant = Variant {
            scheme,
            threads: most,
            writer: false,
        };
        assert_eq!(bench.shares(variant, 0, TRIAL_TEST).len(), shares);
    }
}

#[test]
fn threads_double_up_to_the_most() {
    assert_eq!(thread_counts(0), [0; 0]);
    assert_eq!(thread_counts(1), [1]);
    assert_eq!(thread_counts(2), [1, 2]);
    assert_eq!(thread_counts(6), [1, 2, 4, 6]);
}

/// No variant twice, the fields of the contract, and never more readers than there are CPUs left.
#[test]
fn rows_keep_the_contract() {
    let bench = bench();
    let variants = bench.variants();
    for (place, &variant) in variants.iter().enumerate() {
        assert!(!variants[..place].contains(&variant));
        assert!(variant.threads + usize::from(variant.writer) <= bench.cpus.len());
        let row = row(variant, Samples::default());
        assert_eq!(row.metric, "frames_per_second");
        for field in ["scheme", "threads", "writer"] {
            assert!(row.value(field).is_some());
        }
    }
    let pair = bench.pair(&variants);
    assert_eq!(pair.len(), if bench.cpus.len() > 1 { 2 } else { 0 });
}
