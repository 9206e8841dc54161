//! Looking a burst of addresses up in [`Slots`](super::Slots).
//!
//! Keys go in groups of 8 through four stages that follow one another at a distance: ask for the
//! slots, read them and ask for nodes and leaves, read the nodes and ask for their leaves, read
//! these. What a stage does for one key is the same for all: 16 to 25 instructions. A key whose
//! class is a word of the trie waits in a column; of the routing table one in 500 does.

use super::line::{self, BELOW, Line};
use super::{NOTHING, NUMBER, line_of, low, slot_of};
use crate::address::Address;
use crate::mask::ListMask;
use crate::prefixes::trie::{Trie, WINDOW};
use crate::simd::{Job, Lanes, Level, Portable};
use frame::memory::PagedView;
use frame::prefetch;
use std::hint::select_unpredictable;
use std::ptr::from_ref;

/// Keys that go through a stage together. Loops of 16 are not unrolled any more.
const GROUP: usize = 8;
/// Groups between asking for slots and reading them, and between asking for a line and reading it.
const fn ahead<V: Lanes>() -> (usize, usize) {
    if V::DEEP { (4, 3) } else { (2, 1) }
}
/// Groups for which references are kept: more than wait for their slots, and than wait for lines.
const RING: usize = 8;

/// Values by index: side by side, or in pages that versions share.
pub(super) trait Column<'a, T: 'a>: Copy {
    fn at(self, index: usize) -> &'a T;
}

impl<'a, T> Column<'a, T> for &'a [T] {
    #[inline(always)]
    fn at(self, index: usize) -> &'a T {
        &self[index]
    }
}

/// A root: its index has 16 bits.
impl<'a, T> Column<'a, T> for &'a [T; 1 << 16] {
    #[inline(always)]
    fn at(self, index: usize) -> &'a T {
        &self[index & 0xffff]
    }
}

impl<'a, T> Column<'a, T> for PagedView<'a, T> {
    #[inline(always)]
    fn at(self, index: usize) -> &'a T {
        self.value(index)
    }
}

pub(super) struct Lookup<'a, A, R, S, L> {
    pub(super) level: Level,
    pub(super) root: R,
    pub(super) slots: S,
    pub(super) lines: L,
    pub(super) trie: &'a Trie,
    pub(super) answers: &'a [ListMask],
    pub(super) keys: &'a [A],
    pub(super) masks: &'a mut [ListMask],
}

