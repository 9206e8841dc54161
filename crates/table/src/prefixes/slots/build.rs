//! From changes of answer to words, slots and lines, and again for those that changed.

use super::line::{self, Answer, LEAVES, Line, Run};
use super::*;
use crate::prefixes::trie::build::{Block, Change};
use std::collections::BTreeMap;

/// Where changes come from and what is made of them goes: plain columns at first, shared pages
/// later.
pub(super) trait Ground {
    /// The class at an address.
    fn class_at(&mut self, address: u128) -> u16;
    /// The first change at this address, which is not the first of all, or behind it.
    fn next_change(&mut self, from: u128) -> Option<Change>;
    /// True when anything may have changed in the block.
    fn meets(&self, block: Block) -> bool;
    /// The word of a block in the trie, which had `old` ([`NOTHING`] if none).
    fn below(&mut self, old: u32, block: Block) -> Result<u32, CompileError>;
    /// A word of the trie is not needed any more.
    fn drop_below(&mut self, word: u32, block: Block);
    fn slot(&self, at: usize) -> u32;
    fn set_slot(&mut self, at: usize, word: u32) -> Result<(), CompileError>;
    /// True when there may be `1 << bits` slots more.
    fn has_slots(&self, bits: u32) -> bool;
    /// The first of `1 << bits` slots, with anything in them.
    fn take_slots(&mut self, bits: u32) -> Result<usize, CompileError>;
    fn line(&self, number: u32) -> Line;
    fn set_line(&mut self, number: u32, line: Line) -> Result<(), CompileError>;
    /// The first of so many lines, with anything in them.
    fn take_lines(&mut self, count: usize) -> Result<u32, CompileError>;
    fn drop_lines(&mut self, first: u32, count: usize);
}

/// How a block of 16 bits is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Plain,
    /// In the trie.
    Sparse,
    /// In slots chosen by so many bits.
    Slots(u32),
}

/// How a block should be held.
pub(super) fn shape<G: Ground>(ground: &mut G, block: Block) -> Shape {
    let (mut count, mut bits, mut from) = (0, 0, block.first + 1);
    while let Some((start, _)) = ground.next_change(from).filter(|c| c.0 <= block.last()) {
        let depth = (128 - start.trailing_zeros()).min(32);
        (count, bits) = (count + 1, bits.max(depth - ROOT_BITS));
        if bits == 16 && 1 << bits <= SLOTS_A_CHANGE * count {
            break;
        }
        let Some(after) = start.checked_add(1) else {
            break;
        };
        from = after;
    }
    match count {
        0 => Shape::Plain,
        _ if 1 << bits <= SLOTS_A_CHANGE * count && ground.has_slots(bits) => Shape::Slots(bits),
        _ => Shape::Sparse,
    }
}

/// The word of the root for a block of 16 bits that has none yet.
pub(super) fn top<G: Ground>(
    ground: &mut G,
    block: Block,
    shape: Shape,
) -> Result<u32, CompileError> {
    let (first, shift) = match shape {
        Shape::Plain => {
            let class = ground.class_at(block.first);
            plain_slot(ground, class)?;
            (usize::from(class), ALL_OUT)
        }
        Shape::Sparse => {
            let word = ground.below(NOTHING, block)?;
            let run = Run {
                start: 0,
                answer: Answer::Below(word),
            };
            let slot = leaves(ground, &[run])?.0 << SHIFT_BITS | ALL_OUT;
            let at = ground.take_slots(0)?;
            ground.set_slot(at, slot)?;
            (at, ALL_OUT)
        }
        Shape::Slots(bits) => {
            let first = ground.take_slots(bits)?;
            let all = (0, (1 << bits) - 1);
            fill(ground, (first, bits), block, all, true)?;
            (first, ROOT_BITS - bits)
        }
    };
    Ok((first as u32) << SHIFT_BITS | shift)
}

/// The word of the slots of one class.
fn plain_slot<G: Ground>(ground: &mut G, class: u16) -> Result<u32, CompileError> {
    let mut word = ground.slot(usize::from(class));
    if word == NOTHING {
        let number = ground.take_lines(1)?;
        ground.set_line(number, line::plain(class))?;
        word = number << SHIFT_BITS | ALL_OUT;
        ground.set_slot(usize::from(class), word)?;
    }
    Ok(word)
}

