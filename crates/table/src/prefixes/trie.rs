//! IPv6: a trie whose blocks have as many slots as their changes of answer ask for.
//!
//! The upper 16 bits choose among 65,536 slots. A slot is a class, or a block of 16 to 65,536
//! slots for the bits that follow, or a line: a *leaf* holds up to ten changes by 32 bits of
//! the upper half, compared at once; a *gate* holds what is outside a cluster of changes far below,
//! and what is inside, so that no chain of blocks leads there. All slots are words in one column:
//! half a lookup's reads are of blocks that stay in the second-level cache.
//!
//! A burst goes down level by level, keys in columns by what they wait for: nothing branches on
//! what a key waits for, except gates, which are rare.
//!
//! Bounds: a block has at least two slots in use and at most [`build::SLOTS_A_CHANGE`] slots a
//! change within it, at least sixteen; a change lies within at most 28 blocks one in another, in
//! real tables two or three. A lookup reads at most 28 slots and as many gates.

mod build;
mod rewrite;

use super::no_memory;
use crate::address::Address;
use crate::class::Classes;
use crate::compiled::CompileError;
use crate::flatten::Runs;
use crate::mask::ListMask;
use crate::simd::{self, Job, Lanes, Level};
use frame::Pages;
use frame::memory::{Paged, PagedView};
use std::sync::Arc;

/// Blocks, leaves and gates.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    slots: Paged<u32>,
    lines: Paged<Line>,
    classes: Arc<Classes>,
    /// Lines that no slot names; the next leaves take them.
    free_lines: Vec<u32>,
    /// Slots that no lookup finds any more.
    dead_slots: usize,
}

/// A leaf: ten changes, ascending, by 32 bits of an address; then eleven classes of 16 bits,
/// the first before all changes. Unused changes are the greatest, with the last class.
///
/// A gate: the first and the last of its changes, four words each, high to low; the class
/// before, the class from the last on, what holds between them as a slot's word, and how many
/// bits of an address lead to that.
type Line = [u32; 16];

/// Changes in a leaf.
const LEAF_CHANGES: usize = 10;
/// The changes of a leaf are told apart by the 32 bits after this depth at most: those of deeper
/// leaves have the bits between in common.
const LEAF_DEPTH_MAX: u32 = 32;
/// Classes that a leaf can name.
pub(super) const CLASSES_MAX: usize = 1 << 16;
/// Bits of the root.
const ROOT_BITS: u32 = 16;

/// What the upper two bits of a slot say; the rest is a class, or a number.
const KIND: u32 = 30;
const BLOCK: u32 = 1;
const LEAF: u32 = 2;
const GATE: u32 = 3;
/// The number of a line.
const NUMBER: u32 = (1 << KIND) - 1;
/// A block's word: its bits less one, above its place in units of [`PLACE_UNIT`] slots.
const BITS: u32 = 26;
const PLACE: u32 = (1 << BITS) - 1;
const PLACE_UNIT: usize = 16;

/// Keys that go down together.
const WINDOW: usize = 64;

impl Trie {
    /// `None` when there are more answers than leaves can name.
    pub(super) fn new<A: Address>(runs: &Runs<A>) -> Result<Option<Self>, CompileError> {
        build::compile(runs)
    }

    #[inline]
    pub(super) fn add_burst<A: Address>(&self, level: Level, keys: &[A], masks: &mut [ListMask]) {
        for (keys, masks) in keys.chunks(WINDOW).zip(masks.chunks_mut(WINDOW)) {
            let job = Descend {
                slots: self.slots.view(),
                lines: self.lines.view(),
                answers: self.classes.masks(),
                keys,
                masks,
            };
            simd::run(level, job);
        }
    }

    /// Bytes that a lookup can touch.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.slots.len() - self.dead_slots)
            + 64 * (self.lines.len() - self.free_lines.len())
            + size_of_val(self.classes.masks())
    }

    pub(super) fn pages(&self) -> Option<Pages> {
        self.slots.pages()
    }

    /// True when a quarter of it is garbage.
    pub(super) fn is_crowded(&self) -> bool {
        let garbage = 4 * self.dead_slots + 64 * self.free_lines.len();
        garbage > (self.bytes() / 4).max(1 << 20)
    }
}

struct Descend<'a, A> {
    slots: PagedView<'a, u32>,
    lines: PagedView<'a, Line>,
    answers: &'a [ListMask],
    keys: &'a [A],
    masks: &'a mut [ListMask],
}

/// A key on its way, in one word, since a load does not wait for a store that it lies within:
/// where it reads next, how many bits led there, which key.
#[derive(Clone, Copy, Default)]
struct Descent(u64);

impl Descent {
    #[inline(always)]
    fn new(at: u32, depth: u32, key: usize) -> Self {
        Self(u64::from(at) << 32 | u64::from(depth) << 16 | key as u64)
    }
    #[inline(always)]
    fn at(self) -> u32 {
        (self.0 >> 32) as u32
    }
    #[inline(always)]
    fn depth(self) -> u32 {
        (self.0 >> 16) as u32 & 0xffff
    }
    #[inline(always)]
    fn key(self) -> usize {
        self.0 as usize & 0xffff
    }
}

/// Keys on their way that wait for the same thing. Each is written to the end of the column, and
/// the column grows by one or by none. It never grows past what was read of it.
#[derive(Clone, Copy)]
struct Waiting {
    descents: [Descent; WINDOW],
}

