//! All lists in one address family: exact addresses, and networks and ranges.
//!
//! A lookup asks both and joins the answers. An address is stored even when networks of its own
//! list cover it: it must still be there when they go. A few addresses beside very many networks,
//! as a routing table has them, lie among the networks ([`folded`]): then one table is asked.

mod folded;

use crate::address::Address;
use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::entries::FamilyEntries;
use crate::exact4::AddressSetV4;
use crate::exact6::AddressSetV6;
use crate::flatten::{self, MergedSpans, Runs};
use crate::mask::ListMask;
use crate::prefixes::PrefixSet;
use crate::secret::Secret;
use crate::simd::Level;
use folded::Folded;
use frame::Pages;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The exact addresses of a family.
pub(crate) trait AddressSet<A: Address>: Sized {
    fn compile(columns: &[Cow<'_, [A]>]) -> Result<(Self, Vec<u64>), CompileError>;
    fn lookup_burst(&self, keys: &[A], masks: &mut [ListMask]);
    fn assign(&mut self, address: A, mask: ListMask) -> Result<(), CompileError>;
    fn is_empty(&self) -> bool;
    fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError>;
    fn is_crowded(&self) -> bool;
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
            fn assign(&mut self, address: $address, mask: ListMask) -> Result<(), CompileError> {
                self.assign(address, mask)
            }
            #[inline]
            fn is_empty(&self) -> bool {
                self.is_empty()
            }
            fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
                self.compact(work)
            }
            fn is_crowded(&self) -> bool {
                self.is_crowded()
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

/// Addresses held against the networks together.
const COVERED_BURST: usize = 256;

/// Addresses and networks of all lists.
#[derive(Clone, Debug)]
pub(crate) struct Family<A, S> {
    exact: S,
    /// Addresses that lie in `prefixes`; `exact` is empty then.
    folded: Option<Folded<A>>,
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
        let columns: Vec<Cow<'_, [A]>> = lists.iter().map(|list| column(list)).collect();
        let runs = flatten::sweep(&spans);
        let (family, duplicates) = Self::new(&columns, &runs)?;
        let facts = lists.iter().enumerate().map(|(index, list)| {
            let distinct = columns[index].len() as u64 - duplicates[index];
            let uncovered = distinct - family.covered_count(&columns[index], index, &runs);
            FamilyFacts::new(list.counts(), uncovered, &spans[index])
        });
        let facts = facts.collect();
        Ok((family, facts))
    }

    /// From the addresses of each list, duplicates allowed, and the runs of all. Also tells, for
    /// each list, how many duplicates it had.
    pub(crate) fn new(
        columns: &[Cow<'_, [A]>],
        runs: &Runs<A>,
    ) -> Result<(Self, Vec<u64>), CompileError> {
        if let Some((folded, duplicates)) = Folded::of(columns, runs) {
            let family = Self {
                exact: S::compile(&[])?.0,
                prefixes: PrefixSet::of_lists(columns.len(), &folded.all(runs))?,
                folded: Some(folded),
            };
            return Ok((family, duplicates));
        }
        let prefixes = PrefixSet::of_lists(columns.len(), runs)?;
        let (exact, duplicates) = S::compile(columns)?;
        let family = Self {
            exact,
            folded: None,
            prefixes,
        };
        Ok((family, duplicates))
    }

    /// The exact addresses that lie among no networks.
    pub(crate) fn exact(&self) -> &S {
        &self.exact
    }

    /// How many distinct addresses of `column` the networks of list `index` hold.
    fn covered_count(&self, column: &[A], index: usize, runs: &Runs<A>) -> u64 {
        if runs.is_none() {
            return 0;
        }
        let mut covered = Vec::new();
        for keys in column.chunks(COVERED_BURST) {
            let mut masks = [ListMask::EMPTY; COVERED_BURST];
            match self.folded {
                // Few: and `prefixes` has the addresses themselves.
                Some(_) => masks
                    .iter_mut()
                    .zip(keys)
                    .for_each(|(m, &k)| m.0 = runs.at(k)),
                None => self.prefixes.add_burst(keys, &mut masks),
            }
            let held = keys
                .iter()
                .zip(&masks)
                .filter(|(_, mask)| mask.contains(index));
            covered.extend(held.map(|(&key, _)| key));
        }
        covered.sort_unstable();
        covered.dedup();
        covered.len() as u64
    }

    /// The lists that have `address` as an entry of its own.
    pub(crate) fn exact_mask(&self, address: A) -> ListMask {
        if let Some(folded) = &self.folded {
            return folded.get(address);
        }
        let mut mask = [ListMask::EMPTY];
        self.exact.lookup_burst(&[address], &mut mask);
        mask[0]
    }

    /// Sets the lists that have `address` as an entry of its own. `runs` is what was last taken
    /// over of all networks.
    pub(crate) fn assign(
        &mut self,
        address: A,
        mask: ListMask,
        runs: &BTreeMap<A, u32>,
    ) -> Result<(), CompileError> {
        if let Some(folded) = &mut self.folded {
            folded.set(address, mask);
            return self.rewrite(address, address, runs);
        }
        self.exact.assign(address, mask)
    }

    /// Takes over what `runs` say of the blocks that `first..=last` meets.
    pub(crate) fn rewrite(
        &mut self,
        first: A,
        last: A,
        runs: &BTreeMap<A, u32>,
    ) -> Result<(), CompileError> {
        match &self.folded {
            Some(folded) => self.prefixes.rewrite_from(first, last, folded.among(runs)),
            None => self.prefixes.rewrite(first, last, runs),
        }
    }

    /// Brings pages home.
    pub(crate) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        self.exact.compact(work)?;
        self.prefixes.compact(work)
    }

    /// True when building from scratch would answer faster.
    pub(crate) fn is_crowded(&self) -> bool {
        self.exact.is_crowded()
            || self.prefixes.is_crowded()
            || self.folded.as_ref().is_some_and(Folded::is_crowded)
    }

    #[inline]
    pub(crate) fn lookup_burst(&self, keys: &[A], masks: &mut [ListMask]) {
        if self.exact.is_empty() {
            self.prefixes.lookup_burst(keys, masks);
        } else {
            self.exact.lookup_burst(keys, masks);
            self.prefixes.add_burst(keys, masks);
        }
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
            folded: self.folded,
            prefixes: self.prefixes.at_level(level),
        }
    }
}

impl Family<u32, AddressSetV4> {
    /// [`Family::lookup_burst`]; `meanwhile` runs once: while the lines of exact addresses are on
    /// their way, where there are any.
    #[inline]
    pub(crate) fn lookup_burst_overlapped(
        &self,
        keys: &[u32],
        masks: &mut [ListMask],
        overlap: &mut dyn FnMut(),
    ) {
        if self.exact.is_empty() {
            overlap();
            self.prefixes.lookup_burst(keys, masks);
        } else {
            self.exact.lookup_overlapped(keys, masks, overlap);
            self.prefixes.add_burst(keys, masks);
        }
    }
}

impl FamilyFacts {
    /// Of a list that had this many `[addresses, networks, ranges]`, with how many different
    /// addresses its spans do not hold, and its spans.
    pub(crate) fn new<A: Address>(
        [addresses, networks, ranges]: [usize; 3],
        uncovered_addresses: u64,
        spans: &MergedSpans<A>,
    ) -> Self {
        let given = (addresses + networks + ranges) as u64;
        Self {
            addresses: addresses as u64,
            networks: networks as u64,
            ranges: ranges as u64,
            duplicates_or_covered: given - uncovered_addresses - spans.uncovered_count,
            covered: spans
                .address_count()
                .saturating_add(u128::from(uncovered_addresses)),
        }
    }
}

/// The addresses of a list, those that came as networks and ranges among them: borrowed as given
/// where there are none of these.
fn column<A: Address>(list: &FamilyEntries<A>) -> Cow<'_, [A]> {
    let singles = flatten::single_addresses(list);
    if singles.is_empty() {
        return Cow::Borrowed(&list.addresses);
    }
    Cow::Owned([&list.addresses[..], &singles[..]].concat())
}
