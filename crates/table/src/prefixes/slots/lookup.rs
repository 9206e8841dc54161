//! Looking a burst of addresses up in [`Slots`](super::Slots).
//!
//! Keys go in windows of 128 through four stages, each a loop over the whole window: take them
//! apart and ask for their slots, read these and ask for nodes and leaves, read the nodes and ask
//! for their leaves, read these. So lines are asked for some hundred keys before they are read.
//! What a stage does for one key is the same for all; only keys that have nodes go through that
//! stage, by a list that is made without a branch. A key whose class is a word of the trie
//! [waits](super::waiting); of the routing table one in 500 does.

use super::NUMBER;
use super::code::Coding;
use super::line::{self, Line};
use super::onward;
use super::waiting::{Descent, Waiting};
use super::window::{GROUP, Group, WINDOW, Window};
use crate::mask::ListMask;
use crate::prefixes::column::Column;
use crate::prefixes::trie::Trie;
use crate::simd::{self, Ahead, Job, Lanes, Level, once, twice};
use frame::prefetch;

pub(super) struct Lookup<'a, C, R, S, L> {
    pub(super) level: Level,
    pub(super) coding: C,
    pub(super) root: R,
    pub(super) slots: S,
    pub(super) lines: L,
    pub(super) trie: &'a Trie,
    pub(super) answers: &'a [ListMask],
    pub(super) keys: &'a [u128],
    pub(super) masks: &'a mut [ListMask],
}

impl<'a, C, R, S, L> Job for Lookup<'a, C, R, S, L>
where
    C: Coding,
    R: Column<'a, u32>,
    S: Column<'a, u32>,
    L: Column<'a, Line>,
{
    type Answer = ();

    #[inline(always)]
    fn run<V: Lanes>(mut self, lanes: V) {
        let far = simd::ahead::<V>(size_of::<u32>() * self.slots.len()) == Ahead::Far;
        let mut window = Window::new();
        let mut descent = None;
        for first in (0..self.keys.len()).step_by(WINDOW) {
            let keys = &self.keys[first..self.keys.len().min(first + WINDOW)];
            self.find_slots(lanes, far, keys, &mut window);
            let node_count = self.find_lines(lanes, &mut window);
            self.find_leaves(lanes, node_count, &mut window);
            self.answer(lanes, first, &window, &mut descent);
        }
        if let Some(descent) = &mut descent {
            self.descend(descent);
        }
    }
}

