//! What is rare in IPv6 networks: changes of answer below bit 47, and in blocks of 16 bits that
//! have few. A trie whose blocks have as many slots as their changes of answer ask for.
//!
//! There is no root: who holds a trie keeps the words of the blocks of addresses that are in it.
//! A word is a class, or a block of 16 to 65,536
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
//! change lies within at most 8 blocks one in another as far as bit 47, and 20 behind, and has two
//! lines. So a change takes at most 1.1 KB, and a lookup reads at most 29 slots and 7 gates.

pub(super) mod build;
mod rewrite;

use super::no_memory;
use crate::address::Address;
use crate::class::Classes;
use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::simd::{self, Job, Lanes, Level, Portable};
use frame::memory::{Paged, PagedView};
use std::sync::Arc;

/// Blocks, leaves and gates.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    /// The slots of blocks, sixteen a line; and leaves and gates. The first line is nobody's.
    lines: Paged<Line>,
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
pub(super) type Line = [u32; 16];

/// Words of a line, and how many bits choose one.
const LINE_WORDS: usize = 16;
const LINE_BITS: u32 = LINE_WORDS.ilog2();
/// Changes in a leaf.
const LEAF_CHANGES: usize = 10;
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
pub(super) const WINDOW: usize = 64;

impl Trie {
    /// Of the lines that words were [built](build::word) in, and the nobody's line before them.
    pub(super) fn of(lines: &[Line]) -> Result<Self, CompileError> {
        Ok(Self {
            lines: Paged::copy_of(lines).map_err(no_memory)?,
            free: Default::default(),
        })
    }

    /// Brings pages home.
    pub(super) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        work.column(&mut self.lines)
    }

    /// Makes of the word of each key, of the block that it lies in, the class of its answer. At
    /// most [`WINDOW`] keys.
    #[inline]
    pub(super) fn descend<A: Address>(&self, level: Level, keys: &[A], words: &mut [u32; WINDOW]) {
        let (trie, lines) = (self, self.lines.view());
        let job = Descend {
            trie,
            lines,
            keys,
            words,
        };
        simd::run(level, job);
    }

    /// The class of one key, of the word of the block that it lies in.
    pub(super) fn class<A: Address>(&self, key: A, word: u32) -> u32 {
        let (mut word, mut depth) = (word, BLOCKS_END);
        while word >= LEAF {
            (word, depth) = self.step(key.widen(), word, depth);
        }
        word
    }

    /// What a word leads to that is not a class: a word, and its depth. `depth` is that of `word`
    /// where this is below bit 47.
    fn step(&self, key: u128, word: u32, depth: u32) -> (u32, u32) {
        let (high, line) = ((key >> 64) as u64, (word & NUMBER) as usize);
        let lines = self.lines.view();
        match word & !NUMBER {
            LEAF | LEAF_LOW => {
                let window = leaf_window(high, word);
                (leaf_class(Portable, lines.value(line), window), depth)
            }
            GATE => through(lines.value(line), key),
            LOWER => {
                let slot = (key >> (128 - LINE_BITS - depth)) as usize % LINE_WORDS;
                (lines.value(line)[slot], depth + LINE_BITS)
            }
            _ => {
                let slot = slot_in(word, window(high));
                (*lines.flattened().value(slot), end_of(word))
            }
        }
    }

    /// Bytes that a lookup can touch.
    pub(super) fn bytes(&self) -> usize {
        64 * (self.lines.len() - self.free_lines())
    }

    /// Bytes that no lookup finds any more.
    pub(super) fn garbage(&self) -> usize {
        64 * self.free_lines()
    }

    /// False when there are more lines than words can name.
    pub(super) fn is_sound(&self) -> bool {
        self.lines.len() <= NUMBER as usize
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
    trie: &'a Trie,
    lines: PagedView<'a, Line>,
    keys: &'a [A],
    words: &'a mut [u32; WINDOW],
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

impl<A: Address> Job for Descend<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut progress = Progress {
            words: *self.words,
            places: [self.lines.flattened().value(0); WINDOW],
            blocks: [0; WINDOW],
            leaves: [0; WINDOW],
            leaf_count: 0,
        };
        let mut count = progress.begin(self.keys.len());
        while count > 0 {
            self.ask(&mut progress, count);
            count = progress.read(count);
        }
        if progress.leaf_count > 0 {
            self.read_leaves(lanes, &mut progress);
        }
        *self.words = progress.words;
    }
}

impl<'a, A: Address> Descend<'a, A> {
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
            classes[key] = Some(self.trie.class(self.keys[key], words[key]));
        }
        classes
    }
}

impl Progress<'_> {
    /// Tells how many of the first `count` keys wait for a slot.
    #[inline(always)]
    fn begin(&mut self, count: usize) -> usize {
        let mut block_count = 0;
        for key in 0..count.min(WINDOW) {
            block_count = self.list(key as u8, block_count);
        }
        block_count
    }

    /// Reads the slots of the first `count` keys that waited for one, and tells how many wait for
    /// another.
    #[inline(always)]
    fn read(&mut self, count: usize) -> usize {
        let mut block_count = 0;
        for at in 0..count.min(WINDOW) {
            let key = self.blocks[at];
            self.words[usize::from(key) % WINDOW] = *self.places[at];
            block_count = self.list(key, block_count);
        }
        block_count
    }

    /// Lists a key behind the `block_count` that wait for a slot, and tells how many then do. It is
    /// written to both lists, and counts in one at most: a branch would be mispredicted for every
    /// third key.
    #[inline(always)]
    fn list(&mut self, key: u8, block_count: usize) -> usize {
        let word = self.words[usize::from(key) % WINDOW];
        self.blocks[block_count % WINDOW] = key;
        self.leaves[self.leaf_count % WINDOW] = key;
        self.leaf_count += usize::from(word.wrapping_sub(LEAF) < BLOCK - LEAF);
        block_count + usize::from(word >= BLOCK)
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
