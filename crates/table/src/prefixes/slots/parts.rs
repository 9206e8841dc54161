//! What the slot of a network of 32 bits leads to: one line for each part of the bits 32 to 47.

use super::build::Ground;
use super::line::{self, Answer, LEAVES, RUNS_BESIDE_WORDS, Run};
use super::split::{self, Split};
use super::*;
use crate::prefixes::trie::build::Block;
use std::collections::BTreeMap;

/// Lines side by side: the leaves of parts, or their nodes.
#[derive(Clone, Copy)]
struct Parts {
    first: u32,
    split: Split,
    has_nodes: bool,
}

/// What became of the parts that a change touched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rewritten {
    Done,
    /// One has become too large for its line.
    Full,
    /// They have become so small that lines are wasted.
    Wasteful,
}

/// Bits that choose a leaf: with so many each is of 16 networks of 48 bits, and has room for their
/// changes unless words of the trie are among them.
pub(super) const LEAF_BITS_MAX: u32 = 12;
/// Leaves, at most, in place of one of those that would do if they were filled one after the other,
/// if that spares nodes. With 4 and 8 keys of the routing table, in bursts of 64 to 512, had 0.98
/// of their rate on a Zen 5, with 32 and 64 0.95 and 0.9, since caches hold fewer of the leaves.
const SPREAD: usize = 16;
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
    let rewritten = parts
        .map(|parts| parts.rewrite(ground, block))
        .transpose()?;
    if rewritten == Some(Rewritten::Done) {
        return Ok(old);
    }
    let mut runs = runs(ground, block);
    let words = take_apart(ground, old);
    settle(ground, &mut runs, words, block)?;
    let (split, has_nodes) = match parts {
        // Leaves again could be what the next change makes nodes of, and so on.
        Some(parts) if parts.has_nodes => (by_nodes(&runs), true),
        // So could as many parts by other bits.
        Some(parts) if rewritten == Some(Rewritten::Full) => layout(&runs, parts.split.bits + 1),
        _ => layout(&runs, 0),
    };
    Ok(Parts::new(ground, &runs, split, has_nodes)?.word())
}

/// The word of a slot that leads to one run.
pub(super) fn word<G: Ground>(ground: &mut G, run: Run) -> Result<u32, CompileError> {
    Ok(Parts::new(ground, &[run], Split::WHOLE, false)?.word())
}

/// Nothing needs the lines of a slot any more; the words in them are left.
pub(super) fn take_apart<G: Ground>(ground: &mut G, word: u32) -> Words {
    let mut words = Words::new();
    if let Some(parts) = Parts::of(ground, word) {
        for part in 0..parts.split.parts() {
            parts.empty(ground, part, &mut words);
        }
        ground.drop_lines(parts.first, parts.split.parts() as usize);
    }
    words
}

impl Parts {
    /// What the word of a slot leads to; `None` if that is nothing, or the leaf of all that have
    /// its class only.
    fn of<G: Ground>(ground: &G, word: u32) -> Option<Self> {
        let parts = Self {
            first: split::first(word),
            split: Split::of(word),
            has_nodes: word & NODE != 0,
        };
        let is_shared = |parts: &Self| {
            let line = ground.line(parts.first);
            parts.split == Split::WHOLE && !parts.has_nodes && line::is_plain(&line)
        };
        (word != NOTHING && !is_shared(&parts)).then_some(parts)
    }

    fn word(self) -> u32 {
        split::word(self.first, self.split, self.has_nodes)
    }

    fn new<G: Ground>(
        ground: &mut G,
        runs: &[Run],
        split: Split,
        has_nodes: bool,
    ) -> Result<Self, CompileError> {
        let first = ground.take_lines(split.parts() as usize)?;
        let parts = Self {
            first,
            split,
            has_nodes,
        };
        for (part, runs) in (0..).zip(split.deal(runs)) {
            parts.set(ground, part, &runs)?;
        }
        Ok(parts)
    }

    /// Makes those parts of a network of 32 bits anew that may have changed, unless there is no
    /// room.
    fn rewrite<G: Ground>(self, ground: &mut G, network: Block) -> Result<Rewritten, CompileError> {
        let (first, last) = ground.changed();
        let first = low(first.max(network.first));
        let last = low(last.min(network.last()));
        let touched = self.split.touched(first, last);
        let touched: Vec<u32> = touched.map(|(part, _)| part).collect();
        let mut dealt = if self.split.is_dealt_faster(touched.len()) {
            self.split.deal(&runs(ground, network))
        } else {
            Vec::new()
        };
        let mut has_shrunk = false;
        for part in touched {
            let mut runs = match dealt.get_mut(part as usize) {
                Some(dealt) => std::mem::take(dealt),
                None => part_runs(ground, network, self.split, part),
            };
            if !fits(&runs, if self.has_nodes { LEAVES } else { 1 }) {
                return Ok(Rewritten::Full);
            }
            let before = line::run_count(&ground.line(self.first + part));
            let mut words = Words::new();
            self.empty(ground, part, &mut words);
            settle(ground, &mut runs, words, network)?;
            self.set(ground, part, &runs)?;
            has_shrunk |= runs.len() < before;
        }
        if has_shrunk && self.is_wasteful(ground, network) {
            return Ok(Rewritten::Wasteful);
        }
        Ok(Rewritten::Done)
    }

