//! All lists of a policy as one structure a family.

use crate::entries::Entries;
use crate::exact4::AddressSetV4;
use crate::exact6::AddressSetV6;
use crate::family::{Family, FamilyFacts};
use crate::mask::{LISTS_MAX, ListMask};
use crate::sieve::Sieve;
use crate::simd::Level;
use frame::Pages;
use std::fmt;
use std::sync::Arc;

/// Up to [`LISTS_MAX`] lists, compiled; workers share it by reference.
///
/// What is shared never changes: [`LiveLists`](crate::live::LiveLists) clones it, which shares
/// all pages, and changes the clone, which copies the pages it touches.
#[derive(Clone, Debug)]
pub struct CompiledLists {
    pub(crate) v4: Family<u32, AddressSetV4>,
    pub(crate) v6: Family<u128, AddressSetV6>,
    pub(crate) facts: Arc<[ListFacts]>,
    /// Of exactly these entries: a change to them takes it away.
    pub(crate) sieve: Option<Arc<Sieve>>,
}

/// What compiling told about one list, both families together unless named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListFacts {
    /// Entries as given.
    pub entries_given: u64,
    /// Addresses as given.
    pub addresses: u64,
    /// Networks as given.
    pub networks: u64,
    /// Ranges as given.
    pub ranges: u64,
    /// Entries that add nothing: given twice, or within other entries of the same list.
    pub duplicates_or_covered: u64,
    /// IPv4 addresses that match.
    pub covered_v4: u64,
    /// IPv6 addresses that match; saturating.
    pub covered_v6: u128,
}

/// Why lists cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// More lists than [`LISTS_MAX`].
    TooManyLists {
        /// As given.
        count: usize,
    },
    /// More addresses in one family than a table can number.
    TooManyAddresses {
        /// As given, without duplicates.
        count: usize,
        /// What is possible.
        count_max: usize,
    },
    /// The memory is not there.
    Memory {
        /// What the system said.
        reason: String,
    },
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyLists { count } => {
                write!(
                    f,
                    "{count} lists; at most {LISTS_MAX} compile into one table"
                )
            }
            Self::TooManyAddresses { count, count_max } => {
                write!(f, "{count} addresses; a table holds at most {count_max}")
            }
            Self::Memory { reason } => write!(f, "no memory for the table: {reason}"),
        }
    }
}

impl std::error::Error for CompileError {}

impl ListFacts {
    pub(crate) fn of(v4: &FamilyFacts, v6: &FamilyFacts) -> Self {
        let mut facts = Self {
            covered_v4: v4.covered as u64,
            covered_v6: v6.covered,
            ..Self::default()
        };
        facts.add(v4);
        facts.add(v6);
        facts
    }

    fn add(&mut self, family: &FamilyFacts) {
        self.entries_given += family.addresses + family.networks + family.ranges;
        self.addresses += family.addresses;
        self.networks += family.networks;
        self.ranges += family.ranges;
        self.duplicates_or_covered += family.duplicates_or_covered;
    }
}

