//! Blocks of 16 bits with few changes: a slot for each run of networks of 32 bits, not for each
//! network.
//!
//! The slots of a block lie side by side, and *nodes*, one for each part of the bits 16 to 31, tell
//! the slot of a key by the places at which the next begins. A network of 32 bits with changes
//! within has a slot of its own.

use super::build::{self, Ground};
use super::line::{self, LEAVES};
use super::*;
use crate::prefixes::trie::build::Block;

/// Nodes side by side, and the slots that they lead to.
#[derive(Clone, Copy)]
struct Nodes {
    first: u32,
    /// The bits that choose one.
    bits: u32,
}

/// Bits that choose a node, at most: a part is of 32 networks then, and a node has 31 slots.
const NODE_BITS_MAX: u32 = 11;
/// Nodes for each run, at most: a change of answer makes two runs, so that is 1.2 KB a change with
/// their slots. With 4 keys of 1,600 networks of the routing table had 0.6 of their rate, since
/// more blocks are in the trie.
const NODES_A_RUN: usize = 8;
/// Runs at most: two for each change that a block may have before it has a slot a network, and the
/// first.
const STARTS_MAX: usize = 2 * SLOTS_A_CHANGE;

/// Where runs begin, by the bits 16 to 31, and the words of their slots; ascending.
type Words = Vec<(u16, u32)>;

/// The word of the root for a block whose slots are those of runs, which had `old` of the same
/// kind ([`NOTHING`] if none). `None`, and `old` is left as it is, where that would take too much.
pub(super) fn word<G: Ground>(
    ground: &mut G,
    old: u32,
    block: Block,
) -> Result<Option<u32>, CompileError> {
    let before = words_of(ground, old);
    let starts = starts(ground, &before, block);
    let Some(bits) = layout(&starts, NODES_A_RUN) else {
        return Ok(None);
    };
    let needed = slot_bits(slot_count(&starts, bits));
    let has_room = match old {
        NOTHING => ground.has_room(needed),
        old => needed == slot_bits(Nodes::of(old).slots(ground).len()) || ground.has_room(needed),
    };
    if !has_room {
        return Ok(None);
    }
    take_apart(ground, old);
    let words = words(ground, &starts, before, block)?;
    Ok(Some(Nodes::new(ground, &words, bits)?.word()))
}

/// Nothing needs a block any more that has this word of the root.
pub(super) fn drop<G: Ground>(ground: &mut G, word: u32, block: Block) {
    for (start, word) in words_of(ground, word) {
        build::drop_slot(ground, word, network(block, start));
    }
    take_apart(ground, word);
}

impl Nodes {
    fn of(word: u32) -> Self {
        Self {
            first: word >> SHIFT_BITS & NUMBER,
            bits: ROOT_BITS - (word & 31),
        }
    }

    fn word(self) -> u32 {
        NODE | self.first << SHIFT_BITS | (ROOT_BITS - self.bits)
    }

    /// Nodes and slots of runs that have these words.
    fn new<G: Ground>(
        ground: &mut G,
        words: &[(u16, u32)],
        bits: u32,
    ) -> Result<Self, CompileError> {
        let first = ground.take_lines(1 << bits)?;
        let nodes = Self { first, bits };
        let parts: Vec<Words> = (0..1 << bits).map(|part| nodes.part(words, part)).collect();
        let bits = slot_bits(parts.iter().map(Vec::len).sum());
        let slots = ground.take_slots(bits)?;
        let mut next = slots;
        for (number, part) in (first..).zip(parts) {
            let starts: Vec<u16> = part.iter().map(|&(start, _)| start).collect();
            ground.set_line(number, line::node(&starts, next as u32))?;
            for (_, word) in part {
                ground.set_slot(next, word)?;
                next += 1;
            }
        }
        for unused in next..slots + (1 << bits) {
            ground.set_slot(unused, NOTHING)?;
        }
        Ok(nodes)
    }

    /// The runs of a part, with the one that holds at its beginning.
    fn part(self, words: &[(u16, u32)], part: u32) -> Words {
        let size = 1u32 << (ROOT_BITS - self.bits);
        let before = |end: u32| words.partition_point(|&(start, _)| u32::from(start) < end);
        let first = before(part * size + 1) - 1;
        let mut runs = words[first..before((part + 1) * size)].to_vec();
        runs[0].0 = (part * size) as u16;
        runs
    }

    /// The slots, each with where its run begins, or its part.
    fn slots<G: Ground>(self, ground: &G) -> Vec<(usize, u16)> {
        let part_bits = ROOT_BITS - self.bits;
        let nodes = (self.first..).take(1 << self.bits).zip(0u32..);
        let slots = nodes.flat_map(|(number, part)| {
            let node = ground.line(number);
            let slots: Vec<_> = line::leaves(&node, (part << part_bits) as u16).collect();
            slots
        });
        slots.map(|(slot, start)| (slot as usize, start)).collect()
    }
}

/// The runs that a word of the root leads to.
fn words_of<G: Ground>(ground: &G, word: u32) -> Words {
    if word == NOTHING {
        return Words::new();
    }
    let slots = Nodes::of(word).slots(ground).into_iter();
    let mut words: Words = slots
        .map(|(slot, start)| (start, ground.slot(slot)))
        .collect();
    // A run that goes on where a part begins has a slot there, too.
    words.dedup_by_key(|&mut (_, word)| word);
    words
}

/// Nothing needs the nodes and slots any more that a word of the root leads to; what the words in
/// them lead to is left.
fn take_apart<G: Ground>(ground: &mut G, word: u32) {
    if word == NOTHING {
        return;
    }
    let nodes = Nodes::of(word);
    let slots = nodes.slots(ground);
    ground.drop_lines(nodes.first, 1 << nodes.bits);
    ground.drop_slots(slots[0].0, slot_bits(slots.len()));
}

