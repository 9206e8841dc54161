//! Exact IPv6 addresses: a lookup reads one 64-byte line, seldom the next one too.
//!
//! A keyed bijection of the 128 bits of an address: its upper bits pick a line, which implies 8 of
//! them, so 120 are left to store and a byte stays for the code of the answer. A line holds four
//! addresses, compared at once and in full: there are no false positives, and a hit costs what a
//! miss costs, for one list or for many. An address that finds its line full lies in the next one
//! with room, and the lines it passed are marked.

mod codes;
mod fill;
mod line;
mod lookup;
mod table;
#[cfg(test)]
mod tests;

use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::hits;
use crate::mask::ListMask;
use crate::secret::{Secret, WidePermutation};
use crate::simd::Level;
use frame::Pages;
use lookup::Answer;
use table::Table;

/// A set of IPv6 addresses, each with the lists that hold it. A clone is another version of it,
/// which shares what does not change.
#[derive(Clone, Debug)]
pub struct AddressSetV6 {
    mix: WidePermutation,
    table: Table,
    level: Level,
}

impl AddressSetV6 {
    /// The addresses, duplicates allowed; every hit answers with list 0.
    ///
    /// # Errors
    /// [`CompileError::Memory`].
    pub fn new(addresses: &[u128]) -> Result<Self, CompileError> {
        Self::compile(&[addresses], Secret::draw()).map(|(set, _)| set)
    }

    /// Column `i` belongs to list `i`. Also tells, for each list, how many duplicates it had.
    pub(crate) fn compile(
        columns: &[impl AsRef<[u128]>],
        secret: Secret,
    ) -> Result<(Self, Vec<u64>), CompileError> {
        let mix = secret.wide_permutation();
        let (table, duplicates) = fill::table(columns, mix)?;
        let set = Self {
            mix,
            table,
            level: Level::best(),
        };
        Ok((set, duplicates))
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
        self.table.len()
    }

    /// True when nothing matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From now on the lists of `mask`, and no others, hold `address`. Copies the pages it
    /// touches, one of 64 KiB nearly always; versions cloned before keep their answers.
    ///
    /// # Errors
    /// [`CompileError::Memory`]; the set is then as it was.
    pub(crate) fn assign(&mut self, address: u128, mask: ListMask) -> Result<(), CompileError> {
        self.table.set(self.mix.apply(address), mask)
    }

    /// Brings pages home.
    pub(crate) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        self.table.compact(work)
    }

    /// True when so many addresses were added since the set was compiled that lookups would gain
    /// from compiling it anew.
    pub(crate) fn is_crowded(&self) -> bool {
        self.table.is_crowded()
    }

    /// For each key the lists that hold it.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    #[inline]
    pub fn lookup_burst(&self, keys: &[u128], masks: &mut [ListMask]) {
        let masks = &mut masks[..keys.len()];
        if self.is_empty() {
            masks.fill(ListMask::EMPTY);
            return;
        }
        self.look_up(keys, masks);
    }

    /// Writes which keys are in the set and tells how many are.
    ///
    /// # Panics
    /// When `found` is shorter than `keys`.
    pub fn contains_burst(&self, keys: &[u128], found: &mut [bool]) -> usize {
        let found = &mut found[..keys.len()];
        if self.is_empty() {
            found.fill(false);
            return 0;
        }
        self.look_up(keys, found);
        hits::count(found)
    }

    /// The set is not empty, and there are as many answers as keys.
    #[inline]
    fn look_up<A: Answer>(&self, keys: &[u128], answers: &mut [A]) {
        lookup::look_up((&self.table, self.mix, self.level), keys, answers);
    }

    /// Bytes that a lookup can touch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// The pages of the lines.
    pub(crate) fn pages(&self) -> Option<Pages> {
        self.table.lines().pages()
    }
}
