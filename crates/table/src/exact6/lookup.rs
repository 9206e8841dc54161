//! Looking a burst up.
//!
//! Lines are asked for in small groups, a few groups ahead of the one that is answered, so that
//! comparing goes on while lines come and the next burst begins with few left to wait for. On a
//! Zen 3 asking for 64 lines and then answering 64 keys left memory idle half of the time: 40
//! million lookups a second where this gives 60, among 6 million addresses, at a limit of 100
//! million lines. A Zen 5, at a limit of 230 million, gives 80 with 32 lines under way and 105 with
//! 64. A Zen 4, at a limit of 190 million, gave 47 with 32 that come into its first cache level, 75
//! with 32 into its second, 90 with 64. 128 gave 110 there until eight keys were compared together,
//! and since then no more than 64.

use super::codes::{Answers, ESCAPED};
use super::line::{Line, PLACES, Word, after, home, look, portion, reach};
use super::table::Table;
use crate::mask::ListMask;
use crate::secret::WidePermutation;
use crate::simd::{self, Ahead, Found120, Job, Lanes, Level};
use frame::{PagedView, prefetch};
use std::ptr;

/// Keys asked for together: their words are mixed as vectors. Of 2, 4, 8 and 16 keys 8 measured
/// best.
const GROUP: usize = 8;
/// Groups that are on their way, 32 lines. On a Zen 3 with 24 to 48 the rates differ by a few
/// percent.
const AHEAD: usize = 4;
/// The same on cores of [`Lanes::DEEP`], 64 lines.
pub(super) const DEEP_AHEAD: usize = 8;
/// Groups answered before those keys of a group are looked at again whose home line was not
/// enough: until then their next line is on its way. On a Zen 5 six groups give 3 % more than two.
const fn lag<S: Lanes>() -> usize {
    if S::DEEP { 6 } else { 2 }
}
/// Keys whose answers are looked for by place together.
const ESCAPED_MAX: usize = 64;

/// What a lookup leaves for each key.
pub(super) trait Answer: Copy {
    fn of(code: u8, meanings: Answers<'_>) -> Self;
    fn of_group<S: Lanes>(lanes: S, found: &Found120, meanings: Answers<'_>) -> [Self; GROUP];
    /// Looks by place where the code was not enough.
    fn resolve(table: &Table, mix: WidePermutation, keys: &[u128], answers: &mut [Self]);
}

impl Answer for ListMask {
    #[inline(always)]
    fn of(code: u8, meanings: Answers<'_>) -> Self {
        meanings.of(code)
    }
    #[inline(always)]
    fn of_group<S: Lanes>(lanes: S, found: &Found120, meanings: Answers<'_>) -> [Self; GROUP] {
        match meanings.few() {
            Some(few) => lanes.pick(few, &found.codes).map(Self),
            None => found.codes.map(|code| meanings.of(code)),
        }
    }
    #[cold]
    #[inline(never)]
    fn resolve(table: &Table, mix: WidePermutation, keys: &[u128], answers: &mut [Self]) {
        let all = keys.chunks(ESCAPED_MAX);
        for (keys, answers) in all.zip(answers.chunks_mut(ESCAPED_MAX)) {
            let escaped = |index: &usize| answers[*index] == ESCAPED;
            for index in (0..keys.len()).filter(escaped) {
                let line = home(mix.apply(keys[index]), table.lines().len());
                table.codes().prefetch(line * PLACES);
            }
            for (answer, &key) in answers.iter_mut().zip(keys) {
                if *answer == ESCAPED {
                    *answer = table.get(mix.apply(key));
                }
            }
        }
    }
}

impl Answer for bool {
    #[inline(always)]
    fn of(code: u8, _: Answers<'_>) -> Self {
        code != 0
    }
    #[inline(always)]
    fn of_group<S: Lanes>(_: S, found: &Found120, _: Answers<'_>) -> [Self; GROUP] {
        found.is_there
    }
    #[inline(always)]
    fn resolve(_: &Table, _: WidePermutation, _: &[u128], _: &mut [Self]) {}
}

/// Looks a burst up in a table that has lines; there are as many answers as keys.
#[inline]
pub(super) fn look_up<A: Answer>(
    (table, mix, level): (&Table, WidePermutation, Level),
    keys: &[u128],
    answers: &mut [A],
) {
    if keys.len() >= GROUP {
        let lookup = Lookup {
            table,
            mix,
            keys,
            answers,
        };
        return simd::run(level, lookup);
    }
    // The group is filled up with a key that is looked up anyway.
    if let (Some(&key), Some(&answer)) = (keys.first(), answers.first()) {
        let (mut group, mut answered) = ([key; GROUP], [answer; GROUP]);
        group[..keys.len()].copy_from_slice(keys);
        look_up((table, mix, level), &group, &mut answered);
        answers.copy_from_slice(&answered[..keys.len()]);
    }
}

/// [`GROUP`] keys or more, as many answers. The table has lines.
pub(super) struct Lookup<'a, A> {
    pub(super) table: &'a Table,
    pub(super) mix: WidePermutation,
    pub(super) keys: &'a [u128],
    pub(super) answers: &'a mut [A],
}

/// A group whose lines were asked for.
#[derive(Clone, Copy)]
struct Coming<'a> {
    words: [Word; GROUP],
    lines: [&'a Line; GROUP],
}

/// A bit for each key of a group.
type Bits = u64;
const ALL: Bits = (1 << GROUP) - 1;

impl<A: Answer> Job for Lookup<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) {
        if !S::DEEP {
            return self.roll::<S, false, AHEAD>(lanes);
        }
        match simd::ahead::<S>(size_of::<Line>() * self.table.lines().len()) {
            Ahead::Far => self.roll::<S, true, DEEP_AHEAD>(lanes),
            Ahead::Near => self.roll::<S, false, DEEP_AHEAD>(lanes),
        }
    }
}

