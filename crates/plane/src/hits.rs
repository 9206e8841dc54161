//! How often each set was hit, by side.

use table::LISTS_MAX;

use crate::policy::{Matched, PolicyMasks};

/// Counts of one pipeline, private to its worker; the place in each column is the list's.
#[derive(Clone, Debug)]
pub struct Hits {
    /// Frames whose source address is in the set.
    pub src: [u64; LISTS_MAX],
    /// Frames whose destination address is in the set.
    pub dst: [u64; LISTS_MAX],
    /// Frames that no block set stopped and that this count set would have stopped, were it a
    /// block set, whatever else became of them.
    pub would_drop: [u64; LISTS_MAX],
    /// Frames that no block set stopped and that at least one count set would have stopped.
    pub would_drop_frames: u64,
}

impl Hits {
    pub(crate) fn new() -> Self {
        Self {
            src: [0; LISTS_MAX],
            dst: [0; LISTS_MAX],
            would_drop: [0; LISTS_MAX],
            would_drop_frames: 0,
        }
    }

    /// Counts what matched one frame, whatever its verdict.
    #[inline]
    pub(crate) fn record(&mut self, matched: Matched) {
        count_bits(matched.src.0, &mut self.src);
        count_bits(matched.dst.0, &mut self.dst);
    }

    /// Counts a frame that no block set stopped, by the count sets that would have.
    #[inline]
    pub(crate) fn record_trial(&mut self, matched: Matched, masks: &PolicyMasks) {
        let exempt = |lists: u32, allow: u32| if lists & allow == 0 { lists } else { 0 };
        let sides = exempt(matched.src.0, masks.allow.src) & masks.count.src
            | exempt(matched.dst.0, masks.allow.dst) & masks.count.dst;
        count_bits(sides, &mut self.would_drop);
        self.would_drop_frames += u64::from(sides != 0);
    }
}

#[inline]
fn count_bits(mut lists: u32, column: &mut [u64; LISTS_MAX]) {
    while lists != 0 {
        column[lists.trailing_zeros() as usize % LISTS_MAX] += 1;
        lists &= lists - 1;
    }
}
