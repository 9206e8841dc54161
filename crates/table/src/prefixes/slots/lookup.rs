//! Looking a burst of addresses up in [`Slots`](super::Slots).
//!
//! Keys go in windows of 128 through five stages, each a loop over the whole window: take them
//! apart, read their slots, find nodes and leaves and ask for them, read the nodes and ask for
//! their leaves, read these. So lines are asked for some hundred keys before they are read. Slots
//! are read by so few instructions that the processor has as many under way as if it were asked.
//! What a stage does for one key is the same for all; only keys that have nodes go through that
//! stage, by a list that is made without a branch. A key whose answer is a word of the trie
//! [waits](super::waiting); of the routing table one in 500 does.
//!
//! Slots are read into memory in a loop of their own, and by vectors in the next. Loaded into a
//! vector one by one each is two operations of the vector side, in a chain of eight; and what was
//! stored key by key just before a vector reads it comes only when all these stores are done.

use super::NUMBER;
use super::code::Coding;
use super::line;
use super::place::{self, Places};
use super::slot_of;
use super::split::{self, LINE_NUMBER};
use super::waiting::{Descent, Waiting};
use super::window::{self, GROUP, Group, Nodes, WINDOW, Window};
use crate::mask::ListMask;
use crate::prefixes::column::Column;
use crate::prefixes::trie::Trie;
use crate::simd::{self, Ahead, Job, Lanes, Level, twice};

/// Answers go to what masks have, or where not `ADDS` in the place of it.
pub(super) struct Lookup<'a, C, R, S, L, const ADDS: bool> {
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

impl<'a, C, R, S, L, const ADDS: bool> Job for Lookup<'a, C, R, S, L, ADDS>
where
    C: Coding,
    R: Column<'a, u32>,
    S: Column<'a, u32>,
    L: Places<'a>,
{
    type Answer = ();

    #[inline(always)]
    fn run<V: Lanes>(mut self, lanes: V) {
        let far = simd::ahead::<V>(size_of::<u32>() * self.slots.len()) == Ahead::Far;
        let mut window = Window::new();
        let mut descent = None;
        for first in (0..self.keys.len()).step_by(WINDOW) {
            let keys = &self.keys[first..self.keys.len().min(first + WINDOW)];
            self.take_apart(lanes, keys, &mut window);
            let (groups, nodes) = window.parts();
            // Not into the first level: they are read next, and asking for them was two
            // instructions of the seven. A Zen 4 has more under way into its second.
            if far {
                ask_far(self.slots, groups);
            }
            self.find_lines(lanes, groups, nodes);
            self.find_leaves(lanes, groups, nodes);
            self.answer(lanes, first, groups, &mut descent);
        }
        if let Some(descent) = &mut descent {
            self.descend(descent);
        }
    }
}

