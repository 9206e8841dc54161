//! Lines in memory, the classes of their places, and the stash for what did not fit.

use super::line::Line;
use crate::column::Column;
use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::memory::{Slab, zeroed};
use crate::order::Ordered;
use crate::secret::Permutation;
use crate::simd::{self, Lanes, prefetch};
use frame::Pages;

/// Lines on their way while a burst is looked up.
const AHEAD: usize = 48;

/// A table of lines. Place `i` of line `n` has number `n * PLACES + i`; those of the stash
/// follow.
#[derive(Debug)]
pub(crate) struct Lines<L> {
    lines: Slab<L>,
    column: Column,
    /// Places that did not fit their line, ascending.
    stash: Vec<u32>,
}

impl<L: Line> Lines<L> {
    /// Fills lines from front to back. `ordered` is not empty and ascends by place.
    pub(crate) fn fill(
        ordered: &Ordered<u32>,
        permutation: Permutation,
    ) -> Result<Self, CompileError> {
        let count = (ordered.keys.len() / L::FILL + 1).max(L::LINES_MIN);
        // Numbers of places are 32 bits; a sixteenth of them is left to the stash.
        let count_max = (0xf000_0000 / L::PLACES - 1) * L::FILL;
        if ordered.keys.len() > count_max {
            return Err(CompileError::TooManyAddresses {
                count: ordered.keys.len(),
                count_max,
            });
        }
        let lines = zeroed(count)?;
        let mut filler = Filler {
            ordered,
            permutation,
            lines,
            places: Vec::new(),
            next: 0,
            stash: Vec::new(),
        };
        filler.fill();
        let classes = ordered.classes();
        let Filler { lines, stash, .. } = filler;
        let column = Column::new(classes, lines.len() * L::PLACES + stash.len())?;
        let mut filled = Self {
            lines,
            column,
            stash,
        };
        filled.set_answers(ordered, permutation);
        Ok(filled)
    }

    /// Writes the class of every place, by looking each address up.
    fn set_answers(&mut self, ordered: &Ordered<u32>, permutation: Permutation) {
        if self.column.only().is_some() {
            return;
        }
        let mut classes = ordered.classes();
        for (index, &key) in ordered.keys.iter().enumerate() {
            let view = View {
                lines: &self.lines,
                stash: &self.stash,
            };
            let number = view.number_after(simd::Portable, permutation.apply(key)) - 1;
            let mask = ordered.mask(index);
            self.column.set(number as usize, classes.intern(mask), mask);
        }
    }

    /// Takes places in `masks` and leaves answers.
    #[inline(always)]
    pub(crate) fn lookup_burst<S: Lanes>(&self, lanes: S, masks: &mut [ListMask]) {
        let view = View {
            lines: &self.lines,
            stash: &self.stash,
        };
        match self.column.only() {
            Some(only) => view.roll(lanes, masks, |number| {
                ListMask(if number == 0 { 0 } else { only.0 })
            }),
            None => {
                view.roll(lanes, masks, |number| {
                    self.column.prefetch(number.saturating_sub(1) as usize);
                    ListMask(number)
                });
                for mask in masks {
                    *mask = self.column.get((mask.0 as usize).wrapping_sub(1));
                }
            }
        }
    }

    /// The pages of the lines; `None` when they are few enough for the heap.
    pub(crate) fn pages(&self) -> Option<Pages> {
        self.lines.pages()
    }

    /// Bytes that a lookup can touch.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.lines[..]) + self.column.bytes() + size_of_val(&self.stash[..])
    }
}

/// What a burst reads, with the slices taken once.
#[derive(Clone, Copy)]
struct View<'a, L> {
    lines: &'a [L],
    stash: &'a [u32],
}

impl<L: Line> View<'_, L> {
    /// Replaces each place in `masks` by what `answer` makes of the number after its place.
    #[inline(always)]
    fn roll<S: Lanes>(self, lanes: S, masks: &mut [ListMask], answer: impl Fn(u32) -> ListMask) {
        let count = self.lines.len();
        for mask in masks.iter().take(AHEAD) {
            prefetch(self.lines, line_of(mask.0, count));
        }
        for index in 0..masks.len() {
            if let Some(ahead) = masks.get(index + AHEAD) {
                prefetch(self.lines, line_of(ahead.0, count));
            }
            masks[index] = answer(self.number_after(lanes, masks[index].0));
        }
    }

    /// One more than the number of the place that holds `place`; 0 if none does.
    #[inline(always)]
    fn number_after<S: Lanes>(self, lanes: S, place: u32) -> u32 {
        let index = line_of(place, self.lines.len());
        let line = &self.lines[index];
        let found = line.find(lanes, place);
        // One branch for both, nearly never taken: hits and misses mix without mispredictions.
        if (found == 0) & line.overflowed() {
            return self.stashed_after(place);
        }
        let number = (index * L::PLACES) as u32 + found.trailing_zeros() + 1;
        if found == 0 { 0 } else { number }
    }

    #[cold]
    #[inline(never)]
    fn stashed_after(self, place: u32) -> u32 {
        let first = (self.lines.len() * L::PLACES + 1) as u32;
        self.stash
            .binary_search(&place)
            .map_or(0, |index| first + index as u32)
    }
}

#[inline(always)]
fn line_of(place: u32, lines: usize) -> usize {
    ((u64::from(place) * lines as u64) >> 32) as usize
}

struct Filler<'a, L> {
    ordered: &'a Ordered<u32>,
    permutation: Permutation,
    lines: Slab<L>,
    /// Places of the line being filled.
    places: Vec<u32>,
    /// The next key of `ordered`.
    next: usize,
    stash: Vec<u32>,
}

impl<L: Line> Filler<'_, L> {
    fn fill(&mut self) {
        for index in 0..self.lines.len() {
            self.gather(index);
            self.lines[index] = self.line(index);
        }
    }

    /// Collects the places of line `index`.
    fn gather(&mut self, index: usize) {
        self.places.clear();
        while let Some(&key) = self.ordered.keys.get(self.next) {
            let place = self.permutation.apply(key);
            if line_of(place, self.lines.len()) != index {
                break;
            }
            self.places.push(place);
            self.next += 1;
        }
    }

    fn line(&mut self, index: usize) -> L {
        let places = &mut self.places;
        if places.is_empty() {
            // The place before the first of this line is of another line, and differs from all
            // of this one in the remainder too (`LINES_MIN`).
            let first = ((index as u64) << 32).div_ceil(self.lines.len() as u64) as u32;
            return L::holding(&[first.wrapping_sub(1)]);
        }
        let overflows = places.len() > L::PLACES;
        if places.len() > 1 && (L::remainder(places[0]) > L::remainder(places[1])) != overflows {
            places.swap(0, 1);
        }
        if overflows {
            self.stash.extend_from_slice(&places[L::PLACES..]);
            places.truncate(L::PLACES);
        }
        L::holding(places)
    }
}
