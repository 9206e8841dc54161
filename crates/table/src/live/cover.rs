//! What the networks and ranges of one list cover, so that one can go and what lies beneath
//! shows.
//!
//! Networks nest, ranges overlap as they like. So a range is kept as the networks it falls into
//! (at most 62 in IPv4, 254 in IPv6): then whatever covers an address is a prefix of it, and
//! what lies within a network are its neighbours in order.

use crate::address::Address;
use crate::flatten::Span;
use std::collections::BTreeMap;

/// Networks of one list, with how many of its entries each is part of.
#[derive(Debug)]
pub(super) struct Cover<A> {
    /// By first address, then prefix length: what holds others comes before them.
    networks: BTreeMap<(A, u8), u32>,
    /// How many networks there are of each prefix length, so that lengths without are not
    /// searched.
    by_len: Vec<u32>,
}

impl<A: Address> Cover<A> {
    /// Of the spans of a list, each given once.
    pub(super) fn new(spans: impl Iterator<Item = Span<A>>) -> Self {
        let mut networks: Vec<(A, u8)> = spans.flat_map(parts).collect();
        networks.sort_unstable();
        let mut by_len = vec![0; A::BITS as usize + 1];
        let counted: Vec<((A, u8), u32)> = networks
            .chunk_by(|a, b| a == b)
            .map(|equal| (equal[0], equal.len() as u32))
            .collect();
        for ((_, prefix_len), _) in &counted {
            by_len[usize::from(*prefix_len)] += 1;
        }
        Self {
            // Sorted: built bottom up.
            networks: counted.into_iter().collect(),
            by_len,
        }
    }

    pub(super) fn add(&mut self, span: Span<A>) {
        for part in parts(span) {
            let count = self.networks.entry(part).or_insert(0);
            self.by_len[usize::from(part.1)] += u32::from(*count == 0);
            *count += 1;
        }
    }

    /// Takes out what [`Cover::add`] or [`Cover::new`] put in.
    pub(super) fn remove(&mut self, span: Span<A>) {
        for part in parts(span) {
            let Some(count) = self.networks.get_mut(&part) else {
                debug_assert!(false, "only what was added is removed");
                continue;
            };
            *count -= 1;
            if *count == 0 {
                self.networks.remove(&part);
                self.by_len[usize::from(part.1)] -= 1;
            }
        }
    }

    /// What is covered within `span`, ascending and apart, though neighbours may touch.
    pub(super) fn within(&self, span: Span<A>) -> Vec<Span<A>> {
        let mut covered = Vec::new();
        for (first, prefix_len) in parts(span) {
            let last = first.last_in(prefix_len);
            if self.has_around(first, prefix_len) {
                covered.push((first, last));
            } else {
                self.inside(first, last, &mut covered);
            }
        }
        covered
    }

    /// True when a network that holds all of `first/prefix_len` is here.
    fn has_around(&self, first: A, prefix_len: u8) -> bool {
        (0..=prefix_len)
            .filter(|&len| self.by_len[usize::from(len)] > 0)
            .any(|len| self.networks.contains_key(&(first.first_in(len), len)))
    }

    /// The outermost networks that begin within `first..=last`, which none of them leaves.
    fn inside(&self, first: A, last: A, covered: &mut Vec<Span<A>>) {
        let mut from = Some(first);
        while let Some(start) = from.filter(|&start| start <= last) {
            let Some((&(first, prefix_len), _)) =
                self.networks.range((start, 0)..=(last, u8::MAX)).next()
            else {
                return;
            };
            covered.push((first, first.last_in(prefix_len)));
            from = first.last_in(prefix_len).successor();
        }
    }
}

/// The networks a span falls into, ascending: as few as there can be.
fn parts<A: Address>((first, last): Span<A>) -> impl Iterator<Item = (A, u8)> {
    let mut next = Some(first);
    std::iter::from_fn(move || {
        let first = next?;
        let mut len = A::BITS as u8;
        while len > 0 && first.first_in(len - 1) == first && first.last_in(len - 1) <= last {
            len -= 1;
        }
        next = first.last_in(len).successor().filter(|&next| next <= last);
        Some((first, len))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_fall_into_networks() {
        let all = |span| parts(span).collect::<Vec<_>>();
        assert_eq!(all((0u32, u32::MAX)), [(0, 0)]);
        assert_eq!(all((1u32, 6)), [(1, 32), (2, 31), (4, 31), (6, 32)]);
        assert_eq!(parts((1u32, u32::MAX - 1)).count(), 62);
        assert_eq!(parts((1u128, u128::MAX - 1)).count(), 254);
        assert_eq!(all((u32::MAX, u32::MAX)), [(u32::MAX, 32)]);
    }

    /// Every pair of spans of a small space, asked about every span.
    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code, and a minute of it")]
    fn agrees_with_marks_an_address() {
        const SPACE: u32 = 8;
        let spans: Vec<Span<u32>> = (0..SPACE)
            .flat_map(|first| (first..SPACE).map(move |last| (first, last)))
            .collect();
        for &a in &spans {
            for &b in &spans {
                let mut cover = Cover::new([a].into_iter());
                cover.add(b);
                check(&cover, &[a, b], &spans);
                cover.remove(a);
                check(&cover, &[b], &spans);
            }
        }
    }

    fn check(cover: &Cover<u32>, held: &[Span<u32>], asked: &[Span<u32>]) {
        for &(first, last) in asked {
            let marks = |held: &[Span<u32>]| -> Vec<bool> {
                let holds = |at| held.iter().any(|&(first, last)| first <= at && at <= last);
                (first..=last).map(holds).collect()
            };
            let within = cover.within((first, last));
            assert!(within.iter().all(|span| first <= span.0 && span.1 <= last));
            assert!(within.windows(2).all(|pair| pair[0].1 < pair[1].0));
            assert_eq!(marks(&within), marks(held), "{held:?} {first}-{last}");
        }
    }
}
