//! Networks and ranges of any length, IPv4 and IPv6, with the lists of each.
//!
//! The upper 16 bits of an address index 65,536 words (256 KiB: second-level cache); a block
//! with one answer has it there. Other blocks have a node: one 64-byte line that answers for 256
//! slots, with children where a slot has more than one answer ([`node`]). So an IPv4 lookup
//! reads the index, at most two nodes and a value a node; one that ends at the index, which is
//! most often, costs no line from memory. IPv6 takes at most 14 nodes; a slot with up to three
//! changes of answer is one line, a [`twig`](node), whatever depth the changes lie at.
//!
//! A burst goes down level by level: the nodes of all keys are on their way at once.
//!
//! More than [`node::CLASSES_MAX`] different answers, which no real lists have, do not fit a
//! node's values: then each block is searched by halves ([`sorted`]).

mod blocks;
mod build;
mod node;
mod sorted;

use crate::address::Address;
use crate::compiled::CompileError;
use crate::entries::FamilyEntries;
use crate::flatten::{self, Runs};
use crate::mask::ListMask;
use crate::memory::Slab;
use crate::simd::{self, Job, Lanes, Level, prefetch};
use blocks::Blocks;
use frame::Pages;
use node::Line;
use sorted::Sorted;

fn paged_error(error: frame::memory::MemoryError) -> CompileError {
    CompileError::Memory {
        reason: error.to_string(),
    }
}

/// Networks and ranges, each with the lists that hold it.
#[derive(Debug)]
pub struct PrefixSet<A> {
    layout: Layout<A>,
    run_count: usize,
    level: Level,
}

#[derive(Debug)]
enum Layout<A> {
    Empty,
    Tree(Tree),
    Blocks(Blocks),
    Sorted(Sorted<A>),
}

/// Index, nodes, values.
#[derive(Debug)]
struct Tree {
    /// By the upper 16 bits: a class, or [`NODE`] and the number of a line.
    index: Slab<u32>,
    lines: Slab<Line>,
    /// Values of nodes that have more than fit their line.
    values: Slab<u16>,
    /// Answers by class.
    masks: Vec<ListMask>,
}

/// Marks an index word that is no class.
const NODE: u32 = 1 << 31;

/// Keys that go down together: as many as lines stay on their way. Clearing the state of 128
/// costs a burst of 64 what the longer window gains a burst of 256.
const WINDOW: usize = 64;

impl<A: Address> PrefixSet<A> {
    /// The networks and ranges of `entries`; its addresses are not looked at. Every hit answers
    /// with list 0.
    ///
    /// # Errors
    /// [`CompileError::Memory`].
    pub fn new(entries: &FamilyEntries<A>) -> Result<Self, CompileError> {
        Self::compile(&flatten::sweep(&[flatten::merge_all(entries)]))
    }

    pub(crate) fn compile(runs: &Runs<A>) -> Result<Self, CompileError> {
        let layout = if runs.is_none() {
            Layout::Empty
        } else {
            let blocks = if A::BITS == 32 && std::env::var_os("OLD").is_none() {
                Blocks::new(runs)?
            } else {
                None
            };
            match blocks {
                Some(blocks) => Layout::Blocks(blocks),
                None => match build::tree(runs)? {
                    Some(tree) => Layout::Tree(tree),
                    None => Layout::Sorted(Sorted::new(runs)?),
                },
            }
        };
        Ok(Self {
            layout,
            run_count: runs.starts.len(),
            level: Level::best(),
        })
    }

    /// The same answers by the second design, binary search within a block: what tests and
    /// benchmarks hold the tree against.
    #[cfg(test)]
    pub(crate) fn compile_sorted(runs: &Runs<A>) -> Result<Self, CompileError> {
        let layout = Layout::Sorted(Sorted::new(runs)?);
        Ok(Self {
            layout,
            run_count: runs.starts.len(),
            level: Level::best(),
        })
    }

