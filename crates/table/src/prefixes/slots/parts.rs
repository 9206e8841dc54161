//! What the slot of a network of 32 bits leads to: one line for each part of the bits 32 to 47.

use super::build::Ground;
use super::code::WORD;
use super::line::{self, Answer, LEAVES, Run};
use super::*;
use crate::prefixes::trie::build::Block;
use std::collections::BTreeMap;

/// Lines side by side: the leaves of parts, or their nodes.
#[derive(Clone, Copy)]
struct Parts {
    first: u32,
    /// The bits that choose one.
    bits: u32,
    has_nodes: bool,
}

/// Bits that choose a leaf: with so many each is of 16 networks of 48 bits, and has room for their
/// changes unless words of the trie are among them.
pub(super) const LEAF_BITS_MAX: u32 = 12;
/// Leaves, at most, in place of one of those that would do if they were filled one after the other,
/// if that spares nodes. With 2, 4, 8, 16, 32 and 64 keys of the routing table, in bursts of 128
/// to 512, had 1.02, 1.03, 1.06, 1.08, 1.08 and 1.09 of their rate without on a Zen 4, for 0.05,
/// 0.1, 0.2, 0.7, 2.3 and 5.5 MB.
const SPREAD: usize = 16;
/// Runs of a full leaf that has words, at least.
const RUNS_MIN: usize = 14;
/// Bits that choose a node: with so many a part has 256 runs at most, and needs 19 leaves.
const NODE_BITS_MAX: u32 = 8;

/// Words of networks of 48 bits, by the bits 32 to 47.
pub(super) type Words = BTreeMap<u16, u32>;

/// The word of the slot of a network of 32 bits whose answer changes within; it had `old`.
pub(super) fn slot_word<G: Ground>(
    ground: &mut G,
    old: u32,
    block: Block,
) -> Result<u32, CompileError> {
    let parts = Parts::of(ground, old);
    if let Some(parts) = parts
        && parts.rewrite(ground, block)?
    {
        return Ok(old);
    }
    let mut runs = runs(ground, block);
    let words = take_apart(ground, old);
    settle(ground, &mut runs, words, block)?;
    let (bits, has_nodes) = match parts {
        // Leaves again could be what the next change makes nodes of, and so on.
        Some(parts) if parts.has_nodes => (node_bits(&runs), true),
        _ => layout(&runs),
    };
    Ok(Parts::new(ground, &runs, bits, has_nodes)?.word())
}

/// The word of a slot that leads to one run.
pub(super) fn word<G: Ground>(ground: &mut G, run: Run) -> Result<u32, CompileError> {
    Ok(Parts::new(ground, &[run], 0, false)?.word())
}

/// Nothing needs the lines of a slot any more; the words in them are left.
pub(super) fn take_apart<G: Ground>(ground: &mut G, word: u32) -> Words {
    let mut words = Words::new();
    if let Some(parts) = Parts::of(ground, word) {
        for part in 0..1 << parts.bits {
            parts.empty(ground, part, &mut words);
        }
        ground.drop_lines(parts.first, 1 << parts.bits);
    }
    words
}

impl Parts {
    /// What the word of a slot leads to; `None` if that is nothing, or the leaf of all that have
    /// its class only.
    fn of<G: Ground>(ground: &G, word: u32) -> Option<Self> {
        let parts = Self {
            first: word >> SHIFT_BITS & NUMBER,
            bits: ALL_OUT - (word & 31),
            has_nodes: word & NODE != 0,
        };
        let is_shared = |parts: &Self| {
            let line = ground.line(parts.first);
            parts.bits == 0 && !parts.has_nodes && line::is_plain(&line)
        };
        (word != NOTHING && !is_shared(&parts)).then_some(parts)
    }

    fn word(self) -> u32 {
        let kind = if self.has_nodes { NODE } else { 0 };
        kind | self.first << SHIFT_BITS | (ALL_OUT - self.bits)
    }

