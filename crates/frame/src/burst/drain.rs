//! Taking frames out of a burst from the front, leaking none.

use core::{iter::FusedIterator, ptr};

use crate::{burst::Burst, frame::Frame};

/// Takes frames out of a [`Burst`], front to back. When dropped, the frames it did not give out are
/// back in the burst, in order, before those it never had.
///
/// Forgetting it (`mem::forget`) leaks the frames of the burst and aliases none.
#[derive(Debug)]
pub struct Drain<'a> {
    burst: &'a mut Burst,
    /// First frame not given out.
    next: usize,
    /// End of the frames to give out.
    end: usize,
    /// End of the frames of the burst.
    burst_len: usize,
}

impl<'a> Drain<'a> {
    /// Drains the first `end` frames. The burst counts as empty until the drain is dropped.
    #[inline]
    pub(super) fn new(burst: &'a mut Burst, end: usize) -> Drain<'a> {
        debug_assert!(end <= burst.len);
        let burst_len = core::mem::take(&mut burst.len);
        Drain {
            burst,
            next: 0,
            end,
            burst_len,
        }
    }
}

impl Drain<'_> {
    /// The frame that comes next.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<&Frame> {
        if self.next == self.end {
            return None;
        }
        // SAFETY: slots `next..burst_len` of the burst this drain borrows hold frames that were not
        // given out; `next` is one of them, and `self` is borrowed as long as this is.
        Some(unsafe { self.burst.frames[self.next].assume_init_ref() })
    }
}

impl Iterator for Drain<'_> {
    type Item = Frame;

    #[inline]
    fn next(&mut self) -> Option<Frame> {
        if self.next == self.end {
            return None;
        }
        let slot = self.burst.frames[self.next].as_ptr();
        self.next += 1;
        // SAFETY: slots `next..burst_len` hold frames owned by this drain; the slot was `next` and
        // is before it now, so it is read once.
        Some(unsafe { slot.read() })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Drain<'_> {}
impl FusedIterator for Drain<'_> {}

impl Drop for Drain<'_> {
    #[inline]
    fn drop(&mut self) {
        let rest = self.burst_len - self.next;
        if self.next > 0 && rest > 0 {
            let frames = self.burst.frames.as_mut_ptr();
            // SAFETY: slots `next..burst_len` of the burst this drain borrows hold frames that
            // were not given out; they move to the front, over slots that hold none.
            unsafe { ptr::copy(frames.add(self.next), frames, rest) };
        }
        self.burst.len = rest;
    }
}
