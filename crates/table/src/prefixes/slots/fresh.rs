//! A set from its runs.

use super::build::{self, Ground, Shape};
use super::code::CODED_LISTS;
use super::*;
use crate::prefixes::trie::{self, build as trie_build};
use trie_build::{Block, Change};

/// Runs to read, and plain columns to fill.
pub(super) struct Fresh<'a, A> {
    starts: &'a [A],
    classes: &'a [u32],
    /// By class.
    codes: &'a [u16],
    /// The run that was asked for last: most questions are about it or the next.
    at: usize,
    slots: Vec<u32>,
    lines: Vec<Line>,
    /// Lines of the trie.
    below: Vec<trie::Line>,
}

pub(super) fn compile<A: Address>(
    list_count: usize,
    runs: &Runs<A>,
) -> Result<Option<Slots>, CompileError> {
    let mut interned = Classes::new();
    let classes = interned.intern_all(&runs.masks);
    if interned.masks().len() > CLASSES_MAX {
        return Ok(None);
    }
    let codes_are_answers = list_count <= CODED_LISTS && code::have_room(&interned);
    let numbers = 0..interned.masks().len() as u16;
    let codes = numbers.map(|class| code::of(&interned, codes_are_answers, class));
    let codes: Vec<u16> = codes.collect();
    let mut fresh = Fresh::of(&runs.starts, &classes, &codes);
    let mut root = vec![NOTHING; 1 << ROOT_BITS];
    let mut top = 0;
    while top < root.len() {
        let block = block_of(top);
        let next = fresh.next_change(block.first + 1);
        let next = next.map_or(root.len(), |(start, _)| (start >> 112) as usize);
        // Blocks of one answer, which are nearly all, have one word.
        let shape = if next > top {
            Shape::Plain
        } else {
            build::shape(&mut fresh, block)
        };
        let end = next.max(top + 1);
        let word = build::top(&mut fresh, block, shape)?;
        root[top..end].fill(word);
        top = end;
    }
    let slots = Slots {
        root: Paged::copy_of(&root).map_err(no_memory)?,
        slots: Paged::copy_of(&fresh.slots).map_err(no_memory)?,
        lines: Paged::copy_of(&fresh.lines).map_err(no_memory)?,
        trie: Trie::of(&fresh.below)?,
        classes: Arc::new(interned),
        codes_are_answers,
        free: Free::none(),
    };
    Ok(slots.is_sound().then_some(slots))
}

/// The block that a word of the root is of.
pub(super) fn block_of(top: usize) -> Block {
    Block {
        first: (top as u128) << 112,
        depth: ROOT_BITS,
    }
}

impl<'a, A: Address> Fresh<'a, A> {
    /// Of classes from these addresses on, and the codes of all classes.
    pub(super) fn of(starts: &'a [A], classes: &'a [u32], codes: &'a [u16]) -> Self {
        Self {
            starts,
            classes,
            codes,
            at: 0,
            slots: vec![NOTHING; CLASSES_MAX],
            lines: Vec::new(),
            below: vec![[0; 16]],
        }
    }

    /// The run that holds at an address.
    fn seek(&mut self, address: u128) -> usize {
        let address = A::narrow(address);
        if self.starts[self.at] > address {
            self.at = self.starts.partition_point(|&start| start <= address) - 1;
        }
        let ahead = self.starts[self.at + 1..].iter();
        self.at += ahead.take_while(|&&start| start <= address).count();
        self.at
    }
}

impl<A: Address> Ground for Fresh<'_, A> {
    fn class_at(&mut self, address: u128) -> u16 {
        self.classes[self.seek(address)] as u16
    }
    fn code(&self, class: u16) -> u16 {
        self.codes[usize::from(class)]
    }
    fn next_change(&mut self, from: u128) -> Option<Change> {
        let next = self.seek(from - 1) + 1;
        let start = self.starts.get(next)?;
        Some((start.widen(), self.classes[next] as u16))
    }
    fn changed(&self) -> (u128, u128) {
        (0, u128::MAX)
    }
    fn below(&mut self, _old: u32, block: Block) -> Result<u32, CompileError> {
        let first = self.seek(block.first);
        let end = first
            + 1
            + self.starts[first + 1..]
                .iter()
                .take_while(|start| start.widen() <= block.last())
                .count();
        let starts = self.starts[first..end].iter().map(|start| start.widen());
        let classes = self.classes[first..end].iter().map(|&class| class as u16);
        let changes: Vec<Change> = starts.zip(classes).collect();
        trie_build::word(&mut self.below, block, &changes)
    }
    fn drop_below(&mut self, _word: u32, _block: Block) {}
    fn slot(&self, at: usize) -> u32 {
        self.slots[at]
    }
    fn set_slot(&mut self, at: usize, word: u32) -> Result<(), CompileError> {
        self.slots[at] = word;
        Ok(())
    }
    fn has_room(&self, bits: u32) -> bool {
        self.slots.len() + (1 << bits) <= SLOTS_MAX && self.lines.len() <= LINES_MAX
    }
    fn take_slots(&mut self, bits: u32) -> Result<usize, CompileError> {
        let first = self.slots.len();
        self.slots.resize(first + (1 << bits), NOTHING);
        Ok(first)
    }
    fn drop_slots(&mut self, _first: usize, _bits: u32) {}
    fn line(&self, number: u32) -> Line {
        self.lines[number as usize]
    }
    fn set_line(&mut self, number: u32, line: Line) -> Result<(), CompileError> {
        self.lines[number as usize] = line;
        Ok(())
    }
    fn take_lines(&mut self, count: usize) -> Result<u32, CompileError> {
        let first = self.lines.len();
        self.lines.resize(first + count, [0; 32]);
        Ok(first as u32)
    }
    fn drop_lines(&mut self, _first: u32, _count: usize) {}
}
