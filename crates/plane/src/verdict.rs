//! The decision on one frame, and the column of them for a burst.

use frame::{BURST_MAX, PortId};

use crate::DropReason;

/// What becomes of one frame. Every frame gets exactly one, and each is counted once.
///
/// Flooding is no verdict: copies differ by their tags, so a switch makes them. Punt joins when a
/// stage exists that gives it; the accounting already has its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Leaves by this port.
    Forward(PortId),
    /// Ends here, for a reason.
    Drop(DropReason),
    /// Waits, kept by the stage that said so.
    Hold,
    /// Ends here, since it was for this machine.
    Consume,
}

const _: () = assert!(size_of::<Verdict>() <= 4);

/// The verdicts on a burst: as many places as the burst has frames, each filled exactly once, in
/// the burst's order.
#[derive(Debug)]
pub struct Verdicts {
    column: [Verdict; BURST_MAX],
    len: usize,
    /// What all of them are, where that is known.
    unanimous: Option<Verdict>,
}

impl Verdicts {
    /// An empty column.
    #[must_use]
    pub fn new() -> Self {
        Self {
            column: [Verdict::Drop(DropReason::Shutdown); BURST_MAX],
            len: 0,
            unanimous: None,
        }
    }

    /// Empties the column for the next burst.
    pub fn clear(&mut self) {
        self.len = 0;
        self.unanimous = None;
    }

    /// Fills the next place. A place past [`BURST_MAX`] does not exist: the call is ignored there
    /// (and caught in debug builds), since a burst has no such frame.
    #[inline]
    pub fn push(&mut self, verdict: Verdict) {
        debug_assert!(
            self.len < BURST_MAX,
            "more verdicts than a burst has frames"
        );
        if let Some(place) = self.column.get_mut(self.len) {
            *place = verdict;
            self.len += 1;
        }
        self.unanimous = None;
    }

    /// Makes the column as long as a burst of `len` frames (at most [`BURST_MAX`]) and gives every
    /// frame this verdict.
    #[inline]
    pub(crate) fn fill(&mut self, len: usize, verdict: Verdict) {
        self.len = len.min(BURST_MAX);
        self.column[..self.len].fill(verdict);
        self.unanimous = Some(verdict);
    }

    /// Replaces the verdict of the frame at `place`, which the column has.
    #[inline]
    pub fn set(&mut self, place: usize, verdict: Verdict) {
        debug_assert!(place < self.len, "a verdict for no frame");
        if let Some(filled) = self.column.get_mut(place) {
            *filled = verdict;
        }
        if self.unanimous != Some(verdict) {
            self.unanimous = None;
        }
    }

    /// The verdict that every frame of the burst got, where that is known: such a burst can be
    /// carried out as a whole. `None` says nothing.
    #[must_use]
    #[inline]
    pub fn unanimous(&self) -> Option<Verdict> {
        self.unanimous
    }

    /// The verdicts so far, in the burst's order.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[Verdict] {
        &self.column[..self.len]
    }
}

impl Default for Verdicts {
    fn default() -> Self {
        Self::new()
    }
}
