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
#[derive(Clone, Copy)]
struct Coming<'a> {
    words: [Word; BLOCK],
    lines: [&'a Line; BLOCK],
}

impl<'a> Coming<'a> {
    #[inline(always)]
    fn ask(&mut self, lines: PagedView<'a, Line>, mix: WidePermutation, keys: &[u128]) {
        mix.apply_all(keys, &mut self.words);
        for ((line, &word), _) in self.lines.iter_mut().zip(&self.words).zip(keys) {
            *line = lines.value(home(word, lines.len()));
            prefetch(from_ref(*line), 0);
        }
    }
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
        if self.table.codes().has_escaped() {
            A::resolve(&mut self);
        }
    }
}

impl<A: Answer> Lookup<'_, A> {
    /// Looks into the home line of every key. The lines of a block are asked for before the block
    /// before it is answered.
    #[inline(always)]
    fn roll<S: Lanes>(&mut self, lanes: S, later: &mut Later) {
        let keys = self.keys;
        let answers = &mut self.answers[..keys.len()];
        let lines = self.table.lines().view();
        let masks = self.table.codes().masks();
        let first = Coming {
            words: [[0; 2]; BLOCK],
            lines: [lines.value(0); BLOCK],
        };
        let mut coming = [first, first];
        coming[0].ask(lines, self.mix, &keys[..keys.len().min(BLOCK)]);
        for (block, from) in (0..keys.len()).step_by(BLOCK).enumerate() {
            let to = keys.len().min(from + BLOCK);
            let next = &keys[to..keys.len().min(to + BLOCK)];
            coming[(block + 1) % 2].ask(lines, self.mix, next);
            let now = &coming[block % 2];
            for (at, answer) in answers[from..to].iter_mut().enumerate() {
                let line = now.lines[at];
                let found = look(lanes, line, now.words[at]);
                *answer = A::of(found.code, masks);
                later.add(from + at, found.passed);
                // The next lines are its neighbours in memory nearly always. A prefetch that nobody
                // needs is cheaper than a branch that is guessed wrong.
                prefetch(from_ref(line), usize::from(found.passed));
                prefetch(from_ref(line), 2 * usize::from(found.passed));
            }
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
            prefetch(from_ref(line), 2 * usize::from(found.passed));
        }
    }
}
