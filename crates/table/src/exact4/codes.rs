//! Which code stands for which answer: the commonest answers have one.

use crate::order::Ordered;
use std::collections::HashMap;

/// Answers by code at most.
const CODES: usize = 256;
/// Answers that were counted last, found by a hash: the map alone takes 25 ns an address.
const RECENT: usize = 1024;

/// The codes that a form of line has for answers: `first..first + count`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) first: u8,
    pub(crate) count: u8,
}

/// The answers of an [`Ordered`], the commonest first, each with the number of its addresses.
pub(super) struct Census(Vec<(u32, usize)>);

impl Census {
    pub(super) fn of(ordered: &Ordered<u32>) -> Self {
        let mut common = counted(ordered);
        common.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        Self(common)
    }
}

/// Answers by code, and whether 32 of them are enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers<'a> {
    masks: &'a [u32; CODES],
    are_few: bool,
}

impl<'a> Answers<'a> {
    /// The answers by the lower five bits of their codes, if these tell them apart; what is there
    /// for the code that leads to the side table has no meaning.
    #[inline(always)]
    pub(crate) fn few(self) -> Option<&'a [u32; 32]> {
        self.masks.first_chunk().filter(|_| self.are_few)
    }

    /// The answers by their codes.
    #[inline(always)]
    pub(crate) fn all(self) -> &'a [u32; CODES] {
        self.masks
    }
}

/// Answers by code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codes {
    /// 0, "none", where there is no such code.
    masks: [u32; CODES],
    /// In the order of their codes.
    known: [u32; CODES],
    used: u8,
    range: Range,
}

impl Codes {
    /// Codes for the commonest answers.
    pub(crate) fn of(census: &Census, range: Range) -> Self {
        let mut codes = Self {
            masks: [0; CODES],
            known: [0; CODES],
            used: 0,
            range,
        };
        for &(mask, _) in &census.0 {
            codes.add(mask);
        }
        codes
    }

    /// A code for one more answer, if there is one.
    fn add(&mut self, mask: u32) -> Option<u8> {
        let code = self.range.first + self.used;
        if self.used == self.range.count {
            return None;
        }
        self.masks[usize::from(code)] = mask;
        self.known[usize::from(self.used)] = mask;
        self.used += 1;
        Some(code)
    }

    /// The code of an answer, if it has one.
    #[inline]
    pub(crate) fn find(&self, mask: u32) -> Option<u8> {
        let mut known = self.known[..usize::from(self.used)].iter();
        let number = known.position(|&known| known == mask)?;
        Some(self.range.first + number as u8)
    }

    /// The code of an answer: a new one if there are still some.
    pub(crate) fn find_or_add(&mut self, mask: u32) -> Option<u8> {
        self.find(mask).or_else(|| self.add(mask))
    }

    /// What the codes stand for.
    #[inline(always)]
    pub(crate) fn answers(&self) -> Answers<'_> {
        Answers {
            masks: &self.masks,
            are_few: self.range.first + self.used <= 32,
        }
    }
}

/// Each answer and how many addresses have it.
fn counted(ordered: &Ordered<u32>) -> Vec<(u32, usize)> {
    let count = ordered.keys.len();
    if let Some(only) = ordered.only() {
        return vec![(only, count)];
    }
    let mut counts: HashMap<u32, usize> = HashMap::new();
    let mut recent = vec![(0u32, 0usize); RECENT];
    for index in 0..count {
        let mask = ordered.mask(index);
        let entry = &mut recent[(mask.wrapping_mul(0x9e37_79b9) >> 22) as usize];
        if entry.0 != mask {
            if entry.1 > 0 {
                *counts.entry(entry.0).or_default() += entry.1;
            }
            *entry = (mask, 0);
        }
        entry.1 += 1;
    }
    for (mask, count) in recent.into_iter().filter(|entry| entry.1 > 0) {
        *counts.entry(mask).or_default() += count;
    }
    counts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_answers_have_codes() {
        let columns: [&[u32]; 3] = [&[1, 2, 3, 4], &[3, 4], &[4]];
        let ordered = Ordered::new(&columns, |key| key).expect("memory");
        let census = Census::of(&ordered);
        for first in [1, 2, 5] {
            let range = |count| Range { first, count };
            let codes = Codes::of(&census, range(2));
            assert_eq!(codes.find(1), Some(first));
            assert_eq!(codes.answers().all()[usize::from(first)], 1);
            assert!(codes.find(3).is_some() != codes.find(7).is_some());
            assert_eq!(codes.find(9), None);
            let mut codes = Codes::of(&census, range(3));
            assert_eq!(codes.find_or_add(9), None);
            let mut codes = Codes::of(&census, range(30));
            for mask in 9..36 {
                let code = codes.find_or_add(mask).expect("27 beside three");
                assert_eq!(codes.answers().all()[usize::from(code)], mask);
                assert_eq!(codes.find_or_add(mask), Some(code));
            }
            assert_eq!(codes.find_or_add(36), None);
            assert_eq!(codes.find(1), Some(first));
        }
    }
}
