//! The slots that a change touches, made again.
//!
//! What a slot led to before is free for what is made next, so the same leaf is written again in
//! place, in a copied page. A change of one network copies a page or two.

use super::build::{self, Block, Change, Space};
use super::*;
use crate::prefixes::{Source, class};

impl Space for Trie {
    fn blank(&mut self, count: usize) -> Result<usize, CompileError> {
        if let Some(line) = self.free[count.ilog2() as usize].pop() {
            return Ok(line as usize);
        }
        let first = self.lines.len();
        for _ in 0..count {
            self.lines.push([0; LINE_WORDS]).map_err(no_memory)?;
        }
        Ok(first)
    }
    fn set(&mut self, slot: usize, word: u32) -> Result<(), CompileError> {
        let line = slot / LINE_WORDS;
        if self.lines.view()[line][slot % LINE_WORDS] != word {
            self.lines.get_mut(line).map_err(no_memory)?[slot % LINE_WORDS] = word;
        }
        Ok(())
    }
    fn add(&mut self, line: Line) -> Result<u32, CompileError> {
        let number = self.blank(1)?;
        if self.lines.view()[number] != line {
            *self.lines.get_mut(number).map_err(no_memory)? = line;
        }
        Ok(number as u32)
    }
}

impl Trie {
    /// The word of `block`, which had `old`, after what changed from `first` to `last` and is in
    /// `source`.
    pub(in crate::prefixes) fn rewrite<A: Address>(
        &mut self,
        old: u32,
        block: Block,
        (first, last): (u128, u128),
        (source, classes): (Source<'_, A>, &mut Arc<Classes>),
    ) -> Result<u32, CompileError> {
        let mut change = Rewrite {
            trie: self,
            classes,
            source,
            first: first.max(block.first),
            last: last.min(block.last()),
        };
        change.word(old, block, (0, u128::MAX))
    }
}

struct Rewrite<'a, A> {
    trie: &'a mut Trie,
    classes: &'a mut Arc<Classes>,
    source: Source<'a, A>,
    first: u128,
    last: u128,
}

/// From the first to the last address that gates let through.
type Inside = (u128, u128);

impl<A: Address> Rewrite<'_, A> {
    /// The slots of a block, whose first line is `line`, that the change touches.
    fn slots(
        &mut self,
        line: usize,
        block: Block,
        bits: u32,
        inside: Inside,
    ) -> Result<(), CompileError> {
        let from = block.slot_of(self.first.max(block.first), bits);
        let to = block.slot_of(self.last.min(block.last()), bits);
        for at in from..=to {
            let slot = line * LINE_WORDS + at;
            let old = self.trie.lines.view()[slot / LINE_WORDS][slot % LINE_WORDS];
            let new = self.word(old, block.slot(at, bits), inside)?;
            self.trie.set(slot, new)?;
        }
        Ok(())
    }

    /// The new word of a slot that had `old`.
    fn word(&mut self, old: u32, block: Block, inside: Inside) -> Result<u32, CompileError> {
        let is_whole = self.first <= block.first && block.last() <= self.last;
        let line = match named(old, block) {
            Named::Block(line, bits) if !is_whole => {
                self.slots(line, block, bits, inside)?;
                return Ok(old);
            }
            Named::Gate(line) if !is_whole => line,
            _ => return self.anew(old, block, inside),
        };
        let mut gate = self.trie.lines.view()[line];
        let (first, last) = changes_of(&gate);
        if self.first < first || self.last >= last {
            return self.anew(old, block, inside);
        }
        let inside = (inside.0.max(first), inside.1.min(last - 1));
        gate[10] = self.word(gate[10], inner(&gate), inside)?;
        *self.trie.lines.get_mut(line).map_err(no_memory)? = gate;
        Ok(old)
    }

    /// The word of a block, made from the runs; what `old` led to is free.
    fn anew(&mut self, old: u32, block: Block, inside: Inside) -> Result<u32, CompileError> {
        let begin = block.first.max(inside.0);
        let end = block.last().min(inside.1);
        let mut changes: Vec<Change> = Vec::new();
        for (start, mask) in self.source.changes(A::narrow(begin)) {
            let start = start.widen();
            if start > end {
                break;
            }
            let class = class(self.classes, mask) as u16;
            // What gates keep out lies before them, and before all changes here.
            let start = if changes.is_empty() {
                block.first
            } else {
                start
            };
            changes.push((start, class));
        }
        self.trie.release(old, block);
        build::word(self.trie, block, &changes)
    }
}

impl Trie {
    /// What the word of `block` leads to is free.
    pub(in crate::prefixes) fn release(&mut self, word: u32, block: Block) {
        let (line, bits) = match named(word, block) {
            Named::Class => return,
            Named::Leaf(line) => (line, 0),
            Named::Gate(line) => {
                let gate = self.lines.view()[line];
                self.release(gate[10], inner(&gate));
                (line, 0)
            }
            Named::Block(line, bits) => {
                for at in 0..1 << bits {
                    let word = self.lines.view()[line + at / LINE_WORDS][at % LINE_WORDS];
                    self.release(word, block.slot(at, bits));
                }
                (line, bits)
            }
        };
        self.free[lines_of(bits).ilog2() as usize].push(line as u32);
    }
}

/// What the word between the changes of a gate is of.
fn inner(gate: &Line) -> Block {
    Block {
        first: changes_of(gate).0.first_in(gate[11] as u8),
        depth: gate[11],
    }
}
