//! Addresses of all lists in the order of their places (a keyed 32-bit hash or permutation),
//! each once, with the lists that hold it.
//!
//! A table is then filled from front to back. Ordering is a radix sort: one pass over memory
//! parts the addresses by their upper place bits into pieces that fit the L2 cache, where two
//! more passes finish each piece. Six million take about 0.1 s.

use crate::address::Address;
use crate::compiled::CompileError;
use crate::memory::{Slab, zeroed};

/// Addresses in the order of their places, without duplicates.
#[derive(Debug)]
pub(crate) struct Ordered<A> {
    pub(crate) keys: Vec<A>,
    /// The lists of each key; empty when there is one list, whose mask is `only`.
    masks: Vec<u32>,
    only: u32,
    /// For each list, how many addresses it gave more than once.
    pub(crate) duplicates: Vec<u64>,
}

impl<A: Address> Ordered<A> {
    /// The lists that hold `keys[index]`.
    #[inline]
    pub(crate) fn mask(&self, index: usize) -> u32 {
        if self.masks.is_empty() {
            self.only
        } else {
            self.masks[index]
        }
    }

    /// The answer that all keys share, where only one list has keys.
    pub(crate) fn only(&self) -> Option<u32> {
        self.masks.is_empty().then_some(self.only)
    }

    /// Orders the addresses of `columns`: column `i` belongs to list `i`.
    pub(crate) fn new(
        columns: &[impl AsRef<[A]>],
        place: impl Fn(A) -> u32 + Copy,
    ) -> Result<Self, CompileError> {
        let parted = Parted::new(columns, place)?;
        let with_masks = columns
            .iter()
            .filter(|column| !column.as_ref().is_empty())
            .count()
            > 1;
        let only = columns
            .iter()
            .position(|c| !c.as_ref().is_empty())
            .unwrap_or(0);
        let mut ordered = Self {
            keys: Vec::with_capacity(parted.keys.len()),
            masks: Vec::with_capacity(if with_masks { parted.keys.len() } else { 0 }),
            only: if with_masks { 0 } else { 1 << only },
            duplicates: vec![0; columns.len()],
        };
        let mut sorter = Sorter::default();
        for bounds in parted.bounds.windows(2) {
            let piece = bounds[0]..bounds[1];
            let lists = if with_masks {
                &parted.lists[piece.clone()]
            } else {
                &[]
            };
            sorter.sort(&parted.keys[piece], lists, place);
            ordered.append(&sorter.keys, &sorter.lists);
        }
        Ok(ordered)
    }

    /// Appends sorted keys, where equal ones are neighbours.
    fn append(&mut self, keys: &[A], lists: &[u8]) {
        if lists.is_empty() {
            let list = self.only.trailing_zeros() as usize;
            for (index, &key) in keys.iter().enumerate() {
                if index > 0 && keys[index - 1] == key {
                    self.duplicates[list] += 1;
                } else {
                    self.keys.push(key);
                }
            }
            return;
        }
        for (index, (&key, &list)) in keys.iter().zip(lists).enumerate() {
            let bit = 1 << list;
            match self.masks.last_mut() {
                Some(mask) if index > 0 && keys[index - 1] == key => {
                    self.duplicates[usize::from(list)] += u64::from(*mask & bit != 0);
                    *mask |= bit;
                }
                _ => {
                    self.keys.push(key);
                    self.masks.push(bit);
                }
            }
        }
    }
}

/// Addresses parted by their upper place bits.
pub(crate) struct Parted<A> {
    /// In large pages: the scatter touches a thousand places in turn.
    pub(crate) keys: Slab<A>,
    /// The list of each key; empty when one list has all.
    pub(crate) lists: Vec<u8>,
    /// Piece `i` is `keys[bounds[i]..bounds[i + 1]]`.
    pub(crate) bounds: Vec<usize>,
}

/// Keys a piece at most on average: 128 KiB of sort words, which the L2 cache holds twice.
const PIECE_KEYS: usize = 8192;
/// More pieces than this scatter slower than they sort.
const PIECE_BITS_MAX: u32 = 12;

impl<A: Address> Parted<A> {
    pub(crate) fn new(
        columns: &[impl AsRef<[A]>],
        place: impl Fn(A) -> u32,
    ) -> Result<Self, CompileError> {
        let count: usize = columns.iter().map(|column| column.as_ref().len()).sum();
        let bits = (count / PIECE_KEYS + 1)
            .next_power_of_two()
            .ilog2()
            .min(PIECE_BITS_MAX);
        let piece_of = |key| (u64::from(place(key)) >> (32 - bits)) as usize;
        let mut bounds = vec![0usize; (1 << bits) + 1];
        for &key in columns.iter().flat_map(AsRef::as_ref) {
            bounds[piece_of(key) + 1] += 1;
        }
        for index in 1..bounds.len() {
            bounds[index] += bounds[index - 1];
        }
        let several = columns
            .iter()
            .filter(|column| !column.as_ref().is_empty())
            .count()
            > 1;
        let mut keys = zeroed(count)?;
        let mut lists = vec![0u8; if several { count } else { 0 }];
        let mut next = bounds.clone();
        for (list, column) in columns.iter().enumerate() {
            for &key in column.as_ref() {
                let slot = &mut next[piece_of(key)];
                keys[*slot] = key;
                if several {
                    lists[*slot] = list as u8;
                }
                *slot += 1;
            }
        }
        Ok(Self {
            keys,
            lists,
            bounds,
        })
    }
}