impl CompiledLists {
    /// Compiles `lists`; bit `i` of an answer stands for `lists[i]`.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn compile(lists: &[&Entries]) -> Result<Self, CompileError> {
        if lists.len() > LISTS_MAX {
            return Err(CompileError::TooManyLists { count: lists.len() });
        }
        let v4: Vec<_> = lists.iter().map(|list| &list.v4).collect();
        let v6: Vec<_> = lists.iter().map(|list| &list.v6).collect();
        let (v4, facts_v4) = Family::compile(&v4)?;
        let (v6, facts_v6) = Family::compile(&v6)?;
        let facts = facts_v4.iter().zip(&facts_v6);
        Ok(Self {
            v4,
            v6,
            facts: facts.map(|(v4, v6)| ListFacts::of(v4, v6)).collect(),
            sieve: None,
        })
    }

    /// [`CompiledLists::compile`], with a [`Sieve`] of the same lists: 2 bytes an address more, and
    /// 2 MB where there are IPv4 networks.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn compile_with_sieve(lists: &[&Entries]) -> Result<Self, CompileError> {
        let compiled = Self::compile(lists)?;
        let sieve = Some(Arc::new(Sieve::of(lists)));
        Ok(Self { sieve, ..compiled })
    }

    /// What tells that an address is in none of the lists, where it was asked for. Lists that were
    /// changed since have none.
    #[must_use]
    pub fn sieve(&self) -> Option<&Arc<Sieve>> {
        self.sieve.as_ref()
    }

    /// For each key the lists that hold it, into the place of the same index.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    pub fn lookup_burst_v4(&self, keys: &[u32], masks: &mut [ListMask]) {
        self.v4.lookup_burst(keys, masks);
    }

    /// [`CompiledLists::lookup_burst_v4`] that calls `meanwhile` once, while lines of exact
    /// addresses are on their way, where there are any: for what a caller has to do that does not
    /// depend on the answers.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    pub fn lookup_burst_v4_overlapped(
        &self,
        keys: &[u32],
        masks: &mut [ListMask],
        overlap: &mut dyn FnMut(),
    ) {
        self.v4.lookup_burst_overlapped(keys, masks, overlap);
    }

    /// For each key the lists that hold it, into the place of the same index.
    ///
    /// It also asks the cache for what lies 8 KiB behind `keys`, since whoever goes through an
    /// array in bursts looks that up soon; nothing is read there.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    pub fn lookup_burst_v6(&self, keys: &[u128], masks: &mut [ListMask]) {
        self.v6.lookup_burst(keys, masks);
    }

    /// The lists that hold one address, host order. Bursts are many times faster.
    #[must_use]
    pub fn lookup_v4(&self, key: u32) -> ListMask {
        lookup_one(|mask| self.v4.lookup_burst(&[key], mask))
    }

    /// The lists that hold one address, host order. Bursts are many times faster.
    #[must_use]
    pub fn lookup_v6(&self, key: u128) -> ListMask {
        lookup_one(|mask| self.v6.lookup_burst(&[key], mask))
    }

    /// Bytes of all that a lookup can touch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.v4.bytes() + self.v6.bytes()
    }

    /// [`AddressSetV4::lines`] of the IPv4 addresses of all lists.
    #[must_use]
    pub fn lines_v4(&self) -> Option<&[[u64; 8]]> {
        self.v4.exact().lines()
    }

    /// What compiling told about the list at `index`. Changes by
    /// [`LiveLists`](crate::live::LiveLists) leave it as it is: there it tells of the list's
    /// file, and [`LiveLists::counts`](crate::live::LiveLists::counts) tells the rest.
    ///
    /// # Panics
    /// When there is no such list.
    #[must_use]
    pub fn list(&self, index: usize) -> &ListFacts {
        &self.facts[index]
    }

    /// How many lists were given.
    #[must_use]
    pub fn list_count(&self) -> usize {
        self.facts.len()
    }

    /// The pages of the largest column; `None` while all are small enough for the heap.
    #[must_use]
    pub fn pages(&self) -> Option<Pages> {
        let (larger, other) = if self.v4.bytes() >= self.v6.bytes() {
            (self.v4.pages(), self.v6.pages())
        } else {
            (self.v6.pages(), self.v4.pages())
        };
        larger.or(other)
    }

    /// The same lists, compared at `level`; for tests and benchmarks.
    #[must_use]
    pub fn at_level(self, level: Level) -> Self {
        Self {
            v4: self.v4.at_level(level),
            v6: self.v6.at_level(level),
            facts: self.facts,
            sieve: self.sieve,
        }
    }
}

fn lookup_one(lookup: impl FnOnce(&mut [ListMask])) -> ListMask {
    let mut mask = [ListMask::EMPTY];
    lookup(&mut mask);
    mask[0]
}