    fn new<G: Ground>(
        ground: &mut G,
        runs: &[Run],
        bits: u32,
        has_nodes: bool,
    ) -> Result<Self, CompileError> {
        let first = ground.take_lines(1 << bits)?;
        let parts = Self {
            first,
            bits,
            has_nodes,
        };
        for part in 0..1 << bits {
            parts.set(ground, part, part_of(runs, bits, part))?;
        }
        Ok(parts)
    }

    /// Makes those parts of a network of 32 bits anew that may have changed; false when one has
    /// become too large for its line, or so many so small that leaves are wasted.
    fn rewrite<G: Ground>(self, ground: &mut G, block: Block) -> Result<bool, CompileError> {
        let (first, last) = ground.changed();
        let from = block.slot_of(first.max(block.first), self.bits);
        let to = block.slot_of(last.min(block.last()), self.bits);
        let mut has_emptied = false;
        for part in from..=to {
            let inner = block.slot(part, self.bits);
            let mut runs = runs(ground, inner);
            if !fits(&runs, if self.has_nodes { LEAVES } else { 1 }) {
                return Ok(false);
            }
            let mut words = Words::new();
            self.empty(ground, part as u32, &mut words);
            settle(ground, &mut runs, words, block)?;
            self.set(ground, part as u32, &runs)?;
            has_emptied |= runs.len() == 1;
        }
        Ok(!has_emptied || !self.is_wasteful(ground))
    }

    /// True where there are twice as many leaves as runs may have in another layout. It reads them
    /// all, at most 4,096 lines, so it is asked when one has no change any more.
    fn is_wasteful<G: Ground>(self, ground: &G) -> bool {
        if self.has_nodes || self.bits <= SPREAD.ilog2() + 1 {
            return false;
        }
        let (mut runs, mut before) = (0, None);
        for leaf in (self.first..).take(1 << self.bits) {
            let (changes, first, last) = line::ends(&ground.line(leaf));
            // Words have one code, and are runs of their own.
            runs += changes + usize::from(first == WORD || before != Some(first));
            before = Some(last);
        }
        1 << self.bits > 2 * SPREAD * (runs / RUNS_MIN + 1)
    }

    /// Sets the line of a part.
    fn set<G: Ground>(self, ground: &mut G, part: u32, runs: &[Run]) -> Result<(), CompileError> {
        let number = self.first + part;
        if self.has_nodes {
            let (first, starts) = leaves(ground, runs)?;
            ground.set_line(number, line::node(&starts, first))
        } else {
            set_leaf(ground, number, runs)
        }
    }

    /// Nothing needs what the line of a part leads to any more; words are collected.
    fn empty<G: Ground>(self, ground: &mut G, part: u32, words: &mut Words) {
        let (number, start) = (self.first + part, (part << (16 - self.bits)) as u16);
        if !self.has_nodes {
            empty_leaf(ground, number, start, words);
            return;
        }
        let node = ground.line(number);
        let mut count = 0;
        for (leaf, start) in line::leaves(&node, start) {
            empty_leaf(ground, leaf, start, words);
            count += 1;
        }
        ground.drop_lines(line::number(&node), count);
    }
}

/// The bits that part the runs of a network of 32 bits, and whether parts need nodes.
fn layout(runs: &[Run]) -> (u32, bool) {
    let most = (SPREAD * line::portions(runs).count()).ilog2();
    let leaf_bits = (0..=most.min(LEAF_BITS_MAX)).find(|&bits| part_fits(runs, bits, 1));
    match leaf_bits {
        Some(bits) => (bits, false),
        None => (node_bits(runs), true),
    }
}

/// The bits that part runs so that a node has room for each part.
fn node_bits(runs: &[Run]) -> u32 {
    let bits = (0..NODE_BITS_MAX).find(|&bits| part_fits(runs, bits, LEAVES));
    bits.unwrap_or(NODE_BITS_MAX)
}

