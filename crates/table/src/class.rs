//! Equal answers share a class: a small number that a table keeps where a hit needs it.

use crate::mask::ListMask;
use std::collections::HashMap;

/// Interned answers. Class 0 is always "no list".
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    masks: Vec<ListMask>,
    /// The largest of them, as a number.
    largest: u32,
    /// Not used by lookups.
    known: HashMap<u32, u32>,
    /// Answers given lately and their classes, found by a hash of the answer.
    recent: Vec<(u32, u32)>,
}

/// The map alone took 25 ns an address.
const RECENT: usize = 1024;

impl Classes {
    pub(crate) fn new() -> Self {
        Self {
            masks: vec![ListMask::EMPTY],
            largest: 0,
            known: HashMap::from([(0, 0)]),
            recent: vec![(0, 0); RECENT],
        }
    }

    /// The class of `mask`; a new one if need be.
    pub(crate) fn intern(&mut self, mask: u32) -> u32 {
        let recent = recent(mask);
        if self.recent[recent].0 != mask {
            let next = self.masks.len() as u32;
            let class = *self.known.entry(mask).or_insert(next);
            if class == next {
                self.masks.push(ListMask(mask));
                self.largest = self.largest.max(mask);
            }
            self.recent[recent] = (mask, class);
        }
        self.recent[recent].1
    }

    /// The class that `mask` has.
    pub(crate) fn find(&self, mask: u32) -> Option<u32> {
        match self.recent[recent(mask)] {
            (known, class) if known == mask => Some(class),
            _ => self.known.get(&mask).copied(),
        }
    }

    /// The classes of `masks`.
    pub(crate) fn intern_all(&mut self, masks: &[u32]) -> Vec<u32> {
        masks.iter().map(|&mask| self.intern(mask)).collect()
    }

    /// The largest answer, as a number.
    pub(crate) fn largest(&self) -> u32 {
        self.largest
    }

    /// The answers by class.
    pub(crate) fn masks(&self) -> &[ListMask] {
        &self.masks
    }
}

/// The place of an answer among those given lately.
fn recent(mask: u32) -> usize {
    mask.wrapping_mul(0x9e37_79b9) as usize >> (32 - RECENT.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_answers_share_a_class() {
        let mut classes = Classes::new();
        let given = [5, 5, 0, 7, 5, u32::MAX, 0].map(|mask| classes.intern(mask));
        assert_eq!(given, [1, 1, 0, 2, 1, 3, 0]);
        assert_eq!(classes.largest(), u32::MAX);
        assert_eq!(classes.masks(), [0, 5, 7, u32::MAX].map(ListMask));
    }
}
