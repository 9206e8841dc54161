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
    /// By the upper 16 bits.
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
/// Bits of a word that tell where slots are; above them is the shift that makes a slot of the
/// lower 16 bits of an address.
const PLACE_BITS: u32 = 27;
const PLACE: u32 = (1 << PLACE_BITS) - 1;
/// The word of a block with one answer is that class, shifted by this: its slots are the first.
const PLAIN: u32 = 16 << PLACE_BITS;

impl Blocks {
    /// `None` when there are more answers than slots can name, or more changes than words reach.
    pub(super) fn new<A: Address>(runs: &Runs<A>) -> Result<Option<Self>, CompileError> {
        build::compile(runs)
    }

    #[inline]
    pub(super) fn add_burst<A: Address>(&self, level: Level, keys: &[A], masks: &mut [ListMask]) {
        let job = Lookup {
            level,
            index: self.index.view(),
            slots: self.slots.view(),
            leaves: self.leaves.view(),
            answers: self.classes.masks(),
            keys,
            masks,
        };
        simd::run(level, job);
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

    /// True when a quarter of it is garbage.
    pub(super) fn is_crowded(&self) -> bool {
        self.garbage > (self.bytes() / 4).max(1 << 20)
    }
}

#[inline(always)]
fn low<A: Address>(key: A) -> u32 {
    key.widen() as u32 & 0xffff
}

/// Where the slot of an address of a block is.
#[inline(always)]
fn slot(word: u32, low: u32) -> usize {
    ((word & PLACE) + (low >> (word >> PLACE_BITS))) as usize
}
