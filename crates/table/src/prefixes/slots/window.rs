//! Keys that go through the stages of a lookup together.

use crate::simd::{BITS_SET, Lanes};
use frame::Groups;

/// Keys that vectors take together: as many as have 32 bits each in 32 bytes.
pub(super) const GROUP: usize = 8;
/// Keys of a window: the pairs of 64 frames. On a Zen 3 half as many give 0.95 of the rate.
pub(super) const WINDOW: usize = GROUP * GROUPS;
const GROUPS: usize = 16;

/// How far a group of keys has come, in a cache line: where their slots are, then what stands in
/// these, then where their lines are: nodes and leaves, then leaves; behind them the bits 32 to 47
/// as places in lines are compared with them.
pub(super) type Group = [[u32; GROUP]; 2];

/// How far the keys of a window have come.
pub(super) struct Window {
    groups: Groups<[u32; GROUP], 2, GROUPS>,
    nodes: Nodes,
}

/// Where in the groups the keys are that have nodes.
pub(super) struct Nodes {
    /// Behind the last there is whatever was written.
    places: [u8; WINDOW + GROUP],
    count: usize,
}

impl Window {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            groups: Groups::new(),
            nodes: Nodes {
                places: [0; WINDOW + GROUP],
                count: 0,
            },
        }
    }

    /// Begins anew with these groups.
    #[inline(always)]
    pub(super) fn fill(&mut self, groups: impl Iterator<Item = Group>) {
        self.groups.fill(groups);
    }

    /// Adds a group.
    #[inline(always)]
    pub(super) fn push(&mut self, group: Group) {
        self.groups.push(|index| group[index]);
    }

    /// The groups, and a list of nodes among them. Take them once a window: the stages of a lookup
    /// then share the pointer and the length.
    #[inline(always)]
    pub(super) fn parts(&mut self) -> (&mut [Group], &mut Nodes) {
        (self.groups.as_mut_slice(), &mut self.nodes)
    }
}

impl Nodes {
    /// Adds the negative of a group's numbers to the first `count` places; how many there are now.
    /// The caller keeps that: in memory each group waited for the one before.
    #[inline(always)]
    pub(super) fn add<V: Lanes>(
        &mut self,
        lanes: V,
        count: usize,
        group: usize,
        numbers: &[i32; GROUP],
    ) -> usize {
        // A place is a byte, and eight of them are added at once.
        const { assert!(2 * WINDOW <= 1 << 8) };
        let negative = lanes.negative(numbers);
        let first = (2 * GROUP * group) as u64 * 0x0101_0101_0101_0101;
        let added = u64::from_le_bytes(BITS_SET[usize::from(negative)]).wrapping_add(first);
        // The groups before this one have less than a window.
        let at = count % WINDOW;
        self.places[at..at + GROUP].copy_from_slice(&added.to_le_bytes());
        count + negative.count_ones() as usize
    }

    /// How many places count.
    #[inline(always)]
    pub(super) fn set_count(&mut self, count: usize) {
        self.count = count;
    }

    /// `child` tells where a node leads, of its place, what is compared of its key, and the key's
    /// number.
    #[inline(always)]
    pub(super) fn replace(&self, groups: &mut [Group], child: impl Fn(u32, u32, usize) -> u32) {
        let words = groups.as_flattened_mut().as_flattened_mut();
        for &at in &self.places[..self.count.min(WINDOW)] {
            let at = usize::from(at);
            // In this order one look whether they are there does for both.
            let compared = words[at + GROUP];
            let key = at / (2 * GROUP) * GROUP + at % GROUP;
            words[at] = child(words[at], compared, key);
        }
    }
}

/// The place of a key.
pub(super) fn place(groups: &[Group], key: usize) -> u32 {
    groups[key / GROUP][0][key % GROUP]
}
