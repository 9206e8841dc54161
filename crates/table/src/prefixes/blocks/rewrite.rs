//! The blocks that a change touches, made again.
//!
//! A block takes its old place where the new one has the shape of the old, else the end of the
//! columns. A change within one block copies one or two pages of slots and as many of leaves; where
//! its place or its shape is new, the index, too, which stays a slice so.

use super::build::{self, Change, Image, Space};
use super::*;
use crate::prefixes::{Source, class as class_of};

impl Space for Blocks {
    fn slot_count(&self) -> usize {
        self.slots.len()
    }
    fn leaf_count(&self) -> usize {
        self.leaves.len()
    }
    fn push_slot(&mut self, slot: u16) -> Result<(), CompileError> {
        self.slots.push(slot).map_err(no_memory)
    }
    fn push_leaf(&mut self, leaf: Leaf) -> Result<(), CompileError> {
        self.leaves.push(leaf).map_err(no_memory)
    }
}

impl Blocks {
    /// Takes over what changed within `first..=last`; false when that needs another layout.
    pub(in crate::prefixes) fn rewrite<A: Address>(
        &mut self,
        first: A,
        last: A,
        source: Source<'_, A>,
    ) -> Result<bool, CompileError> {
        let begin = first.first_in(16);
        let mut ahead = source.changes(begin).peekable();
        let mut mask = 0;
        let mut changes = Vec::new();
        // Written together at the end: whether the index is this version's alone is asked of each
        // of its pages.
        let mut words = Vec::new();
        for block in first.top16()..=last.top16() {
            changes.clear();
            changes.push((0, class_of(&mut self.classes, mask) as u16));
            while let Some((start, next)) = ahead.next_if(|(start, _)| start.top16() == block) {
                mask = next;
                let class = class_of(&mut self.classes, mask) as u16;
                build::push(&mut changes, low(start) as u16, class);
            }
            if self.classes.masks().len() > CLASSES_MAX {
                return Ok(false);
            }
            let old = self.index()[block];
            let word = self.replace(old, &changes)?;
            if word != old {
                words.push((block, word));
            }
        }
        if !words.is_empty() {
            let index = self.index.as_mut_slice().map_err(no_memory)?;
            for (block, word) in words {
                index[block] = word;
            }
        }
        Ok(self.slots.len() < PLACES_MAX)
    }

    /// Makes the block again that `old` leads to, and tells what leads to it now.
    fn replace(&mut self, old: u32, changes: &[Change]) -> Result<u32, CompileError> {
        let (garbage, inner_garbage) = (self.block_bytes(old), self.inner_bytes(old));
        let word = if let [(_, class)] = changes {
            plain(u32::from(*class))
        } else {
            let image = build::image(self, changes, 16)?;
            if self.has_room(old, &image) {
                self.garbage += inner_garbage;
                self.overwrite(old, &image)?;
                return Ok(old);
            }
            build::append(self, &image)?
        };
        self.garbage += garbage;
        Ok(word)
    }

    /// True when `image` can take the place of the block that `old` leads to.
    fn has_room(&self, old: u32, image: &Image) -> bool {
        !is_plain(old) && shift(old) == image.shift && self.leaves_of(old).1 >= image.leaves.len()
    }

    fn overwrite(&mut self, old: u32, image: &Image) -> Result<(), CompileError> {
        let place = place(old);
        for (at, &slot) in image.slots.iter().enumerate() {
            if self.slots.view()[place + at] != slot {
                *self.slots.get_mut(place + at).map_err(no_memory)? = slot;
            }
        }
        let (first, count) = self.leaves_of(old);
        for at in 0..count {
            // Leaves that are left over stay part of the block.
            let leaf = image.leaves.get(at).copied().unwrap_or([0; 32]);
            if self.leaves.view()[first + at] != leaf {
                *self.leaves.get_mut(first + at).map_err(no_memory)? = leaf;
            }
        }
        Ok(())
    }

    /// The first leaf of a block that is not plain, and how many it has.
    fn leaves_of(&self, word: u32) -> (usize, usize) {
        let slots = self.slots.view();
        let header = place(word) - HEADER;
        let first = usize::from(slots[header]) | usize::from(slots[header + 1]) << 16;
        (first, usize::from(slots[header + 2]))
    }

    /// Bytes of a block.
    fn block_bytes(&self, word: u32) -> usize {
        self.plain_bytes(word, 16) + self.inner_bytes(word)
    }

    /// Bytes of a block of `width` bits, without what its leaves lead to.
    fn plain_bytes(&self, word: u32, width: u32) -> usize {
        if is_plain(word) {
            return 0;
        }
        2 * (HEADER + (1 << (width - shift(word)))) + 64 * self.leaves_of(word).1
    }

    /// Bytes of what the leaves of a block lead to.
    fn inner_bytes(&self, word: u32) -> usize {
        if is_plain(word) {
            return 0;
        }
        let (first, count) = self.leaves_of(word);
        let leaves = (first..first + count).map(|leaf| self.leaves.view()[leaf]);
        let inner = leaves.filter(|leaf| leaf[0] == 1).map(|leaf| {
            let word = u32::from(leaf[1]) | u32::from(leaf[2]) << 16;
            self.plain_bytes(word, 8)
        });
        inner.sum()
    }
}
