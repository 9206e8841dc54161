//! Versions in one thread and in several; Miri runs these too.

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc as Value;

#[test]
fn a_reader_sees_the_newest_and_the_control_side_frees_the_old() {
    let first = Value::new(1);
    let watch = Value::downgrade(&first);
    let mut published = Published::new(first);
    let mut reader = published.reader();
    assert_eq!((*reader.current(), reader.version()), (1, 1));
    assert_eq!(published.publish(Value::new(2)), 2);
    assert_eq!(published.reclaim(), 1, "the reader has not moved");
    assert_eq!((*reader.get(), **published.current()), (1, 2));
    assert!(reader.refresh() && !reader.refresh());
    assert_eq!((*reader.get(), reader.version()), (2, 2));
    assert!(watch.upgrade().is_some(), "the reader must not free it");
    assert_eq!(published.reclaim(), 0);
    assert!(watch.upgrade().is_none());
}

#[test]
fn a_reader_holds_all_from_its_own_on() {
    let mut published = Published::new(Value::new(1));
    let mut slow = published.reader();
    let mut fast = published.reader();
    for version in 2..=4 {
        published.publish(Value::new(version));
        assert_eq!(*fast.current(), version);
    }
    assert_eq!(published.reclaim(), 3);
    assert_eq!((*slow.current(), published.reclaim()), (4, 0));
}

#[test]
fn a_reader_that_sleeps_or_is_gone_holds_nothing_back() {
    let mut published = Published::new(Value::new(1));
    drop(published.reader());
    let mut sleeper = published.reader();
    sleeper.offline(|| {
        published.publish(Value::new(2));
        assert_eq!(published.reclaim(), 0);
    });
    assert_eq!(*sleeper.get(), 2, "awake, it is at the newest");
    published.publish(Value::new(3));
    assert_eq!(published.reclaim(), 1);
}

#[test]
fn a_sleep_that_panics_wakes_the_reader() {
    let mut published = Published::new(Value::new(1));
    let mut reader = published.reader();
    let panics = AssertUnwindSafe(|| {
        reader.offline(|| {
            published.publish(Value::new(2));
            panic!("in the middle of a sleep");
        });
    });
    assert!(catch_unwind(panics).is_err());
    assert_eq!(*reader.get(), 2);
}

#[test]
fn a_value_whose_drop_panics_is_dropped_once() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("in the middle of a reclaim");
            }
        }
    }
    let mut published = Published::new(Value::new(Some(Bomb)));
    let mut reader = published.reader();
    published.publish(Value::new(None));
    reader.refresh();
    assert!(catch_unwind(AssertUnwindSafe(|| published.reclaim())).is_err());
    assert!(published.retired.is_empty(), "or it would be freed again");
    assert_eq!(published.reclaim(), 0);
}

#[test]
fn the_last_reader_outlives_the_publisher() {
    let mut published = Published::new(Value::new(1));
    let watch = Value::downgrade(published.current());
    let (at_first, mut at_last) = (published.reader(), published.reader());
    published.publish(Value::new(2));
    drop(published);
    assert_eq!((*at_first.get(), *at_last.current()), (1, 2));
    drop(at_first);
    assert_eq!(*at_last.get(), 2);
    drop(at_last);
    assert!(watch.upgrade().is_none());
}

#[test]
fn readers_never_go_back_while_versions_change() {
    const VERSIONS: u64 = if cfg!(miri) { 20 } else { 5000 };
    let mut published = Published::new(Value::new(vec![1u64; 4]));
    let readers: Vec<_> = (0..3).map(|_| published.reader()).collect();
    let read = |mut reader: Reader<Vec<u64>>| {
        let mut last = 0;
        while last < VERSIONS {
            if last % 16 == 3 {
                reader.offline(std::thread::yield_now);
            }
            let seen = reader.current();
            assert!(seen.iter().all(|&word| word == seen[0]) && seen[0] >= last);
            last = seen[0];
            assert_eq!(reader.version(), last);
        }
    };
    let threads: Vec<_> = readers
        .into_iter()
        .map(|reader| std::thread::spawn(move || read(reader)))
        .collect();
    for version in 2..=VERSIONS {
        published.publish(Value::new(vec![version; 4]));
    }
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert_eq!(published.reclaim(), 0);
}

#[test]
fn a_version_is_seen_when_the_last_reader_has_left_the_one_before() {
    let mut published = Published::new(Value::new(1));
    assert_eq!((published.version(), published.seen()), (1, 1));
    let (mut first, mut second) = (published.reader(), published.reader());
    published.publish(Value::new(2));
    assert!(!first.is_newest());
    assert_eq!((published.version(), published.seen()), (2, 1));
    first.refresh();
    assert!(first.is_newest());
    assert_eq!(published.seen(), 1);
    second.offline(|| assert_eq!(published.seen(), 2));
    published.publish(Value::new(3));
    assert_eq!(published.seen(), 2);
    drop(first);
    second.refresh();
    assert_eq!(published.seen(), 3);
}
