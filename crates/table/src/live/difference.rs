//! What a load would change, told before it is done.

use super::entry::Entry;
use super::file_part::FilePart;
use super::load::{Files, Load};
use crate::address::Address;
use crate::flatten::{MergedSpans, Span};
use crate::range::Range;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hasher};
use std::iter::Peekable;

/// A load whose entries are sorted: it can be held against the file part it would replace.
#[derive(Debug)]
#[must_use = "nothing is loaded until it is compiled and finished"]
pub struct Sorted {
    pub(super) load: Load,
    /// What the source of the list had before.
    pub(super) before: Option<Files>,
    pub(super) files: Files,
}

/// A number of entries, and what they cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Entries, each once however often it is given.
    pub entries: u64,
    /// IPv4 addresses covered, each once.
    pub addresses_v4: u64,
    /// IPv6 networks of 64 bits of which an address is covered, each once; saturating.
    pub networks64_v6: u64,
}

/// What a load would change of a file part. What was removed from it by hand is not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// In the file part as its source had it.
    pub before: Share,
    /// In the load.
    pub after: Share,
    /// In the load and not before.
    pub added: Share,
    /// Before and not in the load.
    pub removed: Share,
}

impl Sorted {
    /// Holds the load against the file part that its list had when the load was begun. Takes a
    /// walk over both: some 20 ms a million entries.
    #[must_use]
    pub fn difference(&self) -> Difference {
        let mut difference = Difference::default();
        if let Some((old, new)) = self.v4() {
            entries(old, new, &mut difference);
            let counts = covered(&Coverage::of(old), &Coverage::of(new), 0);
            for (share, count) in difference.shares().into_iter().zip(counts) {
                share.addresses_v4 = count;
            }
        }
        if let Some((old, new)) = self.v6() {
            entries(old, new, &mut difference);
            let counts = covered(&Coverage::of(old), &Coverage::of(new), 64);
            for (share, count) in difference.shares().into_iter().zip(counts) {
                share.networks64_v6 = count;
            }
        }
        difference
    }

    /// The first address of `window` that the load covers and the file part before did not, as an
    /// entry of the load that holds it, the narrowest; one answer a window, in their order.
    #[must_use]
    pub fn newly_covered(&self, windows: &[Entry]) -> Vec<Option<(Entry, u128)>> {
        let (Some((old_v4, new_v4)), Some((old_v6, new_v6))) = (self.v4(), self.v6()) else {
            return vec![None; windows.len()];
        };
        let v4 = (Coverage::of(old_v4), Coverage::of(new_v4));
        let v6 = (Coverage::of(old_v6), Coverage::of(new_v6));
        let answer = |window: &Entry| match *window {
            Entry::V4(window) => {
                let first = v4.1.first_beyond(&v4.0, (window.first(), window.last()))?;
                let (first_in, last_in) = holder(new_v4, first);
                Some((Entry::V4(Range::between(first_in, last_in)), first.widen()))
            }
            Entry::V6(window) => {
                let first = v6.1.first_beyond(&v6.0, (window.first(), window.last()))?;
                let (first_in, last_in) = holder(new_v6, first);
                Some((Entry::V6(Range::between(first_in, last_in)), first))
            }
        };
        windows.iter().map(answer).collect()
    }

    /// A number that is the same for the same entries, in whatever order and however often they
    /// were given: to know a list again.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.files.0.hash_entries(&mut hasher);
        self.files.1.hash_entries(&mut hasher);
        hasher.finish()
    }

    fn v4(&self) -> Option<(&FilePart<u32>, &FilePart<u32>)> {
        let (old, _) = self.before.as_ref()?;
        Some((old, &self.files.0))
    }

    fn v6(&self) -> Option<(&FilePart<u128>, &FilePart<u128>)> {
        let (_, old) = self.before.as_ref()?;
        Some((old, &self.files.1))
    }
}

impl Difference {
    fn shares(&mut self) -> [&mut Share; 4] {
        let Self {
            before,
            after,
            added,
            removed,
        } = self;
        [before, after, added, removed]
    }
}

/// Counts entries of one family.
fn entries<A: Address>(old: &FilePart<A>, new: &FilePart<A>, difference: &mut Difference) {
    let mut both = common(&old.addresses, &new.addresses);
    both += common(&old.networks, &new.networks);
    both += common(&old.ranges, &new.ranges);
    let (before, after) = (old.len() as u64, new.len() as u64);
    difference.before.entries += before;
    difference.after.entries += after;
    difference.added.entries += after - both;
    difference.removed.entries += before - both;
}

/// How many two ascending columns have in common.
fn common<T: Ord>(a: &[T], b: &[T]) -> u64 {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (i, j, both) = (i + 1, j + 1, both + 1),
        }
    }
    both
}

