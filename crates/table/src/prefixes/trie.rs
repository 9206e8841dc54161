//! IPv6: a trie whose blocks have as many slots as their changes of answer ask for.
//!
//! The upper 16 bits choose among 65,536 slots. A slot is a class, or a block of 16 to 65,536
//! slots for the bits that follow, as far as bit 47, or a line: a *leaf* holds up to ten changes by
//! 32 bits of an address, compared at once; a *gate* holds what is outside a cluster of changes far
//! below, and what is inside, so that no chain of blocks leads there. Behind bit 47, where real
//! tables have next to nothing, a block has 16 slots. All slots are words in one column.
//!
//! The word of a block tells how far to shift bits 16 to 47 of an address, whatever led to the
//! block, and where the slot of address 0 would be: so a step is a shift and a sum, and
//! nothing but the word is kept of a key. A burst goes down level by level. Keys for which a slot
//! was not the end wait in lists of their numbers; nothing branches on which keys they are, except
//! for gates and what is behind bit 47.
//!
//! Bounds: a block has at most [`build::SLOTS_A_CHANGE`] slots a change within it, or sixteen; a
//! change lies within at most 8 blocks one in another as far as bit 47, and 20 behind (two or three
//! in real tables), and has two lines. So a set takes at most 1.1 KB a change beside the root, the
//! routing table 52 bytes, and a lookup reads at most 29 slots and 7 gates.

mod build;
mod rewrite;

use super::no_memory;
use crate::address::Address;
use crate::class::Classes;
use crate::compiled::CompileError;
use crate::flatten::Runs;
use crate::mask::ListMask;
use crate::simd::{self, Job, Lanes, Level, Portable};
use frame::Pages;
use frame::memory::{Paged, PagedView};
use std::hint::select_unpredictable;
use std::sync::Arc;

/// Blocks, leaves and gates.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    /// The slots of blocks, sixteen a line, those of the root first; and leaves and gates.
    lines: Paged<Line>,
    classes: Arc<Classes>,
    /// Lines that no slot names any more, for the next to take: the first of one, of two side by
    /// side, of four, and so on up to those of the largest block.
    free: [Vec<u32>; 13],
}

/// A leaf: ten changes, ascending, by 32 bits of an address; then eleven classes of 16 bits,
/// the first before all changes, and sixteen bits of zero. Unused changes are the greatest, with
/// the last class.
///
/// A gate: the first and the last of its changes, four words each, high to low; the class
/// before, the class from the last on, what holds between them as a slot's word, how many
/// bits of an address lead to that.
type Line = [u32; 16];

/// Words of a line, and how many bits choose one.
const LINE_WORDS: usize = 16;
const LINE_BITS: u32 = LINE_WORDS.ilog2();
/// Changes in a leaf.
const LEAF_CHANGES: usize = 10;
/// Classes that a leaf can name.
const CLASSES_MAX: usize = 1 << 16;
/// Bits that choose a slot of the root.
const ROOT_BITS: u32 = 16;

/// A word with this is a block. The five bits below tell how far the bits 16 to 47 of an address
/// are shifted to count slots from its number on.
const BLOCK: u32 = 1 << 31;
/// Above the number of a line: the shift of a block, or what else the word is.
const KIND: u32 = 26;
const NUMBER: u32 = (1 << KIND) - 1;
/// A leaf of the bits 16 to 47. Less is a class.
const LEAF: u32 = 1 << KIND;
/// A leaf of the bits 32 to 63.
const LEAF_LOW: u32 = 2 << KIND;
const GATE: u32 = 3 << KIND;
/// A line of slots, chosen by four bits behind bit 47.
const LOWER: u32 = 4 << KIND;

/// Where the bits end that choose slots of a [`BLOCK`].
const BLOCKS_END: u32 = 48;

/// Keys that go down together at most. 128 are no faster.
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

/// The upper half of a key.
#[inline(always)]
fn high<A: Address>(key: A) -> u64 {
    (key.widen() >> 64) as u64
}

/// The bits 16 to 47 of an address, of its upper half.
#[inline(always)]
fn window(high: u64) -> u32 {
    (high >> 16) as u32
}