/// How many keys wait for slots, and for lines. Not beside the columns: there they would be
/// memory, and each key would wait for the one before.
#[derive(Clone, Copy, Default)]
struct Counts {
    slots: usize,
    lines: usize,
}

impl<A: Address> Job for Descend<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let none = Waiting {
            descents: [Descent::default(); WINDOW],
        };
        let (mut slots, mut lines, mut counts) = (none, none, Counts::default());
        let columns = (self.slots, self.lines);
        let goes_on = self.enter(&mut slots);
        for at in 0..goes_on {
            let root = slots.descents[at];
            counts = self.take(root.at(), root, &mut slots, &mut lines, counts);
        }
        while counts.slots + counts.lines > 0 {
            while counts.slots > 0 {
                for at in 0..std::mem::take(&mut counts.slots) {
                    let descent = slots.descents[at];
                    let word = columns.0[descent.at() as usize];
                    counts = self.take(word, descent, &mut slots, &mut lines, counts);
                }
            }
            for at in 0..std::mem::take(&mut counts.lines) {
                let descent = lines.descents[at];
                let line = &columns.1[(descent.at() & NUMBER) as usize];
                if descent.at() >> KIND == GATE {
                    let (word, depth) = through(line, self.keys[descent.key()].widen());
                    let descent = Descent::new(0, depth, descent.key());
                    counts = self.take(word, descent, &mut slots, &mut lines, counts);
                } else {
                    self.read_leaf(lanes, line, descent);
                }
            }
        }
    }
}

impl<A: Address> Descend<'_, A> {
    /// Reads the root for all keys. Keys for which that is the end are done with; the others and
    /// their words are told.
    #[inline(always)]
    fn enter(&mut self, onward: &mut Waiting) -> usize {
        let mut count = 0;
        for (at, key) in self.keys.iter().enumerate() {
            let word = self.slots[key.top16()];
            let is_class = u32::from(word >> KIND == 0).wrapping_neg();
            self.masks[at] |= self.answers[(word & is_class) as usize];
            onward.descents[count] = Descent::new(word, ROOT_BITS, at);
            count += is_class.wrapping_add(1) as usize;
        }
        count
    }

    /// Takes a slot's word: adds the answer, or lets the key wait. Arithmetic instead of
    /// comparisons, of which the compiler makes branches, and half of them are mispredicted.
    #[inline(always)]
    fn take(
        &mut self,
        word: u32,
        descent: Descent,
        slots: &mut Waiting,
        lines: &mut Waiting,
        mut counts: Counts,
    ) -> Counts {
        let (depth, key) = (descent.depth(), descent.key());
        let is_line = word >> 31;
        let is_block = word >> 30 & !is_line & 1;
        let is_class = 1 ^ is_line ^ is_block;
        let class = word & is_class.wrapping_neg();
        self.masks[key] |= self.answers[class as usize];

        let block = word & is_block.wrapping_neg();
        let bits = (block >> BITS & 15) + 1;
        let following = following(self.keys[key].widen(), depth);
        let at = (block & PLACE) * PLACE_UNIT as u32 + (following >> (64 - bits)) as u32;
        self.slots.prefetch(at as usize);
        slots.descents[counts.slots] = Descent::new(at, depth + bits, key);
        counts.slots += is_block as usize;

        let line = word & is_line.wrapping_neg();
        self.lines.prefetch((line & NUMBER) as usize);
        lines.descents[counts.lines] = Descent::new(line, depth, key);
        counts.lines += is_line as usize;
        counts
    }

    #[inline(always)]
    fn read_leaf<L: Lanes>(&mut self, lanes: L, leaf: &Line, descent: Descent) {
        let key = self.keys[descent.key()].widen();
        let window = following(key, descent.depth().min(LEAF_DEPTH_MAX)) >> 32;
        let changes = lanes.at_most32(leaf, window as u32) & ((1 << LEAF_CHANGES) - 1);
        let class = leaf_class(leaf, changes.count_ones());
        self.masks[descent.key()] |= self.answers[usize::from(class)];
    }
}

/// What follows the first `depth` bits of a key, within its half. Blocks do not reach across the
/// halves: shifting 128 bits by a variable costs a dozen instructions.
#[inline(always)]
fn following(key: u128, depth: u32) -> u64 {
    let half = if depth & 64 == 0 { key >> 64 } else { key };
    (half as u64) << (depth & 63)
}

/// The class after `passed` changes of a leaf.
#[inline(always)]
fn leaf_class(leaf: &Line, passed: u32) -> u16 {
    (leaf[(LEAF_CHANGES + passed as usize / 2) & 15] >> (passed % 2 * 16)) as u16
}

/// What a gate says of a key: a slot's word, and the bits that led there.
#[inline(always)]
fn through(gate: &Line, key: u128) -> (u32, u32) {
    let wide = |at: usize| {
        let half = |at: usize| u64::from(gate[at]) << 32 | u64::from(gate[at + 1]);
        u128::from(half(at)) << 64 | u128::from(half(at + 2))
    };
    let word = if key < wide(0) {
        gate[8]
    } else if key >= wide(4) {
        gate[9]
    } else {
        gate[10]
    };
    (word, gate[11])
}
