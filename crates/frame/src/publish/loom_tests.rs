//! Every interleaving of a publisher and its readers. Values tell when they are dropped while
//! somebody reads them: loom sees an access that nothing orders before or after another.

use super::Published;
use crate::sync::{AtomicU64, Ordering, UnsafeCell};
use loom::thread;
use std::sync::Arc as Value;

/// A number that its drop overwrites.
struct Canary(UnsafeCell<u64>);

// SAFETY: written by drop alone; that nobody reads then is what the tests try to refute.
unsafe impl Sync for Canary {}
// SAFETY: as above.
unsafe impl Send for Canary {}

const DEAD: u64 = u64::MAX;

impl Canary {
    fn new(number: u64) -> Value<Self> {
        Value::new(Self(UnsafeCell::new(number)))
    }

    fn read(&self) -> u64 {
        // SAFETY: see `Sync`.
        let number = self.0.with(|number| unsafe { *number });
        assert_ne!(number, DEAD, "read after it was dropped");
        number
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        // SAFETY: see `Sync`.
        self.0.with_mut(|number| unsafe { *number = DEAD });
    }
}

/// Publishes versions 2 and 3 while a reader looks twice, and uses what it saw in between.
#[test]
fn what_a_reader_is_at_is_not_freed() {
    loom::model(|| {
        let mut published = Published::new(Canary::new(1));
        let mut reader = published.reader();
        let thread = thread::spawn(move || {
            let mut last = reader.get().read();
            for _ in 0..2 {
                let seen = reader.current().read();
                assert!(seen >= last, "versions never go back");
                assert_eq!(seen, reader.version());
                last = seen;
            }
        });
        published.publish(Canary::new(2));
        published.publish(Canary::new(3));
        thread.join().expect("the reader ends");
        assert_eq!(
            published.reclaim(),
            0,
            "a reader that is gone holds nothing"
        );
    });
}

/// A reader sleeps and wakes while versions change.
#[test]
fn what_a_reader_wakes_to_is_not_freed() {
    loom::model(|| {
        let mut published = Published::new(Canary::new(1));
        let mut reader = published.reader();
        let thread = thread::spawn(move || {
            reader.offline(|| {});
            let woken = reader.get().read();
            assert!(reader.current().read() >= woken);
        });
        published.publish(Canary::new(2));
        published.publish(Canary::new(3));
        thread.join().expect("the reader ends");
        assert_eq!(published.reclaim(), 0);
    });
}

/// Two readers, one of which sleeps: the other alone holds back.
#[test]
fn two_readers_hold_back_for_themselves() {
    loom::model(|| {
        let mut published = Published::new(Canary::new(1));
        let (mut sleeps, mut looks) = (published.reader(), published.reader());
        let first = thread::spawn(move || {
            sleeps.offline(|| {});
            sleeps.get().read();
        });
        let second = thread::spawn(move || {
            looks.get().read();
            looks.current().read();
        });
        published.publish(Canary::new(2));
        first.join().expect("the first ends");
        second.join().expect("the second ends");
        assert_eq!(published.reclaim(), 0);
    });
}

/// The publisher goes while a reader is still at an old version, or just moves.
#[test]
fn the_last_side_frees_what_is_left() {
    loom::model(|| {
        let mut published = Published::new(Canary::new(1));
        let watch = Value::downgrade(published.current());
        let mut reader = published.reader();
        let thread = thread::spawn(move || {
            reader.get().read();
            reader.current().read();
        });
        published.publish(Canary::new(2));
        drop(published);
        thread.join().expect("the reader ends");
        assert!(watch.upgrade().is_none(), "nothing is leaked");
    });
}

/// What a reader wrote while it was at a version is seen by whoever sees that it has moved on, and
/// it uses that version no more: counts by version are whole then.
#[test]
fn what_is_written_at_a_version_is_seen_when_it_is_left() {
    loom::model(|| {
        let mut published = Published::new(Value::new(AtomicU64::new(0)));
        let mut reader = published.reader();
        let first = Value::clone(published.current());
        let thread = thread::spawn(move || {
            for _ in 0..2 {
                if !reader.is_newest() {
                    reader.get().store(7, Ordering::Relaxed);
                    reader.refresh();
                }
            }
            reader.get().store(7, Ordering::Relaxed);
            reader.offline(|| {});
        });
        let version = published.publish(Value::new(AtomicU64::new(0)));
        if published.seen() >= version {
            assert_eq!(first.load(Ordering::Relaxed), 7);
        }
        thread.join().expect("the reader ends");
        assert_eq!(published.seen(), version);
    });
}