/// The slot that an address with this [`window`] has in the block that `word` names; some slot or
/// none where it names none.
#[inline(always)]
fn slot_in(word: u32, window: u32) -> usize {
    let slot = (word << LINE_BITS).wrapping_add(window.wrapping_shr(word >> KIND));
    (slot & (NUMBER << LINE_BITS | (LINE_WORDS as u32 - 1))) as usize
}

/// What changes of a leaf are compared with.
#[inline(always)]
fn leaf_window(high: u64, word: u32) -> u32 {
    // Shifted by 16 in leaves of the bits 16 to 47, by 0 in those of the bits 32 to 63.
    (high >> (word >> (KIND - 4) & 16)) as u32
}

struct Descend<'a, A> {
    lines: PagedView<'a, Line>,
    answers: &'a [ListMask],
    keys: &'a [A],
    masks: &'a mut [ListMask],
}

/// How far the keys of a window have come.
struct Progress<'a> {
    /// What each key read last: in the end a class.
    words: [u32; WINDOW],
    /// What is read next, of the keys of `blocks`.
    places: [&'a u32; WINDOW],
    /// The keys that wait for a slot.
    blocks: [u8; WINDOW],
    /// The keys that wait for what is neither a class nor a block.
    leaves: [u8; WINDOW],
    leaf_count: usize,
}

const ALL_KEYS: [u8; WINDOW] = {
    let mut keys = [0; WINDOW];
    let mut key = 0;
    while key < WINDOW {
        keys[key] = key as u8;
        key += 1;
    }
    keys
};

impl<A: Address> Job for Descend<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut progress = Progress {
            words: [0; WINDOW],
            places: [self.lines.flattened().value(0); WINDOW],
            blocks: ALL_KEYS,
            leaves: [0; WINDOW],
            leaf_count: 0,
        };
        self.enter(&mut progress);
        let mut count = progress.read(self.keys.len());
        while count > 0 {
            self.ask(&mut progress, count);
            count = progress.read(count);
        }
        if progress.leaf_count > 0 {
            self.read_leaves(lanes, &mut progress);
        }
        for (mask, word) in self.masks.iter_mut().zip(&progress.words) {
            *mask |= self.answers[*word as usize];
        }
    }
}

impl<'a, A: Address> Descend<'a, A> {
    /// Reads the root, and asks for the slots of the blocks that it names. A key that meets none
    /// reads the root again: what is the same for all keys branches on none.
    #[inline(always)]
    fn enter(&self, progress: &mut Progress<'a>) {
        let slots = self.lines.flattened();
        for (place, &key) in progress.places.iter_mut().zip(self.keys) {
            let high = high(key);
            let top = (high >> (64 - ROOT_BITS)) as usize;
            let word = *slots.value(top);
            let slot = slot_in(word, window(high));
            *place = slots.value(select_unpredictable(word >= BLOCK, slot, top));
            frame::prefetch::read(std::ptr::from_ref(*place).cast());
        }
    }

    /// Asks for the slots of the first `count` keys that wait for one.
    #[inline(always)]
    fn ask(&self, progress: &mut Progress<'a>, count: usize) {
        let slots = self.lines.flattened();
        let blocks = &progress.blocks[..count.min(WINDOW)];
        for (place, &key) in progress.places.iter_mut().zip(blocks) {
            let key = usize::from(key) % WINDOW;
            let slot = slot_in(progress.words[key], window(high(self.keys[key])));
            *place = slots.value(slot);
            frame::prefetch::read(std::ptr::from_ref(*place).cast());
        }
    }

    #[inline(always)]
    fn read_leaves<L: Lanes>(&self, lanes: L, progress: &mut Progress<'_>) {
        let leaves = &progress.leaves[..progress.leaf_count.min(WINDOW)];
        let mut lines = [self.lines.value(0); WINDOW];
        let mut most = 0;
        for (line, &key) in lines.iter_mut().zip(leaves) {
            let word = progress.words[usize::from(key) % WINDOW];
            *line = self.lines.value((word & NUMBER) as usize);
            frame::prefetch::read(line.as_ptr().cast());
            most = most.max(word);
        }
        let rare = (most >= GATE).then(|| self.below(leaves, &progress.words));
        for (line, &key) in lines.iter().zip(leaves) {
            let key = usize::from(key) % WINDOW;
            let window = leaf_window(high(self.keys[key]), progress.words[key]);
            progress.words[key] = leaf_class(lanes, line, window);
        }
        for (word, class) in progress.words.iter_mut().zip(rare.into_iter().flatten()) {
            *word = class.unwrap_or(*word);
        }
    }