    /// True where there are twice as many leaves as runs may have in another layout. It counts runs
    /// until there are enough, at most 1,778 of them, so it is asked when a part has lost one. How
    /// few a part has says nothing: where bits are passed over, each has the answers of all the
    /// network.
    fn is_wasteful<G: Ground>(self, ground: &mut G, network: Block) -> bool {
        let needed = self.split.parts() as usize / (2 * SPREAD);
        if self.has_nodes || needed <= 1 {
            return false;
        }
        let enough = (needed - 1) * RUNS_BESIDE_WORDS;
        let mut runs = Vec::new();
        add_runs(ground, network, &mut runs, enough);
        runs.len() < enough
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
        let (number, start) = (self.first + part, self.split.start(part));
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

/// How the runs of a network of 32 bits are parted, by `least` bits or more, and whether parts
/// need nodes.
fn layout(runs: &[Run], least: u32) -> (Split, bool) {
    let most = (SPREAD * line::portions(runs).count()).ilog2();
    match Split::into_leaves(runs, least..=most.min(LEAF_BITS_MAX)) {
        Some(split) => (split, false),
        None => (by_nodes(runs), true),
    }
}

/// The parting by upper bits that gives each part of runs room in the leaves of a node.
fn by_nodes(runs: &[Run]) -> Split {
    let mut splits = (0..NODE_BITS_MAX).map(Split::upper);
    let fit = |runs: &Vec<Run>| fits(runs, LEAVES);
    let split = splits.find(|split| split.deal(runs).iter().all(fit));
    split.unwrap_or(Split::upper(NODE_BITS_MAX))
}

/// True when runs need so many leaves at most.
fn fits(runs: &[Run], leaves: usize) -> bool {
    line::portions(runs).nth(leaves).is_none()
}

/// The runs of a network of 32 bits. Words are not known yet.
fn runs<G: Ground>(ground: &mut G, network: Block) -> Vec<Run> {
    let mut runs = Vec::new();
    add_runs(ground, network, &mut runs, usize::MAX);
    runs
}

/// The runs of a part of a network of 32 bits. Words are not known yet.
fn part_runs<G: Ground>(ground: &mut G, network: Block, split: Split, part: u32) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut piece = Some(split.first_piece(network, part));
    while let Some(this) = piece {
        add_runs(ground, this, &mut runs, usize::MAX);
        if !split.passes_over() || this.last() == network.last() {
            break;
        }
        let next = match runs.last() {
            // A word holds in one network of 48 bits and no further.
            Some(run) if run.answer.is_below() => Some(this.last() + 1),
            _ => ground.next_change(this.last() + 1).map(|(start, _)| start),
        };
        let next = next.filter(|&start| start <= network.last());
        piece = next.and_then(|start| split.piece_at(this, start));
    }
    runs
}

/// Adds the runs of a block of 32 to 48 bits, until there are `enough`.
fn add_runs<G: Ground>(ground: &mut G, block: Block, runs: &mut Vec<Run>, enough: usize) {
    let mut network = block.slot(0, 48 - block.depth);
    while runs.len() < enough {
        let next = ground.next_change(network.first + 1);
        let next = next.filter(|&(start, _)| start <= block.last());
        let next = next.map(|(start, _)| start);
        let answer = match next {
            Some(start) if start <= network.last() => Answer::Below(NOTHING),
            _ => Answer::Class(ground.class_at(network.first)),
        };
        let start = low(network.first);
        split::push(runs, Run { start, answer });
        network.first = match next {
            Some(start) if start > network.last() => start.first_in(48),
            Some(_) if network.last() < block.last() => network.last() + 1,
            _ => return,
        };
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

// Not under Miri: no unsafe code, and all partings take minutes.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::fresh::Fresh;
    use super::*;
    use crate::prefixes::change_tests::Draws;

    /// Classes and words, many of them at the last number of a piece.
    fn drawn(seed: u64, network: Block) -> Vec<u128> {
        let mut draws = Draws::new(seed);
        let mut below = |count| draws.below(count) as u32;
        let numbers: Vec<u32> = (0..40 << seed)
            .map(|_| below(1 << 32) | ((1 << below(14)) - 1))
            .collect();
        let starts = numbers.iter().map(|number| {
            let within = if number >> 31 == 1 { 1 << 40 } else { 0 };
            network.first | u128::from(number & 0xffff) << 80 | within
        });
        let mut starts: Vec<u128> = starts.chain([0]).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    #[test]
    fn parts_by_themselves_are_as_dealt() {
        let network = Block {
            first: 0x2001_0db8 << 96,
            depth: 32,
        };
        for seed in 0..5 {
            let starts = drawn(seed, network);
            let classes: Vec<u32> = (0..starts.len() as u32).map(|at| at * 7 % 3).collect();
            let mut fresh = Fresh::of(&starts, &classes, &[]);
            let all = runs(&mut fresh, network);
            for split in Split::all() {
                for (part, dealt) in (0..).zip(split.deal(&all)) {
                    let alone = part_runs(&mut fresh, network, split, part);
                    assert_eq!(alone, dealt, "{seed}: part {part} of {split:?}");
                }
            }
        }
    }
}