impl<'a, C, R, S, L, const ADDS: bool> Lookup<'a, C, R, S, L, ADDS>
where
    C: Coding,
    R: Column<'a, u32>,
    S: Column<'a, u32>,
    L: Places<'a>,
{
    /// Takes the keys of a window apart: where their slots are, and what is compared of them.
    #[inline(always)]
    fn take_apart<V: Lanes>(&self, lanes: V, keys: &[u128], window: &mut Window) {
        let mut any = [0; GROUP];
        let (whole, rest) = keys.as_chunks();
        window.fill(whole.iter().map(|keys| self.take(lanes, keys, &mut any)));
        if let Some(&last) = rest.last() {
            let mut keys = [last; GROUP];
            keys[..rest.len()].copy_from_slice(rest);
            window.push(self.take(lanes, &keys, &mut any));
        }
        // Of a routing table few: listing them in each window is an instruction and a half a key.
        if any.iter().any(|any| any.cast_signed() < 0) {
            let (groups, nodes) = window.parts();
            self.find_slots(lanes, keys, groups, nodes);
        }
    }

    /// Finds the slots of those keys that have nodes above them.
    #[inline(always)]
    fn find_slots<V: Lanes>(
        &self,
        lanes: V,
        keys: &[u128],
        groups: &mut [Group],
        nodes: &mut Nodes,
    ) {
        let mut count = 0;
        for (number, group) in groups.iter().enumerate() {
            count = nodes.add(lanes, count, number, &group[0].map(u32::cast_signed));
        }
        nodes.set_count(count);
        nodes.replace(groups, |node, _, key| {
            // What fills the last group may go to any slot: its answer is dropped.
            let middle = keys.get(key).map_or(0, |key| (key >> 96) as u16);
            let node = self.lines.at(place::of(node & NUMBER));
            line::child(lanes, node, twice(middle))
        });
    }

    /// Takes a group of keys apart: where their slots are, or with the sign bit a node, and what is
    /// compared of them. Adds the former to `any` by `or`.
    #[inline(always)]
    fn take<V: Lanes>(&self, lanes: V, keys: &[u128; GROUP], any: &mut [u32; GROUP]) -> Group {
        let [tops, middles, compared] = lanes.split(keys);
        let mut slots = [0; GROUP];
        for ((slot, top), middle) in slots.iter_mut().zip(tops).zip(middles) {
            let word = *self.root.at(usize::from(top as u16));
            *slot = slot_of(word, middle).cast_unsigned();
        }
        for (any, slot) in any.iter_mut().zip(slots) {
            *any |= slot;
        }
        [slots, compared]
    }

    /// Reads the slots of a window, and asks for the lines that they lead to. Lists those that are
    /// nodes.
    ///
    /// In two loops: where each group's slots were loaded into a vector one after the other, keys
    /// had 0.85 of the rate (Zen 5).
    #[inline(always)]
    fn find_lines<V: Lanes>(&self, lanes: V, groups: &mut [Group], nodes: &mut Nodes) {
        for [places, _] in &mut *groups {
            for place in places {
                *place = *self.slots.at(*place as usize);
            }
        }
        let mut count = 0;
        for (number, [places, compared]) in groups.iter_mut().enumerate() {
            let mut numbers = [0; GROUP];
            for ((number, &word), &compared) in numbers.iter_mut().zip(&*places).zip(&*compared) {
                *number = split::line_of(word, compared);
            }
            *places = numbers.map(|number| place::of(number.cast_unsigned() & LINE_NUMBER));
            count = nodes.add(lanes, count, number, &numbers);
        }
        nodes.set_count(count);
        for [places, _] in groups {
            for &mut place in places {
                self.lines.ask(place);
            }
        }
    }

    /// Finds the leaves of those keys that have nodes.
    #[inline(always)]
    fn find_leaves<V: Lanes>(&self, lanes: V, groups: &mut [Group], nodes: &Nodes) {
        nodes.replace(groups, |node, compared, _| {
            let leaf = place::of(line::child(lanes, self.lines.at(node), compared));
            self.lines.ask(leaf);
            leaf
        });
    }

    /// Answers a window that begins at key `first`; keys that have words join `descent`.
    #[inline(always)]
    fn answer<V: Lanes>(
        &mut self,
        lanes: V,
        first: usize,
        groups: &[Group],
        descent: &mut Option<Descent>,
    ) {
        let (lines, coding) = (self.lines, self.coding);
        // To the end of the burst: the groups end with the window, and only the last window has one
        // behind whole ones. Cutting it here costs 1.6 instructions a key.
        let (masks, rest) = self.masks[first..self.keys.len()].as_chunks_mut();
        let mut waiting = Waiting::new();
        let count = masks.len();
        for (number, (masks, group)) in masks.iter_mut().zip(groups).enumerate() {
            put::<ADDS, _, _>(lanes, lines, coding, number, group, masks, &mut waiting);
        }
        if !rest.is_empty()
            && let Some(group) = groups.get(count)
        {
            let mut masks = [ListMask::EMPTY; GROUP];
            put::<false, _, _>(lanes, lines, coding, count, group, &mut masks, &mut waiting);
            for (mask, found) in rest.iter_mut().zip(masks) {
                answer::<ADDS>(mask, found);
            }
        }
        if !waiting.keys().is_empty() {
            self.put_off(first, &waiting, groups, descent);
        }
    }

    /// Lets those keys of a window that wait, which begins at key `first`, join `descent`.
    #[cold]
    #[inline(never)]
    fn put_off(
        &mut self,
        first: usize,
        waiting: &Waiting,
        groups: &[Group],
        descent: &mut Option<Descent>,
    ) {
        let descent = descent.get_or_insert_default();
        for &key in waiting.keys() {
            let place = first + usize::from(key);
            // The last key may be there again to fill its group.
            if place < self.keys.len() {
                let leaf = window::place(groups, usize::from(key));
                self.lines
                    .ask(place::of(line::words_number(self.lines.at(leaf))));
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

/// Answers a group, which has this number. Keys that have words wait.
#[inline(always)]
fn put<'a, const ADDS: bool, V: Lanes, L: Places<'a>>(
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
        let leaf = lines.at(leaves[index]);
        let code = line::code(lanes, leaf, compared[index]);
        match coding.answer(code) {
            Some(found) => answer::<ADDS>(&mut masks[index], found),
            None => {
                answer::<ADDS>(&mut masks[index], ListMask::EMPTY);
                waiting.push(GROUP * number + index);
            }
        }
    }
}

#[inline(always)]
fn answer<const ADDS: bool>(mask: &mut ListMask, found: ListMask) {
    *mask = if ADDS { *mask | found } else { found };
}

/// Asks for the slots of a window to come to the second cache level.
#[inline(always)]
fn ask_far<'a, C: Column<'a, u32>>(slots: C, groups: &[Group]) {
    for [places, _] in groups {
        for &place in places {
            slots.ask::<true>(place as usize);
        }
    }
}