/// Sets the slots `from..=to` of a block, of which `first` is the first of `1 << bits`. What they
/// have means nothing if they are new.
pub(super) fn fill<G: Ground>(
    ground: &mut G,
    (first, bits): (usize, u32),
    block: Block,
    (from, to): (usize, usize),
    is_new: bool,
) -> Result<(), CompileError> {
    let mut slot = from;
    while slot <= to {
        let inner = block.slot(slot, bits);
        let next = ground.next_change(inner.first + 1);
        let next = next.filter(|&(start, _)| start <= block.last());
        let next = next.map_or(to + 1, |(start, _)| block.slot_of(start, bits).min(to + 1));
        let old = |ground: &G, slot| match is_new {
            true => NOTHING,
            false => ground.slot(first + slot),
        };
        if next == slot {
            let word = slot_word(ground, old(ground, slot), inner)?;
            ground.set_slot(first + slot, word)?;
            slot += 1;
            continue;
        }
        let class = ground.class_at(inner.first);
        let word = plain_slot(ground, class)?;
        for slot in slot..next {
            let old = old(ground, slot);
            if old != word {
                drop_slot(ground, old, block.slot(slot, bits));
                ground.set_slot(first + slot, word)?;
            }
        }
        slot = next;
    }
    Ok(())
}

/// The word of the slot of a network of 32 bits, whose answer changes within.
fn slot_word<G: Ground>(ground: &mut G, old: u32, block: Block) -> Result<u32, CompileError> {
    if old & NODE != 0 && rewrite_parts(ground, old, block)? {
        return Ok(old);
    }
    let mut runs = runs(ground, block);
    let words = take_apart(ground, old);
    settle(ground, &mut runs, words, block)?;
    if line::portions(&runs).nth(1).is_none() {
        return Ok(leaves(ground, &runs)?.0 << SHIFT_BITS | ALL_OUT);
    }
    let bits = part_bits(&runs);
    let first = ground.take_lines(1 << bits)?;
    for part in 0..1 << bits {
        set_node(ground, first + part, part_of(&runs, bits, part))?;
    }
    Ok(NODE | first << SHIFT_BITS | (ALL_OUT - bits))
}

/// Makes those parts of a network of 32 bits anew that may have changed; false when one has become
/// too large for its node.
fn rewrite_parts<G: Ground>(ground: &mut G, old: u32, block: Block) -> Result<bool, CompileError> {
    let (first, bits) = nodes_of(old);
    for part in 0..1 << bits {
        let inner = block.slot(part, bits);
        if !ground.meets(inner) {
            continue;
        }
        let mut runs = runs(ground, inner);
        if line::portions(&runs).nth(LEAVES).is_some() {
            return Ok(false);
        }
        let mut words = BTreeMap::new();
        let number = first + part as u32;
        drop_leaves(ground, number, low(inner.first), &mut words);
        settle(ground, &mut runs, words, block)?;
        set_node(ground, number, &runs)?;
    }
    Ok(true)
}