/// True when each part of runs needs so many leaves at most.
fn part_fits(runs: &[Run], bits: u32, leaves: usize) -> bool {
    let mut parts = (0..1 << bits).map(|part| part_of(runs, bits, part));
    parts.all(|part| fits(part, leaves))
}

/// True when runs need so many leaves at most.
fn fits(runs: &[Run], leaves: usize) -> bool {
    line::portions(runs).nth(leaves).is_none()
}

/// The runs of a part, with the one that holds at its beginning.
fn part_of(runs: &[Run], bits: u32, part: u32) -> &[Run] {
    let size = 1u32 << (16 - bits);
    let before = |end: u32| runs.partition_point(|run| u32::from(run.start) < end);
    let first = before(part * size + 1) - 1;
    &runs[first..before((part + 1) * size)]
}

/// The runs of a block of 32 to 48 bits. Words are not known yet.
fn runs<G: Ground>(ground: &mut G, block: Block) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut network = block.slot(0, 48 - block.depth);
    loop {
        let next = ground.next_change(network.first + 1);
        let next = next.filter(|&(start, _)| start <= block.last());
        let next = next.map(|(start, _)| start);
        let answer = match next {
            Some(start) if start <= network.last() => Answer::Below(NOTHING),
            _ => Answer::Class(ground.class_at(network.first)),
        };
        if answer == Answer::Below(NOTHING) || runs.last().is_none_or(|run| run.answer != answer) {
            let start = low(network.first);
            runs.push(Run { start, answer });
        }
        let start = match next {
            Some(start) if start > network.last() => start.first_in(48),
            Some(_) if network.last() < block.last() => network.last() + 1,
            _ => return runs,
        };
        network.first = start;
    }
}

/// Gives runs their words, of those that were there what is needed still.
fn settle<G: Ground>(
    ground: &mut G,
    runs: &mut [Run],
    mut words: Words,
    block: Block,
) -> Result<(), CompileError> {
    let network = |start: u16| Block {
        first: block.first.first_in(32) | u128::from(start) << 80,
        depth: 48,
    };
    for run in runs {
        if let Answer::Below(word) = &mut run.answer {
            let (old, network) = (words.remove(&run.start), network(run.start));
            *word = match old {
                Some(old) if !ground.meets(network) => old,
                _ => ground.below(old.unwrap_or(NOTHING), network)?,
            };
        }
    }
    for (start, word) in words {
        ground.drop_below(word, network(start));
    }
    Ok(())
}

/// Makes the leaves of runs: the number of the first, and where they begin.
fn leaves<G: Ground>(ground: &mut G, runs: &[Run]) -> Result<(u32, Vec<u16>), CompileError> {
    let count = line::portions(runs).count();
    let first = ground.take_lines(count)?;
    let mut starts = Vec::with_capacity(count);
    for (number, portion) in (first..).zip(line::portions(runs)) {
        set_leaf(ground, number, portion)?;
        starts.push(portion[0].start);
    }
    Ok((first, starts))
}

/// Makes a portion of runs a leaf.
fn set_leaf<G: Ground>(ground: &mut G, number: u32, portion: &[Run]) -> Result<(), CompileError> {
    let (mut leaf, words) = line::leaf(portion, |class| ground.code(class));
    if let Some(words) = words {
        let beside = ground.take_lines(1)?;
        ground.set_line(beside, words)?;
        leaf = line::with_words(leaf, beside);
    }
    ground.set_line(number, leaf)
}

/// Collects the words of a leaf; nothing needs the line that has them any more.
fn empty_leaf<G: Ground>(ground: &mut G, leaf: u32, start: u16, words: &mut Words) {
    let leaf = ground.line(leaf);
    if let Some(beside) = line::words(&leaf) {
        let line = ground.line(beside);
        let below = line::below(&leaf, start);
        words.extend(below.map(|(start, run)| (start, line::word(&line, run))));
        ground.drop_lines(beside, 1);
    }
}
