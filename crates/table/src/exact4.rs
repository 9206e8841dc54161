//! Exact IPv4 addresses: one 64-byte line a lookup, hit or miss.
//!
//! A keyed permutation of the 32 address bits gives the place of an address; the upper part of
//! the place picks a line and what is left is compared with all places of the line at once.
//! Nothing is hashed away, so there are no false positives. Three forms of line ([`line`]): from
//! [`NARROW_MIN`] addresses up the lower 16 bits of a place tell the addresses of a line apart,
//! 31 a line where all have the same answer, otherwise 21 with a byte each for the answer; below
//! that lines hold 12 whole places with a byte each. What a line cannot take is in a small side
//! table, and the line says so.

mod at_once;
mod codes;
mod fill;
mod line;
mod lines;
mod lookup;
mod side;

use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::order::Ordered;
use crate::secret::Secret;
use crate::simd::{self, Level};
use at_once::LookupAtOnce;
use codes::Census;
use fill::fill;
use frame::Pages;
use line::{GROUP, Narrow, Shared, Wide};
use lines::Lines;
use lookup::{Answer, GROUPS, Lookup, Overlap};

/// From here on 16 bits of a place are enough: 65,540 lines are 4 MB, which is what
/// [`Wide`] lines take for as many addresses.
const NARROW_MIN: usize = 327_680;

/// A set of IPv4 addresses, each with the lists that hold it. A clone shares the memory; changing
/// one copies what the change touches.
#[derive(Clone, Debug)]
pub struct AddressSetV4 {
    layout: Layout,
    level: Level,
}

#[derive(Clone, Debug)]
enum Layout {
    Narrow(Lines<Narrow>),
    Shared(Lines<Shared>),
    Wide(Lines<Wide>),
}

/// The same for each form of line.
macro_rules! each {
    ($layout:expr, $lines:ident => $do:expr) => {
        match $layout {
            Layout::Narrow($lines) => $do,
            Layout::Shared($lines) => $do,
            Layout::Wide($lines) => $do,
        }
    };
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
        let census = Census::of(&ordered);
        let count = ordered.keys.len();
        let layout = match ordered.only() {
            _ if count < NARROW_MIN => Layout::Wide(fill(&ordered, &census, permutation)?),
            Some(_) => Layout::Narrow(fill(&ordered, &census, permutation)?),
            None => Layout::Shared(fill(&ordered, &census, permutation)?),
        };
        let set = Self {
            layout,
            level: Level::best(),
        };
        Ok((set, ordered.duplicates))
    }

    /// Gives `address` its lists; none removes it. Clones keep what they had.
    ///
    /// # Errors
    /// [`CompileError::Memory`]; this set may then answer wrongly for `address` and no other: drop
    /// it and keep the clone it was made from.
    pub(crate) fn assign(&mut self, address: u32, mask: ListMask) -> Result<(), CompileError> {
        each!(&mut self.layout, lines => lines.assign(address, mask.0))
    }

    /// Brings pages home.
    pub(crate) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        each!(&mut self.layout, lines => lines.compact(work))
    }

    /// The lists of one address.
    #[must_use]
    pub fn get(&self, address: u32) -> ListMask {
        ListMask(each!(&self.layout, lines => lines.get(address)))
    }

    /// True when changes have filled it so much that building it anew pays.
    pub(crate) fn is_crowded(&self) -> bool {
        each!(&self.layout, lines => lines.is_crowded())
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
        each!(&self.layout, lines => lines.count())
    }

    /// True when nothing matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For each key the lists that hold it.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    #[inline]
    pub fn lookup_burst(&self, keys: &[u32], masks: &mut [ListMask]) {
        self.look_up(keys, &mut masks[..keys.len()], ListMask::EMPTY, ());
    }

    /// [`AddressSetV4::lookup_burst`]; `meanwhile` runs once, while lines are on their way.
    pub(crate) fn lookup_overlapped(
        &self,
        keys: &[u32],
        masks: &mut [ListMask],
        overlap: &mut dyn FnMut(),
    ) {
        self.look_up(keys, &mut masks[..keys.len()], ListMask::EMPTY, overlap);
    }

    /// Writes which keys are in the set and tells how many are.
    ///
    /// # Panics
    /// When `found` is shorter than `keys`.
    #[inline]
    pub fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize {
        self.look_up(keys, &mut found[..keys.len()], false, ())
    }

    /// There are as many answers as keys. Tells how many were found where that is
    /// [`Answer::COUNTED`].
    #[inline]
    fn look_up<A: Answer>(
        &self,
        keys: &[u32],
        answers: &mut [A],
        none: A,
        overlap: impl Overlap,
    ) -> usize {
        if self.is_empty() {
            overlap.run();
            answers.fill(none);
            return 0;
        }
        if let ((keys, []), (answers, [])) = (keys.as_chunks(), answers.as_chunks_mut()) {
            if let (Ok(keys), Ok(answers)) = (keys.try_into(), (&mut *answers).try_into()) {
                return self.look_up_at_once::<A, _, GROUPS>(keys, answers, overlap);
            }
            if let (Ok(keys), Ok(answers)) = (keys.try_into(), answers.try_into()) {
                return self.look_up_at_once::<A, _, { 2 * GROUPS }>(keys, answers, overlap);
            }
        }
        each!(&self.layout, table => {
            let lookup = Lookup { table, keys, answers, overlap };
            simd::run(self.level, lookup)
        })
    }

    #[inline]
    fn look_up_at_once<A: Answer, M: Overlap, const COUNT: usize>(
        &self,
        keys: &[[u32; GROUP]; COUNT],
        answers: &mut [[A; GROUP]; COUNT],
        overlap: M,
    ) -> usize {
        each!(&self.layout, table => {
            let lookup = LookupAtOnce { table, keys, answers, overlap };
            simd::run(self.level, lookup)
        })
    }

    /// Bytes that a lookup can touch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        each!(&self.layout, lines => lines.bytes())
    }

    /// The memory of the lines, nearly all that lookups read, where it lies side by side. For
    /// measurements: a set is held against what these very lines give to plain reads.
    #[must_use]
    pub fn lines(&self) -> Option<&[[u64; 8]]> {
        each!(&self.layout, lines => lines.as_words())
    }

    /// The pages of the lines.
    pub(crate) fn pages(&self) -> Option<Pages> {
        if self.is_empty() {
            return None;
        }
        each!(&self.layout, lines => lines.pages())
    }
}

#[cfg(test)]
mod tests;
