//! Looking a burst up.
//!
//! The lines of up to 64 keys are on their way at once, sixteen more are asked for whenever sixteen
//! have been answered: a burst that was asked for and answered by windows of 64 left the memory
//! idle while it answered, and lost a tenth to a quarter. What a key costs beside its line
//! counts as much: the loop that waits for lines leaves a code a key, and what the codes mean is
//! worked out a vector at a time afterwards.

use super::line::{ASIDE, Line};
use super::lines::{Lines, line_of};
use crate::mask::ListMask;
use crate::secret::Permutation;
use crate::simd::{Job, Lanes};
use frame::PagedView;

/// Keys whose lines are asked for together. 8 gave a tenth less where the lines lay in caches.
const GROUP: usize = 16;
/// Groups on their way. Three gave as much in bursts of 64 and a few percent less in longer ones,
/// whose late lines come from memory while most are in the third-level cache.
const GROUPS: usize = 4;
const WINDOW: usize = GROUP * GROUPS;

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
struct Group<'a, L> {
    places: [u32; GROUP],
    lines: [&'a L; GROUP],
}

impl<L: Line, A: Answer> Job for Lookup<'_, L, A> {
    type Answer = ();

    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) {
        let Self {
            table,
            keys,
            answers,
        } = self;
        let (permutation, lines) = (table.permutation, table.lines.view());
        debug_assert!(!L::WHOLE_PAGES || lines.has_whole_pages());
        let (first, later) = keys.split_at(keys.len().min(WINDOW));
        let mut groups = Group::ask_window(permutation, lines, first);
        let mut later = later.chunks(GROUP);
        for (keys, answers) in keys.chunks(WINDOW).zip(answers.chunks_mut(WINDOW)) {
            let mut codes = [0; WINDOW];
            let (by_group, _) = codes.as_chunks_mut();
            let answered = by_group.iter_mut().zip(keys.chunks(GROUP));
            for (group, (codes, keys)) in groups.iter_mut().zip(answered) {
                if let Some(next) = later.next() {
                    let next = Group::ask(permutation, lines, next);
                    group.find(lanes, keys.len(), codes);
                    *group = next;
                } else {
                    group.find(lanes, keys.len(), codes);
                }
            }
            table.say(&codes, keys, answers);
        }
    }
}

impl<'a, L: Line> Group<'a, L> {
    /// Asks for the lines of at most [`WINDOW`] keys.
    #[inline(always)]
    fn ask_window(
        permutation: Permutation,
        lines: PagedView<'a, L>,
        keys: &[u32],
    ) -> [Self; GROUPS] {
        let mut groups = keys.chunks(GROUP);
        let mut next = || groups.next().unwrap_or_default();
        let [a, b, c, d] = [next(), next(), next(), next()];
        [
            Self::ask(permutation, lines, a),
            Self::ask(permutation, lines, b),
            Self::ask(permutation, lines, c),
            Self::ask(permutation, lines, d),
        ]
    }

    /// Finds the lines of `keys`, at most [`GROUP`], and asks for them.
    #[inline(always)]
    fn ask(permutation: Permutation, lines: PagedView<'a, L>, keys: &[u32]) -> Self {
        // A length that the compiler knows makes loops without a count.
        match <&[u32; GROUP]>::try_from(keys) {
            Ok(keys) => Self::ask_all(permutation, lines, keys),
            Err(_) => Self::ask_all(permutation, lines, keys),
        }
    }

    #[inline(always)]
    fn ask_all(permutation: Permutation, lines: PagedView<'a, L>, keys: &[u32]) -> Self {
        let mut group = Self {
            places: [0; GROUP],
            lines: [lines.value(0); GROUP],
        };
        for (place, &key) in group.places.iter_mut().zip(keys) {
            *place = permutation.apply(key);
        }
        let places = group.places.iter().take(keys.len());
        for (line, &place) in group.lines.iter_mut().zip(places) {
            *line = if L::WHOLE_PAGES {
                lines.portion(place)
            } else {
                lines.value(line_of(place, lines.len()))
            };
            frame::prefetch::read(std::ptr::from_ref(*line).cast());
        }
        group
    }

    /// The codes of the first `count` keys; the others stay as they are.
    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, count: usize, codes: &mut [u8; GROUP]) {
        if count == GROUP {
            self.find_all(lanes, codes);
        } else {
            self.find_all(lanes, &mut codes[..count]);
        }
    }

    #[inline(always)]
    fn find_all<S: Lanes>(&self, lanes: S, codes: &mut [u8]) {
        let keys = self.places.iter().zip(&self.lines);
        for (code, (&place, line)) in codes.iter_mut().zip(keys) {
            *code = line.find(lanes, place);
        }
    }
}

impl<L: Line> Lines<L> {
    /// Turns codes into answers.
    #[inline(always)]
    fn say<A: Answer>(&self, codes: &[u8; WINDOW], keys: &[u32], answers: &mut [A]) {
        let masks = self.codes.masks();
        // A length that the compiler knows, as for most bursts.
        if let Ok(answers) = <&mut [A; WINDOW]>::try_from(&mut *answers) {
            for (answer, &code) in answers.iter_mut().zip(codes) {
                *answer = A::of(code, masks);
            }
        } else {
            for (answer, &code) in answers.iter_mut().zip(codes) {
                *answer = A::of(code, masks);
            }
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
    fn look_aside<A: Answer>(&self, codes: &[u8], keys: &[u32], answers: &mut [A]) {
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
