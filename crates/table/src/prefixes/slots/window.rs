//! Keys that go through the stages of a lookup together.

use crate::simd::{BITS_SET, Lanes};
use frame::Groups;

/// Keys that vectors take together: as many as have 32 bits each in 32 bytes.
pub(super) const GROUP: usize = 8;
/// Keys of a window: the pairs of 64 frames. On a Zen 3 half as many give 0.95 of the rate.
pub(super) const WINDOW: usize = GROUP * GROUPS;
const GROUPS: usize = 16;

/// How far a group of keys has come, in a cache line: where their slots are, then their lines:
/// nodes and leaves, then leaves; behind them the bits 32 to 47 as places in lines are compared
/// with them.
pub(super) type Group = [[u32; GROUP]; 2];

type Columns = Groups<[u32; GROUP], 2, GROUPS>;

/// How far the keys of a window have come.
pub(super) struct Window {
    groups: Columns,
    /// Where in the groups the keys are that have nodes, then whatever was written behind the last.
    nodes: [u8; WINDOW + GROUP],
}

impl Window {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            groups: Groups::new(),
            nodes: [0; WINDOW + GROUP],
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

    /// `child` tells the slot of a key whose place is negative, of that place and the number of the
    /// key.
    #[inline(always)]
    pub(super) fn replace_top_nodes<V: Lanes>(
        &mut self,
        lanes: V,
        child: impl Fn(u32, usize) -> u32,
    ) {
        let mut count = 0;
        for (number, group) in self.groups.as_slice().iter().enumerate() {
            let places = group[0].map(u32::cast_signed);
            list(lanes, number, &places, &mut self.nodes, &mut count);
        }
        let groups = words(&mut self.groups);
        for &at in &self.nodes[..count.min(WINDOW)] {
            let at = usize::from(at);
            let key = at / (2 * GROUP) * GROUP + at % GROUP;
            groups[at] = child(groups[at], key);
        }
    }

    /// `value` tells what takes the place of each place.
    #[inline(always)]
    pub(super) fn replace_places(&mut self, value: impl Fn(u32) -> u32) {
        for group in self.groups.as_mut_slice() {
            for place in &mut group[0] {
                *place = value(*place);
            }
        }
    }

    /// `find` makes a group's places of slots those of lines, and tells which are nodes: those
    /// whose numbers it returns are negative. Tells how many these are.
    #[inline(always)]
    pub(super) fn find_lines<V: Lanes>(
        &mut self,
        lanes: V,
        find: impl Fn(&mut [u32; GROUP], &[u32; GROUP]) -> [i32; GROUP],
    ) -> usize {
        let mut count = 0;
        for (number, group) in self.groups.as_mut_slice().iter_mut().enumerate() {
            let [places, compared] = group;
            let numbers = find(places, compared);
            list(lanes, number, &numbers, &mut self.nodes, &mut count);
        }
        count
    }

    /// `child` tells the leaf of a node, of which there are `count`.
    #[inline(always)]
    pub(super) fn replace_nodes(&mut self, count: usize, child: impl Fn(u32, u32) -> u32) {
        let groups = words(&mut self.groups);
        for &at in &self.nodes[..count.min(WINDOW)] {
            let at = usize::from(at);
            // In this order one look whether they are there does for both.
            let compared = groups[at + GROUP];
            groups[at] = child(groups[at], compared);
        }
    }

    /// The place of a key.
    pub(super) fn place(&self, key: usize) -> u32 {
        self.groups.as_slice()[key / GROUP][0][key % GROUP]
    }

    #[inline(always)]
    pub(super) fn groups(&self) -> &[Group] {
        self.groups.as_slice()
    }
}

/// All groups side by side.
#[inline(always)]
fn words(groups: &mut Columns) -> &mut [u32] {
    groups.as_mut_slice().as_flattened_mut().as_flattened_mut()
}

/// Adds where the negative of a group's numbers are to a list of `count`.
#[inline(always)]
fn list<V: Lanes>(
    lanes: V,
    group: usize,
    numbers: &[i32; GROUP],
    list: &mut [u8; WINDOW + GROUP],
    count: &mut usize,
) {
    // A place is a byte, and eight of them are added at once.
    const { assert!(2 * WINDOW <= 1 << 8) };
    let negative = lanes.negative(numbers);
    let first = (2 * GROUP * group) as u64 * 0x0101_0101_0101_0101;
    let added = u64::from_le_bytes(BITS_SET[usize::from(negative)]).wrapping_add(first);
    // The groups before this one have less than a window.
    let at = *count % WINDOW;
    list[at..at + GROUP].copy_from_slice(&added.to_le_bytes());
    *count += negative.count_ones() as usize;
}
