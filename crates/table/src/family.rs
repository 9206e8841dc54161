//! All lists in one address family: exact addresses, and networks and ranges.
//!
//! A lookup asks both and joins the answers. An address that its own list's networks cover is
//! not stored: it would add nothing.

use crate::address::Address;
use crate::compiled::CompileError;
use crate::entries::FamilyEntries;
use crate::exact4::AddressSetV4;
use crate::exact6::AddressSetV6;
use crate::flatten::{self, MergedSpans};
use crate::mask::ListMask;
use crate::prefixes::PrefixSet;
use crate::secret::Secret;
use crate::simd::Level;
use frame::Pages;
use std::borrow::Cow;

/// The exact addresses of a family.
pub(crate) trait AddressSet<A: Address>: Sized {
    fn compile(columns: &[Cow<'_, [A]>]) -> Result<(Self, Vec<u64>), CompileError>;
    fn lookup_burst(&self, keys: &[A], masks: &mut [ListMask]);
    fn bytes(&self) -> usize;
    fn pages(&self) -> Option<Pages>;
    fn at_level(self, level: Level) -> Self;
}

macro_rules! address_set {
    ($set:ty, $address:ty) => {
        impl AddressSet<$address> for $set {
            fn compile(columns: &[Cow<'_, [$address]>]) -> Result<(Self, Vec<u64>), CompileError> {
                <$set>::compile(columns, Secret::draw())
            }
            #[inline]
            fn lookup_burst(&self, keys: &[$address], masks: &mut [ListMask]) {
                self.lookup_burst(keys, masks);
            }
            fn bytes(&self) -> usize {
                self.bytes()
            }
            fn pages(&self) -> Option<Pages> {
                self.pages()
            }
            fn at_level(self, level: Level) -> Self {
                self.at_level(level)
            }
        }
    };
}
address_set!(AddressSetV4, u32);
address_set!(AddressSetV6, u128);

/// Addresses and networks of all lists.
#[derive(Debug)]
pub(crate) struct Family<A, S> {
    exact: S,
    prefixes: PrefixSet<A>,
}

/// What compiling told about one list in one family.
#[derive(Clone, Debug, Default)]
pub(crate) struct FamilyFacts {
    pub(crate) addresses: u64,
    pub(crate) networks: u64,
    pub(crate) ranges: u64,
    pub(crate) duplicates_or_covered: u64,
    /// Addresses that match; saturating.
    pub(crate) covered: u128,
}

impl<A: Address, S: AddressSet<A>> Family<A, S> {
    pub(crate) fn compile(
        lists: &[&FamilyEntries<A>],
    ) -> Result<(Self, Vec<FamilyFacts>), CompileError> {
        let spans: Vec<MergedSpans<A>> = lists.iter().map(|list| flatten::merge(list)).collect();
        let prefixes = PrefixSet::compile(&flatten::sweep(&spans))?;
        let columns: Vec<Cow<'_, [A]>> = lists
            .iter()
            .enumerate()
            .map(|(i, list)| column(list, i, &prefixes))
            .collect();
        let (exact, duplicates) = S::compile(&columns)?;
        let facts = lists.iter().enumerate().map(|(index, list)| {
            let kept = columns[index].len() as u64 - duplicates[index];
            let stored = kept + (list.networks.len() + list.ranges.len()) as u64;
            let singles = flatten::single_addresses(list).len() as u64;
            FamilyFacts {
                addresses: list.addresses.len() as u64,
                networks: list.networks.len() as u64,
                ranges: list.ranges.len() as u64,
                duplicates_or_covered: list.count() as u64 + singles - stored
                    + spans[index].covered_count,
                covered: spans[index]
                    .address_count()
                    .saturating_add(u128::from(kept)),
            }
        });
        let facts = facts.collect();
        Ok((Self { exact, prefixes }, facts))
    }

    #[inline]
    pub(crate) fn lookup_burst(&self, keys: &[A], masks: &mut [ListMask]) {
        self.exact.lookup_burst(keys, masks);
        self.prefixes.add_burst(keys, masks);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.exact.bytes() + self.prefixes.bytes()
    }

    pub(crate) fn pages(&self) -> Option<Pages> {
        self.exact.pages().or(self.prefixes.pages())
    }

    pub(crate) fn at_level(self, level: Level) -> Self {
        Self {
            exact: self.exact.at_level(level),
            prefixes: self.prefixes.at_level(level),
        }
    }
}

/// The addresses of list `index` that its own networks do not cover: borrowed as given where
/// there is nothing to leave out or to add.
fn column<'a, A: Address>(
    list: &'a FamilyEntries<A>,
    index: usize,
    prefixes: &PrefixSet<A>,
) -> Cow<'a, [A]> {
    let singles = flatten::single_addresses(list);
    if singles.is_empty() && prefixes.is_empty() {
        return Cow::Borrowed(&list.addresses);
    }
    const BURST: usize = 256;
    let mut kept = Vec::with_capacity(list.addresses.len() + singles.len());
    for keys in list.addresses.chunks(BURST).chain(singles.chunks(BURST)) {
        let mut masks = [ListMask::EMPTY; BURST];
        prefixes.add_burst(keys, &mut masks);
        let uncovered = keys
            .iter()
            .zip(&masks)
            .filter(|(_, mask)| !mask.contains(index));
        kept.extend(uncovered.map(|(&key, _)| key));
    }
    Cow::Owned(kept)
}