impl<A: Answer> Lookup<'_, A> {
    /// Looks all keys up, `AHEAD` groups on their way. `FAR`: lines come into the second cache
    /// level first.
    #[inline(always)]
    pub(super) fn roll<S: Lanes, const FAR: bool, const AHEAD: usize>(mut self, lanes: S) {
        let view = self.table.lines().view();
        debug_assert!(view.has_whole_pages());
        let groups = self.keys.len().div_ceil(GROUP);
        let mut ring = [Coming {
            words: [[0; 2]; GROUP],
            lines: [view.value(0); GROUP],
        }; AHEAD];
        let (lag, meanings) = (const { lag::<S>() }, self.table.codes().answers());
        for (group, coming) in ring.iter_mut().enumerate().take(groups) {
            coming.ask::<S, FAR>(lanes, view, &self.mix, self.keys_of(group));
        }
        // What groups left open, the last one lowest.
        let mut open: Bits = 0;
        for group in 0..groups + lag {
            open <<= GROUP;
            if group < groups {
                if FAR && group + 1 < groups {
                    ring[(group + 1) % AHEAD].ask_near();
                }
                let coming = &mut ring[group % AHEAD];
                open |= coming.answer(lanes, meanings, self.answers_of(group));
                if group + AHEAD < groups {
                    let keys = self.keys_of(group + AHEAD);
                    coming.ask::<S, FAR>(lanes, view, &self.mix, keys);
                }
            }
            let late = open >> (lag * GROUP) & ALL;
            if late != 0 {
                self.look_further(lanes, group - lag, late);
            }
        }
        if self.table.codes().has_escaped() {
            A::resolve(self.table, self.mix, self.keys, self.answers);
        }
    }
}

impl<'a> Coming<'a> {
    /// Asks for the home lines of a group.
    #[inline(always)]
    fn ask<S: Lanes, const FAR: bool>(
        &mut self,
        lanes: S,
        lines: PagedView<'a, Line>,
        mix: &WidePermutation,
        keys: &[u128; GROUP],
    ) {
        lanes.mix(mix, keys, &mut self.words);
        for (line, &word) in self.lines.iter_mut().zip(&self.words) {
            *line = lines.portion(portion(word));
            prefetch::read_into::<FAR>(ptr::from_ref(*line).cast());
        }
    }

    /// Asks for the lines of a group that are in the second cache level by now.
    #[inline(always)]
    fn ask_near(&self) {
        for &line in &self.lines {
            prefetch::read(ptr::from_ref(line).cast());
        }
    }

    /// Looks into these lines. Tells which keys may lie further on, and asks for their next lines:
    /// they are neighbours in memory nearly always.
    #[inline(always)]
    fn answer<S: Lanes, A: Answer>(
        &self,
        lanes: S,
        meanings: Answers<'_>,
        answers: &mut [A; GROUP],
    ) -> Bits {
        let found = lanes.look120(&self.lines, &self.words);
        *answers = A::of_group(lanes, &found, meanings);
        let passed = Bits::from(found.passed);
        for at in keys_of_bits(passed) {
            let line = ptr::from_ref(self.lines[at]);
            prefetch::read(line.wrapping_add(1).cast());
            prefetch::read(line.wrapping_add(2).cast());
        }
        passed
    }
}

impl<A: Answer> Lookup<'_, A> {
    /// The first key of a group. The last group begins early where it would not be full: some
    /// keys are answered twice, alike.
    #[inline(always)]
    fn first_of(&self, group: usize) -> usize {
        (group * GROUP).min(self.keys.len() - GROUP)
    }

    #[inline(always)]
    fn keys_of(&self, group: usize) -> &[u128; GROUP] {
        let keys = self.keys[self.first_of(group)..].first_chunk();
        keys.expect("a group of keys is left")
    }

    #[inline(always)]
    fn answers_of(&mut self, group: usize) -> &mut [A; GROUP] {
        let first = self.first_of(group);
        let answers = self.answers[first..].first_chunk_mut();
        answers.expect("as many answers as keys")
    }

    /// Looks beyond the home line of those keys of a group whose bits are set.
    #[inline(always)]
    fn look_further<S: Lanes>(&mut self, lanes: S, group: usize, late: Bits) {
        let lines = self.table.lines().view();
        for at in keys_of_bits(late) {
            let index = self.first_of(group) + at;
            let word = self.mix.apply(self.keys[index]);
            let mut line = home(word, lines.len());
            for _ in 0..reach(lines.len()) {
                line = after(line, lines.len());
                let found = look(lanes, lines.value(line), word);
                self.answers[index] = A::of(found.code, self.table.codes().answers());
                if found.passed == 0 {
                    break;
                }
            }
        }
    }
}

/// The keys whose bits are set, by place in their group.
#[inline(always)]
fn keys_of_bits(mut rest: Bits) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (rest != 0).then(|| rest.trailing_zeros() as usize % GROUP);
        rest &= rest.wrapping_sub(1);
        next
    })
}
