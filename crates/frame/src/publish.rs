//! Publishing: one thread replaces a whole value, others pick the newest up when they next look.
//!
//! A look costs one acquire load and a comparison, whether something changed or not; when it
//! did, one more load and one store. Readers take no lock, do no atomic read-modify-write and
//! free nothing: reference counts belong to the publisher.
//!
//! The publisher never waits. It keeps each version until every reader has moved past it
//! (quiescent-state reclamation): a reader shows the version it is at after it has let go of the
//! one before, and no version from there on is freed. A reader that sleeps says so and holds
//! nothing; it reads anew when it wakes, which costs one full fence.

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

use core::ptr::NonNull;
// The value is shared with whoever made it: the standard library's, under loom too.
use std::sync::Arc as Value;
use std::sync::{Mutex, PoisonError};

use crate::sync::{Arc, AtomicPtr, AtomicU64, LinePadded, Ordering, fence};

/// Shown by a reader that is about to load a version and cannot yet say which: keeps all.
const ENTERING: u64 = 0;
/// Shown by a reader that sleeps: keeps none.
const OFFLINE: u64 = u64::MAX - 1;
/// Shown by a reader that is gone, for good.
const GONE: u64 = u64::MAX;

/// A version. Never written after it was published, never freed while a reader may be at it.
#[derive(Debug)]
struct Node<T> {
    /// Counted from 1.
    version: u64,
    value: Value<T>,
}

/// What all sides share.
#[derive(Debug)]
struct Shared<T> {
    /// The newest version; written by the publisher only.
    current: LinePadded<AtomicPtr<Node<T>>>,
    /// What readers may still have been at when the publisher went.
    left: Mutex<Vec<NonNull<Node<T>>>>,
}

/// What a reader shows: the version it is at, or one of the words above. Written by it alone.
#[derive(Debug)]
struct Shown(LinePadded<AtomicU64>);

// SAFETY: a node is reached from several threads, and dropped on another than made it: that takes
// `T: Send + Sync`, as an `Arc` does. The pointers are written by the publisher alone, under the
// mutex or with release; who frees a node is said at each place that does.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Drop for Shared<T> {
    /// The publisher and all readers are gone.
    fn drop(&mut self) {
        let left = self.left.get_mut().unwrap_or_else(PoisonError::into_inner);
        for node in left.drain(..) {
            // SAFETY: owned by this list alone since the publisher went, and no reader is left.
            drop(unsafe { Box::from_raw(node.as_ptr()) });
        }
        let current = self.current.0.load(Ordering::Relaxed);
        // SAFETY: made by `boxed`, in no list, and no reader is left.
        drop(unsafe { Box::from_raw(current) });
    }
}

/// The control side: replaces versions and frees old ones.
#[derive(Debug)]
pub struct Published<T> {
    shared: Arc<Shared<T>>,
    /// The newest version's number.
    version: u64,
    /// Old versions with their numbers, ascending.
    retired: Vec<(u64, NonNull<Node<T>>)>,
    readers: Mutex<Vec<Arc<Shown>>>,
}

// SAFETY: the nodes in `retired` may be dropped on any thread when `T: Send + Sync`.
unsafe impl<T: Send + Sync> Send for Published<T> {}
// SAFETY: a shared reference gives the newest value, and readers under a mutex.
unsafe impl<T: Send + Sync> Sync for Published<T> {}

fn boxed<T>(version: u64, value: Value<T>) -> *mut Node<T> {
    Box::into_raw(Box::new(Node { version, value }))
}

impl<T> Published<T> {
    /// Publishes a first version.
    #[must_use]
    pub fn new(first: Value<T>) -> Self {
        let shared = Shared {
            current: LinePadded(AtomicPtr::new(boxed(1, first))),
            left: Mutex::new(Vec::new()),
        };
        Self {
            shared: Arc::new(shared),
            version: 1,
            retired: Vec::new(),
            readers: Mutex::new(Vec::new()),
        }
    }

    /// A reader for one thread, at the newest version.
    #[must_use]
    pub fn reader(&self) -> Reader<T> {
        // Nobody publishes meanwhile: that takes this value mutably.
        let shown = Arc::new(Shown(LinePadded(AtomicU64::new(self.version))));
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.push(Arc::clone(&shown));
        Reader {
            node: self.shared.current.0.load(Ordering::Acquire),
            shared: Arc::clone(&self.shared),
            shown,
        }
    }

    /// The newest version.
    #[must_use]
    pub fn current(&self) -> &Value<T> {
        let current = self.shared.current.0.load(Ordering::Relaxed);
        // SAFETY: only this value, when borrowed mutably, replaces and frees versions.
        unsafe { &(*current).value }
    }

    /// Replaces the version and returns the new one's number. A reader sees it when it next
    /// looks. Waits for nobody; frees the old versions that can be freed.
    pub fn publish(&mut self, next: Value<T>) -> u64 {
        let old = self.shared.current.0.load(Ordering::Relaxed);
        let old_version = self.version;
        self.version += 1;
        self.shared
            .current
            .0
            .store(boxed(self.version, next), Ordering::Release);
        if let Some(old) = NonNull::new(old) {
            self.retired.push((old_version, old));
        }
        self.reclaim();
        self.version
    }

