//! What one line holds: four places of an address each, with the code of its answer.
//!
//! An address is stored as 120 of its 128 mixed bits; the line implies the rest. The four lower
//! words come first, then the four upper ones: so a vector compares one word of all places. The
//! top byte of an upper word is the code (7 bits, 0 where the place is free) under a mark: mark
//! `i` says that an address whose bits 0 and 1 are `i` found the line full and lies further on.
//! Places are taken from the front, so a free place, which compares equal to an address of 120
//! zero bits, comes after any place that holds that very address.

use super::codes::Code;
use crate::simd::{Lanes, Portable};

/// 64 bytes: the lower words of all places, then the upper words.
pub(super) type Line = [u64; 8];
/// A mixed address: its lower and upper half.
pub(super) type Word = [u64; 2];

/// Addresses that fit a line.
pub(super) const PLACES: usize = 4;
/// The upper word of place 0.
const UPPER: usize = PLACES;
/// The bits of an upper word that belong to the address.
const ADDRESS: u64 = u64::MAX >> 8;
const CODE: u64 = 0x7f << 56;
const MARK: u64 = 1 << 63;

/// The fewest lines; they fill a page of the column, and a table has whole pages.
pub(super) const LINES_MIN: usize = 1024;
/// The most lines: places are numbered with 32 bits.
pub(super) const LINES_MAX: usize = 1 << 30;
const REACH_MAX: usize = 31;

/// How many lines after its own an address may lie.
///
/// What a line does not store, the top 8 bits of the upper half, must follow from the line. With
/// `n` lines, of which the upper 32 bits of a half choose one by multiply-shift, the addresses that
/// may lie in a line are those of `reach + 1` neighbouring lines (of a circle). Their upper 32 bits
/// are at most `ceil((reach + 1) 2^32 / n)` neighbouring numbers (of a circle of 2^32). Two halves
/// that agree in all but the top 8 bits differ in their upper 32 by a multiple of 2^24. So they
/// cannot both be among 2^24 neighbours unless they are equal: `reach + 1 <= n / 256` is enough.
#[inline(always)]
pub(super) fn reach(lines: usize) -> usize {
    (lines / 256).clamp(1, REACH_MAX + 1) - 1
}

/// The line where an address belongs.
#[inline(always)]
pub(super) fn home(word: Word, lines: usize) -> usize {
    ((u64::from(portion(word)) * lines as u64) >> 32) as usize
}

/// Where among all lines that is, in parts of 2^32.
#[inline(always)]
pub(super) fn portion(word: Word) -> u32 {
    (word[1] >> 32) as u32
}

/// The line after `line`; the first follows the last.
#[inline(always)]
pub(super) fn after(line: usize, lines: usize) -> usize {
    if line + 1 < lines { line + 1 } else { 0 }
}

/// What a compare of a line with a word tells.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The code of the place that holds the word; 0 when none does.
    pub(super) code: Code,
    /// 1 when the word, not being here, may lie in the next line; 0 when not.
    pub(super) passed: u64,
}

/// Looks for `word`; without a branch, so that hits and misses mix without mispredictions.
#[inline(always)]
pub(super) fn look<S: Lanes>(lanes: S, line: &Line, word: Word) -> Found {
    let code = code_of(lanes.find120(line, word));
    // The top bit of the difference is set where there is no code: five instructions in all, where
    // comparing code and mark took eight.
    let passed = line[mark_of(word)] & u64::from(code).wrapping_sub(1);
    Found {
        code,
        passed: passed >> 63,
    }
}

#[inline(always)]
fn code_of(upper: u64) -> Code {
    (upper >> 56) as Code & 0x7f
}

/// The place that holds `word`.
pub(super) fn find(line: &Line, word: Word) -> Option<usize> {
    let places = Portable.equal120(line, word);
    let place = places.trailing_zeros() as usize;
    (places != 0 && code(line, place) != 0).then_some(place)
}

/// The first free place.
#[inline]
pub(super) fn free(line: &Line) -> Option<usize> {
    (0..PLACES).find(|&place| code(line, place) == 0)
}

