//! A routing table as the Internet's was in 2025, by its shape: this program ships no data.
//!
//! How many prefixes of each length there are is well known; where they lie is drawn, from short
//! to long: beside the last, in a chunk that others are in, or anywhere. The shares were set so
//! that the part of the address space that is covered and the number of ranges that the union
//! collapses to are near those of a real table, and lookups take as long as in one.

use std::collections::HashSet;

use table::{Entries, Network};

use crate::shuffle::Seeded;

/// Prefix lengths and how many there are of each.
const LENGTHS_V4: [(u8, u32); 20] = [
    (8, 16),
    (9, 13),
    (10, 38),
    (11, 100),
    (12, 300),
    (13, 580),
    (14, 1_200),
    (15, 2_100),
    (16, 13_500),
    (17, 8_200),
    (18, 13_800),
    (19, 24_900),
    (20, 42_600),
    (21, 50_800),
    (22, 108_600),
    (23, 96_500),
    (24, 537_700),
    (25, 20),
    (28, 18),
    (32, 886),
];
const LENGTHS_V6: [(u8, u32); 28] = [
    (20, 16),
    (24, 30),
    (28, 190),
    (29, 4_400),
    (30, 650),
    (31, 280),
    (32, 22_500),
    (33, 2_900),
    (34, 2_600),
    (35, 1_000),
    (36, 6_000),
    (37, 900),
    (38, 1_600),
    (39, 1_400),
    (40, 13_400),
    (41, 900),
    (42, 2_300),
    (43, 1_000),
    (44, 14_400),
    (45, 1_550),
    (46, 3_000),
    (47, 3_150),
    (48, 75_500),
    (56, 30),
    (64, 180),
    (126, 19),
    (127, 42),
    (128, 6),
];
/// First 16 bits of what registries hand out, from and to, and how crowded they are.
const BLOCKS_V6: [(u16, u16, u16); 8] = [
    (0x2001, 0x2001, 6),
    (0x2003, 0x2003, 1),
    (0x2400, 0x240f, 1),
    (0x2600, 0x2608, 1),
    (0x2620, 0x2620, 2),
    (0x2800, 0x2806, 2),
    (0x2a00, 0x2a13, 1),
    (0x2c0f, 0x2c0f, 1),
];

/// How prefixes of one family lie.
struct Shape {
    lengths: &'static [(u8, u32)],
    /// Longer prefixes lie in chunks of this length.
    chunk_len: u8,
    chunks: usize,
    /// Percent that lie beside the last of their length.
    beside: u64,
    /// Percent of what would lie within shorter prefixes that is drawn again.
    apart: u64,
    /// The power of a uniform number that picks the chunk: above 1 the first are crowded.
    crowding: i32,
    /// Any address, leftmost bit first.
    anywhere: fn(&mut Seeded) -> u128,
}

const V4: Shape = Shape {
    lengths: &LENGTHS_V4,
    chunk_len: 16,
    chunks: 26_000,
    beside: 57,
    apart: 60,
    crowding: 2,
    anywhere: |seeded| loop {
        let word = seeded.next() as u32;
        let first = word >> 24;
        if (1..224).contains(&first) && first != 10 && first != 127 {
            return u128::from(word) << 96;
        }
    },
};
const V6: Shape = Shape {
    lengths: &LENGTHS_V6,
    chunk_len: 32,
    chunks: 9_000,
    beside: 50,
    apart: 0,
    crowding: 4,
    anywhere: |seeded| {
        let blocks = BLOCKS_V6.iter();
        let blocks = blocks.flat_map(|&(from, to, times)| (from..=to).map(move |b| (b, times)));
        let crowds: u64 = blocks.clone().map(|(_, times)| u64::from(times)).sum();
        let word = seeded.next();
        let mut left = (word >> 32) % crowds;
        let block = blocks.clone().find(|&(_, times)| {
            let found = left < u64::from(times);
            left = left.saturating_sub(u64::from(times));
            found
        });
        let block = block.map_or(0x2001, |(block, _)| block);
        // Registries fill the lower half of a block first.
        u128::from(block) << 112 | u128::from(word as u32 >> 1) << 80
    },
};

/// Prefixes drawn so far.
struct Drawn<'a> {
    shape: &'a Shape,
    seeded: Seeded,
    prefixes: Vec<(u128, u8)>,
    known: HashSet<(u128, u8)>,
    /// First addresses of the chunks, the crowded ones first.
    chunks: Vec<u128>,
}

fn first_in(address: u128, len: u8) -> u128 {
    address >> (128 - len) << (128 - len)
}

/// Prefixes of this shape, all different: the first address, leftmost bit first, and the length.
fn prefixes(shape: &Shape, seed: u64) -> Vec<(u128, u8)> {
    let mut drawn = Drawn {
        shape,
        seeded: Seeded::new(seed),
        prefixes: Vec::new(),
        known: HashSet::new(),
        chunks: Vec::new(),
    };
    for &(len, count) in shape.lengths {
        if len > shape.chunk_len && drawn.chunks.is_empty() {
            drawn.choose_chunks();
        }
        drawn.add(len, count);
    }
    drawn.prefixes
}

