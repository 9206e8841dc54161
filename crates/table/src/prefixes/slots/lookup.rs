//! Looking a burst of addresses up in [`Slots`](super::Slots).
//!
//! Keys go in windows of 128 through four stages, each a loop over the whole window: take them
//! apart and ask for their slots, read these and ask for nodes and leaves, read the nodes and ask
//! for their leaves, read these. So lines are asked for some hundred keys before they are read.
//! What a stage does for one key is the same for all; only keys that have nodes go through that
//! stage, by a list that vectors make without a branch. A key whose class is a word of the trie
//! waits in a column; of the routing table one in 500 does.

use super::line::{self, Line};
use super::window::{GROUP, WINDOW, Window};
use super::{NOTHING, NUMBER, low, onward};
use crate::mask::ListMask;
use crate::prefixes::trie::{self, Trie};
use crate::simd::{self, Job, Lanes, Level, Portable};
use frame::memory::PagedView;
use frame::prefetch;

/// Values by index: side by side, or in pages that versions share.
pub(super) trait Column<'a, T: 'a>: Copy {
    fn len(self) -> usize;
    fn at(self, index: usize) -> &'a T;
    /// Asks for the line of a value, into the second cache level if `FAR`.
    fn ask<const FAR: bool>(self, index: usize);
}

impl<'a, T> Column<'a, T> for &'a [T] {
    #[inline(always)]
    fn len(self) -> usize {
        <[T]>::len(self)
    }
    #[inline(always)]
    fn at(self, index: usize) -> &'a T {
        &self[index]
    }
    #[inline(always)]
    fn ask<const FAR: bool>(self, index: usize) {
        prefetch::read_into::<FAR>(self.as_ptr().wrapping_add(index).cast());
    }
}

impl<'a, T> Column<'a, T> for PagedView<'a, T> {
    #[inline(always)]
    fn len(self) -> usize {
        PagedView::len(self)
    }
    #[inline(always)]
    fn at(self, index: usize) -> &'a T {
        self.value(index)
    }
    #[inline(always)]
    fn ask<const FAR: bool>(self, index: usize) {
        if FAR {
            self.prefetch_far(index);
        } else {
            self.prefetch(index);
        }
    }
}

pub(super) struct Lookup<'a, R, S, L> {
    pub(super) level: Level,
    pub(super) root: R,
    pub(super) slots: S,
    pub(super) lines: L,
    /// True where a word of the root leads to nodes.
    pub(super) has_nodes: bool,
    pub(super) trie: &'a Trie,
    pub(super) answers: &'a [ListMask],
    pub(super) keys: &'a [u128],
    pub(super) masks: &'a mut [ListMask],
}

/// Keys that wait for the trie at once. Room for more costs more than it gives: nearly all bursts
/// have one such key or none.
const ONWARD: usize = 32;
/// Fewer go down one by one.
const TOGETHER_MIN: usize = 8;

/// Keys that wait for the trie: their places in the burst, and their leaves.
struct Onward {
    places: [u32; ONWARD],
    leaves: [u32; ONWARD],
    count: usize,
}

impl<'a, R, S, L> Job for Lookup<'a, R, S, L>
where
    R: Column<'a, u32>,
    S: Column<'a, u32>,
    L: Column<'a, Line>,
{
    type Answer = ();

    #[inline(always)]
    fn run<V: Lanes>(mut self, lanes: V) {
        let far = V::DEEP && simd::asks_far(size_of::<u32>() * self.slots.len());
        let mut window = Window::new();
        let mut onward = None;
        for first in (0..self.keys.len()).step_by(WINDOW) {
            let (keys, rest) = self.keys[first..].split_at((self.keys.len() - first).min(WINDOW));
            ask_keys(&rest[..rest.len().min(WINDOW)]);
            window.take(lanes, keys);
            self.find_slots(lanes, far, &mut window);
            self.find_lines(lanes, &mut window);
            self.find_leaves(lanes, &mut window);
            self.answer(lanes, first, &window, &mut onward);
        }
        if let Some(onward) = &onward {
            self.go_on(onward);
        }
    }
}

/// Asks for keys of the next window: they are read all at once.
#[inline(always)]
fn ask_keys(keys: &[u128]) {
    for line in keys.chunks(4) {
        prefetch::read(line.as_ptr().cast());
    }
}

