//! Looking a burst of addresses up in [`Blocks`](super::Blocks).
//!
//! Keys go in groups of 16 through three stages that follow one another at a distance: ask for the
//! words of the index where a small cache may have lost them, read them and ask for the slots, read
//! these. So lines of 48 slots, or 64, and of 32 words are on their way while others are read, and
//! a burst waits only where it begins and ends.
//!
//! Where the slots are a slice that is 17 instructions a key. It was 34: both columns were read by
//! their directories, references were kept, not places, and each class had a look of its own
//! whether it is a leaf. A Zen 5 answers 1.25 to 1.35 times the keys of a routing table.

use super::{HEADER, LEAF, Leaf, low, place, slot};
use crate::address::Address;
use crate::mask::ListMask;
use crate::prefixes::column::Findable;
use crate::simd::{self, Job, Lanes, Level};
use frame::memory::PagedView;
use frame::prefetch;
use std::ptr::from_ref;

/// Keys that go through a stage together.
const GROUP: usize = 16;
/// Groups between asking for words and reading them.
const WORDS_AHEAD: usize = 2;
/// True where words are asked for. Of a Zen 3, whose second-level cache is of 512 KB, 30 % had left
/// it. A Zen 5, with 1 MB, answers 1.02 to 1.06 times the keys of a routing table where they are
/// not asked for, and 1.06 to 1.07 times uniform ones: so many loads are under way there anyhow.
const fn asks_words<L: Lanes>() -> bool {
    !L::DEEP
}
/// Groups between asking for slots and reading them.
const fn slots_ahead<L: Lanes>() -> usize {
    if L::DEEP { 4 } else { 3 }
}
/// Groups of which is kept what was found, at least one more than any stage is ahead.
const RING: usize = 8;
/// Keys that wait for their leaves at once.
const ONWARD: usize = 64;

/// Answers go to what masks have, or where not `ADDS` in the place of it.
pub(super) struct Lookup<'a, A, S, const ADDS: bool> {
    pub(super) level: Level,
    pub(super) index: &'a [u32; 1 << 16],
    pub(super) slots: S,
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

impl<'a, A, S, const ADDS: bool> Job for Lookup<'a, A, S, ADDS>
where
    A: Address,
    S: Findable<'a, u16>,
{
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, _: L) {
        let first = self.slots.find(0);
        let (mut found, mut rest_found) = ([[first; GROUP]; RING], [first; GROUP]);
        let mut onward = None;
        // Groups have loops without an end to test; the rest is on its way beside the last.
        let (groups, rest) = self.keys.as_chunks::<GROUP>();
        self.ask_words::<L>(rest);
        let slots_ahead = const { slots_ahead::<L>() };
        for step in 0..groups.len() + WORDS_AHEAD + slots_ahead {
            if let Some(keys) = groups.get(step) {
                self.ask_words::<L>(keys);
            } else if step == groups.len() {
                self.ask_slots(rest, &mut rest_found);
            }
            let step = step.wrapping_sub(WORDS_AHEAD);
            if let Some(keys) = groups.get(step) {
                self.ask_slots(keys, &mut found[step % RING]);
            }
            let step = step.wrapping_sub(slots_ahead);
            if step < groups.len() {
                self.answer(step, &found[step % RING], &mut onward);
            }
        }
        self.answer(groups.len(), &rest_found[..rest.len()], &mut onward);
        if let Some(onward) = &onward {
            self.go_on(onward);
        }
    }
}

impl<'a, A, S, const ADDS: bool> Lookup<'a, A, S, ADDS>
where
    A: Address,
    S: Findable<'a, u16>,
{
    #[inline(always)]
    fn ask_words<L: Lanes>(&self, keys: &[A]) {
        if const { asks_words::<L>() } {
            for key in keys {
                prefetch::read(from_ref(&self.index[key.top16()]).cast());
            }
        }
    }

    #[inline(always)]
    fn ask_slots(&self, keys: &[A], found: &mut [S::Found; GROUP]) {
        for (found, &key) in found.iter_mut().zip(keys) {
            *found = self.slots.find(slot(self.index[key.top16()], low(key)));
        }
    }

    /// Answers the keys of a group; those whose slot names a leaf join `onward`.
    ///
    /// Where one does, the group is gone through again: so one check of bounds a key, which a leaf
    /// fails too, is all that the others need, and of a routing table they are nearly all.
    #[inline(always)]
    fn answer(&mut self, group: usize, found: &[S::Found], onward: &mut Option<Onward>) {
        let masks = &mut self.masks[GROUP * group..][..found.len()];
        for (mask, &slot) in masks.iter_mut().zip(found) {
            let value = *self.slots.read(slot);
            // A leaf is no class.
            let Some(&answer) = self.answers.get(usize::from(value)) else {
                self.put_off(group, found, onward);
                return;
            };
            *mask = if ADDS { *mask | answer } else { answer };
        }
    }

    /// Answers those keys of a group whose slot is a class, again or for the first time; the others
    /// join `onward`. Nothing branches on which keys they are.
    #[cold]
    #[inline(never)]
    fn put_off(&mut self, group: usize, found: &[S::Found], onward: &mut Option<Onward>) {
        let onward = onward.get_or_insert_with(Onward::none);
        for (at, &slot) in (GROUP * group..).zip(found) {
            let value = *self.slots.read(slot);
            if value & LEAF != 0 {
                self.slots.ask::<false>(self.header(at));
            }
            // A leaf gets the class of no list.
            let class = usize::from(value);
            let class = if class < self.answers.len() { class } else { 0 };
            let (mask, answer) = (&mut self.masks[at], self.answers[class]);
            *mask = if ADDS { *mask | answer } else { answer };
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
        place(self.index[self.keys[at].top16()]) - HEADER
    }

    /// A job of its own: what is not inlined into one has no vectors.
    #[inline(never)]
    fn go_on(&mut self, onward: &Onward) {
        let lookup = self;
        simd::run(lookup.level, Leaves { lookup, onward });
    }
}

/// The rest of a lookup for keys whose slot names a leaf.
struct Leaves<'l, 'a, A, S, const ADDS: bool> {
    lookup: &'l mut Lookup<'a, A, S, ADDS>,
    onward: &'l Onward,
}

impl<'a, A, S, const ADDS: bool> Job for Leaves<'_, 'a, A, S, ADDS>
where
    A: Address,
    S: Findable<'a, u16>,
{
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { lookup, onward } = self;
        let mut leaves = [lookup.leaves.value(0); ONWARD];
        let onward = onward.places.iter().zip(&onward.slots).take(onward.count);
        for (leaf, (&at, &value)) in leaves.iter_mut().zip(onward.clone()) {
            let (slots, header) = (lookup.slots, lookup.header(at as usize));
            let first = usize::from(*slots.at(header)) | usize::from(*slots.at(header + 1)) << 16;
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

impl<'a, A, S, const ADDS: bool> Lookup<'a, A, S, ADDS>
where
    A: Address,
    S: Findable<'a, u16>,
{
    #[inline(always)]
    fn read<L: Lanes>(&self, lanes: L, leaf: &Leaf, low: u32) -> u16 {
        if leaf[0] == 0 {
            let places = (lanes.at_most16(leaf, low as u16) & 0xffff).count_ones();
            return leaf[(15 + places as usize) & 31];
        }
        let word = u32::from(leaf[1]) | u32::from(leaf[2]) << 16;
        *self.slots.at(slot(word, low & 0xff) as usize)
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