/// The code of a place; 0 when it is free.
#[inline]
pub(super) fn code(line: &Line, place: usize) -> Code {
    code_of(line[UPPER + place])
}

/// Gives a place another code.
#[inline]
pub(super) fn set_code(line: &mut Line, place: usize, code: Code) {
    let upper = &mut line[UPPER + place];
    *upper = *upper & !CODE | u64::from(code) << 56;
}

/// Puts a word into a place.
#[inline]
pub(super) fn put(line: &mut Line, place: usize, word: Word, code: Code) {
    line[place] = word[0];
    let upper = &mut line[UPPER + place];
    *upper = *upper & MARK | word[1] & ADDRESS | u64::from(code) << 56;
}

/// The 120 bits that a place stores.
#[inline]
pub(super) fn stored(line: &Line, place: usize) -> Word {
    [line[place], line[UPPER + place] & ADDRESS]
}

/// True when words like `word` went further.
#[inline(always)]
pub(super) fn is_marked(line: &Line, word: Word) -> bool {
    line[mark_of(word)] & MARK != 0
}

/// Notes that `word` went further.
#[inline]
pub(super) fn mark(line: &mut Line, word: Word) {
    line[mark_of(word)] |= MARK;
}

#[inline(always)]
fn mark_of(word: Word) -> usize {
    UPPER + (word[0] as usize & 3)
}

/// A whole word of what a place of line `line` stores: the inverse of leaving the top byte out.
pub(super) fn whole(stored: Word, line: usize, lines: usize) -> Word {
    let first = (line + lines - reach(lines)) % lines;
    let first = ((first as u64) << 32).div_ceil(lines as u64) as u32;
    // The only number from `first` on, of 2^24, with these lower 24 bits.
    let below = (stored[1] >> 32) as u32;
    let upper = first.wrapping_add(below.wrapping_sub(first) & 0xff_ffff);
    [stored[0], u64::from(upper) << 32 | stored[1] & 0xffff_ffff]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At both ends of every line, for numbers of lines where rounding matters.
    #[test]
    fn the_line_implies_what_is_not_stored() {
        for lines in [1024, 1025, 1279, 1280, 5001, 8191, 8192, 99_991, 2_400_001] {
            let step = lines / if cfg!(miri) { 10 } else { 500 };
            let ends = (0..lines).step_by(step).flat_map(|line| {
                let first = ((line as u64) << 32).div_ceil(lines as u64);
                [first, first.wrapping_sub(1) & 0xffff_ffff]
            });
            for upper in ends {
                let word = [7, upper << 32 | 5];
                let stored = [7, word[1] & ADDRESS];
                for distance in [0, 1, reach(lines) / 2, reach(lines)] {
                    let line = (home(word, lines) + distance) % lines;
                    assert_eq!(whole(stored, line, lines), word, "{lines} {distance}");
                }
            }
        }
    }

    #[test]
    fn places_keep_marks_and_marks_keep_places() {
        let mut line = [0; 8];
        let words: [Word; 4] = [[0, 0], [1, 2], [2, ADDRESS], [u64::MAX, 9]];
        mark(&mut line, [5, 0]);
        for (place, &word) in words.iter().enumerate() {
            assert_eq!(free(&line), Some(place));
            assert_eq!(find(&line, word), None);
            put(&mut line, place, word, 127 - place as Code);
            assert_eq!(find(&line, word), Some(place));
        }
        mark(&mut line, [14, 0]);
        set_code(&mut line, 3, 1);
        assert_eq!(free(&line), None);
        let marked = [4, 5, 6, 7].map(|low| is_marked(&line, [low, 0]));
        assert_eq!(marked, [false, true, true, false]);
        for (place, &word) in words.iter().enumerate() {
            assert_eq!(stored(&line, place), word);
            let wanted = [127, 126, 125, 1][place];
            assert_eq!(code(&line, place), wanted);
            let found = look(Portable, &line, word);
            assert_eq!((found.code, found.passed), (wanted, 0));
        }
        let passed = [9, 8].map(|low| look(Portable, &line, [low, 6]).passed);
        assert_eq!(passed, [1, 0]);
    }
}