/// Gives runs their words, of those that were there what is needed still.
fn words<G: Ground>(
    ground: &mut G,
    starts: &[u16],
    before: Words,
    block: Block,
) -> Result<Words, CompileError> {
    let mut words = Words::with_capacity(starts.len());
    let mut before = before.into_iter().peekable();
    for &start in starts {
        while let Some((gone, word)) = before.next_if(|old| old.0 < start) {
            build::drop_slot(ground, word, network(block, gone));
        }
        let old = before.next_if(|old| old.0 == start).map(|old| old.1);
        words.push((start, run_word(ground, old, network(block, start))?));
    }
    for (gone, word) in before {
        build::drop_slot(ground, word, network(block, gone));
    }
    Ok(words)
}

/// The word of a run that begins with this network of 32 bits, and had `old`.
fn run_word<G: Ground>(
    ground: &mut G,
    old: Option<u32>,
    network: Block,
) -> Result<u32, CompileError> {
    if let Some(old) = old.filter(|_| !ground.meets(network)) {
        return Ok(old);
    }
    let next = ground.next_change(network.first + 1);
    if next.is_some_and(|(start, _)| start <= network.last()) {
        return parts::slot_word(ground, old.unwrap_or(NOTHING), network);
    }
    if let Some(old) = old {
        build::drop_slot(ground, old, network);
    }
    let class = ground.class_at(network.first);
    build::plain_slot(ground, class)
}

/// Where the runs of networks of 32 bits begin in a block; `before`, if there are any, is where
/// they began before the change.
fn starts<G: Ground>(ground: &mut G, before: &[(u16, u32)], block: Block) -> Vec<u16> {
    let (first, last) = ground.changed();
    if before.is_empty() || first < block.first || block.last() < last {
        let mut starts = vec![0];
        push_starts(ground, &mut starts, block, (0, u16::MAX));
        return starts;
    }
    // What the first network changed and the one before it have within says where the next run
    // begins, and so the last that changed.
    let from = middle(first).saturating_sub(1);
    let to = middle(last).saturating_add(1);
    let old = before.iter().map(|&(start, _)| start);
    let mut starts: Vec<u16> = old.clone().take_while(|&start| start <= from).collect();
    push_starts(ground, &mut starts, block, (from, to));
    starts.extend(old.skip_while(|&start| start <= to));
    starts.dedup();
    starts
}

/// Adds where runs begin behind `from` and up to `to`, and some more than [`STARTS_MAX`] if there
/// are more.
fn push_starts<G: Ground>(
    ground: &mut G,
    starts: &mut Vec<u16>,
    block: Block,
    (from, to): (u16, u16),
) {
    let last = network(block, to).last();
    let mut next = network(block, from).first.checked_add(1);
    while let Some((start, _)) = next.and_then(|next| ground.next_change(next)) {
        if start > last || starts.len() > STARTS_MAX {
            break;
        }
        let (at, inner) = (middle(start), network(block, middle(start)));
        let is_within = start != inner.first;
        if at > from {
            starts.push(at);
        }
        if is_within && at < to {
            starts.push(at + 1);
        }
        let done = if is_within { inner.last() } else { start };
        next = done.checked_add(1).filter(|_| done < last);
    }
    starts.dedup();
}

/// True when the runs of a block in the trie would be far from what nodes cannot hold: a few
/// changes more do not send it back there.
pub(super) fn is_roomy<G: Ground>(ground: &mut G, block: Block) -> bool {
    let mut starts = vec![0];
    push_starts(ground, &mut starts, block, (0, u16::MAX));
    let bits = layout(&starts, NODES_A_RUN / 4);
    let bits = bits.filter(|&bits| bits > 0 || starts.len() <= LEAVES / 2);
    bits.is_some_and(|bits| ground.has_room(slot_bits(slot_count(&starts, bits))))
}

/// The bits that part runs so that a node has room for each part, with so many nodes a run.
fn layout(starts: &[u16], nodes_a_run: usize) -> Option<u32> {
    if starts.len() > STARTS_MAX {
        return None;
    }
    let most = (nodes_a_run * starts.len()).ilog2();
    let fits = |&bits: &u32| {
        let mut parts = parts(starts, bits);
        parts.all(|part| part.len() + usize::from(!begins_part(part[0], bits)) <= LEAVES)
    };
    (0..=most.min(NODE_BITS_MAX)).find(fits)
}

/// How many slots runs have: one more for each part within a run.
fn slot_count(starts: &[u16], bits: u32) -> usize {
    let at_parts = starts.iter().filter(|&&start| begins_part(start, bits));
    starts.len() + (1 << bits) - at_parts.count()
}

/// The runs that begin in each part, but for parts in which none does.
fn parts(starts: &[u16], bits: u32) -> impl Iterator<Item = &[u16]> {
    let part_of = move |start: u16| u32::from(start) >> (ROOT_BITS - bits);
    starts.chunk_by(move |&a, &b| part_of(a) == part_of(b))
}

fn begins_part(start: u16, bits: u32) -> bool {
    start.trailing_zeros() >= ROOT_BITS - bits
}

/// The network of 32 bits that begins at the bits 16 to 31 `start`.
fn network(block: Block, start: u16) -> Block {
    block.slot(usize::from(start), ROOT_BITS)
}

/// The bits 16 to 31 of an address.
fn middle(address: u128) -> u16 {
    (address >> 96) as u16
}

/// How many slots are side by side for so many runs, as a power of two.
fn slot_bits(count: usize) -> u32 {
    count.next_power_of_two().ilog2()
}