impl Drawn<'_> {
    /// True when a shorter prefix holds the address, and the dice agree.
    fn passed_over(&mut self, address: u128, len: u8) -> bool {
        let covered = |above| self.known.contains(&(first_in(address, above), above));
        self.seeded.next() % 100 < self.shape.apart && (8..len).any(covered)
    }

    fn choose_chunks(&mut self) {
        let len = self.shape.chunk_len;
        while self.chunks.len() < self.shape.chunks {
            let chunk = first_in((self.shape.anywhere)(&mut self.seeded), len);
            if !self.passed_over(chunk, len + 1) {
                self.chunks.push(chunk);
            }
        }
    }

    fn add(&mut self, len: u8, count: u32) {
        let end = self.prefixes.len() + count as usize;
        let mut last = (self.shape.anywhere)(&mut self.seeded);
        while self.prefixes.len() < end {
            last = first_in(self.place(len, last), len);
            if !self.passed_over(last, len) && self.known.insert((last, len)) {
                self.prefixes.push((last, len));
            }
        }
    }

    /// An address for the next prefix of this length: beside the last, in a chunk, or anywhere.
    fn place(&mut self, len: u8, last: u128) -> u128 {
        let word = self.seeded.next();
        if word % 100 < self.shape.beside {
            return last.wrapping_add(1 << (128 - len));
        }
        if self.chunks.is_empty() {
            return (self.shape.anywhere)(&mut self.seeded);
        }
        let share = (word >> 11) as f64 / (1u64 << 53) as f64;
        let place = share.powi(self.shape.crowding) * self.chunks.len() as f64;
        let chunk = self.chunks[place as usize];
        let word = self.seeded.next();
        let mut low = u128::from(word) << 64;
        if self.shape.chunk_len > 16 {
            // The first of the 256 parts of a chunk are crowded too.
            let share = (word >> 11) as f64 / (1u64 << 53) as f64;
            let part = (share * share * share * 256.0) as u128;
            low = part << 120 | low << 8 >> 8;
        }
        chunk | low >> self.shape.chunk_len
    }
}

/// The table, both families.
pub(super) fn entries(seed: u64) -> Entries {
    let mut entries = Entries::default();
    for (first, len) in prefixes(&V4, seed) {
        let network = Network::holding((first >> 96) as u32, len);
        entries.v4.networks.extend(network);
    }
    for (first, len) in prefixes(&V6, seed) {
        entries.v6.networks.extend(Network::holding(first, len));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_the_real_ones_and_no_prefix_comes_twice() {
        let entries = entries(1);
        let (v4, v6) = (&entries.v4.networks, &entries.v6.networks);
        assert_eq!((v4.len(), v6.len()), (901_871, 159_943));
        let share = |count: usize, all: usize| 100 * count / all;
        let of = |len| {
            v4.iter()
                .filter(|network| network.prefix_len() == len)
                .count()
        };
        assert_eq!((share(of(24), v4.len()), of(8)), (59, 16));
        let of = |len| {
            v6.iter()
                .filter(|network| network.prefix_len() == len)
                .count()
        };
        assert_eq!((share(of(48), v6.len()), share(of(32), v6.len())), (47, 14));
        let different: HashSet<_> = v4.iter().collect();
        assert_eq!(different.len(), v4.len());
    }

    /// The share of the networks that lie within others, the ranges that the union collapses to,
    /// and the share of the first 2^32 such units that it covers.
    fn shape_of<A: Copy + Ord + Into<u128>>(spans: &[(A, A)]) -> (f64, usize, u128) {
        let mut spans: Vec<(u128, u128)> =
            spans.iter().map(|&(a, b)| (a.into(), b.into())).collect();
        spans.sort_unstable_by_key(|&(first, last)| (first, u128::MAX - last));
        let (mut nested, mut ranges, mut covered) = (0, 0, 0);
        let mut end = 0;
        for &(first, last) in &spans {
            nested += usize::from(last < end);
            ranges += usize::from(first > end);
            covered += (last + 1).saturating_sub(first.max(end));
            end = end.max(last + 1);
        }
        (nested as f64 / spans.len() as f64, ranges, covered)
    }

    /// A real table of 2025: 0.51 nested, 67,888 ranges, 0.71 of all addresses; IPv6 0.57, 40,658.
    #[test]
    fn networks_lie_as_in_a_real_table() {
        let entries = entries(2);
        let spans = |network: &Network<u32>| (network.first(), network.last());
        let spans: Vec<_> = entries.v4.networks.iter().map(spans).collect();
        let (nested, ranges, covered) = shape_of(&spans);
        let covered = covered as f64 / (1u64 << 32) as f64;
        println!("IPv4: {nested:.2} nested, {ranges} ranges, {covered:.2} of all addresses");
        assert!((0.4..0.75).contains(&nested) && (0.5..0.85).contains(&covered));
        assert!((40_000..110_000).contains(&ranges));
        let spans = |network: &Network<u128>| (network.first(), network.last());
        let spans: Vec<_> = entries.v6.networks.iter().map(spans).collect();
        let (nested, ranges, _) = shape_of(&spans);
        println!("IPv6: {nested:.2} nested, {ranges} ranges");
        assert!((0.35..0.75).contains(&nested));
        assert!((25_000..65_000).contains(&ranges));
    }
}
