//! Networks and ranges of all lists as one sorted column of changes: from here on, these lists.
//!
//! Each list is first merged on its own (sort, then one walk), which also counts what it covers.
//! Then a sweep over the edges of all lists: as a list's own spans neither overlap nor touch,
//! each edge toggles its bit.

use crate::address::Address;
use crate::entries::FamilyEntries;

/// Where the answer changes. `starts[0]` is the first address of the family; `masks[i]` holds
/// from `starts[i]` up to the next start. Neighbours differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Runs<A> {
    pub(crate) starts: Vec<A>,
    pub(crate) masks: Vec<u32>,
}

impl<A: Address> Runs<A> {
    /// No network, no range.
    pub(crate) fn none() -> Self {
        Self {
            starts: vec![A::default()],
            masks: vec![0],
        }
    }

    /// True when no address matches.
    pub(crate) fn is_none(&self) -> bool {
        self.masks.len() == 1 && self.masks[0] == 0
    }

    /// The mask that holds at `address`.
    pub(crate) fn at(&self, address: A) -> u32 {
        let after = self.starts.partition_point(|&start| start <= address);
        self.masks[after - 1]
    }

    /// Appends a change; a start equal to the last one replaces it, an equal mask adds nothing.
    pub(crate) fn push(&mut self, start: A, mask: u32) {
        if self.starts.last() == Some(&start) {
            self.starts.pop();
            self.masks.pop();
        }
        if self.masks.last() != Some(&mask) {
            self.starts.push(start);
            self.masks.push(mask);
        }
    }
}

/// A closed interval.
pub(crate) type Span<A> = (A, A);

/// The spans of one list: sorted, apart, and what merging them told.
#[derive(Debug)]
pub(crate) struct MergedSpans<A> {
    pub(crate) spans: Vec<Span<A>>,
    /// Networks and ranges that lay not wholly within those before them.
    pub(crate) uncovered_count: u64,
}

/// Merges the networks and ranges of more than one address. Those of one address are the
/// business of [`single_addresses`].
pub(crate) fn merge<A: Address>(entries: &FamilyEntries<A>) -> MergedSpans<A> {
    merge_if(entries, |(first, last)| first != last)
}

/// Merges all networks and ranges.
pub(crate) fn merge_all<A: Address>(entries: &FamilyEntries<A>) -> MergedSpans<A> {
    merge_if(entries, |_| true)
}

fn merge_if<A: Address>(
    entries: &FamilyEntries<A>,
    wanted: impl Fn(&Span<A>) -> bool,
) -> MergedSpans<A> {
    MergedSpans::of(spans(entries).filter(wanted).collect())
}

/// Networks and ranges as spans.
pub(crate) fn spans<A: Address>(entries: &FamilyEntries<A>) -> impl Iterator<Item = Span<A>> {
    let networks = entries.networks.iter();
    let ranges = entries.ranges.iter();
    networks
        .map(|network| (network.first(), network.last()))
        .chain(ranges.map(|range| (range.first(), range.last())))
}

impl<A: Address> MergedSpans<A> {
    /// Merges spans in any order.
    pub(crate) fn of(mut given: Vec<Span<A>>) -> Self {
        // The widest first among those that start alike, so that the narrower count as covered.
        given.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let mut merged = MergedSpans {
            spans: Vec::new(),
            uncovered_count: 0,
        };
        for (first, last) in given {
            merged.add(first, last);
        }
        merged
    }

    fn add(&mut self, first: A, last: A) {
        match self.spans.last_mut() {
            Some((_, end)) if last <= *end => return,
            Some((_, end)) if end.successor().is_some_and(|after| first <= after) => *end = last,
            _ => self.spans.push((first, last)),
        }
        self.uncovered_count += 1;
    }

    /// Addresses covered; saturating, since `::/0` holds one more than fits.
    pub(crate) fn address_count(&self) -> u128 {
        self.spans.iter().fold(0, |sum: u128, &(first, last)| {
            sum.saturating_add((last.widen() - first.widen()).saturating_add(1))
        })
    }
}

/// Networks and ranges of one address.
pub(crate) fn single_addresses<A: Address>(entries: &FamilyEntries<A>) -> Vec<A> {
    spans(entries)
        .filter(|(first, last)| first == last)
        .map(|(first, _)| first)
        .collect()
}

/// Sweeps over the edges of all lists.
pub(crate) fn sweep<A: Address>(lists: &[MergedSpans<A>]) -> Runs<A> {
    let mut edges: Vec<(A, u8)> = Vec::with_capacity(lists.iter().map(|l| 2 * l.spans.len()).sum());
    for (index, list) in lists.iter().enumerate() {
        for &(first, last) in &list.spans {
            edges.push((first, index as u8));
            edges.extend(last.successor().map(|after| (after, index as u8)));
        }
    }
    edges.sort_unstable();
    let mut runs = Runs::none();
    let mut mask = 0;
    for edges_here in edges.chunk_by(|a, b| a.0 == b.0) {
        mask = edges_here
            .iter()
            .fold(mask, |mask, &(_, list)| mask ^ 1 << list);
        runs.push(edges_here[0].0, mask);
    }
    runs
}