    /// The classes of those of these keys that wait for gates or for what is behind bit 47.
    #[cold]
    #[inline(never)]
    fn below(&self, keys: &[u8], words: &[u32; WINDOW]) -> [Option<u32>; WINDOW] {
        let mut classes = [None; WINDOW];
        let keys = keys.iter().map(|&key| usize::from(key));
        for key in keys.filter(|&key| words[key] >= GATE) {
            let (mut word, mut depth) = (words[key], BLOCKS_END);
            while word >= LEAF {
                (word, depth) = self.step(self.keys[key].widen(), word, depth);
            }
            classes[key] = Some(word);
        }
        classes
    }

    /// What a word leads to that is not a class: a word, and its depth. `depth` is that of `word`
    /// where this is below bit 47.
    fn step(&self, key: u128, word: u32, depth: u32) -> (u32, u32) {
        let (high, line) = ((key >> 64) as u64, (word & NUMBER) as usize);
        match word & !NUMBER {
            LEAF | LEAF_LOW => {
                let window = leaf_window(high, word);
                (leaf_class(Portable, self.lines.value(line), window), depth)
            }
            GATE => through(self.lines.value(line), key),
            LOWER => {
                let slot = (key >> (128 - LINE_BITS - depth)) as usize % LINE_WORDS;
                (self.lines.value(line)[slot], depth + LINE_BITS)
            }
            _ => {
                let slot = slot_in(word, window(high));
                (*self.lines.flattened().value(slot), end_of(word))
            }
        }
    }
}

impl Progress<'_> {
    /// Reads the slots of the first `count` keys that waited for one, and tells how many wait for
    /// another. Each key is written to both lists, and counts in one at most: a branch would be
    /// mispredicted for every third key.
    #[inline(always)]
    fn read(&mut self, count: usize) -> usize {
        let (mut block_count, mut leaf_count) = (0, self.leaf_count);
        for at in 0..count.min(WINDOW) {
            let (key, word) = (self.blocks[at], *self.places[at]);
            self.words[usize::from(key) % WINDOW] = word;
            self.blocks[block_count % WINDOW] = key;
            block_count += usize::from(word >= BLOCK);
            self.leaves[leaf_count % WINDOW] = key;
            leaf_count += usize::from(word.wrapping_sub(LEAF) < BLOCK - LEAF);
        }
        self.leaf_count = leaf_count;
        block_count
    }
}

/// The class in a leaf of a key that has `window` where the changes have their words.
#[inline(always)]
fn leaf_class<L: Lanes>(lanes: L, leaf: &Line, window: u32) -> u32 {
    let passed = lanes.at_most32(leaf, window) & ((1 << LEAF_CHANGES) - 1);
    let passed = passed.count_ones();
    leaf[(LEAF_CHANGES + passed as usize / 2) & 15] >> (passed % 2 * 16) & 0xffff
}

/// What a slot's word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Class,
    /// The first line, and how many bits choose the slot.
    Block(usize, u32),
    Leaf(usize),
    Gate(usize),
}

/// What `word` names where it is the word of `block`.
fn named(word: u32, block: build::Block) -> Named {
    let line = (word & NUMBER) as usize;
    match word & !NUMBER {
        0 => Named::Class,
        LEAF | LEAF_LOW => Named::Leaf(line),
        GATE => Named::Gate(line),
        LOWER => Named::Block(line, LINE_BITS),
        _ => {
            let bits = end_of(word) - block.depth;
            let first = slot_in(word, window((block.first >> 64) as u64));
            Named::Block(first / LINE_WORDS, bits)
        }
    }
}

/// Where the bits end that choose the slot of a block.
fn end_of(word: u32) -> u32 {
    BLOCKS_END - (word >> KIND & 31)
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
