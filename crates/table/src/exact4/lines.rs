//! A table of lines: lookups, and changes by version.

use super::codes::Codes;
use super::line::{ASIDE, Coded, Line};
use super::side::Side;
use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::memory::out_of_memory;
use crate::secret::Permutation;
use crate::simd::{Job, Lanes, Portable};
use frame::{Paged, PagedView, Pages};

/// Keys whose lines are asked for together. Twice as many are on their way in a long burst.
const WINDOW: usize = 64;

/// Addresses by place. Clones share memory; a change copies what it touches.
#[derive(Clone, Debug)]
pub(crate) struct Lines<L> {
    pub(super) lines: Paged<L>,
    pub(super) codes: Codes,
    pub(super) side: Side,
    pub(super) permutation: Permutation,
    /// Addresses.
    pub(super) count: usize,
}

/// The line of a place.
#[inline(always)]
pub(super) fn line_of(place: u32, lines: usize) -> usize {
    ((u64::from(place) * lines as u64) >> 32) as usize
}

/// The lowest place of a line.
pub(super) fn first_of(line: usize, lines: usize) -> u32 {
    ((line as u64) << 32).div_ceil(lines as u64) as u32
}

impl<L: Line> Lines<L> {
    /// How many addresses there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The memory of the lines.
    pub(crate) fn pages(&self) -> Option<Pages> {
        self.lines.pages()
    }

    /// Bytes that a lookup can touch.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.len() * size_of::<L>() + self.side.bytes()
    }

    /// True when more addresses are in the side table than a newly built table would leave there.
    pub(crate) fn is_crowded(&self) -> bool {
        self.side.len() > 1024 + self.count / 64
    }

    /// The lists of one address.
    pub(crate) fn get(&self, address: u32) -> u32 {
        let place = self.permutation.apply(address);
        let line = &self.lines.view()[line_of(place, self.lines.len())];
        match line.find(Portable, place) {
            ASIDE => self.side.get(place),
            code => self.codes.masks()[usize::from(code)],
        }
    }

    /// Gives an address its lists; none removes it.
    pub(crate) fn assign(&mut self, address: u32, mask: u32) -> Result<(), CompileError> {
        let before = self.get(address);
        if before == mask {
            return Ok(());
        }
        let place = self.permutation.apply(address);
        let index = line_of(place, self.lines.len());
        let first = first_of(index, self.lines.len());
        let line = self.lines.view()[index];
        let mut places = Vec::with_capacity(L::PLACES);
        line.decode(first, &mut places);
        let was_aside = before != 0 && {
            let code = places.iter().find(|coded| coded.0 == place);
            code.is_none_or(|coded| coded.1 == ASIDE)
        };
        places.retain(|coded| coded.0 != place);
        let mut codes = self.codes;
        let overflows = self.put(&mut places, &mut codes, place, mask);
        let goes_aside = mask != 0 && codes.find(mask).is_none_or(|_| overflows);
        if goes_aside {
            self.side.set(place, mask)?;
        }
        let overflowed = line.overflowed() | overflows;
        *self.lines.get_mut(index).map_err(out_of_memory)? = L::encode(&places, overflowed, first);
        self.codes = codes;
        if was_aside && !goes_aside {
            self.side.set(place, 0)?;
        }
        self.count = self.count + usize::from(mask != 0) - usize::from(before != 0);
        Ok(())
    }

    /// Adds a place to those of its line if it can; tells whether the line overflows by it.
    fn put(&self, places: &mut Vec<Coded>, codes: &mut Codes, place: u32, mask: u32) -> bool {
        if mask == 0 {
            return false;
        }
        let code = codes.find_or_add(mask, L::CODES);
        let code = code.or(L::ESCAPES.then_some(ASIDE));
        match code {
            Some(code) if places.len() < L::PLACES => {
                places.push((place, code));
                false
            }
            _ => true,
        }
    }
}

/// Looks up a burst; `masks` is as long as `keys`.
pub(super) struct Lookup<'a, L> {
    pub(super) table: &'a Lines<L>,
    pub(super) keys: &'a [u32],
    pub(super) masks: &'a mut [ListMask],
}

impl<L: Line> Job for Lookup<'_, L> {
    type Answer = ();

    /// Places first, a vector at a time; they wait in `masks` until their line is there. The
    /// lines of a window are asked for before the window before it is answered.
    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) {
        let Self { table, keys, masks } = self;
        let permutation = table.permutation;
        for (mask, &key) in masks.iter_mut().zip(keys) {
            mask.0 = permutation.apply(key);
        }
        let view = table.lines.view();
        let mut coming = [[view.value(0); WINDOW]; 2];
        ask(view, &masks[..masks.len().min(WINDOW)], &mut coming[0]);
        for (window, from) in (0..masks.len()).step_by(WINDOW).enumerate() {
            let to = masks.len().min(from + WINDOW);
            let next = &masks[to..masks.len().min(to + WINDOW)];
            ask(view, next, &mut coming[(window + 1) % 2]);
            let answered = &mut masks[from..to];
            let aside = answer(lanes, table.codes.masks(), &coming[window % 2], answered);
            if aside != 0 {
                table.look_aside(aside, &keys[from..to], answered);
            }
        }
    }
}

/// Finds the lines of `places` and asks for them.
#[inline(always)]
fn ask<'a, L>(lines: PagedView<'a, L>, places: &[ListMask], coming: &mut [&'a L; WINDOW]) {
    for (line, place) in coming.iter_mut().zip(places) {
        *line = lines.value(line_of(place.0, lines.len()));
        frame::prefetch::read(std::ptr::from_ref(*line).cast());
    }
}

/// Replaces places by their answers. A bit is set for each that the side table must answer.
#[inline(always)]
fn answer<S: Lanes, L: Line>(
    lanes: S,
    answers: &[u32; 256],
    lines: &[&L; WINDOW],
    places: &mut [ListMask],
) -> u64 {
    let mut aside = 0;
    for (index, (place, line)) in places.iter_mut().zip(lines).enumerate() {
        let code = line.find(lanes, place.0);
        aside |= u64::from(code == ASIDE) << index;
        place.0 = answers[usize::from(code)];
    }
    aside
}

impl<L: Line> Lines<L> {
    /// Answers the keys whose bits are set, from the side table.
    #[cold]
    #[inline(never)]
    fn look_aside(&self, aside: u64, keys: &[u32], masks: &mut [ListMask]) {
        let marked = |index: &usize| aside >> index & 1 != 0;
        for index in (0..keys.len()).filter(marked) {
            self.side.prefetch(self.permutation.apply(keys[index]));
        }
        for index in (0..keys.len()).filter(marked) {
            masks[index].0 = self.side.get(self.permutation.apply(keys[index]));
        }
    }
}