impl<'a, C, R, S, L> Lookup<'a, C, R, S, L>
where
    C: Coding,
    R: Column<'a, u32>,
    S: Column<'a, u32>,
    L: Column<'a, Line>,
{
    /// Finds the slots of a window and asks for them.
    ///
    /// A Zen 4 answers 1.03 to 1.08 times the keys of a routing table when slots, which lie over
    /// most of the table, come into its second cache level; for nodes and leaves it is no
    /// difference.
    #[inline(always)]
    fn find_slots<V: Lanes>(&self, lanes: V, far: bool, keys: &[u128], window: &mut Window) {
        let mut any = [0; GROUP];
        let (groups, rest) = keys.as_chunks();
        window.fill(groups.iter().map(|keys| self.take(lanes, keys, &mut any)));
        if let Some(&last) = rest.last() {
            let mut keys = [last; GROUP];
            keys[..rest.len()].copy_from_slice(rest);
            window.push(self.take(lanes, &keys, &mut any));
        }
        // Of a routing table few: listing them in each window is an instruction and a half a key.
        if any.iter().any(|any| any.cast_signed() < 0) {
            window.replace_top_nodes(lanes, |node, key| {
                // What fills the last group may go to any slot: its answer is dropped.
                let middle = keys.get(key).map_or(0, |key| (key >> 96) as u16);
                let node = self.lines.at((node & NUMBER) as usize);
                line::child(lanes, node, twice(middle))
            });
        }
        if far {
            ask_all::<true, _, _>(self.slots, window);
        } else {
            ask_all::<false, _, _>(self.slots, window);
        }
    }

    /// Takes a group of keys apart: where their slots are, or with the sign bit a node, and what is
    /// compared of them. Adds the former to `any` by `or`.
    #[inline(always)]
    fn take<V: Lanes>(&self, lanes: V, keys: &[u128; GROUP], any: &mut [u32; GROUP]) -> Group {
        let [tops, middles, compared] = lanes.split(keys);
        let mut slots = [0; GROUP];
        for ((slot, top), middle) in slots.iter_mut().zip(tops).zip(middles) {
            let word = *self.root.at(usize::from(top as u16));
            *slot = onward(word, middle).cast_unsigned();
        }
        for (any, slot) in any.iter_mut().zip(slots) {
            *any |= slot;
        }
        [slots, compared]
    }

    /// Reads the slots of a window, and asks for the lines that they lead to. Tells how many are
    /// nodes.
    #[inline(always)]
    fn find_lines<V: Lanes>(&self, lanes: V, window: &mut Window) -> usize {
        window.replace_places(|slot| *self.slots.at(slot as usize));
        let node_count = window.find_lines(lanes, |places, compared| {
            let mut numbers = [0; GROUP];
            for ((number, &word), &compared) in numbers.iter_mut().zip(&*places).zip(compared) {
                *number = onward(word, once(compared));
            }
            *places = numbers.map(|number| number.cast_unsigned() & NUMBER);
            numbers
        });
        ask_all::<false, _, _>(self.lines, window);
        node_count
    }

    /// Finds the leaves of those keys that have nodes.
    #[inline(always)]
    fn find_leaves<V: Lanes>(&self, lanes: V, node_count: usize, window: &mut Window) {
        window.replace_nodes(node_count, |node, compared| {
            let leaf = line::child(lanes, self.lines.at(node as usize), compared);
            self.lines.ask::<false>(leaf as usize);
            leaf
        });
    }

    /// Answers a window that begins at key `first`; keys whose class is a word join `descent`.
    #[inline(always)]
    fn answer<V: Lanes>(
        &mut self,
        lanes: V,
        first: usize,
        window: &Window,
        descent: &mut Option<Descent>,
    ) {
        let (lines, coding) = (self.lines, self.coding);
        // To the end of the burst: the groups end with the window, and only the last window has one
        // behind whole ones. Cutting it here costs 1.6 instructions a key.
        let (masks, rest) = self.masks[first..self.keys.len()].as_chunks_mut();
        let mut waiting = Waiting::new();
        let groups = window.groups();
        let count = masks.len();
        let keys = self.keys[first..].as_ptr();
        for (number, (masks, group)) in masks.iter_mut().zip(groups).enumerate() {
            ask_keys(keys.wrapping_add(GROUP * number + WINDOW));
            add(lanes, lines, coding, number, group, masks, &mut waiting);
        }
        if !rest.is_empty()
            && let Some(group) = groups.get(count)
        {
            let mut masks = [ListMask::EMPTY; GROUP];
            add(lanes, lines, coding, count, group, &mut masks, &mut waiting);
            for (mask, found) in rest.iter_mut().zip(masks) {
                *mask |= found;
            }
        }
        if !waiting.keys().is_empty() {
            self.put_off(first, &waiting, window, descent);
        }
    }

    /// Lets those keys of a window that wait, which begins at key `first`, join `descent`.
    #[cold]
    #[inline(never)]
    fn put_off(
        &mut self,
        first: usize,
        waiting: &Waiting,
        window: &Window,
        descent: &mut Option<Descent>,
    ) {
        let descent = descent.get_or_insert_default();
        for &key in waiting.keys() {
            let place = first + usize::from(key);
            // The last key may be there again to fill its group.
            if place < self.keys.len() {
                let leaf = window.place(usize::from(key));
                let words = line::number(self.lines.at(leaf as usize));
                self.lines.ask::<false>(words as usize);
                descent.push(place, leaf);
            }
            if descent.is_full() {
                self.descend(descent);
            }
        }
    }

    /// Answers the keys of `descent`, and empties it.
    #[cold]
    #[inline(never)]
    fn descend(&mut self, descent: &mut Descent) {
        let classes = descent.classes(self.level, self.trie, self.lines, self.keys);
        for (&place, class) in descent.places().iter().zip(classes) {
            self.masks[place as usize] |= self.answers[class as usize];
        }
        descent.clear();
    }
}

/// Asks for a group of keys, which need not be there.
#[inline(always)]
fn ask_keys(keys: *const u128) {
    prefetch::read(keys.cast());
    prefetch::read(keys.wrapping_add(GROUP / 2).cast());
}

/// Adds the answers of a group, which has this number, to its masks. Keys whose class
/// is a word wait.
#[inline(always)]
fn add<'a, V: Lanes, L: Column<'a, Line>>(
    lanes: V,
    lines: L,
    coding: impl Coding,
    number: usize,
    group: &Group,
    masks: &mut [ListMask; GROUP],
    waiting: &mut Waiting,
) {
    let [leaves, compared] = group;
    for index in 0..GROUP {
        let leaf = lines.at(leaves[index] as usize);
        let code = line::code(lanes, leaf, compared[index]);
        match coding.answer(code) {
            Some(answer) => masks[index] |= answer,
            None => waiting.push(GROUP * number + index),
        }
    }
}

/// Asks for the values at the places of a window.
#[inline(always)]
fn ask_all<'a, const FAR: bool, T: 'a, C: Column<'a, T>>(column: C, window: &Window) {
    for group in window.groups() {
        for &place in &group[0] {
            column.ask::<FAR>(place as usize);
        }
    }
}
