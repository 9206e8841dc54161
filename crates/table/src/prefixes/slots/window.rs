//! Keys that go through the stages of a lookup together, by column.

use super::line;
use crate::simd::Lanes;

/// Keys that vectors take together: as many as have 32 bits each in 32 bytes.
pub(super) const GROUP: usize = 8;
/// Keys of a window: the pairs of 64 frames. One of 256 is slower for fewer keys, since its columns
/// are set to zero first.
pub(super) const WINDOW: usize = GROUP * GROUPS;
const GROUPS: usize = 16;

/// How far the keys of a window have come.
pub(super) struct Window {
    /// Their upper 16 bits, then where their slots are, then their lines: nodes and leaves, then
    /// leaves.
    places: [[u32; GROUP]; GROUPS],
    /// The bits 16 to 31.
    middles: [[u32; GROUP]; GROUPS],
    /// The bits 32 to 47, as places in lines are compared with them.
    compared: [[u16; GROUP]; GROUPS],
    /// Groups in use.
    group_count: usize,
    /// The keys that have nodes, then whatever was written behind the last.
    nodes: [u32; WINDOW + GROUP],
    node_count: usize,
}

impl Window {
    pub(super) fn new() -> Self {
        Self {
            places: [[0; GROUP]; GROUPS],
            middles: [[0; GROUP]; GROUPS],
            compared: [[0; GROUP]; GROUPS],
            group_count: 0,
            nodes: [0; WINDOW + GROUP],
            node_count: 0,
        }
    }

    /// Takes keys apart, at most [`WINDOW`]. Where they end within a group the last follows again.
    #[inline(always)]
    pub(super) fn take<V: Lanes>(&mut self, lanes: V, keys: &[u128]) {
        let (groups, rest) = keys.as_chunks();
        let mut padded = [keys.last().copied().unwrap_or_default(); GROUP];
        padded[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&padded);
        let columns = self.places.iter_mut().zip(&mut self.middles);
        let columns = columns.zip(&mut self.compared);
        for (keys, ((tops, middles), compared)) in groups.iter().chain(last).zip(columns) {
            lanes.split(keys, tops, middles, compared);
        }
        self.group_count = groups.len() + usize::from(last.is_some());
        self.node_count = 0;
    }

    /// `find` makes the upper 16 bits of a group's keys, beside the 16 that follow, the places of
    /// their slots; none has a node.
    #[inline(always)]
    pub(super) fn find_all_slots(
        &mut self,
        find: impl Fn(&mut [u32; GROUP], &[u32; GROUP]) -> [i32; GROUP],
    ) {
        let groups = self.places[..self.group_count].iter_mut();
        for (places, middles) in groups.zip(&self.middles) {
            find(places, middles);
        }
    }

    /// As [`Window::find_all_slots`], where some have nodes: those whose numbers `find` returns are
    /// negative.
    #[inline(always)]
    pub(super) fn find_slots<V: Lanes>(
        &mut self,
        lanes: V,
        find: impl Fn(&mut [u32; GROUP], &[u32; GROUP]) -> [i32; GROUP],
    ) {
        let groups = self.places[..self.group_count].iter_mut();
        let groups = groups.zip(&self.middles);
        for (first, (places, middles)) in (0..).step_by(GROUP).zip(groups) {
            let numbers = find(places, middles);
            if let Some(nodes) = self.nodes[self.node_count..].first_chunk_mut() {
                self.node_count += lanes.negative(&numbers, first, nodes);
            }
        }
    }

    /// `child` tells the slot of a node; then no key has one.
    #[inline(always)]
    pub(super) fn replace_nodes_by_middles(&mut self, child: impl Fn(u32, u16) -> u32) {
        let places = self.places.as_flattened_mut();
        let middles = self.middles.as_flattened();
        for &key in &self.nodes[..self.node_count] {
            let key = key as usize % WINDOW;
            places[key] = child(places[key], line::compared(middles[key] as u16));
        }
        self.node_count = 0;
    }

    /// `find` makes a group's places of slots those of lines, and tells which are nodes: those
    /// whose numbers it returns are negative.
    #[inline(always)]
    pub(super) fn find_lines<V: Lanes>(
        &mut self,
        lanes: V,
        find: impl Fn(&mut [u32; GROUP], &[u16; GROUP]) -> [i32; GROUP],
    ) {
        let groups = self.places[..self.group_count]
            .iter_mut()
            .zip(&self.compared);
        for (first, (places, compared)) in (0..).step_by(GROUP).zip(groups) {
            let numbers = find(places, compared);
            if let Some(nodes) = self.nodes[self.node_count..].first_chunk_mut() {
                self.node_count += lanes.negative(&numbers, first, nodes);
            }
        }
    }

    /// `child` tells the leaf of a node.
    #[inline(always)]
    pub(super) fn replace_nodes(&mut self, child: impl Fn(u32, u16) -> u32) {
        let places = self.places.as_flattened_mut();
        let compared = self.compared.as_flattened();
        for &key in &self.nodes[..self.node_count] {
            let key = key as usize % WINDOW;
            places[key] = child(places[key], compared[key]);
        }
    }

    /// All places.
    #[inline(always)]
    pub(super) fn places(&self) -> &[u32] {
        self.places[..self.group_count].as_flattened()
    }

    /// Groups of places, and what is compared with their lines.
    #[inline(always)]
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u32; GROUP], &[u16; GROUP])> {
        self.places[..self.group_count].iter().zip(&self.compared)
    }
}
