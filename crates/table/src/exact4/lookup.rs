//! Looking a burst up.
//!
//! The lines of 64 keys are on their way at once, or of 128 where no cache holds the table and the
//! core keeps as many under way; eight more are asked for whenever eight have been answered: a
//! burst that was asked for and answered by windows of 64 left the memory idle while it answered,
//! and lost a tenth to a quarter. What a key costs beside its line counts as much: the loop that
//! waits for lines leaves a code a key, and what the codes mean is worked out a vector at a time
//! afterwards.

use super::codes::Answers;
use super::line::{GROUP, Line};
use super::lines::Lines;
use crate::mask::ListMask;
use crate::simd::{self, Ahead, Job, Lanes};
use frame::{PagedShares, RowShares, Shares};

/// Keys whose codes are turned into answers together.
pub(super) const WINDOW: usize = 64;
pub(super) const GROUPS: usize = WINDOW / GROUP;
/// Groups on their way, 64 lines. Half as many gave 5 % less in bursts of 64 and as much in longer
/// ones.
const NEAR_AHEAD: usize = GROUPS;
/// The same where no cache holds the table, 128 lines.
pub(super) const FAR_AHEAD: usize = 2 * GROUPS;
/// Room for the groups on their way and those of the window that is answered: a power of two,
/// since they go round.
const NEAR_RING: usize = 2 * NEAR_AHEAD;
pub(super) const FAR_RING: usize = 2 * FAR_AHEAD;

/// What a lookup leaves for each key.
pub(super) trait Answer: Copy {
    /// True where whoever asks wants to know how many keys were found.
    const COUNTED: bool;
    /// What codes other than [`Line::ASIDE`] say.
    fn of<S: Lanes, L: Line>(
        lanes: S,
        codes: &WindowCodes,
        meanings: Answers<'_>,
        answers: &mut [Self; WINDOW],
    );
    fn from_mask(mask: u32) -> Self;
}

impl Answer for ListMask {
    const COUNTED: bool = false;
    #[inline(always)]
    fn of<S: Lanes, L: Line>(
        lanes: S,
        codes: &WindowCodes,
        meanings: Answers<'_>,
        answers: &mut [Self; WINDOW],
    ) {
        if let Some(masks) = meanings.few() {
            let codes = codes.as_flattened().as_chunks().0;
            for (answers, codes) in answers.as_chunks_mut().0.iter_mut().zip(codes) {
                *answers = lanes.pick16(masks, codes).map(Self);
            }
        } else {
            let groups = answers.as_chunks_mut().0.iter_mut().zip(codes);
            let masks = meanings.all();
            for (answers, codes) in groups {
                *answers = codes.map(|code| Self(masks[usize::from(code)]));
            }
        }
    }
    fn from_mask(mask: u32) -> Self {
        Self(mask)
    }
}

impl Answer for bool {
    const COUNTED: bool = true;
    // One loop over all: by groups of eight the compiler made words of them, for six times as many
    // instructions.
    #[inline(always)]
    fn of<S: Lanes, L: Line>(
        _: S,
        codes: &WindowCodes,
        _: Answers<'_>,
        answers: &mut [Self; WINDOW],
    ) {
        for (answer, &code) in answers.iter_mut().zip(codes.as_flattened()) {
            *answer = code != L::NONE;
        }
    }
    fn from_mask(mask: u32) -> Self {
        mask != 0
    }
}

/// What is done while the first lines are on their way.
pub(super) trait Overlap {
    fn run(self);
}

impl Overlap for () {
    #[inline(always)]
    fn run(self) {}
}

impl Overlap for &mut dyn FnMut() {
    #[inline(always)]
    fn run(self) {
        self();
    }
}

/// The codes of a group.
type Group = [u8; GROUP];
/// The codes of a window.
type WindowCodes = [Group; GROUPS];

/// Looks up a burst, with as many answers as keys, and tells how many were found where that is
/// [`Answer::COUNTED`].
pub(super) struct Lookup<'a, L, A, M> {
    pub(super) table: &'a Lines<L>,
    pub(super) keys: &'a [u32],
    pub(super) answers: &'a mut [A],
    pub(super) overlap: M,
}

impl<L: Line, A: Answer, M: Overlap> Job for Lookup<'_, L, A, M> {
    type Answer = usize;

    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) -> usize {
        match self.table.ahead::<S>() {
            Ahead::Near => self.roll::<S, false, NEAR_AHEAD, NEAR_RING>(lanes),
            Ahead::Far => self.roll::<S, true, FAR_AHEAD, FAR_RING>(lanes),
        }
    }
}

impl<'a, L: Line, A: Answer, M: Overlap> Lookup<'a, L, A, M> {
    /// Looks all keys up, `AHEAD` groups on their way. `FAR`: lines come into the second cache
    /// level first.
    #[inline(always)]
    pub(super) fn roll<S: Lanes, const FAR: bool, const AHEAD: usize, const RING: usize>(
        self,
        lanes: S,
    ) -> usize {
        let lines = &self.table.lines;
        match lines.as_slice() {
            Some(lines) => {
                let shares = RowShares::<L, GROUP, RING>::new(lines);
                self.roll_in::<S, _, FAR, AHEAD, RING>(lanes, shares)
            }
            None => {
                let shares = PagedShares::<L, GROUP, RING>::new(lines.view());
                self.roll_in::<S, _, FAR, AHEAD, RING>(lanes, shares)
            }
        }
    }

