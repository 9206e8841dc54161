//! Looking up a burst of one window, or of two: 64 keys, or the pairs of 64 frames.
//!
//! There is nothing to roll then: all lines are asked for, and all keys answered. What such a call
//! costs is its edges, since the processor comes to the lines of the next one only when few
//! instructions are left that wait for those of this one: so nothing stands between two calls that
//! need not, and loops whose ends are known take a quarter less instructions.

use super::line::{GROUP, Line};
use super::lines::Lines;
use super::lookup::{Answer, GROUPS, Overlap};
use crate::simd::{Ahead, Job, Lanes};
use frame::{PagedShares, RowShares, Shares};

/// Looks up so many groups, whole windows, and tells how many keys were found where that is
/// [`Answer::COUNTED`].
pub(super) struct LookupAtOnce<'a, L, A, M, const COUNT: usize> {
    pub(super) table: &'a Lines<L>,
    pub(super) keys: &'a [[u32; GROUP]; COUNT],
    pub(super) answers: &'a mut [[A; GROUP]; COUNT],
    pub(super) overlap: M,
}

impl<L: Line, A: Answer, M: Overlap, const COUNT: usize> Job for LookupAtOnce<'_, L, A, M, COUNT> {
    type Answer = usize;

    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) -> usize {
        if self.table.ahead::<S>() == Ahead::Far {
            self.find::<S, true>(lanes)
        } else {
            self.find::<S, false>(lanes)
        }
    }
}

/// The codes of some windows, each in one cache line.
#[repr(align(64))]
struct BurstCodes<const COUNT: usize>([[u8; GROUP]; COUNT]);

impl<'a, L: Line, A: Answer, M: Overlap, const COUNT: usize> LookupAtOnce<'a, L, A, M, COUNT> {
    /// `FAR`: lines come into the second cache level first.
    #[inline(always)]
    pub(super) fn find<S: Lanes, const FAR: bool>(self, lanes: S) -> usize {
        const { assert!(COUNT.is_multiple_of(GROUPS)) };
        let lines = &self.table.lines;
        match lines.as_slice() {
            Some(lines) => self.find_in::<S, _, FAR>(lanes, RowShares::<_, _, COUNT>::new(lines)),
            None => self.find_in::<S, _, FAR>(lanes, PagedShares::<_, _, COUNT>::new(lines.view())),
        }
    }

    #[inline(always)]
    fn find_in<S: Lanes, C: Shares<'a, L, GROUP>, const FAR: bool>(
        self,
        lanes: S,
        mut shares: C,
    ) -> usize {
        if const { S::MARKS && !FAR && COUNT == GROUPS } {
            // Vectors find one window in the time of a few lines, and asking for a line takes two
            // instructions then: 1.05 of the rate on a Zen 5.
            self.table.find(&mut shares, 0, self.keys.as_flattened());
            for group in 0..COUNT {
                shares.ask::<FAR>(group);
            }
        } else {
            // The first lines are on their way before the last are found. Each group is asked for
            // when the next is found: at once, the compiler would take its offsets out of the
            // vector they were made in, piece by piece, rather than load them.
            for (group, keys) in self.keys.iter().enumerate() {
                shares.find(group, self.table.places(keys));
                if group > 0 {
                    shares.ask::<FAR>(group - 1);
                }
            }
            shares.ask::<FAR>(COUNT - 1);
        }
        self.overlap.run();
        let mut codes = BurstCodes([[L::NONE; GROUP]; COUNT]);
        let all = (0..COUNT).map(|group| (group, None));
        L::find_all::<S, _, FAR, COUNT>(lanes, &mut shares, all, &mut codes.0);
        let keys = self.keys.as_chunks::<GROUPS>().0.iter();
        let windows = keys.zip(self.answers.as_chunks_mut::<GROUPS>().0);
        let mut hits = 0;
        for (codes, (keys, answers)) in codes.0.as_chunks::<GROUPS>().0.iter().zip(windows) {
            let (keys, answers) = (keys.as_flattened(), answers.as_flattened_mut());
            hits += self.table.say(lanes, codes, keys, answers);
        }
        hits
    }
}
