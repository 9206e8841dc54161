//! From changes of answer to words, slots and leaves; and again for the blocks that changed.

use super::*;

/// Changes of answer in a leaf, beside the one at its beginning.
const LEAF_CHANGES: usize = 15;
/// The slots of a block answer for networks of 24 bits; those of a block within it for addresses.
/// Fewer slots where changes are few save memory and cost a leaf a lookup, which is two thirds of
/// the rate of small tables, and a fifth of the largest.
const SLOT_BITS_MAX: u32 = 8;

/// From an address (its lower 16 bits) on, a class.
pub(super) type Change = (u16, u16);

/// Where new slots and leaves go: plain columns at first, shared pages later.
pub(super) trait Space {
    fn slot_count(&self) -> usize;
    fn leaf_count(&self) -> usize;
    fn push_slot(&mut self, slot: u16) -> Result<(), CompileError>;
    fn push_leaf(&mut self, leaf: Leaf) -> Result<(), CompileError>;
}

#[derive(Default)]
struct Columns {
    slots: Vec<u16>,
    leaves: Vec<Leaf>,
}

impl Space for Columns {
    fn slot_count(&self) -> usize {
        self.slots.len()
    }
    fn leaf_count(&self) -> usize {
        self.leaves.len()
    }
    fn push_slot(&mut self, slot: u16) -> Result<(), CompileError> {
        self.slots.push(slot);
        Ok(())
    }
    fn push_leaf(&mut self, leaf: Leaf) -> Result<(), CompileError> {
        self.leaves.push(leaf);
        Ok(())
    }
}

/// A block that is not placed yet.
pub(super) struct Image {
    pub(super) shift: u32,
    pub(super) slots: Vec<u16>,
    pub(super) leaves: Vec<Leaf>,
}

pub(super) fn compile<A: Address>(runs: &Runs<A>) -> Result<Option<Blocks>, CompileError> {
    let mut interned = Classes::new();
    let classes = interned.intern_all(&runs.masks);
    if interned.masks().len() > CLASSES_MAX {
        return Ok(None);
    }
    let mut columns = Columns::default();
    columns.slots.extend(0..CLASSES_MAX as u16);
    let index = index(&mut columns, &runs.starts, &classes)?;
    if columns.slots.len() >= PLACES_MAX {
        return Ok(None);
    }
    let slots = Paged::copy_of(&columns.slots).map_err(no_memory)?;
    Ok(Some(Blocks {
        index: slots.copy_beside(&index).map_err(no_memory)?,
        slots,
        leaves: Paged::copy_of(&columns.leaves).map_err(no_memory)?,
        classes: Arc::new(interned),
        garbage: 0,
    }))
}

/// Fills the blocks between changes in one go; only blocks with a change need a look.
fn index<A: Address>(
    columns: &mut Columns,
    starts: &[A],
    classes: &[u32],
) -> Result<Vec<u32>, CompileError> {
    let mut index = vec![0; 1 << 16];
    let (mut at, mut done) = (0, 0);
    let mut changes = Vec::new();
    loop {
        let block = starts.get(at + 1).map_or(1 << 16, |start| start.top16());
        index[done..block].fill(plain(classes[at]));
        if block == index.len() {
            return Ok(index);
        }
        changes.clear();
        changes.push((0, classes[at] as u16));
        while let Some(start) = starts.get(at + 1).filter(|start| start.top16() == block) {
            at += 1;
            push(&mut changes, low(*start) as u16, classes[at] as u16);
        }
        index[block] = match changes[..] {
            [(_, class)] => plain(u32::from(class)),
            _ => {
                let image = image(columns, &changes, 16)?;
                append(columns, &image)?
            }
        };
        done = block + 1;
    }
}

/// Appends a change; one at the place of the last replaces it, the same class adds nothing.
pub(super) fn push(changes: &mut Vec<Change>, start: u16, class: u16) {
    if changes.last().is_some_and(|&(last, _)| last == start) {
        changes.pop();
    }
    if changes.last().is_none_or(|&(_, last)| last != class) {
        changes.push((start, class));
    }
}

/// Places a block and tells its word.
pub(super) fn append<S: Space>(space: &mut S, image: &Image) -> Result<u32, CompileError> {
    let first = space.leaf_count() as u32;
    let header = [
        first as u16,
        (first >> 16) as u16,
        image.leaves.len() as u16,
    ];
    let place = (space.slot_count() + HEADER) as u32;
    for &slot in header.iter().chain(&image.slots) {
        space.push_slot(slot)?;
    }
    for &leaf in &image.leaves {
        space.push_leaf(leaf)?;
    }
    Ok(word(place, image.shift))
}

/// The bits of an address that choose among the slots of a block of `width` bits.
fn slot_bits(changes: &[Change], width: u32) -> u32 {
    let set = changes[1..].iter().fold(0, |set, &(start, _)| set | start);
    (width - set.trailing_zeros()).min(SLOT_BITS_MAX)
}

/// The slots and leaves of a block of `width` bits, whose answer changes within; what its leaves
/// lead to is placed. The first change is at its beginning.
pub(super) fn image<S: Space>(
    space: &mut S,
    changes: &[Change],
    width: u32,
) -> Result<Image, CompileError> {
    let bits = slot_bits(changes, width);
    let shift = width - bits;
    let mut image = Image {
        shift,
        slots: Vec::with_capacity(1 << bits),
        leaves: Vec::new(),
    };
    let mut at = 0;
    for slot in 0..1u32 << bits {
        let first = changes[0].0 + (slot << shift) as u16;
        let last = first + ((1u32 << shift) - 1) as u16;
        let upto = |at: usize, edge| {
            let starts = changes[at + 1..].iter();
            at + starts.take_while(|&&(start, _)| start <= edge).count()
        };
        let from = upto(at, first);
        at = upto(from, last);
        if at == from {
            image.slots.push(changes[from].1);
            continue;
        }
        image.slots.push(LEAF | image.leaves.len() as u16);
        let leaf = leaf(space, first, &changes[from..=at], shift)?;
        image.leaves.push(leaf);
    }
    Ok(image)
}

/// The leaf of a slot of `width` bits that begins at `first`.
fn leaf<S: Space>(
    space: &mut S,
    first: u16,
    changes: &[Change],
    width: u32,
) -> Result<Leaf, CompileError> {
    let mut leaf = [0; 32];
    if changes.len() - 1 > LEAF_CHANGES {
        let mut changes = changes.to_vec();
        changes[0].0 = first;
        let image = image(space, &changes, width)?;
        let word = append(space, &image)?;
        leaf[..3].copy_from_slice(&[1, word as u16, (word >> 16) as u16]);
        return Ok(leaf);
    }
    for place in 0..=LEAF_CHANGES {
        let (start, class) = *changes
            .get(place)
            .unwrap_or(&(0xffff, changes[changes.len() - 1].1));
        leaf[place] = if place == 0 { 0 } else { start };
        leaf[16 + place] = class;
    }
    Ok(leaf)
}
