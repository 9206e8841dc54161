//! The entries of a list that its file gave: sorted columns that never change.

use super::entry::{Kind, kind};
use crate::address::Address;
use crate::entries::FamilyEntries;
use crate::family::FamilyFacts;
use crate::flatten::{self, MergedSpans, Span};
use std::hash::{Hash, Hasher};

/// Each entry once. Shared with whoever compiles.
#[derive(Debug)]
pub(super) struct FilePart<A> {
    /// Ascending.
    pub(super) addresses: Vec<A>,
    /// Ascending.
    pub(super) networks: Vec<Span<A>>,
    /// What is no network, ascending.
    pub(super) ranges: Vec<Span<A>>,
    /// The last address that `ranges[..=i]` reach: tells where a search backwards may stop.
    reach: Vec<A>,
    pub(super) facts: FamilyFacts,
}

impl<A: Address> FilePart<A> {
    pub(super) fn new(mut given: FamilyEntries<A>) -> Self {
        let singles = flatten::single_addresses(&given);
        let merged = flatten::merge(&given);
        let (mut networks, mut ranges): (Vec<_>, Vec<_>) = flatten::spans(&given)
            .filter(|span| span.0 != span.1)
            .partition(|&span| matches!(kind(span), Kind::Network(_)));
        let counts = given.counts();
        let mut addresses = std::mem::take(&mut given.addresses);
        addresses.extend(singles);
        sort_once(&mut addresses);
        sort_once(&mut networks);
        sort_once(&mut ranges);
        let reach = ranges.iter().scan(A::default(), |reach, &(_, last)| {
            *reach = last.max(*reach);
            Some(*reach)
        });
        Self {
            facts: FamilyFacts::new(counts, uncovered(&addresses, &merged), &merged),
            reach: reach.collect(),
            addresses,
            networks,
            ranges,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.addresses.len() + self.networks.len() + self.ranges.len()
    }

    /// Hashes all entries, which ascend whatever order they were given in.
    pub(super) fn hash_entries(&self, hasher: &mut impl Hasher) {
        self.addresses.hash(hasher);
        self.networks.hash(hasher);
        self.ranges.hash(hasher);
    }

    pub(super) fn contains(&self, span: Span<A>) -> bool {
        match kind(span) {
            Kind::Address => self.addresses.binary_search(&span.0).is_ok(),
            Kind::Network(_) => self.networks.binary_search(&span).is_ok(),
            Kind::Range => self.ranges.binary_search(&span).is_ok(),
        }
    }

    /// Networks and ranges, in no order.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span<A>> {
        self.networks.iter().chain(&self.ranges).copied()
    }

    /// Ranges, those that are networks left out, that hold `address`.
    pub(super) fn ranges_with(&self, address: A) -> impl Iterator<Item = Span<A>> {
        let begun = self.ranges.partition_point(|&(first, _)| first <= address);
        let back = self.ranges[..begun].iter().zip(&self.reach[..begun]).rev();
        back.take_while(move |&(_, &reach)| reach >= address)
            .map(|(&span, _)| span)
            .filter(move |&(_, last)| last >= address)
    }
}

fn sort_once<T: Ord>(column: &mut Vec<T>) {
    column.sort_unstable();
    column.dedup();
    column.shrink_to_fit();
}

/// How many of `addresses`, which ascend, lie in no span.
fn uncovered<A: Address>(addresses: &[A], merged: &MergedSpans<A>) -> u64 {
    let mut spans = merged.spans.iter().peekable();
    let is_uncovered = |&&address: &&A| {
        while spans.next_if(|&&(_, last)| last < address).is_some() {}
        spans.peek().is_none_or(|&&(first, _)| address < first)
    };
    addresses.iter().filter(is_uncovered).count() as u64
}
