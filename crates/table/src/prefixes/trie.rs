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
use crate::simd::{self, Column, GROUP, Job, Lanes, Level, Portable};
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

/// A slot's word with this is a block or a leaf of the upper half of an address.
const ONWARD: u32 = 1 << 31;
/// A slot's word with this alone is a gate, or a block of the lower half. Less is a class.
const BELOW: u32 = 1 << 30;
/// Above the number of a line: how many bits choose a slot of the block that begins there; none
/// where the line is a leaf or a gate.
const BITS: u32 = 27;
const NUMBER: u32 = (1 << BITS) - 1;

/// Bits of a half. Blocks do not reach across.
const HALF_BITS: u32 = 64;

/// Keys that go down together at most. More than a few groups hide how long the last step takes.
const WINDOW: usize = GROUP * 8;

impl Trie {
    /// `None` when there are more answers than leaves can name, or more lines than words can.
    pub(super) fn new<A: Address>(runs: &Runs<A>) -> Result<Option<Self>, CompileError> {
        build::compile(runs)
    }

    #[inline]
    pub(super) fn add_burst<A: Address>(&self, level: Level, keys: &[A], masks: &mut [ListMask]) {
        for (keys, masks) in keys.chunks(WINDOW).zip(masks.chunks_mut(WINDOW)) {
            if keys.len() > WINDOW / 2 {
                self.add_window::<A, { WINDOW / GROUP }>(level, keys, masks);
            } else {
                self.add_window::<A, { WINDOW / GROUP / 2 }>(level, keys, masks);
            }
        }
    }

    #[inline]
    fn add_window<A: Address, const G: usize>(
        &self,
        level: Level,
        keys: &[A],
        masks: &mut [ListMask],
    ) {
        let job = Descend::<A, G> {
            lines: self.lines.view(),
            answers: self.classes.masks(),
            keys,
            masks,
        };
        simd::run(level, job);
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

/// The keys of a window that wait for a slot each, in columns so that vectors hold sixteen. What
/// is behind the last is gone down with it to the end of its group, and nobody looks at it: loops
/// that end where the last key does are mispredicted.
struct Waiting<'a, const G: usize> {
    /// What of the upper half of the key follows the bits that led here, from the top.
    rests: Column<u64, G>,
    /// The word that names the block; then that of the slot.
    words: Column<u32, G>,
    /// Which key of the window; [`NO_KEY`] behind the last.
    keys: Column<u32, G>,
    numbers: Column<u32, G>,
    slots: Column<u32, G>,
    /// Found once: finding a line takes a third of a step.
    lines: [[&'a Line; GROUP]; G],
    count: usize,
}

/// The keys of a window that wait for a leaf.
struct Leaves<const G: usize> {
    /// What the changes of the leaf are compared with.
    windows: Column<u32, G>,
    words: Column<u32, G>,
    keys: Column<u32, G>,
    count: usize,
}

/// What each key of a window read last: in the end a class. One more for what is no key.
type Words = [u32; WINDOW + 1];
const NO_KEY: u32 = WINDOW as u32;

struct Descend<'a, A, const G: usize> {
    lines: PagedView<'a, Line>,
    answers: &'a [ListMask],
    keys: &'a [A],
    masks: &'a mut [ListMask],
}

impl<A: Address, const G: usize> Job for Descend<'_, A, G> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut words = [0; WINDOW + 1];
        let first = self.lines.value(0);
        let mut waiting = Waiting::<G>::new(first);
        self.enter(&mut waiting, &mut words);
        let mut leaves = Leaves::new();
        waiting.part(lanes, &mut leaves);
        while waiting.count > 0 {
            waiting.ask(self.lines);
            waiting.read(&mut words);
            waiting.part(lanes, &mut leaves);
        }
        if leaves.count > 0 {
            leaves.read(lanes, self.lines, &mut words);
        }
        let words = &mut words[..self.keys.len()];
        if words.iter().fold(0, |all, word| all | *word) >= BELOW {
            self.below(words);
        }
        for (mask, word) in self.masks.iter_mut().zip(words) {
            *mask |= self.answers[*word as usize];
        }
    }
}

