//! From changes of answer to slots and lines.

use super::*;

/// At most so many slots a change of answer.
pub(in crate::prefixes) const SLOTS_A_CHANGE: usize = 8;
/// Fewer slots do not fill a line.
const BLOCK_BITS_MIN: u32 = LINE_BITS;
const BLOCK_BITS_MAX: u32 = 16;
/// A gate costs a line more, and saves blocks where the changes have so many bits in common.
const GATE_BITS: u32 = 16;

/// From an address on, a class.
pub(in crate::prefixes) type Change = (u128, u16);

/// Where new lines go: a plain column at first, shared pages later.
pub(in crate::prefixes) trait Space {
    /// The number of the first of so many new lines of a block.
    fn blank(&mut self, count: usize) -> Result<usize, CompileError>;
    /// Sets a slot, counted from the first of all.
    fn set(&mut self, slot: usize, word: u32) -> Result<(), CompileError>;
    /// The number of a line that holds this.
    fn add(&mut self, line: Line) -> Result<u32, CompileError>;
}

impl Space for Vec<Line> {
    fn blank(&mut self, count: usize) -> Result<usize, CompileError> {
        let first = self.len();
        self.resize(first + count, [0; LINE_WORDS]);
        Ok(first)
    }
    fn set(&mut self, slot: usize, word: u32) -> Result<(), CompileError> {
        self[slot / LINE_WORDS][slot % LINE_WORDS] = word;
        Ok(())
    }
    fn add(&mut self, line: Line) -> Result<u32, CompileError> {
        self.push(line);
        Ok(self.len() as u32 - 1)
    }
}

/// The addresses that share the upper `depth` bits of `first`, below which it is zero.
#[derive(Clone, Copy, Debug)]
pub(in crate::prefixes) struct Block {
    pub(in crate::prefixes) first: u128,
    pub(in crate::prefixes) depth: u32,
}

impl Block {
    pub(in crate::prefixes) fn last(self) -> u128 {
        self.first.last_in(self.depth as u8)
    }

    /// The block of slot `slot` of `1 << bits`.
    pub(in crate::prefixes) fn slot(self, slot: usize, bits: u32) -> Self {
        let depth = self.depth + bits;
        let first = self.first | (slot as u128) << (128 - depth);
        Self { first, depth }
    }

    /// Which slot of `1 << bits` holds `address`.
    pub(in crate::prefixes) fn slot_of(self, address: u128, bits: u32) -> usize {
        ((address - self.first) >> (128 - self.depth - bits)) as usize
    }
}

/// Sets the slots of a block whose first line is `line`. The first of `changes` holds at its
/// beginning, the others begin within it.
fn fill<S: Space>(
    space: &mut S,
    line: usize,
    block: Block,
    bits: u32,
    changes: &[Change],
) -> Result<(), CompileError> {
    let (mut at, mut done, place) = (0, 0, line * LINE_WORDS);
    loop {
        let slot = changes
            .get(at + 1)
            .map_or(1 << bits, |&(start, _)| block.slot_of(start, bits));
        for plain in done..slot {
            space.set(place + plain, u32::from(changes[at].1))?;
        }
        if slot == 1 << bits {
            return Ok(());
        }
        let inner = block.slot(slot, bits);
        if changes[at + 1].0 == inner.first {
            at += 1;
        }
        let last = inner.last();
        let within = changes[at + 1..].iter();
        let count = within.take_while(|&&(start, _)| start <= last).count();
        let word = word(space, inner, &changes[at..=at + count])?;
        space.set(place + slot, word)?;
        at += count;
        done = slot + 1;
    }
}

/// The slot's word of a block: a class, or the number of what is made for it. The first of
/// `changes` holds at its beginning, the others begin within it.
pub(in crate::prefixes) fn word<S: Space>(
    space: &mut S,
    block: Block,
    changes: &[Change],
) -> Result<u32, CompileError> {
    let [(_, before), within @ ..] = changes else {
        return Ok(0);
    };
    if within.is_empty() {
        return Ok(u32::from(*before));
    }
    if let Some(kind) = leaf_kind(block, within) {
        return leaf(space, kind, changes);
    }
    let common = common_bits(within);
    let is_far = common >= BLOCKS_END.max(block.depth + GATE_BITS);
    let place = if within.len() <= 2 || is_far {
        None
    } else {
        block_bits(block, within)
    };
    let Some(bits) = place else {
        return gate(space, changes);
    };
    let line = space.blank(lines_of(bits))?;
    fill(space, line, block, bits, changes)?;
    Ok(block_word(block, bits, line))
}