/// How far the keys of a group have come.
#[derive(Clone, Copy)]
struct Progress<'a> {
    slots: [&'a u32; GROUP],
    /// The number of a leaf, or anything negative.
    numbers: [i32; GROUP],
    /// A node or a leaf, then a leaf.
    lines: [&'a Line; GROUP],
}

/// Keys that wait for the trie at once. Room for more costs more than it gives: nearly all bursts
/// have one such key or none.
const ONWARD: usize = 32;
/// Fewer go down one by one.
const TOGETHER_MIN: usize = 8;

/// Keys that wait for the trie: their places in the burst, and their leaves.
struct Onward<'a> {
    places: [u32; ONWARD],
    leaves: [&'a Line; ONWARD],
    count: usize,
}

impl<'a, A, R, S, L> Job for Lookup<'a, A, R, S, L>
where
    A: Address,
    R: Column<'a, u32>,
    S: Column<'a, u32>,
    L: Column<'a, Line>,
{
    type Answer = ();

    #[inline(always)]
    fn run<V: Lanes>(mut self, lanes: V) {
        let none = Progress {
            slots: [self.slots.at(0); GROUP],
            numbers: [0; GROUP],
            lines: [self.lines.at(0); GROUP],
        };
        let mut ring = [none; RING];
        let mut tail = none;
        let mut onward = None;
        let (groups, rest) = self.keys.as_chunks::<GROUP>();
        self.ask_slots(rest, &mut tail);
        let (slots_ahead, lines_ahead) = const {
            let (slots, lines) = ahead::<V>();
            assert!(slots < RING && 2 * lines < RING);
            (slots, lines)
        };
        for step in 0..groups.len() + slots_ahead + 2 * lines_ahead {
            if let Some(keys) = groups.get(step) {
                self.ask_slots(keys, &mut ring[step % RING]);
            } else if step == groups.len() {
                self.ask_lines(rest, &mut tail);
            }
            let step = step.wrapping_sub(slots_ahead);
            if let Some(keys) = groups.get(step) {
                self.ask_lines(keys, &mut ring[step % RING]);
            }
            let step = step.wrapping_sub(lines_ahead);
            if let Some(keys) = groups.get(step) {
                self.ask_leaves(lanes, keys, &mut ring[step % RING]);
            } else if step == groups.len() {
                self.ask_leaves(lanes, rest, &mut tail);
            }
            let step = step.wrapping_sub(lines_ahead);
            if let Some(keys) = groups.get(step) {
                self.answer(lanes, GROUP * step, keys, &ring[step % RING], &mut onward);
            }
        }
        self.answer(lanes, GROUP * groups.len(), rest, &tail, &mut onward);
        if let Some(onward) = &onward {
            self.go_on(onward);
        }
    }
}

impl<'a, A, R, S, L> Lookup<'a, A, R, S, L>
where
    A: Address,
    R: Column<'a, u32>,
    S: Column<'a, u32>,
    L: Column<'a, Line>,
{
    #[inline(always)]
    fn ask_slots(&self, keys: &[A], progress: &mut Progress<'a>) {
        for (slot, &key) in progress.slots.iter_mut().zip(keys) {
            *slot = self.slots.at(slot_of(*self.root.at(key.top16()), key));
            prefetch::read(from_ref(*slot).cast());
        }
    }

    #[inline(always)]
    fn ask_lines(&self, keys: &[A], progress: &mut Progress<'a>) {
        let places = progress.numbers.iter_mut().zip(&mut progress.lines);
        for ((&slot, &key), (number, line)) in progress.slots.iter().zip(keys).zip(places) {
            *number = line_of(*slot, key);
            *line = self.lines.at((number.cast_unsigned() & NUMBER) as usize);
            prefetch::read(line.as_ptr().cast());
        }
    }

    #[inline(always)]
    fn ask_leaves<V: Lanes>(&self, lanes: V, keys: &[A], progress: &mut Progress<'a>) {
        let places = progress.numbers.iter().zip(&mut progress.lines);
        for (&key, (&number, line)) in keys.iter().zip(places) {
            let child = line::child(lanes, line, low(key));
            let number = select_unpredictable(number < 0, child, number.cast_unsigned());
            *line = self.lines.at(number as usize);
            prefetch::read(line.as_ptr().cast());
        }
    }

    /// Answers the keys from place `first` on; those whose class is a word join `onward`.
    #[inline(always)]
    fn answer<V: Lanes>(
        &mut self,
        lanes: V,
        first: usize,
        keys: &[A],
        progress: &Progress<'a>,
        onward: &mut Option<Onward<'a>>,
    ) {
        let masks = &mut self.masks[first..][..keys.len()];
        let mut has_words = false;
        for ((mask, &key), leaf) in masks.iter_mut().zip(keys).zip(&progress.lines) {
            let class = line::class(lanes, leaf, low(key));
            match self.answers.get(usize::from(class)) {
                Some(&answer) => *mask |= answer,
                None => has_words = true,
            }
        }
        if has_words {
            self.put_off(first, keys, progress, onward);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_off(
        &mut self,
        first: usize,
        keys: &[A],
        progress: &Progress<'a>,
        onward: &mut Option<Onward<'a>>,
    ) {
        let onward = onward.get_or_insert(Onward {
            places: [0; ONWARD],
            leaves: [progress.lines[0]; ONWARD],
            count: 0,
        });
        for ((place, &key), &leaf) in (first..).zip(keys).zip(&progress.lines) {
            if line::class(Portable, leaf, low(key)) & BELOW != 0 {
                let words = self.lines.at(line::number(leaf) as usize);
                prefetch::read(words.as_ptr().cast());
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
    fn go_on(&mut self, onward: &Onward<'a>) {
        let places = onward.places[..onward.count].iter().zip(onward.leaves);
        let waiting = places.map(|(&place, leaf)| {
            let key = self.keys[place as usize];
            let class = line::class(Portable, leaf, low(key));
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
        let (mut keys, mut words) = ([A::default(); ONWARD], [NOTHING; WINDOW]);
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
