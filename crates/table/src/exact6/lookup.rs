//! Looking a burst up.

use super::codes::ESCAPED;
use super::line::{Line, PLACES, Word, home, look};
use super::table::Table;
use crate::mask::ListMask;
use crate::secret::WidePermutation;
use crate::simd::{Job, Lanes, prefetch};
use frame::PagedView;
use std::slice::from_ref;

/// Keys whose lines are asked for together. Twice as many are on their way in a long burst.
const BLOCK: usize = 64;
/// Keys looked up together.
pub(super) const WINDOW: usize = 256;

/// What a lookup leaves for each key.
pub(super) trait Answer: Copy {
    fn of(code: u8, masks: &[ListMask; 128]) -> Self;
    /// Looks by place where the code was not enough.
    fn resolve(lookup: &mut Lookup<'_, Self>);
}

impl Answer for ListMask {
    #[inline(always)]
    fn of(code: u8, masks: &[ListMask; 128]) -> Self {
        masks[usize::from(code & 127)]
    }
    #[cold]
    #[inline(never)]
    fn resolve(lookup: &mut Lookup<'_, Self>) {
        let Lookup {
            table,
            mix,
            keys,
            answers,
        } = lookup;
        let escaped = |answer: &&mut Self| **answer == ESCAPED;
        for (&key, _) in keys
            .iter()
            .zip(answers.iter_mut())
            .filter(|(_, a)| escaped(a))
        {
            let line = home(mix.apply(key), table.lines().len());
            table.codes().prefetch(line * PLACES);
        }
        for (&key, answer) in keys
            .iter()
            .zip(answers.iter_mut())
            .filter(|(_, a)| escaped(a))
        {
            *answer = table.get(mix.apply(key));
        }
    }
}

impl Answer for bool {
    #[inline(always)]
    fn of(code: u8, _: &[ListMask; 128]) -> Self {
        code != 0
    }
    #[inline(always)]
    fn resolve(_: &mut Lookup<'_, Self>) {}
}

/// Up to [`WINDOW`] keys, as many answers. The table has lines.
pub(super) struct Lookup<'a, A> {
    pub(super) table: &'a Table,
    pub(super) mix: WidePermutation,
    pub(super) keys: &'a [u128],
    pub(super) answers: &'a mut [A],
}

/// Keys whose lines were asked for.
struct Coming<'a> {
    words: [Word; BLOCK],
    lines: [&'a Line; BLOCK],
}

/// The keys of a burst that their lines do not answer: a bit each, a word a block.
type Passed = [u64; WINDOW / BLOCK];

impl<A: Answer> Job for Lookup<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<S: Lanes>(mut self, lanes: S) {
        let mut passed = [0; WINDOW / BLOCK];
        self.roll(lanes, &mut passed);
        let mut distance = 0;
        while passed != [0; WINDOW / BLOCK] {
            distance += 1;
            for (block, bits) in passed.iter_mut().enumerate() {
                *bits = self.further(lanes, distance, block * BLOCK, *bits);
            }
        }
        if self.table.codes().has_escaped() {
            A::resolve(&mut self);
        }
    }
}

impl<'a> Coming<'a> {
    #[inline(always)]
    fn new(lines: PagedView<'a, Line>) -> Self {
        Self {
            words: [[0; 2]; BLOCK],
            lines: [lines.value(0); BLOCK],
        }
    }

    /// Asks for the home lines of up to [`BLOCK`] keys.
    #[inline(always)]
    fn ask(&mut self, lines: PagedView<'a, Line>, mix: WidePermutation, keys: &[u128]) {
        mix.apply_all(keys, &mut self.words);
        for ((line, &word), _) in self.lines.iter_mut().zip(&self.words).zip(keys) {
            *line = lines.value(home(word, lines.len()));
            prefetch(from_ref(*line), 0);
        }
    }

    /// Looks into these lines. A bit is set for each key that may lie further on.
    #[inline(always)]
    fn answer<S: Lanes, A: Answer>(
        &self,
        lanes: S,
        masks: &[ListMask; 128],
        answers: &mut [A],
    ) -> u64 {
        let mut passed = 0;
        let places = self.lines.iter().zip(&self.words);
        for (at, (answer, (&line, &word))) in answers.iter_mut().zip(places).enumerate() {
            let found = look(lanes, line, word);
            *answer = A::of(found.code, masks);
            passed |= u64::from(found.passed) << at;
            // The next lines are its neighbours in memory nearly always. A prefetch that nobody
            // needs is cheaper than a branch that is guessed wrong.
            prefetch(from_ref(line), usize::from(found.passed));
            prefetch(from_ref(line), 2 * usize::from(found.passed));
        }
        passed
    }
}

impl<A: Answer> Lookup<'_, A> {
    /// Looks into the home line of every key. The lines of a block are asked for before the block
    /// before it is answered.
    #[inline(always)]
    fn roll<S: Lanes>(&mut self, lanes: S, passed: &mut Passed) {
        let view = self.table.lines().view();
        let masks = self.table.codes().masks();
        let mut now = Coming::new(view);
        let (keys, mut rest) = self.keys.split_at(self.keys.len().min(BLOCK));
        now.ask(view, self.mix, keys);
        if rest.is_empty() {
            passed[0] = now.answer(lanes, masks, self.answers);
            return;
        }
        let mut other = Coming::new(view);
        let (mut now, mut next) = (&mut now, &mut other);
        for (answers, passed) in self.answers.chunks_mut(BLOCK).zip(passed) {
            let (keys, later) = rest.split_at(rest.len().min(BLOCK));
            next.ask(view, self.mix, keys);
            *passed = now.answer(lanes, masks, answers);
            std::mem::swap(&mut now, &mut next);
            rest = later;
        }
    }

    /// Looks into the line `distance` after the home line of the keys, from key `first` on, whose
    /// bits are set. Bits stay for those that may lie still further.
    #[inline(always)]
    fn further<S: Lanes>(&mut self, lanes: S, distance: usize, first: usize, bits: u64) -> u64 {
        let lines = self.table.lines().view();
        let masks = self.table.codes().masks();
        let (mut rest, mut passed) = (bits, 0);
        while rest != 0 {
            let at = rest.trailing_zeros();
            rest &= rest - 1;
            let index = first + at as usize;
            let word = self.mix.apply(self.keys[index]);
            let line = home(word, lines.len()) + distance;
            let line = if line < lines.len() {
                line
            } else {
                line - lines.len()
            };
            let line = lines.value(line);
            let found = look(lanes, line, word);
            self.answers[index] = A::of(found.code, masks);
            passed |= u64::from(found.passed) << at;
            prefetch(from_ref(line), 2 * usize::from(found.passed));
        }
        passed
    }
}
