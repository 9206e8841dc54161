//! IPv4: a word for each of 65,536 blocks, then a slot, which is the answer nearly always.
//!
//! A block whose answer changes within has as many slots of 16 bits as tell its changes apart, but
//! at most 256: one for 24 bits. The index (256 KiB) stays in the second-level cache, so a lookup
//! costs one line from further away: that of its slot. The full routing table, dealt over 16
//! lists, takes 10 MB so; one flat array of 2^24 slots takes 33, and loses by what no longer fits
//! a cache. No set has more than 34 MB of slots beside those of blocks within blocks, which take
//! at most 34 bytes a change, and leaves.
//!
//! A slot whose addresses have more than one answer names a leaf: one line with up to 15 changes.
//! For more changes the leaf leads to 256 slots more, or fewer, one an address. Keys for which a
//! slot was not the end wait in a column, so that nothing branches on which keys they are.

mod build;
mod lookup;
mod rewrite;

use super::no_memory;
use crate::address::Address;
use crate::class::Classes;
use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::flatten::Runs;
use crate::mask::ListMask;
use crate::simd::{self, Level};
use frame::Pages;
use frame::memory::Paged;
use lookup::Lookup;
use std::sync::Arc;

/// Blocks of IPv4 addresses.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    /// By the upper 16 bits; always a slice, since each key reads it.
    index: Paged<u32>,
    slots: Paged<u16>,
    leaves: Paged<Leaf>,
    classes: Arc<Classes>,
    /// Bytes that no lookup finds any more.
    garbage: usize,
}

/// 16 changes by the lower 16 bits, ascending, and the class from each on. The first change is
/// at 0; unused places repeat the last class at 0xffff. A leaf that leads to slots has 1 there,
/// and then the word of those slots, low and high; they name classes only.
type Leaf = [u16; 32];

/// Classes that a slot can name; the rest are leaves, counted from the first of the block.
pub(super) const CLASSES_MAX: usize = 0x8000;
/// Marks a slot that is a leaf.
const LEAF: u16 = 0x8000;
/// Places before the slots of a block: the number of its first leaf, low and high, and how many
/// leaves it has.
const HEADER: usize = 3;
/// The lower five bits of a word: the shift that makes a slot of the lower 16 bits of an address.
/// Above them is where slots are.
const SHIFT_BITS: u32 = 5;
/// Places of slots are below this.
const PLACES_MAX: usize = 1 << (u32::BITS - SHIFT_BITS);
/// The shift of a block with one answer, whose place is that class: its slots are the first.
const ALL_OUT: u32 = 16;

impl Blocks {
    /// `None` when there are more answers than slots can name, or more changes than words reach.
    pub(super) fn new<A: Address>(runs: &Runs<A>) -> Result<Option<Self>, CompileError> {
        build::compile(runs)
    }

    #[inline]
    pub(super) fn look_up<A: Address, const ADDS: bool>(
        &self,
        level: Level,
        keys: &[A],
        masks: &mut [ListMask],
    ) {
        if let Some(slots) = self.slots.as_slice() {
            simd::run(level, self.lookup::<_, _, ADDS>(level, slots, keys, masks));
        } else {
            let slots = self.slots.view();
            simd::run(level, self.lookup::<_, _, ADDS>(level, slots, keys, masks));
        }
    }

    #[inline(always)]
    fn lookup<'a, A, S, const ADDS: bool>(
        &'a self,
        level: Level,
        slots: S,
        keys: &'a [A],
        masks: &'a mut [ListMask],
    ) -> Lookup<'a, A, S, ADDS> {
        Lookup {
            level,
            index: self.index(),
            slots,
            leaves: self.leaves.view(),
            answers: self.classes.masks(),
            keys,
            masks,
        }
    }

    #[inline(always)]
    fn index(&self) -> &[u32; 1 << 16] {
        let index = self
            .index
            .as_slice()
            .and_then(|index| index.try_into().ok());
        index.expect("the index is made, and changed, as a whole")
    }

    #[cfg(test)]
    pub(super) fn is_compact(&self) -> bool {
        self.slots.as_slice().is_some()
    }

    /// Bytes that a lookup can touch.
    pub(super) fn bytes(&self) -> usize {
        // Of the slots of plain blocks only those of classes.
        let unused = CLASSES_MAX - self.classes.masks().len();
        4 * self.index.len()
            + 2 * (self.slots.len() - unused)
            + 64 * self.leaves.len()
            + size_of_val(self.classes.masks())
            - self.garbage
    }

    pub(super) fn class_count(&self) -> usize {
        self.classes.masks().len()
    }

    pub(super) fn pages(&self) -> Option<Pages> {
        self.slots.pages()
    }

    /// Brings pages home.
    pub(super) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        work.column(&mut self.slots)?;
        if !self.index.is_beside(&self.slots) {
            // The slots were made anew: else what they were made in would stay for the index alone.
            self.index = self.slots.copy_beside(self.index()).map_err(no_memory)?;
        }
        work.column(&mut self.leaves)
    }

    /// True when a quarter of it is garbage.
    pub(super) fn is_crowded(&self) -> bool {
        self.garbage > (self.bytes() / 4).max(1 << 20)
    }
}

#[inline(always)]
fn low<A: Address>(key: A) -> u32 {
    key.widen() as u32 & 0xffff
}

/// The word of a block whose slots are at `place`.
fn word(place: u32, shift: u32) -> u32 {
    place << SHIFT_BITS | shift
}

/// Where the slots of a block are that has this word.
#[inline(always)]
fn place(word: u32) -> usize {
    (word >> SHIFT_BITS) as usize
}

/// How far the lower 16 bits of an address are shifted to choose one of them.
fn shift(word: u32) -> u32 {
    word & ((1 << SHIFT_BITS) - 1)
}

/// The word of a block with one answer.
fn plain(class: u32) -> u32 {
    word(class, ALL_OUT)
}

fn is_plain(word: u32) -> bool {
    shift(word) == ALL_OUT
}

/// Where the slot of an address of a block is.
#[inline(always)]
fn slot(word: u32, low: u32) -> u32 {
    // Only the lower five bits count of what is shifted by.
    (word >> SHIFT_BITS) + low.wrapping_shr(word)
}
