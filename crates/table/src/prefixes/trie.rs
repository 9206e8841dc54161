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
//! Bounds: a block has at most [`build::SLOTS_A_CHANGE`] slots a change within it, or sixteen; a
//! change lies within at most 30 blocks one in another (two or three in real tables) and has two
//! lines. So a set takes at most 1.1 KB a change, the routing table 50 bytes, and a lookup reads
//! at most 30 slots and as many gates.

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
    /// The slots of blocks, sixteen a line, those of the root first; and leaves and gates.
    lines: Paged<Line>,
    classes: Arc<Classes>,
    /// Lines that no slot names any more, for the next to take: the first of one, of two side by
    /// side, of four, and so on up to those of the largest block.
    free: [Vec<u32>; 12],
}

/// A leaf: ten changes, ascending, by 32 bits of an address; then eleven classes of 16 bits,
/// the first before all changes, and sixteen bits of zero. Unused changes are the greatest, with
/// the last class.
///
/// A gate: the first and the last of its changes, four words each, high to low; the class
/// before, the class from the last on, what holds between them as a slot's word, how many
/// bits of an address lead to that; and [`GATE`] in the last word.
type Line = [u32; 16];

/// Words of a line, and how many bits choose one.
const LINE_WORDS: usize = 16;
const LINE_BITS: u32 = LINE_WORDS.ilog2();
/// Changes in a leaf.
const LEAF_CHANGES: usize = 10;
/// The changes of a leaf are told apart by the 32 bits after this depth at most: those of deeper
/// leaves have the bits between in common.
const LEAF_DEPTH_MAX: u32 = 32;
/// Marks a gate.
const GATE: u32 = 1 << 31;
/// Classes that a leaf can name.
const CLASSES_MAX: usize = 1 << 16;
/// Bits that choose a slot of the root.
const ROOT_BITS: u32 = 16;

/// A slot's word without this is a class.
const ONWARD: u32 = 1 << 31;
/// Above the number of a line: how many bits choose a slot of the block that begins there; none
/// where the line is a leaf or a gate.
const BITS: u32 = 27;
const NUMBER: u32 = (1 << BITS) - 1;

/// Keys that go down together.
const WINDOW: usize = 64;

impl Trie {
    /// `None` when there are more answers than leaves can name, or more lines than words can.
    pub(super) fn new<A: Address>(runs: &Runs<A>) -> Result<Option<Self>, CompileError> {
        build::compile(runs)
    }

    #[inline]
    pub(super) fn add_burst<A: Address>(&self, level: Level, keys: &[A], masks: &mut [ListMask]) {
        for (keys, masks) in keys.chunks(WINDOW).zip(masks.chunks_mut(WINDOW)) {
            let job = Descend {
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
        64 * (self.lines.len() - self.free_lines()) + size_of_val(self.classes.masks())
    }

    pub(super) fn class_count(&self) -> usize {
        self.classes.masks().len()
    }

    pub(super) fn pages(&self) -> Option<Pages> {
        self.lines.pages()
    }

    /// True when a quarter of it is garbage.
    pub(super) fn is_crowded(&self) -> bool {
        64 * self.free_lines() > (self.bytes() / 4).max(1 << 20)
    }

    fn free_lines(&self) -> usize {
        let free = self.free.iter().enumerate();
        free.map(|(power, lines)| lines.len() << power).sum()
    }
}

struct Descend<'a, A> {
    lines: PagedView<'a, Line>,
    answers: &'a [ListMask],
    keys: &'a [A],
    masks: &'a mut [ListMask],
}

/// A key on its way: the line it reads next, and in one word (a load does not wait for a store
/// that it lies within) which key, which word of the line, how many bits led there.
#[derive(Clone, Copy)]
struct Descent<'a> {
    line: &'a Line,
    rest: u64,
}

impl<'a> Descent<'a> {
    #[inline(always)]
    fn new(line: &'a Line, slot: u32, depth: u32, key: usize) -> Self {
        let rest = key as u64 | u64::from(slot) << 16 | u64::from(depth) << 32;
        Self { line, rest }
    }
    #[inline(always)]
    fn word(self) -> u32 {
        self.line[(self.rest >> 16) as usize % LINE_WORDS]
    }
    #[inline(always)]
    fn depth(self) -> u32 {
        (self.rest >> 32) as u32
    }
    #[inline(always)]
    fn key(self) -> usize {
        self.rest as usize % WINDOW
    }
}

/// Keys on their way that wait for the same thing. Each is written to the end of the column, and
/// the column grows by one or by none. It never grows past what was read of it.
type Waiting<'a> = [Descent<'a>; WINDOW];

/// How many keys wait for slots, and for leaves or gates. Not beside the columns: there they
/// would be memory, and each key would wait for the one before.
#[derive(Clone, Copy, Default)]
struct Counts {
    slots: usize,
    leaves: usize,
}

