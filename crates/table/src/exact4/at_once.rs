//! Looking up a burst of one window, or of two: 64 keys, or the pairs of 64 frames.
//!
//! There is nothing to roll then: all lines are asked for, and all keys answered. What such a call
//! costs is its edges, since the processor comes to the lines of the next one only when few
//! instructions are left that wait for those of this one: so nothing stands between two calls that
//! need not, and loops whose ends are known take a quarter less instructions.

use super::line::Line;
use super::lines::Lines;
use super::lookup::{Answer, GROUP, GROUPS, ask, find, permute};
use crate::simd::{Ahead, Job, Lanes};
use frame::Groups;

/// Looks up so many groups, whole windows, and tells how many keys were found where that is
/// [`Answer::COUNTED`].
pub(super) struct LookupAtOnce<'a, L, A, const COUNT: usize> {
    pub(super) table: &'a Lines<L>,
    pub(super) keys: &'a [[u32; GROUP]; COUNT],
    pub(super) answers: &'a mut [[A; GROUP]; COUNT],
}

impl<L: Line, A: Answer, const COUNT: usize> Job for LookupAtOnce<'_, L, A, COUNT> {
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

impl<L: Line, A: Answer, const COUNT: usize> LookupAtOnce<'_, L, A, COUNT> {
    /// `FAR`: lines come into the second cache level first.
    #[inline(always)]
    pub(super) fn find<S: Lanes, const FAR: bool>(self, lanes: S) -> usize {
        const { assert!(COUNT.is_multiple_of(GROUPS)) };
        let table = self.table;
        let view = table.lines.view();
        let mut places = Groups::<u32, GROUP, COUNT>::new();
        let mut lines = Groups::<&L, GROUP, COUNT>::new();
        // The first lines are on their way before the last places are known.
        for keys in self.keys {
            let mut group = [0; GROUP];
            permute(table.permutation, keys, &mut group);
            places.push(|index| group[index]);
            lines.push(|index| ask::<L, FAR>(view, group[index]));
        }
        let mut codes = BurstCodes([[L::NONE; GROUP]; COUNT]);
        let asked = places.as_slice().iter().zip(lines.as_slice());
        for (codes, (places, lines)) in codes.0.iter_mut().zip(asked) {
            find(lanes, places, lines, codes);
        }
        let keys = self.keys.as_chunks::<GROUPS>().0.iter();
        let windows = keys.zip(self.answers.as_chunks_mut::<GROUPS>().0);
        let codes = codes.0.as_chunks::<GROUPS>().0.iter();
        let mut hits = 0;
        for (codes, (keys, answers)) in codes.zip(windows) {
            let (keys, answers) = (keys.as_flattened(), answers.as_flattened_mut());
            hits += table.say(lanes, codes, keys, answers);
        }
        hits
    }
}
