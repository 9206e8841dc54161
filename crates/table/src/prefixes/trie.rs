//! IPv6: a trie whose blocks have as many slots as their changes of answer ask for.
//!
//! The upper 16 bits choose among 65,536 slots. A slot is a class, or a block of 16 to 65,536
//! slots for the bits that follow, or a line: a *leaf* holds up to ten changes by the 32 bits
//! that follow, compared at once; a *gate* holds what is outside a cluster of changes far below,
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

/// A leaf: ten changes, ascending, by the 32 bits after its slot; then eleven classes of 16 bits,
/// the first before all changes. Unused changes are the greatest, with the last class.
///
/// A gate: the first and the last of its changes, four words each, high to low; the class
/// before, the class from the last on, what holds between them as a slot's word, and how many
/// bits of an address lead to that.
type Line = [u32; 16];

/// Changes in a leaf.
const LEAF_CHANGES: usize = 10;
/// Classes that a leaf can name.
pub(super) const CLASSES_MAX: usize = 1 << 16;
/// Bits of the root.
const ROOT_BITS: u32 = 16;

/// What the upper two bits of a slot say; the rest is a class, or a number.
const KIND: u32 = 30;
const BLOCK: u32 = 1;
const LEAF: u32 = 2;
const GATE: u32 = 3;
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

/// A key on its way: where it reads next, how many bits led there, which key.
#[derive(Clone, Copy, Default)]
struct Descent {
    at: u32,
    depth: u16,
    key: u16,
}

/// Keys on their way, by what they wait for. Each is written to the end of both columns, and the
/// columns grow by one or by none; a column never grows past what was read of it.
struct Waiting {
    slots: [Descent; WINDOW + 1],
    slot_count: usize,
    lines: [Descent; WINDOW + 1],
    line_count: usize,
}

impl<A: Address> Job for Descend<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let mut waiting = Waiting {
            slots: [Descent::default(); WINDOW + 1],
            slot_count: 0,
            lines: [Descent::default(); WINDOW + 1],
            line_count: 0,
        };
        for (at, key) in self.keys.iter().enumerate() {
            let word = self.slots[key.top16()];
            self.take(word, ROOT_BITS, at as u16, &mut waiting);
        }
        while waiting.slot_count + waiting.line_count > 0 {
            while waiting.slot_count > 0 {
                for at in 0..std::mem::take(&mut waiting.slot_count) {
                    let Descent { at, depth, key } = waiting.slots[at];
                    let word = self.slots[at as usize];
                    self.take(word, u32::from(depth), key, &mut waiting);
                }
            }
            for at in 0..std::mem::take(&mut waiting.line_count) {
                self.read_line(lanes, waiting.lines[at], &mut waiting);
            }
        }
    }
}

impl<A: Address> Descend<'_, A> {
    /// Takes a slot's word that `depth` bits led to: adds the answer, or lets the key wait.
    #[inline(always)]
    fn take(&mut self, word: u32, depth: u32, key: u16, waiting: &mut Waiting) {
        let kind = word >> KIND;
        let of = |is: bool| u32::from(is).wrapping_neg();
        let class = word & of(kind == 0);
        self.masks[usize::from(key)] |= self.answers[class as usize];

        let block = word & of(kind == BLOCK);
        let bits = (block >> BITS & 15) + 1;
        let chosen = (self.keys[usize::from(key)].widen() << depth) >> 64;
        let at = (block & PLACE) * PLACE_UNIT as u32 + (chosen as u64 >> (64 - bits)) as u32;
        self.slots.prefetch(at as usize);
        waiting.slots[waiting.slot_count] = Descent {
            at,
            depth: (depth + bits) as u16,
            key,
        };
        waiting.slot_count += usize::from(kind == BLOCK);

        let line = word & of(kind >= LEAF);
        self.lines.prefetch((line & !(GATE << KIND)) as usize);
        waiting.lines[waiting.line_count] = Descent {
            at: line,
            depth: depth as u16,
            key,
        };
        waiting.line_count += usize::from(kind >= LEAF);
    }

    #[inline(always)]
    fn read_line<L: Lanes>(&mut self, lanes: L, descent: Descent, waiting: &mut Waiting) {
        let line = &self.lines[(descent.at & !(GATE << KIND)) as usize];
        let key = self.keys[usize::from(descent.key)].widen();
        if descent.at >> KIND == GATE {
            let (word, depth) = through(line, key);
            self.take(word, depth, descent.key, waiting);
            return;
        }
        let following = ((key << descent.depth) >> 96) as u32;
        let changes = lanes.at_most32(line, following) & ((1 << LEAF_CHANGES) - 1);
        let class = leaf_class(line, changes.count_ones());
        self.masks[usize::from(descent.key)] |= self.answers[usize::from(class)];
    }
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
