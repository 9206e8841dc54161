//! Looking a burst up.
//!
//! The lines of 64 keys are on their way at once, or of 128 where no cache holds the table and the
//! core keeps as many under way; eight more are asked for whenever eight have been answered: a
//! burst that was asked for and answered by windows of 64 left the memory idle while it answered,
//! and lost a tenth to a quarter. What a key costs beside its line counts as much: the loop that
//! waits for lines leaves a code a key, and what the codes mean is worked out a vector at a time
//! afterwards.

use super::codes::Answers;
use super::line::Line;
use super::lines::{Lines, line_of};
use crate::mask::ListMask;
use crate::secret::Permutation;
use crate::simd::{self, Ahead, Job, Lanes};
use frame::{PagedView, prefetch};
use std::ptr;

/// Keys whose lines are asked for, and answered, together.
pub(super) const GROUP: usize = 8;
/// Keys whose codes are turned into answers together.
pub(super) const WINDOW: usize = 64;
pub(super) const GROUPS: usize = WINDOW / GROUP;
/// Groups on their way, 64 lines. Half as many gave 5 % less in bursts of 64 and as much in longer
/// ones.
const NEAR_AHEAD: usize = GROUPS;
/// The same where no cache holds the table and the core keeps that many under way, 128 lines.
pub(super) const LONG_AHEAD: usize = 2 * GROUPS;
/// Windows whose places are kept: more than are on their way, and a power of two, since they go
/// round.
const NEAR_WINDOWS: usize = 2;
pub(super) const LONG_WINDOWS: usize = 4;

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
        let groups = answers.as_chunks_mut().0.iter_mut().zip(codes);
        if let Some(masks) = meanings.few() {
            for (answers, codes) in groups {
                *answers = lanes.pick(masks, codes).map(Self);
            }
        } else {
            let masks = meanings.all();
            for (answers, codes) in groups {
                *answers = codes.map(|code| Self(masks[L::CODES.index(code)]));
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

/// The codes of a group.
type Group = [u8; GROUP];
/// The codes of a window.
type WindowCodes = [Group; GROUPS];

/// Looks up a burst, with as many answers as keys, and tells how many were found where that is
/// [`Answer::COUNTED`].
pub(super) struct Lookup<'a, L, A> {
    pub(super) table: &'a Lines<L>,
    pub(super) keys: &'a [u32],
    pub(super) answers: &'a mut [A],
}

/// The places of the keys of a window.
type Places = [[u32; GROUP]; GROUPS];

/// Keys on their way: the places of so many windows, which hold them all, and their lines.
struct Coming<'a, L, const WINDOWS: usize, const AHEAD: usize> {
    lines: PagedView<'a, L>,
    permutation: Permutation,
    places: [Places; WINDOWS],
    asked: [[&'a L; GROUP]; AHEAD],
}

impl<L: Line, A: Answer> Job for Lookup<'_, L, A> {
    type Answer = usize;

    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) -> usize {
        match self.table.ahead::<S>() {
            Ahead::Near => self.roll::<S, false, NEAR_WINDOWS, NEAR_AHEAD>(lanes),
            Ahead::Long => self.roll::<S, false, LONG_WINDOWS, LONG_AHEAD>(lanes),
            Ahead::Far => self.roll::<S, true, LONG_WINDOWS, LONG_AHEAD>(lanes),
        }
    }
}

