//! Single producer, single consumer: how frames pass between two workers.
//!
//! Each end keeps its own index and a copy of the other's, and looks at the other's cache line only
//! when the copy says there is no room (nothing to take). A burst is published by one store. Either
//! end can tell that the other is gone.

mod consumer;
#[cfg(all(test, loom))]
mod loom_tests;
mod producer;
#[cfg(all(test, not(loom)))]
mod tests;

use core::mem::MaybeUninit;

pub use consumer::Consumer;
pub use producer::Producer;

use crate::sync::{Arc, AtomicBool, AtomicUsize, LinePadded, Ordering, UnsafeCell};

/// What the two ends share. Indices run freely and wrap at `usize::MAX`; `index & mask` is a slot.
#[derive(Debug)]
struct Shared<T> {
    /// Next slot to be taken; written by the consumer only.
    head: LinePadded<AtomicUsize>,
    /// Next slot to be filled; written by the producer only.
    tail: LinePadded<AtomicUsize>,
    /// Set when either end was dropped. Read when there is nothing else to do.
    closed: AtomicBool,
    /// A power of two of slots, no fewer than `capacity`; `head..tail` hold values.
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
    capacity: usize,
}

// SAFETY: values are moved between threads, hence `T: Send`. A slot is owned by the consumer while
// its index is in `head..tail` and by the producer otherwise; the release store of an index hands
// slots over, the acquire load of it takes them.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    #[inline(always)]
    fn slots(&self) -> Slots<'_, T> {
        Slots(&self.slots)
    }

    #[inline(always)]
    fn slot(&self, index: usize) -> &UnsafeCell<MaybeUninit<T>> {
        self.slots().slot(index)
    }
}

/// The slots of a ring, a power of two.
struct Slots<'a, T>(&'a [UnsafeCell<MaybeUninit<T>>]);

impl<'a, T> Slots<'a, T> {
    #[inline(always)]
    fn slot(&self, index: usize) -> &'a UnsafeCell<MaybeUninit<T>> {
        let mask = self.0.len() - 1;
        // SAFETY: the number of slots is a power of two, so the masked index is below it.
        unsafe { self.0.get_unchecked(index & mask) }
    }
}

impl<T> Drop for Shared<T> {
    /// Both ends are gone: what was never taken is dropped here.
    fn drop(&mut self) {
        let tail = self.tail.0.load(Ordering::Relaxed);
        let mut head = self.head.0.load(Ordering::Relaxed);
        while head != tail {
            // SAFETY: nobody else has the ring; slots `head..tail` hold values, each dropped once.
            self.slot(head)
                .with_mut(|slot| unsafe { (*slot).assume_init_drop() });
            head = head.wrapping_add(1);
        }
    }
}

/// A ring that holds up to `capacity` values (at least 1), and its two ends.
///
/// Values still inside when both ends are gone are dropped.
#[must_use]
pub fn ring<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    ring_from(capacity, 0)
}

/// A ring whose indices begin at `start`: tests begin just before they wrap.
fn ring_from<T: Send>(capacity: usize, start: usize) -> (Producer<T>, Consumer<T>) {
    let capacity = capacity.max(1);
    let slots = (0..capacity.next_power_of_two())
        .map(|_| UnsafeCell::new(MaybeUninit::uninit()))
        .collect();
    let shared = Arc::new(Shared {
        head: LinePadded(AtomicUsize::new(start)),
        tail: LinePadded(AtomicUsize::new(start)),
        closed: AtomicBool::new(false),
        slots,
        capacity,
    });
    (
        Producer::new(Arc::clone(&shared), start),
        Consumer::new(shared, start),
    )
}
