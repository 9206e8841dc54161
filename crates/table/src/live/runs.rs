//! The networks and ranges of all lists as a map: from here on, these lists.

use crate::address::Address;
use crate::flatten::{Runs, Span};
use std::collections::BTreeMap;

/// The map that [`PrefixSet`](crate::PrefixSet) is rewritten from: it always has the first
/// address, and neighbours differ.
#[derive(Debug)]
pub(super) struct RunMap<A>(BTreeMap<A, u32>);

impl<A: Address> RunMap<A> {
    pub(super) fn new(runs: &Runs<A>) -> Self {
        let starts = runs.starts.iter().copied();
        Self(starts.zip(runs.masks.iter().copied()).collect())
    }

    pub(super) fn map(&self) -> &BTreeMap<A, u32> {
        &self.0
    }

    /// Within `span`, sets the bit of `list` where `covered` says and clears it elsewhere.
    /// `covered` ascends and lies within the span.
    ///
    /// Runs stay in the map where they are: taking out and putting in again all that a /20 of the
    /// routing table holds was a quarter of its change.
    pub(super) fn mark(&mut self, list: usize, (first, last): Span<A>, covered: &[Span<A>]) {
        let after = last.successor();
        for &(start, end) in [(first, last)].iter().chain(covered) {
            self.split(start);
            end.successor().into_iter().for_each(|at| self.split(at));
        }
        let (bit, mut spans) = (1 << list, covered.iter().peekable());
        let mut before = first.predecessor().map(|address| self.at(address));
        let mut needless = Vec::new();
        for (&start, mask) in self.0.range_mut(first..=last) {
            while spans.next_if(|span| span.1 < start).is_some() {}
            let is_covered = spans.peek().is_some_and(|span| span.0 <= start);
            *mask = *mask & !bit | if is_covered { bit } else { 0 };
            if before.replace(*mask) == Some(*mask) {
                needless.push(start);
            }
        }
        needless.extend(after.filter(|after| self.0.get(after).copied() == before));
        for start in needless {
            self.0.remove(&start);
        }
    }

    /// Makes a run begin at an address, which may be equal to the one before.
    fn split(&mut self, at: A) {
        if let Some((&start, &mask)) = self.0.range(..=at).next_back()
            && start < at
        {
            self.0.insert(at, mask);
        }
    }

    fn at(&self, address: A) -> u32 {
        let run = self.0.range(..=address).next_back();
        run.map_or(0, |(_, &mask)| mask)
    }
}
