//! From changes of answer to words, slots and lines, and again for those that changed.

use super::line::{self, Answer, Line, Run};
use super::middles;
use super::parts;
use super::split::{self, Split};
use super::*;
use crate::prefixes::trie::build::{Block, Change};

/// Where changes come from and what is made of them goes: plain columns at first, shared pages
/// later.
pub(super) trait Ground {
    /// The class at an address.
    fn class_at(&mut self, address: u128) -> u16;
    /// What leaves hold of a class.
    fn code(&self, class: u16) -> u16;
    /// The first change at this address, which is not the first of all, or behind it.
    fn next_change(&mut self, from: u128) -> Option<Change>;
    /// The first and the last address that may have changed.
    fn changed(&self) -> (u128, u128);
    /// True when anything may have changed in the block.
    fn meets(&self, block: Block) -> bool {
        let (first, last) = self.changed();
        first <= block.last() && block.first <= last
    }
    /// The word of a block in the trie, which had `old` ([`NOTHING`] if none).
    fn below(&mut self, old: u32, block: Block) -> Result<u32, CompileError>;
    /// A word of the trie is not needed any more.
    fn drop_below(&mut self, word: u32, block: Block);
    fn slot(&self, at: usize) -> u32;
    fn set_slot(&mut self, at: usize, word: u32) -> Result<(), CompileError>;
    /// True when there may be `1 << bits` slots more, and lines for them to lead to.
    fn has_room(&self, bits: u32) -> bool;
    /// The first of `1 << bits` slots, with anything in them.
    fn take_slots(&mut self, bits: u32) -> Result<usize, CompileError>;
    fn drop_slots(&mut self, first: usize, bits: u32);
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
    /// As runs of networks of 32 bits, or in the trie.
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
        _ if 1 << bits <= SLOTS_A_CHANGE * count && ground.has_room(bits) => Shape::Slots(bits),
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
            if let Some(word) = middles::word(ground, NOTHING, block)? {
                return Ok(word);
            }
            let word = ground.below(NOTHING, block)?;
            let run = Run {
                start: 0,
                answer: Answer::Below(word),
            };
            let slot = parts::word(ground, run)?;
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
pub(super) fn plain_slot<G: Ground>(ground: &mut G, class: u16) -> Result<u32, CompileError> {
    let mut word = ground.slot(usize::from(class));
    if word == NOTHING {
        let number = ground.take_lines(1)?;
        let leaf = line::plain(ground.code(class));
        ground.set_line(number, leaf)?;
        word = split::word(number, Split::WHOLE, false);
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
            let word = parts::slot_word(ground, old(ground, slot), inner)?;
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

/// Nothing needs a slot's word any more.
pub(super) fn drop_slot<G: Ground>(ground: &mut G, word: u32, block: Block) {
    let words = parts::take_apart(ground, word);
    for (start, word) in words {
        let first = block.first | u128::from(start) << 80;
        ground.drop_below(word, Block { first, depth: 48 });
    }
}

/// What changed in a block of 16 bits that is in the trie, and has the slot `at`.
pub(super) fn change_deep<G: Ground>(
    ground: &mut G,
    at: usize,
    block: Block,
) -> Result<(), CompileError> {
    let leaf = ground.line(split::first(ground.slot(at)));
    let beside = line::words_number(&leaf);
    let old = line::word(&ground.line(beside), 0);
    let answer = Answer::Below(ground.below(old, block)?);
    let run = Run { start: 0, answer };
    if let (_, Some(words)) = line::leaf(&[run], |class| ground.code(class)) {
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
    ground.drop_slots(first, bits);
}

/// As [`drop_top`], of a block that is in the trie.
pub(super) fn drop_deep<G: Ground>(ground: &mut G, at: usize, block: Block) {
    for (_, word) in parts::take_apart(ground, ground.slot(at)) {
        ground.drop_below(word, block);
    }
    ground.drop_slots(at, 0);
}