/// The first node that a slot leads to, and how many bits choose one.
fn nodes_of(word: u32) -> (u32, u32) {
    (word >> SHIFT_BITS & NUMBER, ALL_OUT - (word & 31))
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

/// Words of networks of 48 bits, by the bits 32 to 47.
type Words = BTreeMap<u16, u32>;

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

/// The bits that part the runs of a network of 32 bits so that a node has room for each part. With
/// eight a part has 256 runs at most, and needs 19 leaves.
fn part_bits(runs: &[Run]) -> u32 {
    let fits = |bits: u32| {
        let parts = (0..1 << bits).map(|part| part_of(runs, bits, part));
        parts
            .map(|part| line::portions(part).count())
            .all(|count| count <= LEAVES)
    };
    (0..8).find(|&bits| fits(bits)).unwrap_or(8)
}

/// The runs of a part, with the one that holds at its beginning.
fn part_of(runs: &[Run], bits: u32, part: u32) -> &[Run] {
    let size = 1u32 << (16 - bits);
    let before = |end: u32| runs.partition_point(|run| u32::from(run.start) < end);
    let first = before(part * size + 1) - 1;
    &runs[first..before((part + 1) * size)]
}

fn set_node<G: Ground>(ground: &mut G, number: u32, runs: &[Run]) -> Result<(), CompileError> {
    let (first, starts) = leaves(ground, runs)?;
    ground.set_line(number, line::node(&starts, first))
}

/// Makes the leaves of runs: the number of the first, and where they begin.
fn leaves<G: Ground>(ground: &mut G, runs: &[Run]) -> Result<(u32, Vec<u16>), CompileError> {
    let count = line::portions(runs).count();
    let first = ground.take_lines(count)?;
    let mut starts = Vec::with_capacity(count);
    for (number, portion) in (first..).zip(line::portions(runs)) {
        let (mut leaf, words) = line::leaf(portion);
        if let Some(words) = words {
            let beside = ground.take_lines(1)?;
            ground.set_line(beside, words)?;
            leaf = line::with_words(leaf, beside);
        }
        ground.set_line(number, leaf)?;
        starts.push(portion[0].start);
    }
    Ok((first, starts))
}

/// Nothing needs a slot's word any more.
fn drop_slot<G: Ground>(ground: &mut G, word: u32, block: Block) {
    let words = take_apart(ground, word);
    for (start, word) in words {
        let first = block.first | u128::from(start) << 80;
        ground.drop_below(word, Block { first, depth: 48 });
    }
}

/// Nothing needs the lines of a slot any more; the words in them are left.
fn take_apart<G: Ground>(ground: &mut G, word: u32) -> Words {
    let mut words = Words::new();
    if word == NOTHING {
        return words;
    }
    let (first, bits) = nodes_of(word);
    if word & NODE == 0 {
        if line::only_class(&ground.line(first)).is_none() {
            drop_leaf(ground, first, 0, &mut words);
            ground.drop_lines(first, 1);
        }
        return words;
    }
    for part in 0..1u32 << bits {
        let start = part << (16 - bits);
        drop_leaves(ground, first + part, start as u16, &mut words);
    }
    ground.drop_lines(first, 1 << bits);
    words
}

/// Nothing needs the leaves of a node any more, which begins at `start`.
fn drop_leaves<G: Ground>(ground: &mut G, node: u32, start: u16, words: &mut Words) {
    let node = ground.line(node);
    let mut count = 0;
    for (leaf, start) in line::leaves(&node, start) {
        drop_leaf(ground, leaf, start, words);
        count += 1;
    }
    ground.drop_lines(line::number(&node), count);
}

/// Collects the words of a leaf; nothing needs the line that has them any more.
fn drop_leaf<G: Ground>(ground: &mut G, leaf: u32, start: u16, words: &mut Words) {
    let leaf = ground.line(leaf);
    if let Some(beside) = line::words(&leaf) {
        let line = ground.line(beside);
        let below = line::below(&leaf, start);
        words.extend(below.map(|(start, class)| (start, line::word(&line, class))));
        ground.drop_lines(beside, 1);
    }
}

/// The word in the trie of a block of 16 bits that has the slot `at`; it is set, and becomes what
/// `change` makes of it.
pub(super) fn change_sparse<G: Ground>(
    ground: &mut G,
    at: usize,
    block: Block,
) -> Result<(), CompileError> {
    let leaf = ground.line(ground.slot(at) >> SHIFT_BITS);
    let beside = line::number(&leaf);
    let old = line::word(&ground.line(beside), leaf[16]);
    let answer = Answer::Below(ground.below(old, block)?);
    if let (_, Some(words)) = line::leaf(&[Run { start: 0, answer }]) {
        ground.set_line(beside, words)?;
    }
    Ok(())
}

/// Nothing needs the slots `first` and so on any more that hold a block of 16 bits.
pub(super) fn drop_top<G: Ground>(ground: &mut G, (first, bits): (usize, u32), block: Block) {
    for at in 0..1usize << bits {
        let word = ground.slot(first + at);
        drop_slot(ground, word, block.slot(at, bits));
    }
}

/// As [`drop_top`], of a block that is in the trie.
pub(super) fn drop_sparse<G: Ground>(ground: &mut G, at: usize, block: Block) {
    for (_, word) in take_apart(ground, ground.slot(at)) {
        ground.drop_below(word, block);
    }
}
