//! Which code stands for which answer: the commonest answers have one.

use crate::order::Ordered;
use std::collections::HashMap;

/// Codes are bytes.
const CODES: usize = 256;
/// Answers that were counted last, found by a hash: the map alone takes 25 ns an address.
const RECENT: usize = 1024;

/// Answers by code; code 0 is "none", and unused codes are too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codes {
    masks: [u32; CODES],
    used: usize,
}

impl Codes {
    /// Codes for the commonest answers of `ordered`, `codes_max` at most.
    pub(crate) fn of(ordered: &Ordered<u32>, codes_max: usize) -> Self {
        let mut common = counted(ordered);
        common.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut codes = Self {
            masks: [0; CODES],
            used: 0,
        };
        for &(mask, _) in common.iter().take(codes_max) {
            codes.used += 1;
            codes.masks[codes.used] = mask;
        }
        codes
    }

    /// The code of an answer, if it has one.
    #[inline]
    pub(crate) fn find(&self, mask: u32) -> Option<u8> {
        let known = self.masks[1..=self.used].iter();
        known
            .clone()
            .position(|&known| known == mask)
            .map(|index| index as u8 + 1)
    }

    /// The code of an answer: a new one if there are still some, `codes_max` at most.
    pub(crate) fn find_or_add(&mut self, mask: u32, codes_max: usize) -> Option<u8> {
        let found = self.find(mask);
        if found.is_none() && self.used < codes_max {
            self.used += 1;
            self.masks[self.used] = mask;
            return Some(self.used as u8);
        }
        found
    }

    /// The answers by code.
    #[inline(always)]
    pub(crate) fn masks(&self) -> &[u32; CODES] {
        &self.masks
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
        let codes = Codes::of(&ordered, 2);
        assert_eq!(codes.find(1), Some(1));
        assert_eq!(codes.masks()[1], 1);
        assert!(codes.find(3).is_some() != codes.find(7).is_some());
        assert_eq!(codes.find(9), None);
        let mut codes = Codes::of(&ordered, 3);
        assert_eq!(codes.find_or_add(9, 3), None);
        assert_eq!(codes.find_or_add(9, 4), Some(4));
        assert_eq!(codes.masks()[4], 9);
    }
}
