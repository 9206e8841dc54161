//! Data that arrived before what precedes it.

use super::Seq;
use super::options::SackBlocks;

/// Ranges at most: what is beyond is sent again by the other end.
const RANGES_MAX: usize = 64;

/// Ranges of bytes in order, which neither overlap nor touch.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    ranges: Vec<Range>,
    /// The first byte that arrived last: its range is the first SACK block (RFC 2018 section 4).
    latest: Seq,
}

#[derive(Debug)]
struct Range {
    first: Seq,
    bytes: Vec<u8>,
}

impl Range {
    fn end(&self) -> Seq {
        self.first.after(self.bytes.len() as u32)
    }

    /// Appends what `later` has beyond its own end.
    fn append(&mut self, later: &Self) {
        let known = self.end().since(later.first) as usize;
        if let Some(more) = later.bytes.get(known..) {
            self.bytes.extend_from_slice(more);
        }
    }
}

impl Assembler {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Bytes that are kept.
    pub(super) fn len(&self) -> usize {
        self.ranges.iter().map(|range| range.bytes.len()).sum()
    }

    /// Keeps bytes, unless they take more than `room`.
    pub(super) fn insert(&mut self, first: Seq, bytes: &[u8], room: usize) {
        if bytes.is_empty() || bytes.len() > room || self.ranges.len() >= RANGES_MAX {
            return;
        }
        self.latest = first;
        let end = first.after(bytes.len() as u32);
        let from = self
            .ranges
            .partition_point(|range| range.end().is_before(first));
        let behind = self.ranges[from..].partition_point(|range| !end.is_before(range.first));
        let mut merged = Range {
            first,
            bytes: bytes.to_vec(),
        };
        for mut range in self.ranges.splice(from..from + behind, []) {
            if range.first.is_before(merged.first) {
                range.append(&merged);
                merged = range;
            } else {
                merged.append(&range);
            }
        }
        self.ranges.insert(from, merged);
    }

    /// Takes out what follows `next`, if there is anything, and forgets what is before it.
    pub(super) fn take(&mut self, next: Seq) -> Option<Vec<u8>> {
        while let Some(range) = self.ranges.first() {
            if next.is_before(range.first) {
                return None;
            }
            let mut range = self.ranges.remove(0);
            let known = next.since(range.first) as usize;
            if known < range.bytes.len() {
                range.bytes.drain(..known);
                return Some(range.bytes);
            }
        }
        None
    }

    /// What to tell the sender, the latest first.
    pub(super) fn sack(&self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let has_latest = |range: &&Range| {
            range.first == self.latest
                || (range.first.is_before(self.latest) && self.latest.is_before(range.end()))
        };
        let latest = self.ranges.iter().filter(has_latest);
        let others = self.ranges.iter().rev().filter(|range| !has_latest(range));
        for range in latest.chain(others) {
            if !blocks.push((range.first, range.end())) {
                break;
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_in_any_order_become_one() {
        let whole: Vec<u8> = (0..30).collect();
        let start = Seq(u32::MAX - 10);
        let orders: [&[(u32, u32)]; 7] = [
            &[(0, 30)],
            &[(10, 20), (20, 30), (0, 10)],
            &[(20, 30), (10, 20), (0, 10)],
            &[(5, 10), (15, 20), (0, 30)],
            &[(0, 12), (8, 30)],
            &[(8, 30), (0, 12)],
            &[(2, 4), (6, 8), (10, 12), (3, 11), (12, 30), (0, 2)],
        ];
        for order in orders {
            let mut assembler = Assembler::default();
            for &(from, to) in order {
                let piece = &whole[from as usize..to as usize];
                assembler.insert(start.after(from), piece, 100);
            }
            assert_eq!(assembler.len(), 30, "{order:?}");
            let mut found = Vec::new();
            while let Some(bytes) = assembler.take(start.after(found.len() as u32)) {
                found.extend(bytes);
            }
            assert_eq!(found, whole, "{order:?}");
            assert!(assembler.is_empty());
        }
    }

    #[test]
    fn room_and_ranges_are_bounded_and_the_latest_is_told_first() {
        let mut assembler = Assembler::default();
        assembler.insert(Seq(0), &[0; 11], 10);
        assert!(assembler.is_empty(), "more than there is room for");
        for at in 0..2 * RANGES_MAX as u32 {
            assembler.insert(Seq(10 + at * 10), &[0; 5], 10);
        }
        assert_eq!(assembler.len(), RANGES_MAX * 5);
        let mut assembler = Assembler::default();
        for at in [10, 30, 20] {
            assembler.insert(Seq(at), &[0; 5], 10);
        }
        let told = assembler.sack();
        let firsts: Vec<u32> = told.as_slice().iter().map(|block| block.0.0).collect();
        assert_eq!(firsts, [20, 30, 10]);
    }
}
