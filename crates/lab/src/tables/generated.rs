//! A routing table as the Internet's was in 2025, by its shape: this program ships no data.
//!
//! How many prefixes of each length there are is well known; where they lie is drawn, from short
//! to long: within one drawn before, side by side with the last, or anywhere. The shares were set
//! so that the part of the address space that is covered and the number of ranges that the union
//! collapses to are near those of a real table.

use std::collections::HashSet;

use table::{Entries, Network};

use crate::shuffle::Seeded;

/// Prefix lengths and how many there are of each.
const LENGTHS_V4: [(u8, u32); 17] = [
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
];
const LENGTHS_V6: [(u8, u32); 25] = [
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
];
/// First 16 bits of what registries hand out, the crowded ones more than once.
const BLOCKS_V6: [u16; 28] = [
    0x2001, 0x2001, 0x2001, 0x2001, 0x2400, 0x2401, 0x2402, 0x2403, 0x2404, 0x2405, 0x2407, 0x2408,
    0x2409, 0x240a, 0x240e, 0x2600, 0x2602, 0x2604, 0x2606, 0x2607, 0x2620, 0x2803, 0x2804, 0x2804,
    0x2806, 0x2a00, 0x2a02, 0x2a10,
];

/// How prefixes of one family lie.
struct Shape {
    lengths: &'static [(u8, u32)],
    /// Percent that lie within a prefix drawn before, if that is shorter.
    within: u64,
    /// Percent that lie beside the last of their length.
    beside: u64,
    /// Any address, leftmost bit first.
    anywhere: fn(&mut Seeded) -> u128,
}

const V4: Shape = Shape {
    lengths: &LENGTHS_V4,
    within: 52,
    beside: 36,
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
    within: 60,
    beside: 30,
    anywhere: |seeded| {
        let word = seeded.next();
        let block = BLOCKS_V6[(word >> 32) as usize % BLOCKS_V6.len()];
        u128::from(block) << 112 | u128::from(word as u32) << 80
    },
};

/// Prefixes of this shape, all different: the first address, leftmost bit first, and the length.
fn prefixes(shape: &Shape, seed: u64) -> Vec<(u128, u8)> {
    let mut seeded = Seeded::new(seed);
    let mut drawn: Vec<(u128, u8)> = Vec::new();
    let mut known = HashSet::new();
    for &(len, count) in shape.lengths {
        let shorter = drawn.len();
        let mut last = (shape.anywhere)(&mut seeded);
        while drawn.len() < shorter + count as usize {
            let address = place(shape, &drawn[..shorter], len, last, &mut seeded);
            let first = address >> (128 - len) << (128 - len);
            last = first;
            if known.insert((first, len)) {
                drawn.push((first, len));
            }
        }
    }
    drawn
}

/// An address for the next prefix of this length.
fn place(shape: &Shape, shorter: &[(u128, u8)], len: u8, last: u128, seeded: &mut Seeded) -> u128 {
    let word = seeded.next();
    let percent = word % 100;
    if percent < shape.beside {
        // Either neighbour: a run that meets another goes round it.
        return last.wrapping_add(1 << (128 - len));
    }
    if percent < shape.beside + shape.within && !shorter.is_empty() {
        let (first, len) = shorter[(word >> 8) as usize % shorter.len()];
        return first | u128::from(seeded.next()) << 64 >> len;
    }
    (shape.anywhere)(seeded)
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
        assert_eq!((v4.len(), v6.len()), (900_947, 159_876));
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

    #[test]
    fn most_lie_within_others_as_in_a_real_table() {
        let entries = entries(2);
        let known: HashSet<_> = entries.v4.networks.iter().copied().collect();
        let covered = |network: &&Network<u32>| {
            let shorter = 8..network.prefix_len();
            let above = |len| Network::holding(network.first(), len).ok();
            shorter
                .filter_map(above)
                .any(|above| known.contains(&above))
        };
        let nested = entries.v4.networks.iter().filter(covered).count();
        let share = nested as f64 / entries.v4.networks.len() as f64;
        assert!((0.4..0.8).contains(&share), "{share}");
    }
}
