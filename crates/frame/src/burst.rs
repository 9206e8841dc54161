//! The frames of one receive or transmit call.

mod drain;
#[cfg(all(test, not(loom)))]
mod tests;

use core::{fmt, mem::MaybeUninit, ptr, slice};

pub use drain::Drain;

use crate::{
    frame::Frame,
    ring::{Consumer, Producer},
};

/// The most frames a burst holds.
pub const BURST_MAX: usize = 256;

/// Up to [`BURST_MAX`] frames, in order, held inline: four KiB, no heap.
///
/// Dropping a burst with frames inside leaks their chunks: free it into a pool instead.
pub struct Burst {
    len: usize,
    frames: [MaybeUninit<Frame>; BURST_MAX],
}

impl Burst {
    /// An empty burst.
    #[inline]
    #[must_use]
    pub const fn new() -> Burst {
        Burst {
            len: 0,
            frames: [const { MaybeUninit::uninit() }; BURST_MAX],
        }
    }

    /// Frames inside.
    #[inline(always)]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether no frame is inside.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many more frames fit.
    #[inline(always)]
    #[must_use]
    pub const fn room(&self) -> usize {
        BURST_MAX - self.len
    }

    /// Puts a frame at the end.
    ///
    /// # Errors
    /// Gives the frame back when the burst is full.
    #[inline]
    pub fn push(&mut self, frame: Frame) -> Result<(), Frame> {
        match self.frames.get_mut(self.len) {
            Some(slot) => {
                slot.write(frame);
                self.len += 1;
                Ok(())
            }
            None => Err(frame),
        }
    }

    /// Takes the frame at the end.
    #[inline]
    pub fn pop(&mut self) -> Option<Frame> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: the first `len` slots hold frames; this one was the last of them and is so no
        // longer, so it is read once.
        Some(unsafe { self.frames[self.len].assume_init_read() })
    }

    /// Takes the frame at `index` and puts the last in its place; `None` past the end.
    #[inline]
    pub fn swap_remove(&mut self, index: usize) -> Option<Frame> {
        let last = self.len.checked_sub(1)?;
        if index > last {
            return None;
        }
        self.frames_mut().swap(index, last);
        self.pop()
    }

    /// The frames, front to back.
    #[inline(always)]
    pub fn frames(&self) -> &[Frame] {
        // SAFETY: the first `len` slots of this burst hold frames.
        unsafe { slice::from_raw_parts(self.frames.as_ptr().cast(), self.len) }
    }

    /// The frames, front to back, to be changed or reordered.
    #[inline(always)]
    pub fn frames_mut(&mut self) -> &mut [Frame] {
        // SAFETY: the first `len` slots of this burst hold frames.
        unsafe { slice::from_raw_parts_mut(self.frames.as_mut_ptr().cast(), self.len) }
    }

    /// Takes frames out, front to back. Those the iterator did not give out stay, in order.
    #[inline]
    pub fn drain(&mut self) -> Drain<'_> {
        Drain::new(self, self.len)
    }

    /// Takes the first `count` frames out (all, when there are fewer), front to back. The others
    /// stay, as do those the iterator did not give out, in order.
    #[inline]
    pub fn drain_front(&mut self, count: usize) -> Drain<'_> {
        Drain::new(self, count.min(self.len))
    }

    /// Moves frames from the front of `other` to the end of this one, as many as fit; how many.
    #[inline]
    pub fn append(&mut self, other: &mut Burst) -> usize {
        let count = other.len.min(self.room());
        let rest = other.len - count;
        // SAFETY: two bursts never overlap. `self` has room for `count` frames behind its `len`;
        // `other` holds `count + rest` frames, whose first `count` are copied out once and then
        // overwritten or cut off.
        unsafe {
            let from = other.frames.as_mut_ptr();
            ptr::copy_nonoverlapping(from, self.frames.as_mut_ptr().add(self.len), count);
            ptr::copy(from.add(count), from, rest);
        }
        self.len += count;
        other.len = rest;
        count
    }

    /// Moves frames from the front into a ring, as many as it has slots for; how many.
    #[inline]
    pub fn send(&mut self, ring: &mut Producer<Frame>) -> usize {
        ring.push_burst(self.drain())
    }

    /// Moves at most `max` frames from a ring to the end, as many as fit; how many.
    #[inline]
    pub fn receive(&mut self, ring: &mut Consumer<Frame>, max: usize) -> usize {
        let mut spare = self.frames[self.len..].iter_mut();
        let max = max.min(spare.len());
        let count = ring.pop_burst(max, |frame| {
            if let Some(slot) = spare.next() {
                slot.write(frame);
            }
        });
        self.len += count;
        count
    }

    /// Appends a frame for each chunk that `frames` tells, as many as fit; how many.
    #[inline(always)]
    pub(crate) fn extend(&mut self, frames: impl Iterator<Item = Frame>) -> usize {
        let mut count = 0;
        for (slot, frame) in self.frames[self.len..].iter_mut().zip(frames) {
            slot.write(frame);
            count += 1;
        }
        self.len += count;
        count
    }

    /// Empties the burst after its owner has accounted for every chunk inside.
    #[inline(always)]
    pub(crate) fn forget_frames(&mut self) {
        self.len = 0;
    }
}

impl Default for Burst {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Burst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.frames()).finish()
    }
}
