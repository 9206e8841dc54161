//! IPv6: a slot for each network of 32 bits, and behind it lines of separators for the 16 bits that
//! follow. That is as far as 99.8 % of the networks of the routing table go.
//!
//! The upper 16 bits choose a word of the root. It leads to 65,536 slots, to fewer where all
//! changes of answer lie higher, or to the slot of a class; and where changes are few, to a node
//! that tells the slots of runs of networks apart ([`middles`]). A slot leads to a *leaf*: one line
//! with the places of up to 15 changes and the answers before, between and behind them, as
//! [codes](code) of 16 bits: of up to 16 lists the answers themselves. Where the changes are more
//! it leads to leaves side by side, one for each part of the bits 32 to 47, if some of these bits
//! [part](parting) them so evenly that leaves are few; if not, to a *node*: one line with the
//! places of 30 changes, at which the next of up to 31 leaves begins, all side by side; and beyond
//! those to as many nodes as parts are needed, at most 256. Even the answer of a whole network is a
//! leaf, one a class: a key that goes another way than its neighbours would cost more than the
//! line.
//!
//! So a lookup is four lines at most beside the root, and no branch a key: node, slot, node (of
//! those keys that have them, by a list), leaf. The full routing table, dealt over 16 lists, has
//! 11 MB of slots, of which keys from the table touch 1.2 MB, and 2.6 MB of nodes and leaves; 11 %
//! of these keys have a node behind their slot.
//!
//! What lies below bit 47 is a code that says so, with a word of the [`Trie`] beside the leaf. So
//! is a block of 16 bits with too few changes for its slots, at least one a [`SLOTS_A_CHANGE`], if
//! they crowd so that there would be too many nodes, or did and are not far from it; and any block
//! for which there are no slots left.
//!
//! Bounds: all slots take at most 64 MB (and blocks get none once there are 512 MB of lines), and a
//! change of answer at most 1 KB of them, 1.2 KB of nodes and slots, or 1.1 KB in the trie, and
//! three leaves and as many lines of words; and 16 leaves for each of those that all changes of a
//! network of 32 bits would fill one after the other (32, or 256 bytes a change, of 8 changes that
//! make 15 runs), and when changes have gone up to 32 leaves, or five a run that is left. Such a
//! network has more than one node from 435 runs on, and 256 at most. A lookup reads five words and
//! lines, then what the trie reads at most.

mod build;
mod code;
mod fresh;
mod line;
mod lookup;
mod middles;
mod parts;
mod place;
mod rewrite;
mod split;
mod waiting;
mod window;

use super::no_memory;
use super::trie::Trie;
use crate::address::Address;
use crate::class::Classes;
use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::flatten::Runs;
use crate::mask::ListMask;
use crate::simd::{self, Level};
use code::Coding;
use frame::memory::Paged;
use frame::{Pages, Windows};
use line::Line;
use lookup::Lookup;
use parts::LEAF_BITS_MAX;
#[cfg(test)]
pub(super) use split::Split;
use std::sync::Arc;

/// Slots, nodes and leaves.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    /// By the upper 16 bits.
    root: Paged<u32>,
    /// The first [`CLASSES_MAX`] are those of the classes, [`NOTHING`] where none needed one yet.
    slots: Paged<u32>,
    lines: Paged<Line>,
    /// What lies below bit 47, and blocks of 16 bits with few changes.
    trie: Trie,
    classes: Arc<Classes>,
    /// Leaves hold answers, not classes.
    codes_are_answers: bool,
    free: Free,
}

/// Slots and lines that nothing names any more, for the next to take.
#[derive(Clone, Debug)]
struct Free {
    /// The first of 1, 2, 4, ... slots.
    slots: [Vec<u32>; ROOT_BITS as usize + 1],
    /// The first of so many lines, by [`lines_kind`].
    lines: [Vec<u32>; lines_kind(1 << LEAF_BITS_MAX) + 1],
}

