//! Publishing of tables: the control thread replaces a whole version, workers pick it up at the
//! top of a step.
//!
//! A read costs one acquire load of a number that changes only when something is published. A
//! version is never written after it was published. The control side keeps every old version until
//! each reader has moved past it, so that a worker never frees a table of many megabytes: the last
//! reference is always dropped by [`Published::reclaim`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all sides share.
#[derive(Debug)]
struct Shared<T> {
    version: AtomicU64,
    current: Mutex<Arc<T>>,
    readers: Mutex<Vec<Arc<AtomicU64>>>,
}

impl<T> Shared<T> {
    fn current(&self) -> MutexGuard<'_, Arc<T>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readers(&self) -> MutexGuard<'_, Vec<Arc<AtomicU64>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The control side: replaces versions and frees old ones.
#[derive(Debug)]
pub struct Published<T> {
    shared: Arc<Shared<T>>,
    /// Old versions, each with the number of the one that replaced it.
    retired: Vec<(u64, Arc<T>)>,
}

impl<T> Published<T> {
    /// Publishes a first version.
    #[must_use]
    pub fn new(first: Arc<T>) -> Self {
        let shared = Shared {
            version: AtomicU64::new(1),
            current: Mutex::new(first),
            readers: Mutex::new(Vec::new()),
        };
        Self {
            shared: Arc::new(shared),
            retired: Vec::new(),
        }
    }

    /// A reader for one worker, at the current version.
    #[must_use]
    pub fn reader(&self) -> Reader<T> {
        let guard = self.shared.current();
        let version = self.shared.version.load(Ordering::Acquire);
        let passed = Arc::new(AtomicU64::new(version));
        self.shared.readers().push(Arc::clone(&passed));
        Reader {
            shared: Arc::clone(&self.shared),
            current: Arc::clone(&guard),
            version,
            passed,
        }
    }

    /// Replaces the version. Readers see it at their next [`Reader::current`].
    pub fn publish(&mut self, next: Arc<T>) {
        let mut guard = self.shared.current();
        let old = std::mem::replace(&mut *guard, next);
        let version = self.shared.version.load(Ordering::Relaxed) + 1;
        self.shared.version.store(version, Ordering::Release);
        drop(guard);
        self.retired.push((version, old));
        self.reclaim();
    }

    /// Frees the old versions that every reader has moved past; returns how many are still held.
    pub fn reclaim(&mut self) -> usize {
        let mut readers = self.shared.readers();
        // A reader that is gone left its place to us alone.
        readers.retain(|passed| Arc::strong_count(passed) > 1);
        let passed = readers
            .iter()
            .map(|passed| passed.load(Ordering::Acquire))
            .min();
        drop(readers);
        let passed = passed.unwrap_or(u64::MAX);
        self.retired
            .retain(|&(replaced_by, _)| replaced_by > passed);
        self.retired.len()
    }
}

/// A worker's side.
#[derive(Debug)]
pub struct Reader<T> {
    shared: Arc<Shared<T>>,
    current: Arc<T>,
    version: u64,
    /// The version this reader is at, shown only after it let go of the one before.
    passed: Arc<AtomicU64>,
}

impl<T> Reader<T> {
    /// The newest version. One acquire load when nothing changed; the short lock on a change is
    /// held by the publisher only while it swaps two pointers.
    #[inline]
    pub fn current(&mut self) -> &T {
        if self.shared.version.load(Ordering::Acquire) != self.version {
            self.renew();
        }
        &self.current
    }

    #[cold]
    fn renew(&mut self) {
        let guard = self.shared.current();
        self.version = self.shared.version.load(Ordering::Acquire);
        self.current = Arc::clone(&guard);
        drop(guard);
        self.passed.store(self.version, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_the_newest_and_the_control_side_frees_the_old() {
        let first = Arc::new(1);
        let watch = Arc::downgrade(&first);
        let mut published = Published::new(first);
        let mut reader = published.reader();
        assert_eq!(*reader.current(), 1);
        published.publish(Arc::new(2));
        assert_eq!(published.reclaim(), 1, "the reader has not moved");
        assert!(watch.upgrade().is_some());
        assert_eq!(*reader.current(), 2);
        assert!(watch.upgrade().is_some(), "the reader must not free it");
        assert_eq!(published.reclaim(), 0);
        assert!(watch.upgrade().is_none());
    }

    #[test]
    fn a_reader_that_is_gone_holds_nothing_back() {
        let mut published = Published::new(Arc::new(1));
        drop(published.reader());
        published.publish(Arc::new(2));
        assert_eq!(published.reclaim(), 0);
        assert_eq!(*published.reader().current(), 2);
    }

    #[test]
    fn readers_never_go_back_while_versions_change() {
        let mut published = Published::new(Arc::new(0u64));
        let mut reader = published.reader();
        let worker = std::thread::spawn(move || {
            let mut last = 0;
            while last < 1000 {
                let seen = *reader.current();
                assert!(seen >= last);
                last = seen;
            }
        });
        for version in 1..=1000 {
            published.publish(Arc::new(version));
        }
        worker.join().expect("no panic");
        assert_eq!(published.reclaim(), 0);
    }
}