/// How many bits all of these changes have in common.
fn common_bits(changes: &[Change]) -> u32 {
    let ends = [changes.first(), changes.last()].map(|end| end.map_or(0, |&(start, _)| start));
    (ends[0] ^ ends[1]).leading_zeros()
}

fn block_word(block: Block, bits: u32, line: usize) -> u32 {
    if block.depth >= BLOCKS_END {
        return LOWER | line as u32;
    }
    let shift = BLOCKS_END - block.depth - bits;
    // The number is that of the line where the slot of address 0 would be.
    let ahead = window((block.first >> 64) as u64) >> shift >> LINE_BITS;
    BLOCK | shift << KIND | (line as u32).wrapping_sub(ahead) & NUMBER
}

/// The leaf that tells the changes apart.
fn leaf_kind(block: Block, within: &[Change]) -> Option<u32> {
    let set = within.iter().fold(0, |set, &(start, _)| set | start);
    if within.len() > LEAF_CHANGES {
        return None;
    }
    match set.trailing_zeros() {
        80.. => Some(LEAF),
        64.. if block.depth >= 32 => Some(LEAF_LOW),
        _ => None,
    }
}

/// As many bits as tell the changes apart, or as are affordable; `None` where no block can be.
fn block_bits(block: Block, within: &[Change]) -> Option<u32> {
    if block.depth >= BLOCKS_END {
        return Some(LINE_BITS);
    }
    let set = within.iter().fold(0, |set, &(start, _)| set | start);
    let needed = (128 - set.trailing_zeros()).min(BLOCKS_END) - block.depth;
    let affordable = (SLOTS_A_CHANGE * within.len()).ilog2();
    let room = BLOCKS_END - block.depth;
    let bits = needed.min(affordable).clamp(BLOCK_BITS_MIN, BLOCK_BITS_MAX);
    (room >= BLOCK_BITS_MIN).then(|| bits.min(room))
}

fn leaf<S: Space>(space: &mut S, kind: u32, changes: &[Change]) -> Result<u32, CompileError> {
    let mut line = [u32::MAX; LINE_WORDS];
    line[LEAF_CHANGES..].fill(0);
    let last = changes.len() - 1;
    for passed in 0..=LEAF_CHANGES {
        let (start, class) = changes[passed.min(last)];
        if (1..=last).contains(&passed) {
            line[passed - 1] = leaf_window((start >> 64) as u64, kind);
        }
        line[LEAF_CHANGES + passed / 2] |= u32::from(class) << (passed % 2 * 16);
    }
    Ok(kind | space.add(line)?)
}

/// A gate: what is between the first and the last change has a word of its own.
fn gate<S: Space>(space: &mut S, changes: &[Change]) -> Result<u32, CompileError> {
    let [(_, before), within @ ..] = changes else {
        return Ok(0);
    };
    let [(first, _), ..] = within else {
        return Ok(u32::from(*before));
    };
    let (last, after) = within[within.len() - 1];
    // A whole number of the bits that the smallest blocks have, so that none reaches across halves.
    let common = common_bits(within).min(127) / LINE_BITS * LINE_BITS;
    let inner = Block {
        first: first.first_in(common as u8),
        depth: common,
    };
    let between = word(space, inner, &within[..within.len() - 1])?;
    let mut line = [0; LINE_WORDS];
    for word in 0..4 {
        line[word] = (first >> (96 - 32 * word)) as u32;
        line[4 + word] = (last >> (96 - 32 * word)) as u32;
    }
    line[8..12].copy_from_slice(&[u32::from(*before), u32::from(after), between, common]);
    Ok(GATE | space.add(line)?)
}