/// Classes that a leaf can name. As many slots, the first, are those of the classes.
pub(super) const CLASSES_MAX: usize = 0x8000;
/// Bits that choose a word of the root.
const ROOT_BITS: u32 = 16;
/// A block of 16 bits has at most so many slots a change of answer, or it has nodes,
/// or is in the trie.
const SLOTS_A_CHANGE: usize = 256;
/// Slots of all blocks, 64 MB: of 256 blocks of 16 bits; the table of 2025 has changes in 60. What
/// comes then is in the trie.
const SLOTS_MAX: usize = 1 << 24;
/// Lines that there may be before a block is given slots or nodes, 512 MB: half of those that words
/// can name. What comes then is in the trie.
const LINES_MAX: usize = 1 << 23;

/// The lower five bits of a word of the root: how far to shift the 16 bits of an address that count
/// slots or nodes from the number above on.
const SHIFT_BITS: u32 = 5;
/// Shifts everything out: there is one slot, or one node.
const ALL_OUT: u32 = 16;
/// A word with this leads to nodes.
const NODE: u32 = 1 << 31;
/// The number of a line.
const NUMBER: u32 = (NODE >> SHIFT_BITS) - 1;
/// No slot's word.
const NOTHING: u32 = 0;

/// The bits 32 to 47 of an address.
#[inline(always)]
fn low<A: Address>(key: A) -> u16 {
    (key.widen() >> 80) as u16
}

/// The slot that a word of the root leads a key to, which has these bits 16 to 31. Negative if it
/// is a node, and its number in the lower bits.
#[inline(always)]
fn slot_of(word: u32, bits: u32) -> i32 {
    // Only the lower five bits count of what is shifted by.
    let part = bits.wrapping_shr(word);
    (word.cast_signed() >> SHIFT_BITS).wrapping_add(part.cast_signed())
}

/// The place in [`Free`] of so many lines side by side: 1 to 32, or a power of two.
const fn lines_kind(count: usize) -> usize {
    if count <= 32 {
        count
    } else {
        count.ilog2() as usize + 32 - 5
    }
}

/// Root, slots and lines.
type Straight<'a> = (&'a [u32; 1 << ROOT_BITS], &'a [u32], Windows<'a, u16, 32>);

impl Slots {
    /// The set of so many lists; `None` when there are more answers than leaves can name, or more
    /// lines than words can.
    pub(super) fn new<A: Address>(
        list_count: usize,
        runs: &Runs<A>,
    ) -> Result<Option<Self>, CompileError> {
        fresh::compile(list_count, runs)
    }

    #[inline]
    pub(super) fn look_up<const ADDS: bool>(
        &self,
        level: Level,
        keys: &[u128],
        masks: &mut [ListMask],
    ) {
        if self.codes_are_answers {
            self.look_up_coded::<_, ADDS>(level, code::Answers, keys, masks);
        } else {
            self.look_up_coded::<_, ADDS>(level, self.classes.masks(), keys, masks);
        }
    }

    #[inline(always)]
    fn look_up_coded<C: Coding, const ADDS: bool>(
        &self,
        level: Level,
        coding: C,
        keys: &[u128],
        masks: &mut [ListMask],
    ) {
        if let Some(columns) = self.straight() {
            let lookup = self.lookup::<_, _, _, _, ADDS>(level, coding, columns, keys, masks);
            simd::run(level, lookup);
            return;
        }
        let columns = (self.root.view(), self.slots.view(), self.lines.view());
        let lookup = self.lookup::<_, _, _, _, ADDS>(level, coding, columns, keys, masks);
        simd::run(level, lookup);
    }

