//! Looking a burst up.

use super::line::{Word, home, look};
use super::table::Table;
use crate::mask::ListMask;
use crate::secret::WidePermutation;
use crate::simd::{Job, Lanes, prefetch};
use std::slice::from_ref;

/// Lines on their way while a burst is looked up; mixed addresses wait as long.
const AHEAD: usize = 64;
/// Keys looked up together.
pub(super) const WINDOW: usize = 256;

/// What a lookup leaves for each key.
pub(super) trait Answer: Copy {
    /// True when the lists matter, not only whether there are any.
    const LISTS: bool;
    fn of(code: u8, masks: &[ListMask; 128]) -> Self;
    fn from_mask(mask: ListMask) -> Self;
}

impl Answer for ListMask {
    const LISTS: bool = true;
    #[inline(always)]
    fn of(code: u8, masks: &[ListMask; 128]) -> Self {
        masks[usize::from(code & 127)]
    }
    #[inline(always)]
    fn from_mask(mask: ListMask) -> Self {
        mask
    }
}

impl Answer for bool {
    const LISTS: bool = false;
    #[inline(always)]
    fn of(code: u8, _: &[ListMask; 128]) -> Self {
        code != 0
    }
    #[inline(always)]
    fn from_mask(mask: ListMask) -> Self {
        !mask.is_empty()
    }
}

/// Up to [`WINDOW`] keys, as many answers. The table has lines.
pub(super) struct Lookup<'a, A> {
    pub(super) table: &'a Table,
    pub(super) mix: WidePermutation,
    pub(super) keys: &'a [u128],
    pub(super) answers: &'a mut [A],
}

/// Keys whose line does not answer them. Written without a branch.
struct Later {
    indices: [u8; WINDOW],
    count: usize,
}

impl Later {
    #[inline(always)]
    fn add(&mut self, index: usize, really: bool) {
        self.indices[self.count % WINDOW] = index as u8;
        self.count += usize::from(really);
    }
}

impl<A: Answer> Job for Lookup<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<S: Lanes>(mut self, lanes: S) {
        let mut later = Later {
            indices: [0; WINDOW],
            count: 0,
        };
        self.roll(lanes, &mut later);
        let mut distance = 0;
        while later.count > 0 {
            distance += 1;
            self.further(lanes, distance, &mut later);
        }
    }
}

impl<A: Answer> Lookup<'_, A> {
    /// Looks into the home line of every key.
    #[inline(always)]
    fn roll<S: Lanes>(&mut self, lanes: S, later: &mut Later) {
        let (mix, keys) = (self.mix, self.keys);
        let answers = &mut self.answers[..keys.len()];
        let lines = self.table.lines().view();
        let Some(first) = lines.get(0) else {
            answers.fill(A::from_mask(ListMask::EMPTY));
            return;
        };
        let masks = self.table.codes().masks();
        let mut words: [Word; AHEAD] = [[0; 2]; AHEAD];
        let mut homes = [first; AHEAD];
        let start = |key: u128| {
            let word = mix.apply(key);
            let line = &lines[home(word, lines.len())];
            prefetch(from_ref(line), 0);
            (word, line)
        };
        for ((word, line), &key) in words.iter_mut().zip(&mut homes).zip(keys) {
            (*word, *line) = start(key);
        }
        for index in 0..keys.len() {
            let slot = index % AHEAD;
            let (word, line) = (words[slot], homes[slot]);
            if let Some(&key) = keys.get(index + AHEAD) {
                (words[slot], homes[slot]) = start(key);
            }
            let found = look(lanes, line, word);
            answers[index] = A::of(found.code, masks);
            later.add(index, found.passed);
            // The next line is its neighbour in memory nearly always. A prefetch that nobody
            // needs is cheaper than a branch that is guessed wrong.
            prefetch(from_ref(line), usize::from(found.passed));
        }
    }

    /// Looks into the line `distance` after the home line of the keys of `later`, and keeps those
    /// that may lie still further.
    #[inline(always)]
    fn further<S: Lanes>(&mut self, lanes: S, distance: usize, later: &mut Later) {
        let lines = self.table.lines().view();
        let masks = self.table.codes().masks();
        let count = later.count;
        later.count = 0;
        for at in 0..count {
            let index = usize::from(later.indices[at]);
            let word = self.mix.apply(self.keys[index]);
            let line = home(word, lines.len()) + distance;
            let line = if line < lines.len() {
                line
            } else {
                line - lines.len()
            };
            let line = &lines[line];
            let found = look(lanes, line, word);
            self.answers[index] = A::of(found.code, masks);
            later.add(index, found.passed);
            prefetch(from_ref(line), usize::from(found.passed));
        }
    }
}
