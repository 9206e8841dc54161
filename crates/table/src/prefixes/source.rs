//! What a change of networks is made from: the runs of all networks, and single addresses that
//! lie among them, walked together.
//!
//! Merging both into a map of the block of 16 bits that a change lies in, and asking that map
//! anew for each step, took 130 us a change of the IPv6 routing table, and 460 in one of ten.

use crate::address::Address;
use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::iter::Peekable;

/// From which address on which lists hold, of a whole family.
#[derive(Debug)]
pub(crate) struct Source<'a, A> {
    runs: &'a BTreeMap<A, u32>,
    addresses: Option<&'a BTreeMap<A, u32>>,
}

impl<A> Clone for Source<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Source<'_, A> {}

impl<'a, A: Address> Source<'a, A> {
    /// `runs` has the first address of the family. Each of `addresses` has lists of its own
    /// beside those that the runs say.
    pub(crate) fn new(runs: &'a BTreeMap<A, u32>, addresses: Option<&'a BTreeMap<A, u32>>) -> Self {
        Self { runs, addresses }
    }

    /// Intervals of one answer, or a few more.
    pub(super) fn count(self) -> usize {
        self.runs.len() + 2 * self.addresses.map_or(0, BTreeMap::len)
    }

    /// The answer at `from`, and behind it every change, ascending; neighbours differ.
    pub(crate) fn changes(self, from: A) -> Changes<'a, A> {
        let addresses = self.addresses.map(|addresses| addresses.range(from..));
        Changes {
            ahead: self.runs.range(from..).peekable(),
            addresses: addresses.map(Iterator::peekable),
            after: None,
            mask: self.runs.range(..=from).next_back().map_or(0, |run| *run.1),
            said: None,
            begin: Some(from),
        }
    }
}

/// See [`Source::changes`].
#[derive(Debug)]
pub(crate) struct Changes<'a, A> {
    ahead: Peekable<Range<'a, A, u32>>,
    addresses: Option<Peekable<Range<'a, A, u32>>>,
    /// The one behind the last of the addresses.
    after: Option<A>,
    /// What the runs say here.
    mask: u32,
    said: Option<u32>,
    /// Where it begins, until that is said.
    begin: Option<A>,
}

impl<A: Address> Iterator for Changes<'_, A> {
    type Item = (A, u32);

    fn next(&mut self) -> Option<(A, u32)> {
        loop {
            let run = self.ahead.peek().map(|run| *run.0);
            let address = self.addresses.as_mut().and_then(Peekable::peek);
            let address = address.map(|address| *address.0);
            let places = [self.begin, run, address, self.after];
            let start = places.into_iter().flatten().min()?;
            self.begin = None;
            if run == Some(start) {
                self.mask = self.ahead.next().map_or(0, |run| *run.1);
            }
            if self.after == Some(start) {
                self.after = None;
            }
            let mut mask = self.mask;
            if address == Some(start) {
                let own = self.addresses.as_mut().and_then(Iterator::next);
                mask |= own.map_or(0, |own| *own.1);
                self.after = start.successor();
            }
            if self.said.replace(mask) != Some(mask) {
                return Some((start, mask));
            }
        }
    }
}

/// Changes asked for one after the other, mostly ascending.
#[derive(Debug)]
pub(super) struct Cursor<'a, A> {
    source: Source<'a, A>,
    changes: Changes<'a, A>,
    /// From here on this answer holds, until `next`.
    start: A,
    mask: u32,
    next: Option<(A, u32)>,
}

/// Changes that are walked over; where there are more in between, they are searched.
const STEPS_MAX: usize = 8;

impl<'a, A: Address> Cursor<'a, A> {
    pub(super) fn new(source: Source<'a, A>, at: A) -> Self {
        let mut changes = source.changes(at);
        let (start, mask) = changes.next().unwrap_or((at, 0));
        let next = changes.next();
        Self {
            source,
            changes,
            start,
            mask,
            next,
        }
    }

    /// The answer at an address.
    pub(super) fn mask_at(&mut self, address: A) -> u32 {
        self.seek(address);
        self.mask
    }

    /// The first change at `from`, which is not the first address of all, or behind it.
    pub(super) fn next_change(&mut self, from: A) -> Option<(A, u32)> {
        self.seek(from.predecessor()?);
        self.next
    }

    fn seek(&mut self, address: A) {
        if address >= self.start {
            for _ in 0..STEPS_MAX {
                match self.next.filter(|&(start, _)| start <= address) {
                    Some((start, mask)) => {
                        (self.start, self.mask) = (start, mask);
                        self.next = self.changes.next();
                    }
                    None => return,
                }
            }
        }
        *self = Self::new(self.source, address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of runs and addresses of a small space, from everywhere.
    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code, and minutes of it")]
    fn agrees_with_marks_an_address() {
        const SPACE: u32 = 5;
        for drawn in 0..1u32 << (2 * SPACE) {
            let has = |bit: u32| drawn >> bit & 1;
            let runs: BTreeMap<u32, u32> = (0..SPACE).map(|at| (at, has(at))).collect();
            let alone = (0..SPACE).filter(|&at| has(SPACE + at) == 1);
            let alone: BTreeMap<u32, u32> = alone.map(|at| (at, 1 + at % 2)).collect();
            let at = |at: u32| runs[&at] | alone.get(&at).copied().unwrap_or(0);
            let source = Source::new(&runs, Some(&alone));
            let mut cursor = Cursor::new(source, 0);
            for from in (0..SPACE).rev().chain(0..SPACE) {
                let changed = |&next: &u32| next > from && at(next) != at(next - 1);
                let behind = (0..SPACE).filter(changed).map(|next| (next, at(next)));
                let all: Vec<(u32, u32)> = [(from, at(from))].into_iter().chain(behind).collect();
                let told = source.changes(from).take_while(|&(start, _)| start < SPACE);
                assert_eq!(told.collect::<Vec<_>>(), all, "{drawn:b} from {from}");
                assert_eq!(cursor.mask_at(from), at(from), "{drawn:b} at {from}");
                let next = cursor.next_change(from + 1).filter(|&(at, _)| at < SPACE);
                assert_eq!(next.as_ref(), all.get(1), "{drawn:b} behind {from}");
            }
        }
    }

    #[test]
    fn the_last_address_has_none_behind() {
        let (runs, alone) = (BTreeMap::from([(0, 0)]), BTreeMap::from([(u32::MAX, 4)]));
        let source = Source::new(&runs, Some(&alone));
        let all: Vec<(u32, u32)> = source.changes(0).collect();
        assert_eq!(all, [(0, 0), (u32::MAX, 4)]);
        assert_eq!(Cursor::new(source, 7).next_change(9), Some((u32::MAX, 4)));
        assert_eq!(source.count(), 3);
    }
}