    /// The columns as slices, where their pages lie side by side.
    #[inline(always)]
    fn straight(&self) -> Option<Straight<'_>> {
        let root = self.root.as_slice()?.try_into().ok()?;
        let lines = Windows::new(self.lines.as_slice()?.as_flattened())?;
        Some((root, self.slots.as_slice()?, lines))
    }

    #[cfg(test)]
    pub(super) fn codes_are_answers(&self) -> bool {
        self.codes_are_answers
    }

    #[cfg(test)]
    pub(super) fn is_compact(&self) -> bool {
        self.straight().is_some()
    }

    fn lookup<'a, C, R, S, L, const ADDS: bool>(
        &'a self,
        level: Level,
        coding: C,
        (root, slots, lines): (R, S, L),
        keys: &'a [u128],
        masks: &'a mut [ListMask],
    ) -> Lookup<'a, C, R, S, L, ADDS> {
        Lookup {
            level,
            coding,
            root,
            slots,
            lines,
            trie: &self.trie,
            answers: self.classes.masks(),
            keys,
            masks,
        }
    }

    /// Bytes that a lookup can touch.
    pub(super) fn bytes(&self) -> usize {
        // Of the slots of classes only those that there are.
        let unused = CLASSES_MAX - self.classes.masks().len().min(CLASSES_MAX);
        let slots = self.root.len() + self.slots.len() - unused;
        4 * slots + 64 * self.lines.len() + self.trie.bytes() + size_of_val(self.classes.masks())
            - self.free.bytes()
    }

    pub(super) fn class_count(&self) -> usize {
        self.classes.masks().len()
    }

    pub(super) fn pages(&self) -> Option<Pages> {
        self.slots.pages()
    }

    /// How many slots lead to leaves of their own, to a leaf a part, and to nodes.
    #[cfg(test)]
    pub(super) fn kinds(&self) -> [usize; 3] {
        let mut kinds = [0; 3];
        let slots = (CLASSES_MAX..self.slots.len()).map(|at| self.slots.view()[at]);
        for word in slots.filter(|&word| word != NOTHING) {
            let line = self.lines.view()[split::first(word) as usize];
            match Split::of(word).parts() {
                _ if word & NODE != 0 => kinds[2] += 1,
                1 if line::is_plain(&line) => {}
                1 => kinds[0] += 1,
                _ => kinds[1] += 1,
            }
        }
        kinds
    }

    /// The partings of slots that lead to several leaves.
    #[cfg(test)]
    pub(super) fn splits(&self) -> Vec<Split> {
        let slots = (CLASSES_MAX..self.slots.len()).map(|at| self.slots.view()[at]);
        let leaves = slots.filter(|&word| word != NOTHING && word & NODE == 0);
        let splits = leaves.map(Split::of);
        splits.filter(|split| split.parts() > 1).collect()
    }

    /// How many blocks of 16 bits are held by nodes, in the trie, and in slots.
    #[cfg(test)]
    pub(super) fn shapes(&self) -> [usize; 3] {
        use rewrite::Held;
        let mut shapes = [0; 3];
        for top in 0..self.root.len() {
            match rewrite::held(self.root.view()[top]).0 {
                Held::Plain => {}
                Held::Nodes => shapes[0] += 1,
                Held::Deep => shapes[1] += 1,
                Held::Slots(_) => shapes[2] += 1,
            }
        }
        shapes
    }

    /// Brings pages home.
    pub(super) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        work.column(&mut self.root)?;
        work.column(&mut self.slots)?;
        work.column(&mut self.lines)?;
        self.trie.compact(work)
    }

    /// True when a quarter of it is garbage.
    pub(super) fn is_crowded(&self) -> bool {
        self.free.bytes() + self.trie.garbage() > (self.bytes() / 4).max(1 << 20)
    }

    /// False when there is more than words can name, or an answer that codes have no room for.
    fn is_sound(&self) -> bool {
        self.classes.masks().len() <= CLASSES_MAX
            && (!self.codes_are_answers || code::have_room(&self.classes))
            && self.slots.len() <= NUMBER as usize
            && self.lines.len() <= split::LINE_NUMBER as usize
            && self.trie.is_sound()
    }
}

impl Free {
    fn none() -> Self {
        Self {
            slots: Default::default(),
            lines: std::array::from_fn(|_| Vec::new()),
        }
    }

    fn bytes(&self) -> usize {
        let slots = self.slots.iter().enumerate();
        let slots: usize = slots.map(|(bits, free)| 4 * (free.len() << bits)).sum();
        let lines = self.lines.iter().enumerate().map(|(kind, free)| {
            let count = if kind <= 32 { kind } else { 1 << (kind - 27) };
            64 * count * free.len()
        });
        slots + lines.sum::<usize>()
    }
}
