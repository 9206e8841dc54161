//! The end of a ring that takes values out.

use super::Shared;
use crate::sync::{Arc, Ordering};

/// Takes values out of a ring, in the order they were put in. One thread owns it.
#[derive(Debug)]
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    /// Next slot to be taken: the true `head`.
    head: usize,
    /// `tail` when last looked at: the producer may be further.
    tail_seen: usize,
}

impl<T> Consumer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, start: usize) -> Self {
        Consumer {
            shared,
            head: start,
            tail_seen: start,
        }
    }

    /// The most values the ring holds.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// Values that can be taken now; the producer can only make it more.
    #[inline]
    pub fn len(&self) -> usize {
        self.shared
            .tail
            .0
            .load(Ordering::Relaxed)
            .wrapping_sub(self.head)
    }

    /// Whether there is nothing to take now.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the producer is gone. Nothing more will come once this was true **before** a pop
    /// that found nothing.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }

    /// Values there for sure, at least `wanted` where there are that many: looks at the producer's
    /// index only when its copy says that they do not suffice.
    #[inline(always)]
    fn ready_for(&mut self, wanted: usize) -> usize {
        let ready = self.tail_seen.wrapping_sub(self.head);
        if ready >= wanted {
            return ready;
        }
        // Acquire: the producer's writes to the slots come before our reads.
        self.tail_seen = self.shared.tail.0.load(Ordering::Acquire);
        self.tail_seen.wrapping_sub(self.head)
    }

    /// Takes one value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.ready_for(1) == 0 {
            return None;
        }
        let mut taking = Taking {
            next: self.head,
            consumer: self,
        };
        Some(taking.take())
    }

    /// Takes at most `max` values, gives each to `each` in order, and returns their slots by one
    /// store; how many.
    #[inline]
    pub fn pop_burst(&mut self, max: usize, mut each: impl FnMut(T)) -> usize {
        let count = self.ready_for(max).min(max);
        if count == 0 {
            return 0;
        }
        let mut taking = Taking {
            next: self.head,
            consumer: self,
        };
        for _ in 0..count {
            each(taking.take());
        }
        count
    }
}

/// Gives the slots back when it ends, also when the caller's function panics: a value is never
/// taken twice.
struct Taking<'a, T> {
    consumer: &'a mut Consumer<T>,
    next: usize,
}

impl<T> Taking<'_, T> {
    #[inline(always)]
    fn take(&mut self) -> T {
        debug_assert!(self.next != self.consumer.tail_seen);
        // SAFETY: the slot is in `head..tail` (counted by `ready_for`), so it holds a value and is
        // this consumer's; the index moves past it, so it is read once.
        let value = self
            .consumer
            .shared
            .slot(self.next)
            .with(|slot| unsafe { (*slot).assume_init_read() });
        self.next = self.next.wrapping_add(1);
        value
    }
}

impl<T> Drop for Taking<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.consumer.head = self.next;
        // Release: our reads of the slots come before the producer's next writes.
        self.consumer
            .shared
            .head
            .0
            .store(self.next, Ordering::Release);
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
    }
}