/// Addresses that a file part covers.
struct Coverage<'a, A> {
    /// Ascending.
    addresses: &'a [A],
    /// Ascending, apart.
    spans: Vec<Span<A>>,
}

impl<'a, A: Address> Coverage<'a, A> {
    fn of(part: &'a FilePart<A>) -> Self {
        Self {
            addresses: &part.addresses,
            spans: MergedSpans::of(part.spans().collect()).spans,
        }
    }

    /// What is covered within `window`, by address or span, ascending by the first; may overlap.
    fn within(&self, window: Span<A>) -> impl Iterator<Item = Span<A>> {
        let (first, last) = window;
        let start = self.addresses.partition_point(|&address| address < first);
        let singles = self.addresses[start..].iter();
        let mut singles = singles
            .map(|&address| (address, address))
            .take_while(move |&(address, _)| address <= last)
            .peekable();
        let start = self.spans.partition_point(|&(_, end)| end < first);
        let mut spans = self.spans[start..]
            .iter()
            .take_while(move |&&(begin, _)| begin <= last)
            .map(move |&(begin, end)| (begin.max(first), end.min(last)))
            .peekable();
        std::iter::from_fn(move || match (singles.peek(), spans.peek()) {
            (Some(single), Some(span)) if single < span => singles.next(),
            (_, Some(_)) => spans.next(),
            (_, None) => singles.next(),
        })
    }

    /// The first address within `window` that is covered here and not there.
    fn first_beyond(&self, there: &Self, window: Span<A>) -> Option<A> {
        let mut known = Joined::new(there.within(window)).peekable();
        for (first, last) in Joined::new(self.within(window)) {
            while known.next_if(|&(_, end)| end < first).is_some() {}
            match known.peek() {
                Some(&(begin, end)) if begin <= first => {
                    if end < last {
                        // What is joined does not touch: the next address is not covered there.
                        return end.successor();
                    }
                }
                _ => return Some(first),
            }
        }
        None
    }
}

/// Joins spans that ascend by their first address where they overlap or touch.
struct Joined<A, I: Iterator<Item = Span<A>>>(Peekable<I>);

impl<A: Address, I: Iterator<Item = Span<A>>> Joined<A, I> {
    fn new(spans: I) -> Self {
        Self(spans.peekable())
    }
}

impl<A: Address, I: Iterator<Item = Span<A>>> Iterator for Joined<A, I> {
    type Item = Span<A>;

    fn next(&mut self) -> Option<Span<A>> {
        let (first, mut last) = self.0.next()?;
        let touches = |last: A, next: &Span<A>| match last.successor() {
            Some(after) => next.0 <= after,
            None => true,
        };
        while let Some((_, end)) = self.0.next_if(|next| touches(last, next)) {
            last = last.max(end);
        }
        Some((first, last))
    }
}

/// Blocks of `2^shift` addresses that two coverages touch: before, after, added, removed.
fn covered<A: Address>(old: &Coverage<'_, A>, new: &Coverage<'_, A>, shift: u32) -> [u64; 4] {
    let all = (A::default(), A::MAX);
    let blocks = move |(first, last): Span<A>| (first.widen() >> shift, last.widen() >> shift);
    let mut old = Joined::new(old.within(all).map(blocks)).peekable();
    let mut new = Joined::new(new.within(all).map(blocks)).peekable();
    let (mut before, mut after, mut both) = (0u128, 0u128, 0u128);
    let count = |(first, last): Span<u128>| last - first + 1;
    loop {
        match (old.peek().copied(), new.peek().copied()) {
            (Some(a), Some(b)) => {
                let (first, last) = (a.0.max(b.0), a.1.min(b.1));
                if first <= last {
                    both += count((first, last));
                }
                // The one that ends first has met all that it can meet.
                if a.1 <= b.1 {
                    before += old.next().map_or(0, count);
                } else {
                    after += new.next().map_or(0, count);
                }
            }
            (Some(_), None) => before += old.next().map_or(0, count),
            (None, Some(_)) => after += new.next().map_or(0, count),
            (None, None) => break,
        }
    }
    [before, after, after - both, before - both]
        .map(|count| u64::try_from(count).unwrap_or(u64::MAX))
}

