//! What a change touches, made again.
//!
//! What a slot led to before is free for what is made next, so the same leaf is written again in
//! place, in a copied page. A change of one network copies a page of slots or lines, or two; of a
//! network of 32 bits with many changes it makes those parts anew that it touches, each a leaf or
//! at most 31 with their node. Where a part has no room any more, or leaves are wasted, all parts
//! are made anew, which takes milliseconds for tens of thousands of changes: then in more parts, or
//! with nodes, which stay, so that no change of one network within can have that again and again. A
//! block of 16 bits that has nodes gets all of them and its slots anew, at most 2,048 lines. What
//! is in the trie changes there by itself.

use super::build::{self, Ground, Shape};
use super::fresh::block_of;
use super::*;
use crate::prefixes::source::Cursor;
use crate::prefixes::trie::build::{Block, Change};
use crate::prefixes::{Source, class};

impl Slots {
    /// Takes over what changed within `first..=last`; false when that needs another layout.
    pub(in crate::prefixes) fn rewrite<A: Address>(
        &mut self,
        first: A,
        last: A,
        source: Source<'_, A>,
    ) -> Result<bool, CompileError> {
        let (from, to) = (first.top16(), last.top16());
        let mut change = Rewrite {
            first: first.widen(),
            last: last.widen(),
            slots: self,
            source,
            cursor: Cursor::new(source, first),
        };
        for top in from..=to {
            let old = change.slots.root.view()[top];
            let new = change.top(old, block_of(top))?;
            if new != old {
                *change.slots.root.get_mut(top).map_err(no_memory)? = new;
            }
        }
        Ok(self.is_sound())
    }
}

struct Rewrite<'a, A> {
    slots: &'a mut Slots,
    source: Source<'a, A>,
    cursor: Cursor<'a, A>,
    first: u128,
    last: u128,
}

/// How a word of the root holds its block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    Plain,
    Nodes,
    /// In the trie.
    Deep,
    /// In slots chosen by so many bits.
    Slots(u32),
}

/// How a word of the root holds its block, and the first of its slots.
pub(super) fn held(word: u32) -> (Held, usize) {
    let first = (word >> SHIFT_BITS) as usize;
    let held = match word & 31 {
        _ if word & NODE != 0 => Held::Nodes,
        ALL_OUT if first < CLASSES_MAX => Held::Plain,
        ALL_OUT => Held::Deep,
        shift => Held::Slots(ROOT_BITS - shift),
    };
    (held, first)
}

impl<A: Address> Rewrite<'_, A> {
    /// The new word of the root of a block that had `old`.
    fn top(&mut self, old: u32, block: Block) -> Result<u32, CompileError> {
        let (held, first) = held(old);
        let is_whole = self.first <= block.first && block.last() <= self.last;
        if held == Held::Slots(ROOT_BITS) && !is_whole {
            self.fill((first, ROOT_BITS), block)?;
            return Ok(old);
        }
        let shape = build::shape(self, block);
        match (held, shape) {
            (Held::Slots(bits), Shape::Slots(needed)) if needed <= bits && !is_whole => {
                self.fill((first, bits), block)?;
                return Ok(old);
            }
            (Held::Deep, Shape::Sparse) if is_whole || !middles::is_roomy(self, block) => {
                build::change_deep(self, first, block)?;
                return Ok(old);
            }
            (Held::Nodes, Shape::Sparse) => {
                if let Some(word) = middles::word(self, old, block)? {
                    return Ok(word);
                }
                middles::drop(self, old, block);
            }
            (Held::Plain, _) => {}
            (Held::Nodes, _) => middles::drop(self, old, block),
            (Held::Deep, _) => build::drop_deep(self, first, block),
            (Held::Slots(bits), _) => build::drop_top(self, (first, bits), block),
        }
        build::top(self, block, shape)
    }

    /// Sets the slots of a block that the change meets.
    fn fill(&mut self, slots: (usize, u32), block: Block) -> Result<(), CompileError> {
        let from = block.slot_of(self.first.max(block.first), slots.1);
        let to = block.slot_of(self.last.min(block.last()), slots.1);
        build::fill(self, slots, block, (from, to), false)
    }

    fn class(&mut self, mask: u32) -> u16 {
        // More make another layout in the end.
        class(&mut self.slots.classes, mask).min(CLASSES_MAX as u32 - 1) as u16
    }
}

impl<A: Address> Ground for Rewrite<'_, A> {
    fn class_at(&mut self, address: u128) -> u16 {
        let mask = self.cursor.mask_at(A::narrow(address));
        self.class(mask)
    }
    fn code(&self, class: u16) -> u16 {
        code::of(&self.slots.classes, self.slots.codes_are_answers, class)
    }
    fn next_change(&mut self, from: u128) -> Option<Change> {
        let (start, mask) = self.cursor.next_change(A::narrow(from))?;
        Some((start.widen(), self.class(mask)))
    }
    fn changed(&self) -> (u128, u128) {
        (self.first, self.last)
    }
    fn below(&mut self, old: u32, block: Block) -> Result<u32, CompileError> {
        let from = (self.source, &mut self.slots.classes);
        let changed = (self.first, self.last);
        self.slots.trie.rewrite(old, block, changed, from)
    }
    fn drop_below(&mut self, word: u32, block: Block) {
        self.slots.trie.release(word, block);
    }
    fn slot(&self, at: usize) -> u32 {
        self.slots.slots.view()[at]
    }
    fn set_slot(&mut self, at: usize, word: u32) -> Result<(), CompileError> {
        if self.slot(at) != word {
            *self.slots.slots.get_mut(at).map_err(no_memory)? = word;
        }
        Ok(())
    }
    fn has_room(&self, bits: u32) -> bool {
        let slots = &self.slots;
        let has_slots = !slots.free.slots[bits as usize].is_empty()
            || slots.slots.len() + (1 << bits) <= SLOTS_MAX;
        has_slots && slots.lines.len() <= LINES_MAX
    }
    fn take_slots(&mut self, bits: u32) -> Result<usize, CompileError> {
        if let Some(first) = self.slots.free.slots[bits as usize].pop() {
            return Ok(first as usize);
        }
        let first = self.slots.slots.len();
        for _ in 0..1usize << bits {
            self.slots.slots.push(NOTHING).map_err(no_memory)?;
        }
        Ok(first)
    }
    fn drop_slots(&mut self, first: usize, bits: u32) {
        self.slots.free.slots[bits as usize].push(first as u32);
    }
    fn line(&self, number: u32) -> Line {
        self.slots.lines.view()[number as usize]
    }
    fn set_line(&mut self, number: u32, line: Line) -> Result<(), CompileError> {
        if self.line(number) != line {
            let place = self.slots.lines.get_mut(number as usize);
            *place.map_err(no_memory)? = line;
        }
        Ok(())
    }
    fn take_lines(&mut self, count: usize) -> Result<u32, CompileError> {
        if let Some(first) = self.slots.free.lines[lines_kind(count)].pop() {
            return Ok(first);
        }
        let first = self.slots.lines.len();
        for _ in 0..count {
            self.slots.lines.push([0; 32]).map_err(no_memory)?;
        }
        Ok(first as u32)
    }
    fn drop_lines(&mut self, first: u32, count: usize) {
        self.slots.free.lines[lines_kind(count)].push(first);
    }
}