impl<A: Address> Job for Descend<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let first = Descent::new(self.lines.get(0).expect("the root"), 0, 0, 0);
        let (mut slots, mut leaves) = ([first; WINDOW], [first; WINDOW]);
        // What each key read last: in the end a class.
        let mut words = [0; WINDOW];
        let mut counts = Counts::default();
        for at in 0..self.enter(&mut words, &mut slots) {
            let key = slots[at].key();
            counts = self.go_on(words[key], ROOT_BITS, key, &mut slots, &mut leaves, counts);
        }
        while counts.slots + counts.leaves > 0 {
            for at in 0..std::mem::take(&mut counts.slots) {
                let descent = slots[at];
                let (word, key) = (descent.word(), descent.key());
                words[key] = word;
                counts = self.go_on(word, descent.depth(), key, &mut slots, &mut leaves, counts);
            }
            if counts.slots > 0 {
                continue;
            }
            for at in 0..std::mem::take(&mut counts.leaves) {
                let descent = leaves[at];
                let (line, key) = (descent.line, descent.key());
                if line[LINE_WORDS - 1] < GATE {
                    words[key] = leaf_class(lanes, line, self.keys[key].widen(), descent.depth());
                    continue;
                }
                let (word, depth) = through(line, self.keys[key].widen());
                words[key] = word;
                counts = self.go_on(word, depth, key, &mut slots, &mut leaves, counts);
            }
        }
        for (mask, word) in self.masks.iter_mut().zip(words) {
            *mask |= self.answers[word as usize];
        }
    }
}

impl<'a, A: Address> Descend<'a, A> {
    /// Reads the root for all keys. Those for which that is not the end are told.
    #[inline(always)]
    fn enter(&self, words: &mut [u32; WINDOW], onward: &mut Waiting<'a>) -> usize {
        let mut count = 0;
        for (at, key) in self.keys.iter().enumerate() {
            let slot = key.top16();
            let word = self.lines[slot / LINE_WORDS][slot % LINE_WORDS];
            words[at] = word;
            onward[count].rest = at as u64;
            count += (word >> 31) as usize;
        }
        count
    }

    /// Lets a key wait for what a word names, if it names anything. Arithmetic instead of
    /// comparisons: of those the compiler makes branches, and half of them are mispredicted.
    #[inline(always)]
    fn go_on(
        &self,
        word: u32,
        depth: u32,
        key: usize,
        slots: &mut Waiting<'a>,
        leaves: &mut Waiting<'a>,
        mut counts: Counts,
    ) -> Counts {
        let is_onward = word >> 31;
        let word = word & is_onward.wrapping_neg();
        let bits = word >> BITS & 15;
        let chosen = (following(self.keys[key].widen(), depth) >> 1 >> (63 - bits)) as u32;
        let number = (word & NUMBER) + (chosen >> LINE_BITS);
        let line = self.lines.get(number as usize).expect("a line");
        frame::prefetch::read(line.as_ptr().cast());
        let waiting = Descent::new(line, chosen, depth + bits, key);
        slots[counts.slots % WINDOW] = waiting;
        leaves[counts.leaves % WINDOW] = waiting;
        let is_block = (bits + 15) >> 4;
        counts.slots += is_block as usize;
        counts.leaves += (is_onward ^ is_block) as usize;
        counts
    }
}

/// What follows the first `depth` bits of a key, within its half. Blocks do not reach across the
/// halves: shifting 128 bits by a variable costs a dozen instructions. Keys seldom get below.
#[inline(always)]
fn following(key: u128, depth: u32) -> u64 {
    if depth < 64 {
        ((key >> 64) as u64) << depth
    } else {
        (key as u64) << (depth % 64)
    }
}

/// The class of a key in a leaf that `depth` bits led to.
#[inline(always)]
fn leaf_class<L: Lanes>(lanes: L, leaf: &Line, key: u128, depth: u32) -> u32 {
    let window = ((key >> 64) as u64) << depth.min(LEAF_DEPTH_MAX) >> 32;
    let passed = lanes.at_most32(leaf, window as u32) & ((1 << LEAF_CHANGES) - 1);
    let passed = passed.count_ones();
    leaf[(LEAF_CHANGES + passed as usize / 2) & 15] >> (passed % 2 * 16) & 0xffff
}

/// Lines of a block of so many bits; one for a leaf or a gate, which have none.
fn lines_of(bits: u32) -> usize {
    (1usize << bits).div_ceil(LINE_WORDS)
}

/// The first and the last change of a gate.
#[inline(always)]
fn changes_of(gate: &Line) -> (u128, u128) {
    let wide = |at: usize| {
        let half = |at: usize| u64::from(gate[at]) << 32 | u64::from(gate[at + 1]);
        u128::from(half(at)) << 64 | u128::from(half(at + 2))
    };
    (wide(0), wide(4))
}

/// What a gate says of a key: a slot's word, and the bits that led there.
#[inline(always)]
fn through(gate: &Line, key: u128) -> (u32, u32) {
    let (first, last) = changes_of(gate);
    let word = if key < first {
        gate[8]
    } else if key >= last {
        gate[9]
    } else {
        gate[10]
    };
    (word, gate[11])
}
