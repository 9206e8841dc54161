//! One line of the tree: a node of 256 slots, or a twig.
//!
//! Node: words 0-3 are a bitmap with a bit where a slot's value differs from that of the slot
//! before (bit 0 always set), so that the rank of a slot tells its value. Word 4: where the
//! values begin (low half), which line is child 0 (high half). Word 5: bits set before word 1, 2
//! and 3 (a byte each), then the mark of a node whose values are in its line ([`INLINE`]); the
//! upper half and words 6-7 are those values.
//!
//! Twig: words 1-6 are three addresses, ascending, where the answer changes; word 7 holds the
//! four classes before, between and after. Word 0 is zero: no node's is.

use crate::address::Address;

/// 64 bytes.
pub(crate) type Line = [u64; 8];

/// Values that fit the line of their node.
pub(crate) const INLINE_MAX: usize = 10;
/// Classes that a 16-bit value can name; the rest are children.
pub(crate) const CLASSES_MAX: usize = 0x8000;
/// Changes of answer in a twig.
pub(crate) const TWIG_CHANGES: usize = 3;

/// Marks a value that is a child.
const CHILD: u16 = 0x8000;
const INLINE: u64 = 1 << 24;

/// What a value of a node says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Class(u16),
    /// Counted from the first child of the node.
    Child(u16),
}

impl Value {
    pub(crate) fn pack(self) -> u16 {
        match self {
            Self::Class(class) => class,
            Self::Child(child) => child | CHILD,
        }
    }
}

/// What reading the line of a node tells. No field is an `Option`: kinds of lines mix, and each
/// branch on the kind would be mispredicted half the time.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// The value when it is in the line, else class 0.
    pub(crate) value: u16,
    /// 1 when the value is not in the line.
    pub(crate) is_far: u32,
    /// Where it is then, else 0.
    pub(crate) far: u32,
}

/// Makes the line of a node from the values of its 256 slots. Values that do not fit are
/// appended to `far`.
pub(crate) fn node(slots: &[u16; 256], first_child: u32, far: &mut Vec<u16>) -> Line {
    let mut line = [0u64; 8];
    let mut values = Vec::with_capacity(INLINE_MAX);
    for (slot, &value) in slots.iter().enumerate() {
        if slot == 0 || slots[slot - 1] != value {
            line[slot / 64] |= 1 << (slot % 64);
            values.push(value);
        }
    }
    let mut rank = 0;
    for word in 0..3 {
        rank += u64::from(line[word].count_ones());
        line[5] |= rank << (8 * word);
    }
    line[4] = u64::from(first_child) << 32;
    if values.len() <= INLINE_MAX {
        line[5] |= INLINE;
        for (index, &value) in values.iter().enumerate() {
            let place = index + 2;
            line[5 + place / 4] |= u64::from(value) << (16 * (place % 4));
        }
    } else {
        line[4] |= far.len() as u64;
        far.extend(values);
    }
    line
}

/// Makes the line of a twig: `classes[i]` holds before `changes[i]`, the last one after all.
pub(crate) fn twig<A: Address>(changes: &[A], classes: &[u16]) -> Line {
    let mut line = [0u64; 8];
    let last = classes[classes.len() - 1];
    for index in 0..TWIG_CHANGES {
        // A change repeated at the end of the address space changes nothing before it.
        let at = changes
            .get(index)
            .map_or(u128::MAX, |change| change.widen());
        line[1 + 2 * index] = at as u64;
        line[2 + 2 * index] = (at >> 64) as u64;
    }
    for index in 0..=TWIG_CHANGES {
        let class = classes.get(index).copied().unwrap_or(last);
        line[7] |= u64::from(class) << (16 * index);
    }
    line
}

/// True for a twig, false for a node.
#[inline(always)]
pub(crate) fn is_twig(line: &Line) -> bool {
    line[0] & 1 == 0
}

/// Reads a node (not a twig) for the slot `byte`.
#[inline(always)]
pub(crate) fn read(line: &Line, byte: u8) -> Step {
    let word = usize::from(byte >> 6);
    let upto = line[word] & (u64::MAX >> (63 - (byte & 63)));
    let before = (line[5] << 8) >> (8 * word) & 0xff;
    let index = (before as u32 + upto.count_ones()).wrapping_sub(1);
    let is_near = (line[5] & INLINE) >> INLINE.trailing_zeros();
    let is_far = is_near ^ 1;
    let place = index as usize + 2;
    let inline = (line[(5 + place / 4) & 7] >> (16 * (place % 4))) as u16;
    Step {
        value: inline & (is_near as u16).wrapping_neg(),
        is_far: is_far as u32,
        far: (line[4] as u32).wrapping_add(index) & (is_far as u32).wrapping_neg(),
    }
}

/// The class of `key` in a twig.
#[inline(always)]
pub(crate) fn twig_class(line: &Line, key: u128) -> u16 {
    let change =
        |index: usize| u128::from(line[1 + 2 * index]) | u128::from(line[2 + 2 * index]) << 64;
    let passed =
        u32::from(key >= change(0)) + u32::from(key >= change(1)) + u32::from(key >= change(2));
    (line[7] >> (16 * passed)) as u16
}

/// Takes a value of `line` apart: 1 and the line of a child, or 0 and no line.
#[inline(always)]
pub(crate) fn child(line: &Line, value: u16) -> (usize, u32) {
    let is_child = u32::from(value >> 15);
    let child = ((line[4] >> 32) as u32).wrapping_add(u32::from(value & !CHILD));
    (is_child as usize, child & is_child.wrapping_neg())
}

/// The class that a value names; 0 when it is a child.
#[inline(always)]
pub(crate) fn class(value: u16) -> usize {
    usize::from(value & (value >> 15).wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(slots: &[u16; 256]) {
        let mut far = vec![0xdead & 0x7fff; 3];
        let line = node(slots, 77, &mut far);
        assert_eq!(line[0] & 1, 1);
        for (slot, &value) in slots.iter().enumerate() {
            let step = read(&line, slot as u8);
            let read = if step.is_far == 1 {
                far[step.far as usize]
            } else {
                step.value
            };
            assert_eq!(read, value, "slot {slot}");
        }
    }

    #[test]
    fn a_node_answers_for_every_slot() {
        check(&[5; 256]);
        check(&std::array::from_fn(|slot| slot as u16));
        for runs in 1..40 {
            check(&std::array::from_fn(|slot| (slot * runs / 256) as u16));
        }
        check(&std::array::from_fn(|slot| u16::from(slot == 255)));
    }

    #[test]
    fn children_are_counted_from_the_first() {
        let slots = std::array::from_fn(|slot| {
            if slot == 9 {
                Value::Child(2).pack()
            } else {
                Value::Class(1).pack()
            }
        });
        let line = node(&slots, 77, &mut Vec::new());
        let value = |slot| read(&line, slot).value;
        assert_eq!((child(&line, value(9)), class(value(9))), ((1, 79), 0));
        assert_eq!((child(&line, value(10)), class(value(10))), ((0, 0), 1));
    }

    #[test]
    fn a_twig_answers_between_its_changes() {
        let line = twig(&[10u128, 20], &[1, 2, 3]);
        assert!(is_twig(&line));
        let class = |key: u128| twig_class(&line, key);
        assert_eq!(
            [0, 9, 10, 19, 20, u128::MAX - 1, u128::MAX].map(class),
            [1, 1, 2, 2, 3, 3, 3]
        );
    }
}