    /// The number of the newest version.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The version that every reader is at, or a later one: no reader will use an earlier one any
    /// more, and what it wrote while it did can be read. A reader that sleeps or is gone holds
    /// nothing back.
    pub fn seen(&mut self) -> u64 {
        self.least().min(self.version)
    }

    /// The least of what readers show. Forgets those that are gone.
    fn least(&mut self) -> u64 {
        // Pairs with the fence of a reader that comes back: either we see that it does, or it
        // sees what we published.
        fence(Ordering::SeqCst);
        let mut least = GONE;
        let readers = self
            .readers
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        readers.retain(|shown| {
            let shown = shown.0.0.load(Ordering::Acquire);
            least = least.min(shown);
            shown != GONE
        });
        least
    }

    /// Frees the old versions that every reader has moved past; returns how many are still held.
    pub fn reclaim(&mut self) -> usize {
        let least = self.least();
        // Versions ascend. They are off the list before a value is dropped: should that panic, no
        // node is freed twice.
        let free = self
            .retired
            .partition_point(|&(version, _)| version < least);
        for (_, node) in self.retired.drain(..free) {
            // SAFETY: made by `boxed`, no longer the newest, and in the list no more. No reader is
            // at it: each shows a later version, or sleeps and will read a later one, or is gone;
            // the acquire load of that word came after the reader's last use.
            drop(unsafe { Box::from_raw(node.as_ptr()) });
        }
        self.retired.len()
    }
}

impl<T> Drop for Published<T> {
    /// What readers may still be at is left to the last of them.
    fn drop(&mut self) {
        self.reclaim();
        let mut left = self
            .shared
            .left
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        left.extend(self.retired.drain(..).map(|(_, node)| node));
    }
}

/// One thread's side.
#[derive(Debug)]
pub struct Reader<T> {
    shared: Arc<Shared<T>>,
    /// The version this reader is at, and shows.
    node: *const Node<T>,
    shown: Arc<Shown>,
}

// SAFETY: the node is reached by one thread at a time and shared with others: `T: Send + Sync`.
unsafe impl<T: Send + Sync> Send for Reader<T> {}
// SAFETY: a shared reference gives the value only.
unsafe impl<T: Send + Sync> Sync for Reader<T> {}

impl<T> Reader<T> {
    /// Moves on to the newest version; true when that is another than before.
    #[inline]
    pub fn refresh(&mut self) -> bool {
        let newest = self.shared.current.0.load(Ordering::Acquire);
        let changed = !core::ptr::eq(newest, self.node);
        if changed {
            self.move_to(newest);
        }
        changed
    }

    /// Whether the version this reader is at is the newest. When it is not, what the reader writes
    /// before it refreshes is seen by whoever sees that it did ([`Published::seen`]).
    #[inline]
    #[must_use]
    pub fn is_newest(&self) -> bool {
        core::ptr::eq(self.shared.current.0.load(Ordering::Acquire), self.node)
    }

    /// Takes a version that was just loaded and shows it. The reader showed an older one, or that
    /// it was about to load, so that nothing newer could be freed meanwhile.
    fn move_to(&mut self, newest: *const Node<T>) {
        self.node = newest;
        self.shown.0.0.store(self.version(), Ordering::Release);
    }

    fn node(&self) -> &Node<T> {
        // SAFETY: loaded from `current` after this reader showed that it may be at any version
        // from an older one on, so the publisher keeps it until this reader, which takes it
        // mutably, shows another or sleeps.
        unsafe { &*self.node }
    }

    /// The version this reader is at.
    #[inline]
    #[must_use]
    pub fn get(&self) -> &T {
        &self.node().value
    }

    /// The number of the version this reader is at, counted from 1.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u64 {
        self.node().version
    }

    /// The newest version: [`Reader::refresh`], then [`Reader::get`].
    #[inline]
    pub fn current(&mut self) -> &T {
        self.refresh();
        self.get()
    }

    /// Sleeps, or whatever takes long, without holding a version back; then at the newest.
    pub fn offline<R>(&mut self, sleep: impl FnOnce() -> R) -> R {
        self.shown.0.0.store(OFFLINE, Ordering::Release);
        // Comes back also when `sleep` panics: whoever catches that may look again.
        let _back = Back(self);
        sleep()
    }

    fn come_back(&mut self) {
        self.shown.0.0.store(ENTERING, Ordering::Relaxed);
        // Pairs with the fence in `reclaim`.
        fence(Ordering::SeqCst);
        self.move_to(self.shared.current.0.load(Ordering::Acquire));
    }
}

impl<T> Drop for Reader<T> {
    fn drop(&mut self) {
        self.shown.0.0.store(GONE, Ordering::Release);
    }
}

/// Brings a reader back when it goes out of scope.
struct Back<'a, T>(&'a mut Reader<T>);

impl<T> Drop for Back<'_, T> {
    fn drop(&mut self) {
        self.0.come_back();
    }
}
