//! Looking a burst up.
//!
//! A burst of 64 keys ends with lines still on their way, and the next one begins only when the
//! processor has room to look ahead. So the loop that waits for lines does as little as it can: it
//! leaves a code a key. What the codes mean is worked out a vector at a time afterwards.

use super::line::{ASIDE, Line};
use super::lines::{Lines, line_of};
use crate::mask::ListMask;
use crate::secret::Permutation;
use crate::simd::{Job, Lanes};
use frame::PagedView;

/// Keys whose lines are asked for together. Twice as many are on their way in a long burst.
const WINDOW: usize = 64;

/// What a lookup leaves for each key.
pub(super) trait Answer: Copy {
    /// What a code other than [`ASIDE`] says.
    fn of(code: u8, masks: &[u32; 256]) -> Self;
    fn from_mask(mask: u32) -> Self;
}

impl Answer for ListMask {
    #[inline(always)]
    fn of(code: u8, masks: &[u32; 256]) -> Self {
        Self(masks[usize::from(code)])
    }
    fn from_mask(mask: u32) -> Self {
        Self(mask)
    }
}

impl Answer for bool {
    #[inline(always)]
    fn of(code: u8, _: &[u32; 256]) -> Self {
        code != 0
    }
    fn from_mask(mask: u32) -> Self {
        mask != 0
    }
}

/// Looks up a burst; there are as many answers as keys.
pub(super) struct Lookup<'a, L, A> {
    pub(super) table: &'a Lines<L>,
    pub(super) keys: &'a [u32],
    pub(super) answers: &'a mut [A],
}

/// Keys on their way: their places and lines.
struct Window<'a, L> {
    places: [u32; WINDOW],
    lines: [&'a L; WINDOW],
}

impl<L: Line, A: Answer> Job for Lookup<'_, L, A> {
    type Answer = ();

    /// The lines of a window are asked for before the window before it is answered.
    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) {
        let Self {
            table,
            keys,
            answers,
        } = self;
        let (permutation, lines) = (table.permutation, table.lines.view());
        let empty = || Window {
            places: [0; WINDOW],
            lines: [lines.value(0); WINDOW],
        };
        let mut windows = [empty(), empty()];
        windows[0].ask(permutation, lines, &keys[..keys.len().min(WINDOW)]);
        for (window, from) in (0..keys.len()).step_by(WINDOW).enumerate() {
            let to = keys.len().min(from + WINDOW);
            let next = &keys[to..keys.len().min(to + WINDOW)];
            windows[(window + 1) % 2].ask(permutation, lines, next);
            let codes = windows[window % 2].codes(lanes, to - from);
            table.say(&codes, &keys[from..to], &mut answers[from..to]);
        }
    }
}

impl<'a, L: Line> Window<'a, L> {
    /// Finds the lines of `keys`, at most [`WINDOW`], and asks for them.
    #[inline(always)]
    fn ask(&mut self, permutation: Permutation, lines: PagedView<'a, L>, keys: &[u32]) {
        for (place, &key) in self.places.iter_mut().zip(keys) {
            *place = permutation.apply(key);
        }
        let places = self.places.iter().take(keys.len());
        for (line, &place) in self.lines.iter_mut().zip(places) {
            *line = lines.value(line_of(place, lines.len()));
            frame::prefetch::read(std::ptr::from_ref(*line).cast());
        }
    }

    /// The codes of the first `count` keys; 0 for the rest.
    #[inline(always)]
    fn codes<S: Lanes>(&self, lanes: S, count: usize) -> [u8; WINDOW] {
        let mut codes = [0; WINDOW];
        let keys = self.places.iter().zip(&self.lines).take(count);
        for (code, (&place, line)) in codes.iter_mut().zip(keys) {
            *code = line.find(lanes, place);
        }
        codes
    }
}

impl<L: Line> Lines<L> {
    /// Turns codes into answers.
    #[inline(always)]
    fn say<A: Answer>(&self, codes: &[u8; WINDOW], keys: &[u32], answers: &mut [A]) {
        let masks = self.codes.masks();
        for (answer, &code) in answers.iter_mut().zip(codes) {
            *answer = A::of(code, masks);
        }
        let aside = codes
            .iter()
            .fold(0, |any, &code| any | u8::from(code == ASIDE));
        if aside != 0 {
            self.look_aside(codes, keys, answers);
        }
    }

    /// Answers the keys that the side table must answer.
    #[cold]
    #[inline(never)]
    fn look_aside<A: Answer>(&self, codes: &[u8; WINDOW], keys: &[u32], answers: &mut [A]) {
        let marked = |index: &usize| codes[*index] == ASIDE;
        for index in (0..keys.len()).filter(marked) {
            self.side.prefetch(self.permutation.apply(keys[index]));
        }
        for index in (0..keys.len()).filter(marked) {
            let mask = self.side.get(self.permutation.apply(keys[index]));
            answers[index] = A::from_mask(mask);
        }
    }
}