impl<'a, R, S, L> Lookup<'a, R, S, L>
where
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
    fn find_slots<V: Lanes>(&self, lanes: V, far: bool, window: &mut Window) {
        let find = |places: &mut [u32; GROUP], middles: &[u32; GROUP]| {
            let words = places.map(|top| *self.root.at(top as usize));
            let mut numbers = [0; GROUP];
            for ((number, word), &middle) in numbers.iter_mut().zip(words).zip(middles) {
                *number = onward(word, middle);
            }
            *places = numbers.map(|number| number.cast_unsigned() & NUMBER);
            numbers
        };
        if self.has_nodes {
            window.find_slots(lanes, find);
            window.replace_nodes_by_middles(|node, compared| {
                line::child(lanes, self.lines.at(node as usize), compared)
            });
        } else {
            window.find_all_slots(find);
        }
        if far {
            ask_all::<true, _, _>(self.slots, window);
        } else {
            ask_all::<false, _, _>(self.slots, window);
        }
    }

    /// Reads the slots of a window, and asks for the lines that they lead to.
    #[inline(always)]
    fn find_lines<V: Lanes>(&self, lanes: V, window: &mut Window) {
        window.find_lines(lanes, |places, compared| {
            let words = places.map(|slot| *self.slots.at(slot as usize));
            let mut numbers = [0; GROUP];
            for ((number, word), &compared) in numbers.iter_mut().zip(words).zip(compared) {
                // Its own inverse.
                *number = onward(word, u32::from(line::compared(compared)));
            }
            *places = numbers.map(|number| number.cast_unsigned() & NUMBER);
            numbers
        });
        ask_all::<false, _, _>(self.lines, window);
    }

    /// Finds the leaves of those keys that have nodes.
    #[inline(always)]
    fn find_leaves<V: Lanes>(&self, lanes: V, window: &mut Window) {
        window.replace_nodes(|node, compared| {
            let leaf = line::child(lanes, self.lines.at(node as usize), compared);
            self.lines.ask::<false>(leaf as usize);
            leaf
        });
    }

    /// Answers a window that begins at key `first`; keys whose class is a word join `onward`.
    #[inline(always)]
    fn answer<V: Lanes>(
        &mut self,
        lanes: V,
        first: usize,
        window: &Window,
        onward: &mut Option<Onward>,
    ) {
        let mut found = [[ListMask::EMPTY; GROUP]; WINDOW / GROUP];
        for (group, (found, (leaves, compared))) in
            found.iter_mut().zip(window.groups()).enumerate()
        {
            if self.find(lanes, leaves, compared, found).is_none() {
                *found = [ListMask::EMPTY; GROUP];
                self.put_off(first + GROUP * group, leaves, onward);
            }
        }
        let masks = self.masks[first..self.keys.len()].iter_mut();
        for (mask, &found) in masks.zip(found.as_flattened()) {
            *mask |= found;
        }
    }

    /// Finds the answers of a group; `None` where a class is a word.
    #[inline(always)]
    fn find<V: Lanes>(
        &self,
        lanes: V,
        leaves: &[u32; GROUP],
        compared: &[u16; GROUP],
        found: &mut [ListMask; GROUP],
    ) -> Option<()> {
        for (mask, (&leaf, &compared)) in found.iter_mut().zip(leaves.iter().zip(compared)) {
            let class = line::class(lanes, self.lines.at(leaf as usize), compared);
            *mask = *self.answers.get(usize::from(class))?;
        }
        Some(())
    }

    /// Answers the group from key `first` on, some of which have words.
    #[cold]
    #[inline(never)]
    fn put_off(&mut self, first: usize, leaves: &[u32; GROUP], onward: &mut Option<Onward>) {
        let onward = onward.get_or_insert(Onward {
            places: [0; ONWARD],
            leaves: [0; ONWARD],
            count: 0,
        });
        let keys = self.keys[first..].iter();
        for ((place, &key), &leaf) in (first..).zip(keys).zip(leaves) {
            let line = self.lines.at(leaf as usize);
            let class = line::class(Portable, line, line::compared(low(key)));
            if let Some(&answer) = self.answers.get(usize::from(class)) {
                self.masks[place] |= answer;
            } else {
                self.lines.ask::<false>(line::number(line) as usize);
                onward.places[onward.count] = place as u32;
                onward.leaves[onward.count] = leaf;
                onward.count += 1;
            }
        }
        if onward.count > ONWARD - GROUP {
            self.go_on(onward);
            onward.count = 0;
        }
    }

    /// The rest of a lookup for keys that wait for the trie.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self, onward: &Onward) {
        let places = onward.places[..onward.count].iter().zip(onward.leaves);
        let waiting = places.map(|(&place, leaf)| {
            let (key, leaf) = (self.keys[place as usize], self.lines.at(leaf as usize));
            let class = line::class(Portable, leaf, line::compared(low(key)));
            let words = self.lines.at(line::number(leaf) as usize);
            (place as usize, key, line::word(words, class))
        });
        if onward.count < TOGETHER_MIN {
            for (place, key, word) in waiting {
                let class = self.trie.class(key, word);
                self.masks[place] |= self.answers[class as usize];
            }
            return;
        }
        let (mut keys, mut words) = ([0; ONWARD], [NOTHING; trie::WINDOW]);
        for ((_, key, word), (to, word_to)) in waiting.zip(keys.iter_mut().zip(&mut words)) {
            (*to, *word_to) = (key, word);
        }
        let keys = &keys[..onward.count];
        self.trie.descend(self.level, keys, &mut words);
        for (&place, &class) in onward.places[..onward.count].iter().zip(&words) {
            self.masks[place as usize] |= self.answers[class as usize];
        }
    }
}

/// Asks for the values at the places of a window.
#[inline(always)]
fn ask_all<'a, const FAR: bool, T: 'a, C: Column<'a, T>>(column: C, window: &Window) {
    for &place in window.places() {
        column.ask::<FAR>(place as usize);
    }
}