/// The narrowest entry that holds a covered address: itself, a network, a range.
fn holder<A: Address>(part: &FilePart<A>, address: A) -> Span<A> {
    let networks = (0..=A::BITS as u8).rev();
    let networks = networks.map(|bits| (address.first_in(bits), address.last_in(bits)));
    let mut held = networks
        .filter(|&span| part.contains(span))
        .chain(part.ranges_with(address));
    held.next().unwrap_or((address, address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::Entries;
    use crate::live::LiveLists;
    use crate::network::Network;
    use std::collections::BTreeSet;

    fn entries_of(spans: &[(u32, u32)]) -> Entries {
        let mut entries = Entries::default();
        for &(first, last) in spans {
            if first == last {
                entries.v4.addresses.push(first);
                entries.v6.addresses.push(u128::from(first) << 60);
            } else {
                entries.v4.ranges.push(Range::between(first, last));
                let (first, last) = (u128::from(first) << 60, u128::from(last) << 60);
                entries.v6.ranges.push(Range::between(first, last));
            }
        }
        entries
    }

    fn sorted(old: &[(u32, u32)], new: &[(u32, u32)]) -> Sorted {
        let mut lists = LiveLists::new(vec![entries_of(old)]).expect("small");
        let load = lists.begin_load(0).expect("a list");
        load.sort(entries_of(new))
    }

    fn addresses(spans: &[(u32, u32)]) -> BTreeSet<u32> {
        spans.iter().flat_map(|&(a, b)| a..=b).collect()
    }

    /// /64 networks of addresses that are 2^60 apart: 16 a network.
    fn networks64(spans: &[(u32, u32)]) -> BTreeSet<u32> {
        spans.iter().flat_map(|&(a, b)| a >> 4..=b >> 4).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code, and hours of it")]
    fn counts_are_those_of_plain_sets() {
        let mut seed = 7u64;
        println!("seed {seed}");
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..2000 {
            let mut spans = || -> Vec<(u32, u32)> {
                let count = draw(7);
                let span = |_| {
                    let first = draw(70) as u32;
                    (first, first + if draw(2) == 0 { 0 } else { draw(9) as u32 })
                };
                (0..count).map(span).collect()
            };
            let (old, new) = (spans(), spans());
            let sorted = sorted(&old, &new);
            let told = sorted.difference();
            let (a, b) = (addresses(&old), addresses(&new));
            assert_eq!(told.before.addresses_v4, a.len() as u64, "{old:?}");
            assert_eq!(told.after.addresses_v4, b.len() as u64, "{new:?}");
            assert_eq!(told.added.addresses_v4, (&b - &a).len() as u64);
            assert_eq!(told.removed.addresses_v4, (&a - &b).len() as u64);
            let (c, d) = (networks64(&old), networks64(&new));
            assert_eq!(told.added.networks64_v6, (&d - &c).len() as u64);
            assert_eq!(told.removed.networks64_v6, (&c - &d).len() as u64);
            let once = |spans: &[(u32, u32)]| spans.iter().copied().collect::<BTreeSet<_>>();
            let (e, f) = (once(&old), once(&new));
            assert_eq!(told.before.entries, 2 * e.len() as u64);
            assert_eq!(told.added.entries, 2 * (&f - &e).len() as u64);
            assert_eq!(told.removed.entries, 2 * (&e - &f).len() as u64);
            let window = (draw(80) as u32, draw(80) as u32);
            let window = (window.0.min(window.1), window.0.max(window.1));
            let newly = sorted.newly_covered(&[Entry::V4(Range::between(window.0, window.1))]);
            let wanted = (&b - &a)
                .into_iter()
                .find(|x| (window.0..=window.1).contains(x));
            assert_eq!(newly[0].map(|(_, first)| first as u32), wanted);
        }
    }

    #[test]
    fn a_list_is_known_again_by_its_entries() {
        let print = |spans: &[(u32, u32)]| sorted(&[], spans).fingerprint();
        let known = print(&[(1, 1), (5, 9), (3, 3)]);
        assert_eq!(known, print(&[(3, 3), (1, 1), (5, 9), (1, 1)]));
        for other in [&[(1, 1), (5, 9)][..], &[(1, 1), (5, 9), (4, 4)], &[]] {
            assert_ne!(known, print(other));
        }
    }

    #[test]
    fn the_narrowest_entry_is_named() {
        let mut lists = LiveLists::new(vec![Entries::default()]).expect("small");
        let mut new = Entries::default();
        for bits in [8, 16, 24] {
            let network = Network::holding(0x0a01_0203u32, bits).expect("a prefix");
            new.v4.networks.push(network);
        }
        let sorted = lists.begin_load(0).expect("a list").sort(new);
        let window = Entry::V4(Range::between(0x0a01_0200, 0x0aff_ffff));
        let told = sorted.newly_covered(&[window, Entry::address_v6(1)]);
        let (entry, first) = told[0].expect("covered");
        assert_eq!(
            (entry.to_string().as_str(), first),
            ("10.1.2.0/24", 0x0a01_0200)
        );
        assert_eq!(told[1], None);
    }
}