    #[inline(always)]
    fn roll_in<
        S: Lanes,
        C: Shares<'a, L, GROUP>,
        const FAR: bool,
        const AHEAD: usize,
        const RING: usize,
    >(
        self,
        lanes: S,
        mut shares: C,
    ) -> usize {
        let Self {
            table,
            keys,
            answers,
            overlap,
        } = self;
        let begun = const {
            assert!(AHEAD.is_multiple_of(GROUPS) && RING.is_multiple_of(GROUPS) && AHEAD < RING);
            AHEAD / GROUPS
        };
        let groups = keys.len().div_ceil(GROUP);
        let mut windows = keys.chunks(WINDOW);
        for (window, keys) in windows.by_ref().take(begun).enumerate() {
            table.find(&mut shares, window * GROUPS, keys);
            for group in window * GROUPS..groups.min((window + 1) * GROUPS) {
                shares.ask::<FAR>(group);
            }
        }
        overlap.run();
        let bursts = keys.chunks(WINDOW).zip(answers.chunks_mut(WINDOW));
        let mut hits = 0;
        for (window, (keys, answers)) in bursts.enumerate() {
            if let Some(next) = windows.next() {
                table.find(&mut shares, (window + begun) * GROUPS % RING, next);
            }
            let mut codes: WindowCodes = [[L::NONE; GROUP]; GROUPS];
            let first = window * GROUPS;
            let of_window = (first..groups.min(first + GROUPS)).map(|group| {
                let next = group + AHEAD;
                (group % RING, (next < groups).then_some(next % RING))
            });
            L::find_all::<S, _, FAR, GROUPS>(lanes, &mut shares, of_window, &mut codes);
            hits += table.say(lanes, &codes, keys, answers);
        }
        hits
    }
}

impl<L: Line> Lines<L> {
    /// Finds the lines of keys, for groups from `first` on. The last key fills up the last group.
    #[inline(always)]
    pub(super) fn find<'a>(
        &'a self,
        shares: &mut impl Shares<'a, L, GROUP>,
        first: usize,
        keys: &[u32],
    ) {
        let (groups, rest) = keys.as_chunks();
        for (group, keys) in groups.iter().enumerate() {
            shares.find(first + group, self.places(keys));
        }
        if let Some(&last) = rest.last() {
            let mut keys = [last; GROUP];
            keys[..rest.len()].copy_from_slice(rest);
            shares.find(first + groups.len(), self.places(&keys));
        }
    }

    /// The places of keys.
    #[inline(always)]
    pub(super) fn places(&self, keys: &[u32; GROUP]) -> [u32; GROUP] {
        let mut places = [0; GROUP];
        for (place, &key) in places.iter_mut().zip(keys) {
            *place = self.permutation.apply(key);
        }
        places
    }

    /// How lines are asked for.
    #[inline(always)]
    pub(super) fn ahead<S: Lanes>(&self) -> Ahead {
        simd::ahead::<S>(size_of::<L>() * self.lines.len())
    }

    /// Turns codes into answers, and counts what was found where that is asked.
    #[inline(always)]
    pub(super) fn say<S: Lanes, A: Answer>(
        &self,
        lanes: S,
        codes: &WindowCodes,
        keys: &[u32],
        answers: &mut [A],
    ) -> usize {
        let meanings = self.codes.answers();
        // A length that the compiler knows, as for most bursts.
        if let Ok(answers) = <&mut [A; WINDOW]>::try_from(&mut *answers) {
            A::of::<S, L>(lanes, codes, meanings, answers);
        } else {
            let mut all = [A::from_mask(0); WINDOW];
            A::of::<S, L>(lanes, codes, meanings, &mut all);
            answers.copy_from_slice(&all[..answers.len()]);
        }
        // Where the burst ends within the window the codes of no key follow.
        let ours = u64::MAX >> (WINDOW - keys.len());
        let all: &[u8; WINDOW] = zerocopy::transmute_ref!(codes);
        // Of the codes, since the answers have just been stored, and loads of another size wait
        // until such a store is done.
        let mut found = !lanes.equal8(all, L::NONE) & ours;
        let aside = lanes.equal8(all, L::ASIDE) & ours;
        if aside != 0 {
            found &= !self.look_aside(aside, keys, answers);
        }
        if A::COUNTED {
            found.count_ones() as usize
        } else {
            0
        }
    }

    /// Answers the keys that the side table must answer, whose bits are set. The bits of those that
    /// it does not have.
    #[cold]
    #[inline(never)]
    fn look_aside<A: Answer>(&self, aside: u64, keys: &[u32], answers: &mut [A]) -> u64 {
        for index in bits(aside) {
            self.side.prefetch(self.permutation.apply(keys[index]));
        }
        let mut absent = 0;
        for index in bits(aside) {
            let mask = self.side.get(self.permutation.apply(keys[index]));
            answers[index] = A::from_mask(mask);
            absent |= u64::from(mask == 0) << index;
        }
        absent
    }
}

/// The numbers of the bits that are set.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (lowest < u64::BITS).then_some(lowest as usize)
    })
}