/// Sorts one piece at a time; owns the room for it.
struct Sorter<A> {
    keys: Vec<A>,
    lists: Vec<u8>,
    /// Place in the upper half, index within the piece in the lower.
    words: Vec<u64>,
    spare: Vec<u64>,
}

impl<A> Default for Sorter<A> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            lists: Vec::new(),
            words: Vec::new(),
            spare: Vec::new(),
        }
    }
}

/// Below this a comparison sort wins.
const RADIX_MIN: usize = 1024;

impl<A: Address> Sorter<A> {
    fn sort(&mut self, keys: &[A], lists: &[u8], place: impl Fn(A) -> u32) {
        let words = keys
            .iter()
            .enumerate()
            .map(|(i, &key)| u64::from(place(key)) << 32 | i as u64);
        self.words.clear();
        self.words.extend(words);
        if keys.len() < RADIX_MIN {
            self.words.sort_unstable();
        } else {
            radix(&mut self.words, &mut self.spare);
        }
        self.keys.clear();
        self.keys
            .extend(self.words.iter().map(|&word| keys[word as u32 as usize]));
        self.lists.clear();
        if !lists.is_empty() {
            self.lists
                .extend(self.words.iter().map(|&word| lists[word as u32 as usize]));
        }
        self.settle_ties();
    }

    /// Different IPv6 addresses may share a place: among these, sort by address, so that equal
    /// ones are neighbours. Rare (one pair in 2^32), since the hash is keyed.
    fn settle_ties(&mut self) {
        let mut start = 0;
        for end in 1..=self.words.len() {
            let same = end < self.words.len() && self.words[end] >> 32 == self.words[start] >> 32;
            if same {
                continue;
            }
            if self.keys[start..end]
                .windows(2)
                .any(|pair| pair[0] != pair[1])
            {
                self.sort_tie(start, end);
            }
            start = end;
        }
    }

    fn sort_tie(&mut self, start: usize, end: usize) {
        if self.lists.is_empty() {
            self.keys[start..end].sort_unstable();
            return;
        }
        let mut tie: Vec<(A, u8)> = (start..end)
            .map(|index| (self.keys[index], self.lists[index]))
            .collect();
        tie.sort_unstable();
        for (index, (key, list)) in (start..end).zip(tie) {
            self.keys[index] = key;
            self.lists[index] = list;
        }
    }
}

/// Least significant digit first over the upper 32 bits; a digit all words share is skipped
/// (pieces share their upper bits).
fn radix(words: &mut Vec<u64>, spare: &mut Vec<u64>) {
    const DIGIT_BITS: u32 = 11;
    spare.clear();
    spare.resize(words.len(), 0);
    for shift in [32, 43, 54] {
        let digit = |word: u64| (word >> shift) as usize & ((1 << DIGIT_BITS) - 1);
        let mut next = [0u32; 1 << DIGIT_BITS];
        words.iter().for_each(|&word| next[digit(word)] += 1);
        if next[digit(words[0])] as usize == words.len() {
            continue;
        }
        let mut sum = 0;
        for count in &mut next {
            sum += std::mem::replace(count, sum);
        }
        for &word in words.iter() {
            let slot = &mut next[digit(word)];
            spare[*slot as usize] = word;
            *slot += 1;
        }
        std::mem::swap(words, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn check<A: Address>(columns: &[Vec<A>], place: impl Fn(A) -> u32 + Copy) {
        let mut masks: BTreeMap<(u32, A), u32> = BTreeMap::new();
        let mut duplicates = vec![0; columns.len()];
        for (list, column) in columns.iter().enumerate() {
            for &key in column {
                let mask = masks.entry((place(key), key)).or_default();
                duplicates[list] += u64::from(*mask >> list & 1);
                *mask |= 1 << list;
            }
        }
        let ordered = Ordered::new(columns, place).unwrap();
        assert_eq!(
            ordered.keys,
            masks.keys().map(|&(_, key)| key).collect::<Vec<_>>()
        );
        assert_eq!(ordered.duplicates, duplicates);
        for (index, &mask) in masks.values().enumerate() {
            assert_eq!(ordered.mask(index), mask);
        }
    }

    #[test]
    fn agrees_with_a_map() {
        let count = if cfg!(miri) { 60 } else { 40_000u32 };
        let mix = |a: u32| a.wrapping_mul(0x9e37_79b9) ^ a >> 7;
        let first: Vec<u32> = (0..count).map(|a| mix(a) % count).collect();
        let second: Vec<u32> = (0..count / 2).collect();
        check(std::slice::from_ref(&first), |a: u32| {
            a.wrapping_mul(0x85eb_ca6b)
        });
        check(&[vec![], first.clone(), second.clone()], |a: u32| {
            a.wrapping_mul(0x85eb_ca6b)
        });
        check::<u32>(&[vec![], vec![]], |a| a);
        check::<u32>(&[], |a| a);
        let wide = |column: &[u32]| column.iter().map(|&a| u128::from(a)).collect::<Vec<_>>();
        // Every place is shared by some eight addresses.
        check(&[wide(&first), wide(&second)], |a: u128| {
            (a as u32 / 8).wrapping_mul(0x85eb_ca6b)
        });
        check(&[wide(&first)], |a: u128| {
            (a as u32 / 8).wrapping_mul(0x85eb_ca6b)
        });
    }
}
