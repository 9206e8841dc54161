//! Exact IPv6 addresses: a miss reads one 64-byte line, a hit one more.
//!
//! A keyed hash of 64 bits: the upper half picks a line, the lower 16 bits are the fingerprint.
//! A line holds 30 fingerprints, compared at once, and where the full addresses of the line
//! begin; these lie side by side, in line order, without gaps. A fingerprint that matches is only
//! a hint where to look: the answer comes from comparing the full address, so there are no false
//! positives, and a miss, the common case of a block list, reads no full address at all.

mod fill;

use crate::column::Column;
use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::memory::Slab;
use crate::order::Ordered;
use crate::secret::{Hash, Secret};
use crate::simd::{self, Job, Lanes, Level, prefetch};
use frame::Pages;

/// Fingerprints a line.
const FINGERPRINTS: usize = 30;
/// The places of a line that hold fingerprints.
const PLACES: u32 = (1 << FINGERPRINTS) - 1;
/// Addresses a line on average: one line in 1,000 overflows.
const FILL: usize = 16;
/// Marks a line with more addresses than fingerprints, in its last place.
const OVERFLOWED: u16 = 0x8000;
/// Lines on their way while a burst is looked up.
const AHEAD: usize = 48;
/// Keys looked up together; their state is 2 KiB.
const WINDOW: usize = 256;

/// 30 fingerprints, then the lower and upper half of where the addresses begin.
type Line = [u16; 32];

/// A set of IPv6 addresses, each with the lists that hold it.
#[derive(Debug)]
pub struct AddressSetV6 {
    hash: Hash,
    lines: Slab<Line>,
    /// In line order; not empty unless the set is.
    keys: Slab<u128>,
    /// By index of the key.
    column: Column,
    level: Level,
}

impl AddressSetV6 {
    /// The addresses, duplicates allowed; every hit answers with list 0.
    ///
    /// # Errors
    /// [`CompileError::Memory`].
    pub fn new(addresses: &[u128]) -> Result<Self, CompileError> {
        Self::compile(&[addresses], Secret::draw()).map(|(set, _)| set)
    }

    /// Column `i` belongs to list `i`. Also tells, for each list, how many duplicates it had.
    pub(crate) fn compile(
        columns: &[impl AsRef<[u128]>],
        secret: Secret,
    ) -> Result<(Self, Vec<u64>), CompileError> {
        let hash = secret.hash();
        let ordered = Ordered::new(columns, |address| (hash.apply(address) >> 32) as u32)?;
        Ok((fill::set(&ordered, hash)?, ordered.duplicates))
    }

    /// The same set, compared at `level`; for tests and benchmarks.
    #[must_use]
    pub fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Distinct addresses.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True when nothing matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// For each key the lists that hold it.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    #[inline]
    pub fn lookup_burst(&self, keys: &[u128], masks: &mut [ListMask]) {
        let masks = &mut masks[..keys.len()];
        if self.is_empty() {
            masks.fill(ListMask::EMPTY);
            return;
        }
        let view = View {
            hash: self.hash,
            lines: &self.lines,
            keys: &self.keys,
        };
        for (keys, masks) in keys.chunks(WINDOW).zip(masks.chunks_mut(WINDOW)) {
            simd::run(
                self.level,
                Lookup {
                    view,
                    column: &self.column,
                    keys,
                    masks,
                },
            );
        }
    }

    /// Writes which keys are in the set and tells how many are.
    ///
    /// # Panics
    /// When `found` is shorter than `keys`.
    pub fn contains_burst(&self, keys: &[u128], found: &mut [bool]) -> usize {
        let mut hits = 0;
        let found = &mut found[..keys.len()];
        let mut masks = [ListMask::EMPTY; WINDOW];
        for (keys, found) in keys.chunks(WINDOW).zip(found.chunks_mut(WINDOW)) {
            self.lookup_burst(keys, &mut masks);
            for (found, mask) in found.iter_mut().zip(&masks) {
                *found = !mask.is_empty();
                hits += usize::from(*found);
            }
        }
        hits
    }

    /// Bytes that a lookup can touch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.lines[..]) + size_of_val(&self.keys[..]) + self.column.bytes()
    }

    /// The pages of the addresses; `None` when they are few enough for the heap.
    pub(crate) fn pages(&self) -> Option<Pages> {
        self.keys.pages()
    }
}