    /// The same set, looked up at `level`; for tests and benchmarks.
    #[must_use]
    pub fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// True when nothing matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.layout, Layout::Empty)
    }

    /// Disjoint intervals of one answer that the address space falls into.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.run_count
    }

    /// Adds to each mask the lists whose networks or ranges hold the key.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    #[inline]
    pub fn add_burst(&self, keys: &[A], masks: &mut [ListMask]) {
        let masks = &mut masks[..keys.len()];
        match &self.layout {
            Layout::Empty => {}
            Layout::Tree(tree) => {
                for (keys, masks) in keys.chunks(WINDOW).zip(masks.chunks_mut(WINDOW)) {
                    simd::run(self.level, Descend { tree, keys, masks });
                }
            }
            Layout::Blocks(blocks) => blocks.add_burst(self.level, keys, masks),
            Layout::Sorted(sorted) => sorted.add_burst(keys, masks),
        }
    }

    /// Writes which keys lie in a network or range and tells how many do.
    ///
    /// # Panics
    /// When `found` is shorter than `keys`.
    pub fn contains_burst(&self, keys: &[A], found: &mut [bool]) -> usize {
        let mut hits = 0;
        let found = &mut found[..keys.len()];
        for (keys, found) in keys.chunks(WINDOW).zip(found.chunks_mut(WINDOW)) {
            let mut masks = [ListMask::EMPTY; WINDOW];
            self.add_burst(keys, &mut masks);
            for (found, mask) in found.iter_mut().zip(&masks) {
                *found = !mask.is_empty();
                hits += usize::from(*found);
            }
        }
        hits
    }

    /// Bytes that a lookup can touch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.layout {
            Layout::Empty => 0,
            Layout::Tree(tree) => {
                size_of_val(&tree.index[..])
                    + size_of_val(&tree.lines[..])
                    + size_of_val(&tree.values[..])
                    + size_of_val(&tree.masks[..])
            }
            Layout::Blocks(blocks) => blocks.bytes(),
            Layout::Sorted(sorted) => sorted.bytes(),
        }
    }

    /// The pages of the largest column; `None` when it is small enough for the heap.
    pub(crate) fn pages(&self) -> Option<Pages> {
        if let Layout::Tree(tree) = &self.layout {
            tree.lines.pages()
        } else {
            None
        }
    }
}

struct Descend<'a, A> {
    tree: &'a Tree,
    keys: &'a [A],
    masks: &'a mut [ListMask],
}

/// A key on its way down.
#[derive(Clone, Copy, Default)]
struct Descent {
    /// Which key.
    key: u32,
    /// The line it reads next.
    line: u32,
}

/// Keys on their way down, parted by what they wait for. Keys that end and keys that go on mix,
/// so nothing branches on which: each is written to the end of a column, and the column grows by
/// one or by none.
struct Waiting {
    /// For a line.
    descents: [Descent; WINDOW],
    count: usize,
    /// For a value that its node's line does not hold, which is the second number.
    far: [(Descent, u32); WINDOW],
    far_count: usize,
}

impl<A: Address> Job for Descend<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, _: L) {
        let none = Descent::default();
        let mut waiting = Waiting {
            descents: [none; WINDOW],
            count: 0,
            far: [(none, 0); WINDOW],
            far_count: 0,
        };
        self.enter(&mut waiting);
        let mut depth = 2;
        while waiting.count > 0 && depth < A::BITS / 8 {
            self.step(&mut waiting, depth);
            depth += 1;
        }
        debug_assert_eq!(waiting.count, 0, "slots of the last byte hold one address");
    }
}

impl<A: Address> Descend<'_, A> {
    /// Reads the index.
    #[inline(always)]
    fn enter(&mut self, waiting: &mut Waiting) {
        let (index, lines): (&[u32], &[Line]) = (&self.tree.index, &self.tree.lines);
        for &key in self.keys {
            prefetch(index, key.top16());
        }
        for (at, &key) in self.keys.iter().enumerate() {
            let word = index[key.top16()];
            let goes_on = word >> 31;
            let class = word & goes_on.wrapping_sub(1);
            self.masks[at] |= self.tree.masks[class as usize];
            let line = word & !NODE & goes_on.wrapping_neg();
            prefetch(lines, line as usize);
            waiting.descents[waiting.count] = Descent {
                key: at as u32,
                line,
            };
            waiting.count += goes_on as usize;
        }
    }

    /// Reads one line a key, then the values that were not in their lines.
    #[inline(always)]
    fn step(&mut self, waiting: &mut Waiting, depth: u32) {
        let (lines, values): (&[Line], &[u16]) = (&self.tree.lines, &self.tree.values);
        let count = std::mem::take(&mut waiting.count);
        for at in 0..count {
            let descent = waiting.descents[at];
            let key = self.keys[descent.key as usize];
            let line = &lines[descent.line as usize];
            if A::BITS == 128 && node::is_twig(line) {
                let class = node::twig_class(line, key.widen());
                self.masks[descent.key as usize] |= self.tree.masks[usize::from(class)];
                continue;
            }
            let step = node::read(line, key.byte(depth));
            prefetch(values, step.far as usize);
            waiting.far[waiting.far_count] = (descent, step.far);
            waiting.far_count += step.is_far as usize;
            self.settle(descent, line, step.value, waiting);
        }
        for at in 0..std::mem::take(&mut waiting.far_count) {
            let (descent, far) = waiting.far[at];
            let line = &lines[descent.line as usize];
            self.settle(descent, line, values[far as usize], waiting);
        }
    }

    /// Takes a value: adds the answer, or lets the key wait for the line of the child. Never
    /// more keys wait than were read, so the place written to has been read before.
    #[inline(always)]
    fn settle(&mut self, descent: Descent, line: &Line, value: u16, waiting: &mut Waiting) {
        let (goes_on, next) = node::child(line, value);
        self.masks[descent.key as usize] |= self.tree.masks[node::class(value)];
        prefetch(&self.tree.lines, next as usize);
        waiting.descents[waiting.count] = Descent {
            key: descent.key,
            line: next,
        };
        waiting.count += goes_on;
    }
}

#[cfg(test)]
mod tests;
