//! The end of a ring that puts values in.

use core::mem::MaybeUninit;

use super::{Shared, Slots};
use crate::sync::{Arc, Ordering};

/// Puts values into a ring. One thread owns it.
#[derive(Debug)]
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    /// Next slot to be filled: the true `tail`.
    tail: usize,
    /// `head` when last looked at: the consumer may be further.
    head_seen: usize,
}

impl<T> Producer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, start: usize) -> Self {
        Producer {
            shared,
            tail: start,
            head_seen: start,
        }
    }

    /// The most values the ring holds.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// Values inside, of which the consumer may have taken some by now.
    #[inline]
    pub fn len(&self) -> usize {
        self.tail
            .wrapping_sub(self.shared.head.0.load(Ordering::Relaxed))
    }

    /// Whether the consumer has taken everything.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the consumer is gone: nobody will take what is pushed.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    /// Slots free for sure, at least `wanted` where there are that many: looks at the consumer's
    /// index only when its copy says that they do not suffice.
    #[inline(always)]
    fn free_for(&mut self, wanted: usize) -> usize {
        let free = self.shared.capacity - self.tail.wrapping_sub(self.head_seen);
        if free >= wanted {
            return free;
        }
        // Acquire: the consumer's reads of the slots it gave back come before our writes.
        self.head_seen = self.shared.head.0.load(Ordering::Acquire);
        self.shared.capacity - self.tail.wrapping_sub(self.head_seen)
    }

    /// How many values can be pushed now; the consumer can only make it more.
    #[inline]
    pub fn free_slots(&mut self) -> usize {
        self.free_for(usize::MAX)
    }

    /// Puts one value in.
    ///
    /// # Errors
    /// Gives it back when the ring is full.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), T> {
        if self.free_for(1) == 0 {
            return Err(value);
        }
        let mut filling = Filling::new(self);
        filling.fill(value);
        Ok(())
    }

    /// Puts values in until the ring is full or the iterator ends, and publishes them by one store;
    /// how many. Values past that are not asked for: give `&mut iterator` to keep them.
    #[inline]
    pub fn push_burst<I>(&mut self, mut values: I) -> usize
    where
        I: ExactSizeIterator<Item = T>,
    {
        let wanted = values.len();
        let room = self.free_for(wanted).min(wanted);
        if room == 0 {
            return 0;
        }
        let start = self.tail;
        let mut filling = Filling::new(self);
        for value in values.by_ref().take(room) {
            filling.fill(value);
        }
        filling.next.wrapping_sub(start)
    }
}

/// Publishes what was filled when it ends, also when the caller's iterator panics: a value is never
/// left unpublished in a slot.
struct Filling<'a, T> {
    shared: &'a Shared<T>,
    /// Those of `shared`. From there the compiler would load their address and number anew for each
    /// value, since it cannot tell that no value is written over them.
    slots: Slots<'a, T>,
    tail: &'a mut usize,
    head_seen: usize,
    next: usize,
}

impl<'a, T> Filling<'a, T> {
    #[inline(always)]
    fn new(producer: &'a mut Producer<T>) -> Self {
        Filling {
            shared: &producer.shared,
            slots: producer.shared.slots(),
            next: producer.tail,
            tail: &mut producer.tail,
            head_seen: producer.head_seen,
        }
    }

    #[inline(always)]
    fn fill(&mut self, value: T) {
        debug_assert!(self.next.wrapping_sub(self.head_seen) < self.shared.capacity);
        // SAFETY: the slot is free (counted by `free_for`), so it is this producer's, and holds no
        // value that would be overwritten.
        self.slots
            .slot(self.next)
            .with_mut(|slot| unsafe { slot.write(MaybeUninit::new(value)) });
        self.next = self.next.wrapping_add(1);
    }
}

impl<T> Drop for Filling<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.tail = self.next;
        // Release: the values are in the slots before the consumer sees the index.
        self.shared.tail.0.store(self.next, Ordering::Release);
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        // Release: whoever sees the mark sees every value pushed before.
        self.shared.closed.store(true, Ordering::Release);
    }
}