impl<A: Address, const G: usize> Descend<'_, A, G> {
    /// Reads the root for all keys: the other 48 bits of the upper half are left.
    #[inline(always)]
    fn enter(&self, waiting: &mut Waiting<'_, G>, words: &mut Words) {
        let rests = waiting.rests.as_flattened_mut().iter_mut();
        let read = waiting.words.as_flattened_mut().iter_mut();
        for (((&key, rest), read), word) in self.keys.iter().zip(rests).zip(read).zip(words) {
            let (high, slot) = ((key.widen() >> 64) as u64, key.top16());
            *rest = high << ROOT_BITS;
            *word = self.lines.value(slot / LINE_WORDS)[slot % LINE_WORDS];
            *read = *word;
        }
        for (at, key) in waiting.keys.as_flattened_mut().iter_mut().enumerate() {
            *key = at as u32;
        }
        waiting.count = self.keys.len();
    }

    /// Goes on below the upper half, or through gates, for keys whose word says so.
    #[cold]
    #[inline(never)]
    fn below(&self, words: &mut [u32]) {
        let mut steps = [(0, HALF_BITS); WINDOW];
        let mut count = 0;
        for (at, &word) in words.iter().enumerate() {
            steps[count].0 = at;
            count += usize::from(word >= BELOW);
        }
        while count > 0 {
            for &(at, _) in &steps[..count] {
                self.lines.prefetch((words[at] & NUMBER) as usize);
            }
            let mut left = 0;
            for step in 0..count {
                let (at, depth) = steps[step];
                let (word, depth) = self.step(self.keys[at].widen(), words[at], depth);
                words[at] = word;
                steps[left] = (at, depth);
                left += usize::from(word >= BELOW);
            }
            count = left;
        }
    }

    /// What a word leads to that is not a class, `depth` bits down: a word, and its depth.
    fn step(&self, key: u128, word: u32, depth: u32) -> (u32, u32) {
        let named = named(word);
        if let Named::Block(line, bits) = named {
            let slot = (following(key, depth) >> 1 >> (63 - bits)) as usize;
            let line = self.lines.value(line + slot / LINE_WORDS);
            return (line[slot % LINE_WORDS], depth + bits);
        }
        match named {
            Named::Gate(line) => through(self.lines.value(line), key),
            Named::Leaf(line) => {
                let window = (following(key, depth) >> 32) as u32;
                (leaf_class(Portable, self.lines.value(line), window), depth)
            }
            Named::Class | Named::Block(..) => (word, depth),
        }
    }
}

impl<'a, const G: usize> Waiting<'a, G> {
    #[inline(always)]
    fn new(line: &'a Line) -> Self {
        Self {
            rests: [[0; GROUP]; G],
            words: [[0; GROUP]; G],
            keys: [[0; GROUP]; G],
            numbers: [[0; GROUP]; G],
            slots: [[0; GROUP]; G],
            lines: [[line; GROUP]; G],
            count: 0,
        }
    }

    /// Finds and asks for the line of each key's slot.
    #[inline(always)]
    fn ask(&mut self, lines: PagedView<'a, Line>) {
        for group in 0..self.count.div_ceil(GROUP).min(G) {
            let (words, rests) = (&self.words[group], &mut self.rests[group]);
            let (numbers, slots) = (&mut self.numbers[group], &mut self.slots[group]);
            for at in 0..GROUP {
                // Behind the last key may be words of anything.
                let word = if words[at] > (ONWARD | NUMBER) {
                    words[at]
                } else {
                    0
                };
                let bits = word >> BITS & 15;
                let slot = (rests[at] >> 1 >> (63 - bits)) as u32;
                rests[at] <<= bits;
                numbers[at] = (word & NUMBER) + (slot >> LINE_BITS);
                slots[at] = slot % LINE_WORDS as u32;
            }
            find(lines, numbers, &mut self.lines[group]);
        }
    }

    #[inline(always)]
    fn read(&mut self, words: &mut Words) {
        for group in 0..self.count.div_ceil(GROUP).min(G) {
            let (lines, slots) = (&self.lines[group], &self.slots[group]);
            let (keys, read) = (&self.keys[group], &mut self.words[group]);
            for at in 0..GROUP {
                read[at] = lines[at][slots[at] as usize % LINE_WORDS];
                words[(keys[at] as usize).min(WINDOW)] = read[at];
            }
        }
    }