impl<L: Line, A: Answer> Lookup<'_, L, A> {
    /// Looks all keys up, `AHEAD` groups on their way. `FAR`: lines come into the second cache
    /// level first.
    #[inline(always)]
    pub(super) fn roll<S: Lanes, const FAR: bool, const WINDOWS: usize, const AHEAD: usize>(
        self,
        lanes: S,
    ) -> usize {
        let Self {
            table,
            keys,
            answers,
        } = self;
        debug_assert!(!L::WHOLE_PAGES || table.lines.view().has_whole_pages());
        let begun = const {
            assert!(AHEAD.is_multiple_of(GROUPS) && AHEAD / GROUPS < WINDOWS);
            AHEAD / GROUPS
        };
        let groups = keys.len().div_ceil(GROUP);
        let mut coming = Coming::<L, WINDOWS, AHEAD>::new(table);
        let mut windows = keys.chunks(WINDOW);
        for (window, keys) in windows.by_ref().take(begun).enumerate() {
            coming.begin::<FAR>(window, keys);
        }
        let bursts = keys.chunks(WINDOW).zip(answers.chunks_mut(WINDOW));
        let mut hits = 0;
        for (window, (keys, answers)) in bursts.enumerate() {
            if let Some(next) = windows.next() {
                coming.place(window + begun, next);
            }
            let mut codes: WindowCodes = [[L::NONE; GROUP]; GROUPS];
            for (group, codes) in (window * GROUPS..groups).zip(&mut codes) {
                coming.find(lanes, group, codes);
                if group + AHEAD < groups {
                    coming.ask::<FAR>(group + AHEAD);
                }
            }
            hits += table.say(lanes, &codes, keys, answers);
        }
        hits
    }
}

impl<'a, L: Line, const WINDOWS: usize, const AHEAD: usize> Coming<'a, L, WINDOWS, AHEAD> {
    #[inline(always)]
    fn new(table: &'a Lines<L>) -> Self {
        let lines = table.lines.view();
        Self {
            lines,
            permutation: table.permutation,
            places: [[[0; GROUP]; GROUPS]; WINDOWS],
            asked: [[lines.value(0); GROUP]; AHEAD],
        }
    }

    /// Asks for the lines of one of the first windows, which hold `AHEAD` groups at most.
    #[inline(always)]
    fn begin<const FAR: bool>(&mut self, window: usize, keys: &[u32]) {
        self.place(window, keys);
        for group in 0..keys.len().div_ceil(GROUP) {
            self.ask::<FAR>(window * GROUPS + group);
        }
    }

    /// Finds the places of the keys of a window.
    #[inline(always)]
    fn place(&mut self, window: usize, keys: &[u32]) {
        let places = self.places[window % WINDOWS].as_flattened_mut();
        // A length that the compiler knows makes loops without a count.
        match <&[u32; WINDOW]>::try_from(keys) {
            Ok(keys) => permute(self.permutation, keys, places),
            Err(_) => permute(self.permutation, keys, places),
        }
    }

    /// Asks for the lines of a group whose places are known. Where the burst ends within the group
    /// they are those of older places too.
    #[inline(always)]
    fn ask<const FAR: bool>(&mut self, group: usize) {
        let places = &self.places[group / GROUPS % WINDOWS][group % GROUPS];
        for (line, &place) in self.asked[group % AHEAD].iter_mut().zip(places) {
            *line = ask::<L, FAR>(self.lines, place);
        }
    }

    /// The codes of a group.
    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, group: usize, codes: &mut Group) {
        let places = &self.places[group / GROUPS % WINDOWS][group % GROUPS];
        find(lanes, places, &self.asked[group % AHEAD], codes);
    }
}

/// Asks for the line of a place.
#[inline(always)]
pub(super) fn ask<L: Line, const FAR: bool>(view: PagedView<'_, L>, place: u32) -> &L {
    let line = if L::WHOLE_PAGES {
        view.portion(place)
    } else {
        view.value(line_of(place, view.len()))
    };
    prefetch::read_into::<FAR>(ptr::from_ref(line).cast());
    line
}

/// The codes of a group.
#[inline(always)]
pub(super) fn find<S: Lanes, L: Line>(
    lanes: S,
    places: &[u32; GROUP],
    lines: &[&L; GROUP],
    codes: &mut Group,
) {
    for (code, (&place, line)) in codes.iter_mut().zip(places.iter().zip(lines)) {
        *code = line.find(lanes, place);
    }
}

/// The places of `keys`.
#[inline(always)]
pub(super) fn permute(permutation: Permutation, keys: &[u32], places: &mut [u32]) {
    for (place, &key) in places.iter_mut().zip(keys) {
        *place = permutation.apply(key);
    }
}

impl<L: Line> Lines<L> {
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
