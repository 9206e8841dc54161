//! Looking a burst of one window up.
//!
//! There is nothing to roll then: 64 lines are asked for, and 64 keys answered. What such a call
//! costs is its edges, since the processor comes to the lines of the next one only when few
//! instructions are left that wait for those of this one: so nothing stands between two calls that
//! need not, and loops whose ends are known take a quarter less instructions.

use super::line::Line;
use super::lines::Lines;
use super::lookup::{Answer, GROUP, GROUPS, WINDOW, ask, find, permute};
use crate::simd::{Job, Lanes};
use frame::Groups;

/// Looks up 64 keys, and tells how many were found where that is [`Answer::COUNTED`].
pub(super) struct LookupWindow<'a, L, A> {
    pub(super) table: &'a Lines<L>,
    pub(super) keys: &'a [u32; WINDOW],
    pub(super) answers: &'a mut [A; WINDOW],
}

impl<L: Line, A: Answer> Job for LookupWindow<'_, L, A> {
    type Answer = usize;

    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) -> usize {
        if self.table.asks_far::<S>() {
            self.find::<S, true>(lanes)
        } else {
            self.find::<S, false>(lanes)
        }
    }
}

/// The codes of a window, in one cache line.
#[repr(align(64))]
struct Codes([[u8; GROUP]; GROUPS]);

impl<L: Line, A: Answer> LookupWindow<'_, L, A> {
    /// `FAR`: lines come into the second cache level first.
    #[inline(always)]
    pub(super) fn find<S: Lanes, const FAR: bool>(self, lanes: S) -> usize {
        let Self {
            table,
            keys,
            answers,
        } = self;
        debug_assert!(!L::WHOLE_PAGES || table.lines.view().has_whole_pages());
        let view = table.lines.view();
        let mut places = Groups::<u32, GROUP, GROUPS>::new();
        let mut lines = Groups::<&L, GROUP, GROUPS>::new();
        // The first lines are on their way before the last places are known.
        for keys in keys.as_chunks::<GROUP>().0 {
            let mut group = [0; GROUP];
            permute(table.permutation, keys, &mut group);
            places.push(|index| group[index]);
            lines.push(|index| ask::<L, FAR>(view, group[index]));
        }
        let mut codes = Codes([[L::NONE; GROUP]; GROUPS]);
        let asked = places.as_slice().iter().zip(lines.as_slice());
        for (codes, (places, lines)) in codes.0.iter_mut().zip(asked) {
            find(lanes, places, lines, codes);
        }
        table.say(lanes, &codes.0, keys, answers)
    }
}
