//! Looking a burst of addresses up in [`Blocks`](super::Blocks).
//!
//! Keys go in groups of 16 through three stages that follow one another at a distance: ask for the
//! words of the index, read them and ask for the slots, read these. So lines of 48 slots, or 64,
//! and of 32 words are on their way while others are read, and a burst waits only where it begins
//! and ends.

use super::{HEADER, LEAF, Leaf, PLACE, low, slot};
use crate::address::Address;
use crate::mask::ListMask;
use crate::simd::{self, Job, Lanes, Level};
use frame::memory::PagedView;
use frame::prefetch;
use std::ptr::from_ref;

/// Keys that go through a stage together.
const GROUP: usize = 16;
/// Groups between asking for words and reading them. 30 % of the words had left a second-level
/// cache of 512 KB.
const WORDS_AHEAD: usize = 2;
/// Groups between asking for slots and reading them.
const fn slots_ahead<L: Lanes>() -> usize {
    if L::DEEP { 4 } else { 3 }
}
/// Groups for which references are kept, at least one more than any stage is ahead.
const RING: usize = 8;
/// Keys that wait for their leaves at once.
const ONWARD: usize = 64;

pub(super) struct Lookup<'a, A> {
    pub(super) level: Level,
    pub(super) index: PagedView<'a, u32>,
    pub(super) slots: PagedView<'a, u16>,
    pub(super) leaves: PagedView<'a, Leaf>,
    pub(super) answers: &'a [ListMask],
    pub(super) keys: &'a [A],
    pub(super) masks: &'a mut [ListMask],
}

/// Keys whose slot names a leaf: their places in the burst, and those slots.
struct Onward {
    places: [u32; ONWARD],
    slots: [u16; ONWARD],
    count: usize,
}

impl<A: Address> Job for Lookup<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, _: L) {
        let (word, slot) = (self.index.value(0), self.slots.value(0));
        let (mut words, mut slots) = ([[word; GROUP]; RING], [[slot; GROUP]; RING]);
        let (mut rest_words, mut rest_slots) = ([word; GROUP], [slot; GROUP]);
        let mut onward = None;
        // Groups have loops without an end to test; the rest is on its way beside the last.
        let (groups, rest) = self.keys.as_chunks::<GROUP>();
        self.ask_words(rest, &mut rest_words);
        let slots_ahead = const { slots_ahead::<L>() };
        for step in 0..groups.len() + WORDS_AHEAD + slots_ahead {
            if let Some(keys) = groups.get(step) {
                self.ask_words(keys, &mut words[step % RING]);
            } else if step == groups.len() {
                self.ask_slots(rest, &rest_words, &mut rest_slots);
            }
            let step = step.wrapping_sub(WORDS_AHEAD);
            if let Some(keys) = groups.get(step) {
                self.ask_slots(keys, &words[step % RING], &mut slots[step % RING]);
            }
            let step = step.wrapping_sub(slots_ahead);
            if step < groups.len() {
                self.answer(step, &slots[step % RING], &mut onward);
            }
        }
        self.answer(groups.len(), &rest_slots[..rest.len()], &mut onward);
        if let Some(onward) = &onward {
            self.go_on(onward);
        }
    }
}

impl<'a, A: Address> Lookup<'a, A> {
    #[inline(always)]
    fn ask_words(&self, keys: &[A], words: &mut [&'a u32; GROUP]) {
        for (word, key) in words.iter_mut().zip(keys) {
            *word = self.index.value(key.top16());
            prefetch::read(from_ref(*word).cast());
        }
    }

    #[inline(always)]
    fn ask_slots(&self, keys: &[A], words: &[&u32; GROUP], slots: &mut [&'a u16; GROUP]) {
        for ((place, &key), &&word) in slots.iter_mut().zip(keys).zip(words) {
            *place = self.slots.value(slot(word, low(key)));
            prefetch::read(from_ref(*place).cast());
        }
    }

    /// Answers the keys of a group; those whose slot names a leaf join `onward`.
    #[inline(always)]
    fn answer(&mut self, group: usize, slots: &[&u16], onward: &mut Option<Onward>) {
        let masks = &mut self.masks[GROUP * group..][..slots.len()];
        let mut seen = 0;
        for (mask, &&value) in masks.iter_mut().zip(slots) {
            seen |= value;
            // A leaf is no class: it gets that of no list.
            let class = usize::from(value);
            let class = if class < self.answers.len() { class } else { 0 };
            *mask |= self.answers[class];
        }
        if seen & LEAF != 0 {
            self.put_off(group, slots, onward);
        }
    }

    #[inline(never)]
    fn put_off(&mut self, group: usize, slots: &[&u16], onward: &mut Option<Onward>) {
        let onward = onward.get_or_insert_with(Onward::none);
        for (at, &&value) in (GROUP * group..).zip(slots) {
            if value & LEAF != 0 {
                self.slots.prefetch(self.header(at));
            }
            onward.places[onward.count] = at as u32;
            onward.slots[onward.count] = value;
            onward.count += usize::from(value >> 15);
        }
        if onward.count > ONWARD - GROUP {
            self.go_on(onward);
            onward.count = 0;
        }
    }

    /// Where the header of the block of a key is that has leaves.
    #[inline(always)]
    fn header(&self, at: usize) -> usize {
        (self.index[self.keys[at].top16()] & PLACE) as usize - HEADER
    }

    /// A job of its own: what is not inlined into one has no vectors.
    #[inline(never)]
    fn go_on(&mut self, onward: &Onward) {
        let lookup = self;
        simd::run(lookup.level, Leaves { lookup, onward });
    }
}

/// The rest of a lookup for keys whose slot names a leaf.
struct Leaves<'l, 'a, A> {
    lookup: &'l mut Lookup<'a, A>,
    onward: &'l Onward,
}

impl<A: Address> Job for Leaves<'_, '_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { lookup, onward } = self;
        let mut leaves = [lookup.leaves.value(0); ONWARD];
        let onward = onward.places.iter().zip(&onward.slots).take(onward.count);
        for (leaf, (&at, &value)) in leaves.iter_mut().zip(onward.clone()) {
            let (slots, header) = (lookup.slots, lookup.header(at as usize));
            let first = usize::from(slots[header]) | usize::from(slots[header + 1]) << 16;
            *leaf = lookup.leaves.value(first + usize::from(value & !LEAF));
            prefetch::read(leaf.as_ptr().cast());
        }
        for (leaf, (&at, _)) in leaves.into_iter().zip(onward) {
            let at = at as usize;
            let class = lookup.read(lanes, leaf, low(lookup.keys[at]));
            lookup.masks[at] |= lookup.answers[usize::from(class)];
        }
    }
}

impl<A: Address> Lookup<'_, A> {
    #[inline(always)]
    fn read<L: Lanes>(&self, lanes: L, leaf: &Leaf, low: u32) -> u16 {
        if leaf[0] == 0 {
            let places = (lanes.at_most16(leaf, low as u16) & 0xffff).count_ones();
            return leaf[(15 + places as usize) & 31];
        }
        let word = u32::from(leaf[1]) | u32::from(leaf[2]) << 16;
        self.slots[slot(word, low & 0xff)]
    }
}

impl Onward {
    fn none() -> Self {
        Self {
            places: [0; ONWARD],
            slots: [0; ONWARD],
            count: 0,
        }
    }
}