/// What a burst reads, with the slices taken once. `keys` is not empty.
#[derive(Clone, Copy)]
struct View<'a> {
    hash: Hash,
    lines: &'a [Line],
    keys: &'a [u128],
}

/// Where a key would be.
#[derive(Clone, Copy)]
struct Candidate {
    /// Index of an address that may be the key; 0 when no fingerprint matches.
    index: u32,
    /// True when there are others: more fingerprints that match, or addresses without any.
    others: bool,
}

#[inline(always)]
fn line_of(hash: u64, lines: usize) -> usize {
    (((hash >> 32) * lines as u64) >> 32) as usize
}

#[inline(always)]
fn first_key(line: &Line) -> u32 {
    u32::from(line[30]) | u32::from(line[31] & !OVERFLOWED) << 16
}

impl View<'_> {
    #[inline(always)]
    fn candidate<S: Lanes>(self, lanes: S, hash: u64) -> Candidate {
        let line = &self.lines[line_of(hash, self.lines.len())];
        let found = lanes.equal16(line, hash as u16) & PLACES;
        let index = first_key(line) + found.trailing_zeros();
        Candidate {
            index: if found == 0 { 0 } else { index },
            others: (found & found.wrapping_sub(1) != 0) | (line[31] & OVERFLOWED != 0),
        }
    }

    /// One more than the index of `key`; 0 if it is absent. An address that compares equal is the
    /// key wherever the hint came from, so "no hint" is index 0 and costs no branch.
    #[inline(always)]
    fn number_after(self, key: u128, candidate: Candidate) -> u32 {
        let equal = self.keys.get(candidate.index as usize) == Some(&key);
        if !equal & candidate.others {
            return self.search(key);
        }
        if equal { candidate.index + 1 } else { 0 }
    }

    /// All addresses of the line of `key`, one by one.
    #[cold]
    #[inline(never)]
    fn search(self, key: u128) -> u32 {
        let index = line_of(self.hash.apply(key), self.lines.len());
        let first = first_key(&self.lines[index]) as usize;
        let end = self
            .lines
            .get(index + 1)
            .map_or(self.keys.len(), |next| first_key(next) as usize);
        let at = self.keys[first..end]
            .iter()
            .position(|&stored| stored == key);
        at.map_or(0, |at| (first + at) as u32 + 1)
    }
}

struct Lookup<'a> {
    view: View<'a>,
    column: &'a Column,
    keys: &'a [u128],
    masks: &'a mut [ListMask],
}

impl Job for Lookup<'_> {
    type Answer = ();

    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) {
        let Self {
            view,
            column,
            keys,
            masks,
        } = self;
        let mut words = [0u64; WINDOW];
        for (word, &key) in words.iter_mut().zip(keys) {
            *word = view.hash.apply(key);
        }
        let words = &mut words[..keys.len()];
        view.hint(lanes, words);
        let only = column.only();
        for ((mask, &word), &key) in masks.iter_mut().zip(words.iter()).zip(keys) {
            let candidate = Candidate {
                index: word as u32,
                others: word >> 32 != 0,
            };
            let number = view.number_after(key, candidate);
            *mask = match only {
                Some(only) => ListMask(if number == 0 { 0 } else { only.0 }),
                None => {
                    column.prefetch(number.saturating_sub(1) as usize);
                    ListMask(number)
                }
            };
        }
        if only.is_none() {
            for mask in masks {
                *mask = column.get((mask.0 as usize).wrapping_sub(1));
            }
        }
    }
}

impl View<'_> {
    /// Replaces each hash by its candidate: the index below, whether there are others above.
    #[inline(always)]
    fn hint<S: Lanes>(self, lanes: S, words: &mut [u64]) {
        for &word in words.iter().take(AHEAD) {
            prefetch(self.lines, line_of(word, self.lines.len()));
        }
        for at in 0..words.len() {
            if let Some(&ahead) = words.get(at + AHEAD) {
                prefetch(self.lines, line_of(ahead, self.lines.len()));
            }
            let candidate = self.candidate(lanes, words[at]);
            prefetch(self.keys, candidate.index as usize);
            words[at] = u64::from(candidate.index) | u64::from(candidate.others) << 32;
        }
    }
}
