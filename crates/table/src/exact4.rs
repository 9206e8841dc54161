//! Exact IPv4 addresses: one 64-byte line a lookup.
//!
//! A keyed permutation of the 32 address bits gives the place of an address; the upper part of
//! the place picks a line and what is left is compared with all places of the line at once.
//! From [`NARROW_MIN`] addresses up the lower 16 bits are enough to tell the addresses of a line
//! apart ([`line::Narrow`], 32 a line); below that lines hold all 32 bits ([`line::Wide`], 16 a
//! line). Nothing is hashed away, so there are no false positives.

mod line;
mod lines;

use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::order::Ordered;
use crate::secret::{Permutation, Secret};
use crate::simd::{self, Job, Lanes, Level};
use frame::Pages;
use line::{Narrow, Wide};
use lines::Lines;

/// From here on 32 places of 16 bits a line: 65,538 lines are 4 MB, which is what `Wide` lines
/// take for as many addresses.
const NARROW_MIN: usize = 524_288;

/// A set of IPv4 addresses, each with the lists that hold it.
#[derive(Debug)]
pub struct AddressSetV4 {
    permutation: Permutation,
    layout: Layout,
    level: Level,
    count: usize,
}

#[derive(Debug)]
enum Layout {
    Empty,
    Narrow(Lines<Narrow>),
    Wide(Lines<Wide>),
}

impl AddressSetV4 {
    /// The addresses, duplicates allowed; every hit answers with list 0.
    ///
    /// # Errors
    /// [`CompileError::Memory`].
    pub fn new(addresses: &[u32]) -> Result<Self, CompileError> {
        Self::compile(&[addresses], Secret::draw()).map(|(set, _)| set)
    }

    /// Column `i` belongs to list `i`. Also tells, for each list, how many duplicates it had.
    pub(crate) fn compile(
        columns: &[impl AsRef<[u32]>],
        secret: Secret,
    ) -> Result<(Self, Vec<u64>), CompileError> {
        let permutation = secret.permutation();
        let ordered = Ordered::new(columns, |address| permutation.apply(address))?;
        let count = ordered.keys.len();
        let layout = match count {
            0 => Layout::Empty,
            1..NARROW_MIN => Layout::Wide(Lines::fill(&ordered, permutation)?),
            _ => Layout::Narrow(Lines::fill(&ordered, permutation)?),
        };
        let set = Self {
            permutation,
            layout,
            level: Level::best(),
            count,
        };
        Ok((set, ordered.duplicates))
    }

    /// The same set, compared at `level`; for tests and benchmarks.
    #[must_use]
    pub fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Distinct addresses.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True when nothing matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// For each key the lists that hold it.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    #[inline]
    pub fn lookup_burst(&self, keys: &[u32], masks: &mut [ListMask]) {
        let masks = &mut masks[..keys.len()];
        match &self.layout {
            Layout::Empty => masks.fill(ListMask::EMPTY),
            Layout::Narrow(lines) => {
                simd::run(
                    self.level,
                    Lookup {
                        permutation: self.permutation,
                        lines,
                        keys,
                        masks,
                    },
                );
            }
            Layout::Wide(lines) => {
                simd::run(
                    self.level,
                    Lookup {
                        permutation: self.permutation,
                        lines,
                        keys,
                        masks,
                    },
                );
            }
        }
    }

    /// Writes which keys are in the set and tells how many are.
    ///
    /// # Panics
    /// When `found` is shorter than `keys`.
    pub fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize {
        let mut hits = 0;
        let mut masks = [ListMask::EMPTY; 256];
        let found = &mut found[..keys.len()];
        for (keys, found) in keys.chunks(256).zip(found.chunks_mut(256)) {
            self.lookup_burst(keys, &mut masks);
            for (found, mask) in found.iter_mut().zip(&masks) {
                *found = !mask.is_empty();
                hits += usize::from(*found);
            }
        }
        hits
    }

    /// Bytes that a lookup can touch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.layout {
            Layout::Empty => 0,
            Layout::Narrow(lines) => lines.bytes(),
            Layout::Wide(lines) => lines.bytes(),
        }
    }
}

impl AddressSetV4 {
    /// The pages of the lines; `None` when they are few enough for the heap.
    pub(crate) fn pages(&self) -> Option<Pages> {
        match &self.layout {
            Layout::Empty => None,
            Layout::Narrow(lines) => lines.pages(),
            Layout::Wide(lines) => lines.pages(),
        }
    }
}

struct Lookup<'a, L> {
    permutation: Permutation,
    lines: &'a Lines<L>,
    keys: &'a [u32],
    masks: &'a mut [ListMask],
}

impl<L: line::Line> Job for Lookup<'_, L> {
    type Answer = ();
    /// Places first, a vector at a time; they wait in `masks` until their line is there.
    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) {
        let permutation = self.permutation;
        for (mask, &key) in self.masks.iter_mut().zip(self.keys) {
            mask.0 = permutation.apply(key);
        }
        self.lines.lookup_burst(lanes, self.masks);
    }
}
