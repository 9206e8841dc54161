//! Every interleaving of a transmit ring and what reads it, which for the kernel is another thread
//! with the same rules: `RUSTFLAGS="--cfg loom" cargo test -p linerate-port --release --lib loom`.

use std::sync::atomic::Ordering;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64};
use loom::thread;

use super::{ConsumerRing, Descriptor, Index, Memory, ProducerRing};

/// The descriptor is not the last of its frame.
const CONTINUES: u32 = libc::XDP_PKT_CONTD;

/// Memory of which loom sees every access. Entries are relaxed atomics: a reader that the indices
/// did not order behind the writer may see what was there before, and no lock hides it.
#[derive(Clone)]
struct Modelled(Arc<Words>);

struct Words {
    producer: AtomicU32,
    consumer: AtomicU32,
    entries: Vec<AtomicU64>,
}

/// What is in a place that was never written: no frame of the model has it.
const NOTHING: u64 = u64::MAX;

impl Modelled {
    fn new(entries: usize) -> Self {
        Self(Arc::new(Words {
            producer: AtomicU32::new(0),
            consumer: AtomicU32::new(0),
            entries: (0..entries).map(|_| AtomicU64::new(NOTHING)).collect(),
        }))
    }

    fn index(&self, index: Index) -> &AtomicU32 {
        match index {
            Index::Producer => &self.0.producer,
            Index::Consumer => &self.0.consumer,
            Index::Flags => panic!("a ring of the model has no flags"),
        }
    }

    fn entry(&self, index: u32) -> &AtomicU64 {
        &self.0.entries[index as usize % self.0.entries.len()]
    }
}

impl Memory<Descriptor> for Modelled {
    fn entries(&self) -> u32 {
        self.0.entries.len() as u32
    }

    fn load(&self, index: Index, ordering: Ordering) -> u32 {
        self.index(index).load(ordering)
    }

    fn store(&self, index: Index, value: u32, ordering: Ordering) {
        self.index(index).store(value, ordering);
    }

    unsafe fn write(&self, index: u32, value: Descriptor) {
        let word = value.address << 1 | u64::from(value.options);
        self.entry(index).store(word, Ordering::Relaxed);
    }

    unsafe fn read(&self, index: u32) -> Descriptor {
        let word = self.entry(index).load(Ordering::Relaxed);
        assert_ne!(word, NOTHING, "a place was shown before it was written");
        Descriptor {
            address: word >> 1,
            len: 1,
            options: word as u32 & CONTINUES,
        }
    }
}

/// The descriptors of frame `number`, which says in each which frame and which piece it is.
fn pieces(number: u64, count: u64) -> impl ExactSizeIterator<Item = Descriptor> {
    (0..count as u32).map(move |piece| Descriptor {
        address: number << 8 | u64::from(piece),
        len: 1,
        options: if u64::from(piece) + 1 < count {
            CONTINUES
        } else {
            0
        },
    })
}

/// Frames of so many pieces each go through a ring of `entries` places; `together` are shown by one
/// store where there is room. Whenever the other side looks, it sees whole frames alone, in order.
fn frames(entries: usize, counts: &'static [u64], together: usize) {
    loom::model(move || {
        let memory = Modelled::new(entries);
        let mut sender = ProducerRing::new(memory.clone());
        let sending = thread::spawn(move || {
            let mut unpublished = 0;
            for (number, &count) in (0..).zip(counts) {
                // SAFETY: the model's addresses name no memory.
                while !unsafe { sender.write_all(pieces(number, count)) } {
                    sender.publish();
                    unpublished = 0;
                    thread::yield_now();
                }
                unpublished += 1;
                if unpublished == together {
                    sender.publish();
                    unpublished = 0;
                }
            }
            sender.publish();
        });
        let mut kernel = ConsumerRing::new(memory);
        let mut next = (0, 0);
        while (next.0 as usize) < counts.len() {
            if kernel.available(u32::MAX) == 0 {
                thread::yield_now();
                continue;
            }
            while let Some(descriptor) = kernel.read() {
                let (number, piece) = next;
                assert_eq!(descriptor.address, number << 8 | piece, "order");
                next = match descriptor.options {
                    0 => (number + 1, 0),
                    _ => (number, piece + 1),
                };
                let last = piece + 1 == counts[number as usize];
                assert_eq!(descriptor.options == 0, last);
            }
            assert_eq!(next.1, 0, "a part of a frame was shown");
            kernel.release();
        }
        sending.join().expect("the sender ends");
    });
}

#[test]
fn a_frame_is_shown_whole_or_not_at_all() {
    frames(4, &[3, 2], 1);
}

#[test]
fn room_for_some_pieces_is_no_room() {
    frames(4, &[3, 3], 2);
}

#[test]
fn frames_of_one_and_of_several_pieces_keep_their_order() {
    frames(4, &[1, 3, 1], 2);
}
