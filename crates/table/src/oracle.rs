//! Slow, obvious twins of the fast tables, for tests of this crate and of others.

use crate::address::Address;
use crate::entries::{Entries, FamilyEntries};
use crate::mask::{LISTS_MAX, ListMask};
use std::collections::BTreeMap;

/// True when an entry of `entries` holds `address`: a walk over all of them.
pub fn holds<A: Address>(entries: &FamilyEntries<A>, address: A) -> bool {
    entries.addresses.contains(&address)
        || entries
            .networks
            .iter()
            .any(|network| network.contains(address))
        || entries.ranges.iter().any(|range| range.contains(address))
}

/// The lists that hold an IPv4 address, by walking all entries of all lists.
#[must_use]
pub fn lookup_v4(lists: &[&Entries], address: u32) -> ListMask {
    lookup(lists, |list| holds(&list.v4, address))
}

/// The lists that hold an IPv6 address, by walking all entries of all lists.
#[must_use]
pub fn lookup_v6(lists: &[&Entries], address: u128) -> ListMask {
    lookup(lists, |list| holds(&list.v6, address))
}

fn lookup(lists: &[&Entries], matches: impl Fn(&Entries) -> bool) -> ListMask {
    let mut mask = ListMask::EMPTY;
    for (index, list) in lists.iter().enumerate().take(LISTS_MAX) {
        if matches(list) {
            mask |= ListMask::only(index);
        }
    }
    mask
}

/// All lists of one family as an ordered map, for tests too large to walk: one search a key,
/// one map entry a change of the answer.
#[derive(Clone, Debug)]
pub struct Ordered<A> {
    /// From this address up to the next key, these lists.
    changes: BTreeMap<A, u32>,
}

impl<A: Address> Ordered<A> {
    /// Marks every address, network and range of every list, one after the other.
    #[must_use]
    pub fn new(lists: &[&FamilyEntries<A>]) -> Self {
        let mut ordered = Self {
            changes: BTreeMap::from([(A::default(), 0)]),
        };
        for (index, list) in lists.iter().enumerate().take(LISTS_MAX) {
            let bit = ListMask::only(index).0;
            list.addresses
                .iter()
                .for_each(|&one| ordered.mark(one, one, bit));
            list.networks
                .iter()
                .for_each(|net| ordered.mark(net.first(), net.last(), bit));
            list.ranges
                .iter()
                .for_each(|range| ordered.mark(range.first(), range.last(), bit));
        }
        ordered
    }

    /// The lists that hold `address`.
    #[must_use]
    pub fn lookup(&self, address: A) -> ListMask {
        ListMask(
            self.changes
                .range(..=address)
                .next_back()
                .map_or(0, |(_, &mask)| mask),
        )
    }

    fn mark(&mut self, first: A, last: A, bit: u32) {
        self.split(first);
        if let Some(after) = last.successor() {
            self.split(after);
        }
        self.changes
            .range_mut(first..=last)
            .for_each(|(_, mask)| *mask |= bit);
    }

    fn split(&mut self, at: A) {
        let mask = self.lookup(at).0;
        self.changes.entry(at).or_insert(mask);
    }
}