    /// Keeps those that wait for another slot, and sends those that wait for a leaf there.
    #[inline(always)]
    fn part<L: Lanes>(&mut self, lanes: L, leaves: &mut Leaves<G>) {
        let (mut blocks, mut ending) = ([0; G], [0; G]);
        let (mut block_count, mut ending_count) = (0, 0);
        let groups = self.count.div_ceil(GROUP).min(G);
        for group in 0..groups {
            let words = &self.words[group];
            let here = 0xffff_u32 >> (16 - (self.count - GROUP * group).min(GROUP));
            let done = lanes.at_most32(words, ONWARD - 1);
            let before_blocks = lanes.at_most32(words, ONWARD | NUMBER);
            blocks[group] = (here & !before_blocks) as u16;
            ending[group] = (here & before_blocks & !done) as u16;
            block_count += blocks[group].count_ones() as usize;
            ending_count += ending[group].count_ones() as usize;
        }
        if ending_count > 0 {
            for (windows, rests) in self.numbers.iter_mut().zip(&self.rests).take(groups) {
                for (window, rest) in windows.iter_mut().zip(rests) {
                    *window = (rest >> 32) as u32;
                }
            }
            let from = leaves.count;
            lanes.take32(&self.numbers, &ending, groups, &mut leaves.windows, from);
            lanes.take32(&self.words, &ending, groups, &mut leaves.words, from);
            lanes.take32(&self.keys, &ending, groups, &mut leaves.keys, from);
            leaves.count += ending_count;
        }
        if block_count < self.count {
            lanes.keep64(&mut self.rests, &blocks, groups);
            lanes.keep32(&mut self.words, &blocks, groups);
            lanes.keep32(&mut self.keys, &blocks, groups);
            self.count = block_count;
        }
        end(&mut self.keys, self.count);
    }
}

/// Marks what is behind the last key of the last group as no key.
#[inline(always)]
fn end<const G: usize>(keys: &mut Column<u32, G>, count: usize) {
    if let Some(keys) = keys.get_mut(count / GROUP) {
        for (at, key) in keys.iter_mut().enumerate() {
            *key = if at < count % GROUP { *key } else { NO_KEY };
        }
    }
}

/// Finds lines and asks for them.
#[inline(always)]
fn find<'a>(lines: PagedView<'a, Line>, numbers: &[u32; GROUP], found: &mut [&'a Line; GROUP]) {
    for (line, &number) in found.iter_mut().zip(numbers) {
        *line = lines.value(number as usize);
        frame::prefetch::read(line.as_ptr().cast());
    }
}

impl<const G: usize> Leaves<G> {
    #[inline(always)]
    fn new() -> Self {
        Self {
            windows: [[0; GROUP]; G],
            words: [[0; GROUP]; G],
            keys: [[0; GROUP]; G],
            count: 0,
        }
    }

    #[inline(always)]
    fn read<L: Lanes>(&mut self, lanes: L, all: PagedView<'_, Line>, words: &mut Words) {
        end(&mut self.keys, self.count);
        let groups = self.count.div_ceil(GROUP).min(G);
        let mut lines = [[all.value(0); GROUP]; G];
        for (words, lines) in self.words.iter_mut().zip(&mut lines).take(groups) {
            words.iter_mut().for_each(|word| *word &= NUMBER);
            find(all, words, lines);
        }
        for (group, lines) in lines.iter().enumerate().take(groups) {
            let (windows, keys) = (&self.windows[group], &self.keys[group]);
            for at in 0..GROUP {
                let class = leaf_class(lanes, lines[at], windows[at]);
                words[(keys[at] as usize).min(WINDOW)] = class;
            }
        }
    }
}

/// What follows the first `depth` bits of a key, within its half.
fn following(key: u128, depth: u32) -> u64 {
    if depth < HALF_BITS {
        ((key >> 64) as u64) << depth
    } else {
        (key as u64) << (depth % HALF_BITS)
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

fn named(word: u32) -> Named {
    if word >= ONWARD {
        let line = (word & NUMBER) as usize;
        match word >> BITS & 15 {
            0 => Named::Leaf(line),
            bits => Named::Block(line, bits),
        }
    } else if word >= BELOW {
        let line = (word & NUMBER) as usize;
        match word >> BITS & 7 {
            0 => Named::Gate(line),
            bits => Named::Block(line, bits),
        }
    } else {
        Named::Class
    }
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
