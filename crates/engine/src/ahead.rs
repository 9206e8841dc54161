//! A burst that is received before its turn.

use std::mem;

use frame::{Burst, Frame};

/// A burst that was received before its turn, if there is one: while a worker that decides on one
/// burst waits for lines of its tables, it receives the next.
#[derive(Debug)]
pub struct Ahead {
    // In a box, as the burst that it takes the place of: one is four KiB.
    burst: Box<Burst>,
    /// Of the port it came in by.
    place: usize,
}

impl Ahead {
    /// Nothing received.
    #[must_use]
    pub fn new() -> Self {
        Self {
            burst: Box::new(Burst::new()),
            place: 0,
        }
    }

    /// Nothing was received before its turn.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.burst.is_empty()
    }

    /// Frames received before their turn.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.burst.len()
    }

    /// Whether frames of the port at `place` were received before their turn.
    #[must_use]
    #[inline]
    pub fn is_from(&self, place: usize) -> bool {
        self.place == place && !self.is_empty()
    }

    /// Where to receive to what comes in by the port at `place`; only while [`Ahead::is_empty`].
    #[inline]
    pub fn receive(&mut self, place: usize) -> &mut Burst {
        debug_assert!(self.is_empty(), "one burst is received ahead");
        self.place = place;
        &mut self.burst
    }

    /// Puts what was received into `burst`, which must be empty.
    #[inline]
    pub fn take_up(&mut self, burst: &mut Box<Burst>) {
        debug_assert!(burst.is_empty(), "a burst is decided on before the next");
        mem::swap(&mut self.burst, burst);
    }

    /// The frames, to be freed instead of decided on.
    pub fn drain(&mut self) -> impl Iterator<Item = Frame> {
        self.burst.drain()
    }
}

impl Default for Ahead {
    fn default() -> Self {
        Self::new()
    }
}
