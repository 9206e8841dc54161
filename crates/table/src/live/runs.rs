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
    pub(super) fn mark(&mut self, list: usize, span: Span<A>, covered: &[Span<A>]) {
        let (first, last) = span;
        let mut before = first.predecessor().map(|address| self.at(address));
        let after = last.successor().map(|address| (address, self.at(address)));
        let old = self.take(span);
        let bit = 1 << list;
        for (start, mask) in overlay(&old, covered, last, bit) {
            if before != Some(mask) {
                self.0.insert(start, mask);
                before = Some(mask);
            }
        }
        if let Some((start, mask)) = after {
            if before == Some(mask) {
                self.0.remove(&start);
            } else {
                self.0.insert(start, mask);
            }
        }
    }

    fn at(&self, address: A) -> u32 {
        let run = self.0.range(..=address).next_back();
        run.map_or(0, |(_, &mask)| mask)
    }

    /// Takes the runs of a span out; the first begins with the span.
    fn take(&mut self, (first, last): Span<A>) -> Vec<(A, u32)> {
        let mut taken = vec![(first, self.at(first))];
        let beyond = self.0.range(first..=last).filter(|&(&at, _)| at != first);
        taken.extend(beyond.map(|(&start, &mask)| (start, mask)));
        for (start, _) in &taken {
            self.0.remove(start);
        }
        taken
    }
}

/// The runs of `old`, which end at `end`, with `bit` set where `covered` says and cleared
/// elsewhere.
fn overlay<A: Address>(old: &[(A, u32)], covered: &[Span<A>], end: A, bit: u32) -> Vec<(A, u32)> {
    let mut starts: Vec<A> = old.iter().map(|&(start, _)| start).collect();
    for &(first, last) in covered {
        starts.push(first);
        starts.extend(last.successor().filter(|&after| after <= end));
    }
    starts.sort_unstable();
    starts.dedup();
    let (mut run, mut span) = (0, 0);
    let mut new = Vec::with_capacity(starts.len());
    for start in starts {
        while old.get(run + 1).is_some_and(|&(next, _)| next <= start) {
            run += 1;
        }
        while covered.get(span).is_some_and(|&(_, last)| last < start) {
            span += 1;
        }
        let is_covered = covered.get(span).is_some_and(|&(first, _)| first <= start);
        let mask = old[run].1 & !bit | if is_covered { bit } else { 0 };
        new.push((start, mask));
    }
    new
}
