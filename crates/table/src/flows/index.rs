//! From the hash of a flow to the place of its record.
//!
//! A line of 64 bytes has ten places: 16 bits of the hash each, to compare, and where the record
//! is. A flow lies in the line that its hash names or, when that was full, in one other,
//! and a line counts those that had to go there, so that most lookups read one line, and none more
//! than two, however full the index is and whatever was removed. Where both are full, one of the
//! first line's goes to its own other line: at 6.4 of ten places taken a tenth of the lines are
//! full, so that of ten one always can.

use crate::compiled::CompileError;
use crate::memory::pieces;
use crate::simd::Lanes;
use frame::HugePiece;
use zerocopy::FromZeros;

/// Places of a line.
const PLACES: usize = 10;
/// Of a line's 16-bit words: where the lower and the upper halves of the records' numbers begin.
const LOWER: usize = PLACES;
const UPPER: usize = 2 * PLACES;
/// The word that counts flows of this line that are in their other one.
const DISPLACED: usize = 30;

/// How many lines hold so many records: 6.4 of ten places are taken at most.
pub(crate) fn lines_for(records: usize) -> usize {
    (records * 10 / 64).next_power_of_two()
}

/// Tags, the numbers of records in two halves, and how many are displaced.
#[derive(Clone, Copy, Debug, FromZeros)]
#[repr(C, align(64))]
pub(crate) struct Line([u16; 32]);

impl Line {
    /// What is read where there is no index: nothing is in it, and nothing was displaced.
    pub(crate) const EMPTY: Self = Self([0; 32]);

    /// The first record that may be meant by `hash`.
    #[inline(always)]
    pub(crate) fn guess<L: Lanes>(&self, lanes: L, hash: u64) -> Option<u32> {
        let equal = lanes.equal10(&self.0, tag_of(hash));
        (equal != 0).then(|| self.record(equal.trailing_zeros() as usize % PLACES))
    }

    /// True when a flow of this line is in its other one.
    #[inline(always)]
    pub(crate) fn has_displaced(&self) -> bool {
        self.0[DISPLACED] != 0
    }

    #[inline(always)]
    fn record(&self, place: usize) -> u32 {
        u32::from(self.0[LOWER + place]) | u32::from(self.0[UPPER + place]) << 16
    }

    fn put(&mut self, place: usize, tag: u16, record: u32) {
        self.0[place] = tag;
        self.0[LOWER + place] = record as u16;
        self.0[UPPER + place] = (record >> 16) as u16;
    }

    fn free(&self) -> Option<usize> {
        self.0[..PLACES].iter().position(|&tag| tag == 0)
    }

    fn of(&self, tag: u16, record: u32) -> Option<usize> {
        (0..PLACES).find(|&place| self.0[place] == tag && self.record(place) == record)
    }
}

/// Where a flow may be.
#[derive(Clone, Copy, Debug)]
struct Spots {
    first: usize,
    other: usize,
    tag: u16,
}

/// Lines of places.
#[derive(Debug)]
pub(crate) struct Index {
    lines: HugePiece<Line>,
}

#[cfg(test)]
thread_local! {
    /// Lines that this thread has looked at: what a flood may not raise without bound.
    pub(super) static LOOKED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts lines that are looked at, in tests alone.
#[inline(always)]
fn looked(_lines: u64) {
    #[cfg(test)]
    LOOKED.set(LOOKED.get() + _lines);
}

/// No tag is 0, which marks a free place.
#[inline(always)]
fn tag_of(hash: u64) -> u16 {
    (hash as u16).max(1)
}

impl Index {
    /// Several, each for so many records.
    pub(crate) fn several(records: usize, count: usize) -> Result<Vec<Self>, CompileError> {
        let lines = pieces(lines_for(records), count)?;
        Ok(lines.into_iter().map(|lines| Self { lines }).collect())
    }

    /// The line that `hash` names.
    #[inline(always)]
    pub(crate) fn line(&self, hash: u64) -> &Line {
        looked(1);
        let mask = self.lines.len() - 1;
        &self.lines[(hash >> 32) as usize & mask]
    }

    #[inline(always)]
    fn spots(&self, hash: u64) -> Spots {
        let mask = self.lines.len() - 1;
        let tag = tag_of(hash);
        let first = (hash >> 32) as usize & mask;
        // Odd, so that the other line is another one wherever there are two.
        let step = (hash >> 16) as usize & 0xFFFF | 1;
        Spots {
            first,
            other: (first ^ step) & mask,
            tag,
        }
    }

    /// The record for which `is_it` holds among those that may be meant by `hash`.
    #[inline(always)]
    pub(crate) fn find<L: Lanes>(
        &self,
        lanes: L,
        hash: u64,
        is_it: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        looked(1);
        let spots = self.spots(hash);
        let first = &self.lines[spots.first];
        let found = among(lanes, first, spots.tag, &is_it);
        if found.is_some() || first.0[DISPLACED] == 0 {
            return found;
        }
        looked(1);
        among(lanes, &self.lines[spots.other], spots.tag, &is_it)
    }

    /// Notes a record that is not in here; false when both its lines are full and so are the other
    /// lines of all that is in the first. `hash_of` is asked for the hashes of those.
    pub(crate) fn insert(&mut self, hash: u64, record: u32, hash_of: impl Fn(u32) -> u64) -> bool {
        looked(2);
        let Spots { first, other, tag } = self.spots(hash);
        if let Some(place) = self.lines[first].free() {
            self.lines[first].put(place, tag, record);
            return true;
        }
        if self.lines[first].0[DISPLACED] == u16::MAX {
            return false;
        }
        if let Some(place) = self.lines[other].free() {
            self.lines[other].put(place, tag, record);
            self.lines[first].0[DISPLACED] += 1;
            return true;
        }
        let freed = (0..PLACES).find(|&place| {
            let moved = self.lines[first].record(place);
            self.move_away(first, hash_of(moved), moved)
        });
        if let Some(place) = freed {
            self.lines[first].put(place, tag, record);
        }
        freed.is_some()
    }

    /// Puts a record that is in `line` into its other line as well; false when that is full.
    fn move_away(&mut self, line: usize, hash: u64, record: u32) -> bool {
        let Spots { first, other, tag } = self.spots(hash);
        looked(1);
        let to = if line == first { other } else { first };
        let may_go = line != first || self.lines[first].0[DISPLACED] < u16::MAX;
        let Some(place) = self.lines[to].free().filter(|_| may_go) else {
            return false;
        };
        self.lines[to].put(place, tag, record);
        if line == first {
            self.lines[first].0[DISPLACED] += 1;
        } else {
            self.lines[first].0[DISPLACED] -= 1;
        }
        true
    }

    /// Forgets a record; nothing happens if it is not in here.
    pub(crate) fn remove(&mut self, hash: u64, record: u32) {
        looked(2);
        let Spots { first, other, tag } = self.spots(hash);
        if let Some(place) = self.lines[first].of(tag, record) {
            self.lines[first].put(place, 0, 0);
        } else if let Some(place) = self.lines[other].of(tag, record) {
            self.lines[other].put(place, 0, 0);
            self.lines[first].0[DISPLACED] -= 1;
        }
    }

    /// Bytes of its lines.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }
}

#[inline(always)]
fn among<L: Lanes>(lanes: L, line: &Line, tag: u16, is_it: &impl Fn(u32) -> bool) -> Option<u32> {
    let mut equal = lanes.equal10(&line.0, tag);
    while equal != 0 {
        let record = line.record(equal.trailing_zeros() as usize % PLACES);
        if is_it(record) {
            return Some(record);
        }
        equal &= equal - 1;
    }
    None
}
