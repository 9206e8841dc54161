//! What one line holds: some places with a code each, and a mark when it could not take all its
//! addresses.
//!
//! A code is a small number for the answer of an address; 0 means "none". So a hit reads no
//! second line, however many lists there are.

use super::codes::Range;
use super::lookup::GROUP;
use crate::simd::Lanes;
use frame::{Groups, Shares};
use std::iter::{repeat, repeat_n};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// A place and its code, never 0.
pub(crate) type Coded = (u32, u8);

/// A 64-byte line: all places are compared at once.
pub(crate) trait Line:
    Copy + FromZeros + IntoBytes + Immutable + Send + Sync + 'static
{
    /// Addresses that fit.
    const PLACES: usize;
    /// Addresses a line holds on average when the table is built: what overflows goes to the side
    /// table, so this trades memory against the few lookups that need it.
    const FILL: usize;
    /// Fewest lines for which what is stored of a place is unambiguous.
    const LINES_MIN: usize;
    /// Codes for answers.
    const CODES: Range;
    /// True where an address whose answer has no code may be in a line, as [`Line::ASIDE`].
    const ESCAPES: bool;
    /// What a line says of a place whose answer is in the side table, or may be: none of
    /// [`Line::CODES`].
    const ASIDE: u8;

    /// What a line says of a place that it does not have.
    const NONE: u8 = 0;

    /// The code of `place`: 0 if it has no answer, [`Line::ASIDE`] if the side table has it.
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u8;
    /// The codes of groups of places that were asked for, at most `COUNT`, an even number: of each
    /// the number, and another to ask for then. Codes behind those of the last group may be any.
    #[inline(always)]
    fn find_all<'l, S: Lanes, C: Shares<'l, Self, GROUP>, const FAR: bool, const COUNT: usize>(
        lanes: S,
        shares: &mut C,
        groups: impl Iterator<Item = (usize, Option<usize>)>,
        codes: &mut [[u8; GROUP]; COUNT],
    ) where
        Self: 'l,
    {
        find_each::<_, _, _, FAR, _>(lanes, shares, groups, codes);
    }
    /// True when an address of this line may be in the side table alone.
    fn overflowed(&self) -> bool;
    /// The line of these places, at most [`Line::PLACES`]; `first` is the lowest place that
    /// belongs to the line.
    fn encode(places: &mut [Coded], overflowed: bool, first: u32) -> Self;
    /// Appends the places of the line.
    fn decode(&self, first: u32, places: &mut Vec<Coded>);
}

/// [`Line::find_all`], one place after another.
#[inline(always)]
fn find_each<
    'l,
    L: Line,
    S: Lanes,
    C: Shares<'l, L, GROUP>,
    const FAR: bool,
    const COUNT: usize,
>(
    lanes: S,
    shares: &mut C,
    groups: impl Iterator<Item = (usize, Option<usize>)>,
    codes: &mut [[u8; GROUP]; COUNT],
) {
    for (codes, (group, next)) in codes.iter_mut().zip(groups) {
        let (places, lines) = shares.get(group);
        for (code, (&place, line)) in codes.iter_mut().zip(places.iter().zip(lines)) {
            *code = line.find(lanes, place);
        }
        if let Some(next) = next {
            shares.ask::<FAR>(next);
        }
    }
}

/// 31 places of 16 bits, one answer for all, then the code of a place that is here (1) and of one
/// that is not.
///
/// An unused place repeats the first one; a line without any holds a remainder that none of its
/// places has. So a compare needs no count.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(64))]
pub(crate) struct Narrow {
    remainders: [u16; 31],
    codes: [u8; 2],
}

/// 21 places of 16 bits, their codes, and the code of every other place: 0, or [`Line::ASIDE`] in a
/// line that could not take all its addresses. So a miss is one more place, and costs no branch. An
/// unused place repeats the first, or answers as a miss does where there is none (in a line that
/// overflowed once it then looks like a place whose answer is in the side table, which is true).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(64))]
pub(crate) struct Shared {
    remainders: [u16; 21],
    codes: [u8; 22],
}

/// 12 whole places, their codes, and the code of every other place, as in [`Shared`]; the last
/// three bytes are not in use.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(64))]
pub(crate) struct Wide {
    places: [u32; 12],
    codes: [u8; 16],
}

impl Line for Narrow {
    const PLACES: usize = 31;
    // 18 of 31: by the Poisson distribution one line in 600 overflows, by an address or two.
    const FILL: usize = 18;
    // A line spans at most 65,535 places, so that one 16-bit remainder stays free in each.
    const LINES_MIN: usize = 65_538;
    const CODES: Range = Range { first: 1, count: 1 };
    const ESCAPES: bool = false;
    const ASIDE: u8 = 255;

    // The code is loaded by place: a choice between two values became a branch, guessed wrong
    // where hits and misses mix, which halved the rate.
    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u8 {
        let found = lanes.among31(zerocopy::transmute_ref!(self), place as u16);
        self.codes[usize::from(!found)]
    }

    #[inline(always)]
    fn find_all<'l, S: Lanes, C: Shares<'l, Self, GROUP>, const FAR: bool, const COUNT: usize>(
        lanes: S,
        shares: &mut C,
        groups: impl Iterator<Item = (usize, Option<usize>)>,
        codes: &mut [[u8; GROUP]; COUNT],
    ) {
        if !S::MARKS {
            return find_each::<_, _, _, FAR, _>(lanes, shares, groups, codes);
        }
        const { assert!(COUNT.is_multiple_of(2)) };
        let mut marked = Groups::<u32, GROUP, COUNT>::new();
        for (group, next) in groups {
            let (places, lines) = shares.get(group);
            marked.push(|index| {
                let line = zerocopy::transmute_ref!(lines[index]);
                lanes.marked31(line, places[index] as u16)
            });
            if let Some(next) = next {
                shares.ask::<FAR>(next);
            }
        }
        if !marked.as_slice().len().is_multiple_of(2) {
            // Of the two that vectors take together nobody asks for this one.
            marked.push(|_| 0);
        }
        let marked = marked.as_slice().as_flattened().as_chunks().0;
        let codes = codes.as_flattened_mut().as_chunks_mut().0;
        for (codes, marked) in codes.iter_mut().zip(marked) {
            *codes = lanes.codes31(marked);
        }
    }

    #[inline(always)]
    fn overflowed(&self) -> bool {
        self.codes[1] != 0
    }

    fn encode(places: &mut [Coded], overflowed: bool, first: u32) -> Self {
        let unused = places
            .first()
            .map_or(first.wrapping_sub(1), |coded| coded.0);
        let mut line = Self {
            remainders: [unused as u16; 31],
            codes: [1, if overflowed { Self::ASIDE } else { 0 }],
        };
        for (slot, &(place, _)) in line.remainders.iter_mut().zip(&*places) {
            *slot = place as u16;
        }
        line
    }

    fn decode(&self, first: u32, places: &mut Vec<Coded>) {
        let head = self.remainders[0];
        let mut coded = self.remainders.iter().map(|remainder| {
            let offset = remainder.wrapping_sub(first as u16);
            (first.wrapping_add(u32::from(offset)), 1)
        });
        let held = coded
            .next()
            .filter(|_| head != first.wrapping_sub(1) as u16);
        places.extend(held);
        places.extend(coded.filter(|&(place, _)| place as u16 != head));
    }
}

const SHARED_PLACES: u32 = (1 << 21) - 1;

impl Line for Shared {
    const PLACES: usize = 21;
    // 12 of 21: one line in 200 overflows; 5.3 bytes an address.
    const FILL: usize = 12;
    const LINES_MIN: usize = 65_536;
    const CODES: Range = Range {
        first: 1,
        count: 254,
    };
    const ESCAPES: bool = true;
    const ASIDE: u8 = 255;

    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u8 {
        let found = lanes.equal16(zerocopy::transmute_ref!(self), place as u16);
        let index = (found | !SHARED_PLACES).trailing_zeros();
        self.codes[index as usize]
    }

    #[inline(always)]
    fn overflowed(&self) -> bool {
        self.codes[21] != 0
    }

    fn encode(places: &mut [Coded], overflowed: bool, _first: u32) -> Self {
        let mut line = Self {
            remainders: [0; 21],
            codes: [0; 22],
        };
        let miss = if overflowed { Self::ASIDE } else { 0 };
        let unused = places.first().copied().unwrap_or((0, miss));
        let places = places.iter().chain(repeat(&unused)).take(Self::PLACES);
        for (index, &(place, code)) in places.enumerate() {
            (line.remainders[index], line.codes[index]) = (place as u16, code);
        }
        line.codes[Self::PLACES] = miss;
        line
    }

    fn decode(&self, first: u32, places: &mut Vec<Coded>) {
        let coded = self.remainders.iter().zip(&self.codes);
        let place = |remainder: u16| {
            let offset = remainder.wrapping_sub(first as u16);
            first.wrapping_add(u32::from(offset))
        };
        let coded = coded.map(|(&remainder, &code)| (place(remainder), code));
        used(coded, places);
    }
}

/// 28 places of 16 bits in the order of their codes, and 64 bits that tell these: as many zeros as
/// the code of a place says come before its one.
///
/// So 28 codes of up to 35 take 63 bits. The last bit is the one of every other place where the
/// line could not take all its addresses; without it those have none. Unused places, in front,
/// repeat the first; a line without any holds a remainder that none of its places has.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(64))]
pub(crate) struct Packed {
    remainders: [u16; 28],
    ones: u64,
}

const PACKED_PLACES: u32 = (1 << 28) - 1;

impl Line for Packed {
    const PLACES: usize = 28;
    // 16 of 28: one line in 450 overflows; 4.0 bytes an address. With 15 and 17 lookups took as
    // long.
    const FILL: usize = 16;
    // As for `Narrow`.
    const LINES_MIN: usize = 65_538;
    // 5 to 34; 35 and 36 end as 3 and 4 do.
    const CODES: Range = Range {
        first: 5,
        count: 30,
    };
    const ESCAPES: bool = true;
    const ASIDE: u8 = 35;
    const NONE: u8 = 36;

    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u8 {
        let found = lanes.equal16(zerocopy::transmute_ref!(self), place as u16) | !PACKED_PLACES;
        lanes.zeros_below(self.ones, found) as u8
    }

    #[inline(always)]
    fn overflowed(&self) -> bool {
        self.ones >> 63 != 0
    }

    fn encode(places: &mut [Coded], overflowed: bool, first: u32) -> Self {
        places.sort_unstable_by_key(|coded| coded.1);
        let unused = places.first().copied();
        let unused = unused.unwrap_or((first.wrapping_sub(1), 0));
        let mut line = Self {
            remainders: [0; 28],
            ones: u64::from(overflowed) << 63,
        };
        let unused = repeat_n(&unused, Self::PLACES - places.len());
        for (index, &(place, code)) in unused.chain(&*places).enumerate() {
            line.remainders[index] = place as u16;
            line.ones |= 1 << (index + usize::from(code));
        }
        line
    }

    fn decode(&self, first: u32, places: &mut Vec<Coded>) {
        let mut ones = self.ones;
        let coded = self.remainders.iter().zip(0..).map(|(&remainder, index)| {
            let code = ones.trailing_zeros() - index;
            ones &= ones - 1;
            let offset = remainder.wrapping_sub(first as u16);
            (first.wrapping_add(u32::from(offset)), code as u8)
        });
        used(coded, places);
    }
}

/// Appends the places that are in use: the first, and all that differ from it.
fn used(mut all: impl Iterator<Item = Coded>, places: &mut Vec<Coded>) {
    let first = all.next().unwrap_or_default();
    places.extend((first.1 != 0).then_some(first));
    places.extend(all.filter(|coded| coded.0 != first.0));
}

const WIDE_PLACES: u32 = (1 << 12) - 1;

impl Line for Wide {
    const PLACES: usize = 12;
    // 5 of 12: one line in 500 overflows; 12.8 bytes an address. With 6 it is one in 110, and
    // lookups that find nothing, or come by 256, were 3 to 10 % slower.
    const FILL: usize = 5;
    const LINES_MIN: usize = 1;
    const CODES: Range = Shared::CODES;
    const ESCAPES: bool = true;
    const ASIDE: u8 = 255;

    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u8 {
        let found = lanes.equal32(zerocopy::transmute_ref!(self), place) & WIDE_PLACES;
        let index = (found | 1 << Self::PLACES).trailing_zeros();
        self.codes[index as usize]
    }

    #[inline(always)]
    fn overflowed(&self) -> bool {
        self.codes[Self::PLACES] != 0
    }

    fn encode(places: &mut [Coded], overflowed: bool, _first: u32) -> Self {
        let mut line = Self {
            places: [0; 12],
            codes: [0; 16],
        };
        let miss = if overflowed { Self::ASIDE } else { 0 };
        let unused = places.first().copied().unwrap_or((0, miss));
        let places = places.iter().chain(repeat(&unused)).take(Self::PLACES);
        for (index, &(place, code)) in places.enumerate() {
            (line.places[index], line.codes[index]) = (place, code);
        }
        line.codes[Self::PLACES] = miss;
        line
    }

    fn decode(&self, _first: u32, places: &mut Vec<Coded>) {
        let coded = self.places.iter().zip(&self.codes);
        used(coded.map(|(&place, &code)| (place, code)), places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    /// Lines of every fullness say what was put in, and nothing else.
    fn check<L: Line>(first: u32, span: u32) {
        for count in (0..=L::PLACES).step_by(if cfg!(miri) { 13 } else { 1 }) {
            for overflowed in [false, true] {
                let place = |index: usize| first.wrapping_add((index as u32 * 37) % span);
                let code = |index: usize| match index % (usize::from(L::CODES.count) + 1) {
                    0 if L::ESCAPES => L::ASIDE,
                    index => L::CODES.first + (index % usize::from(L::CODES.count)) as u8,
                };
                let mut given: Vec<Coded> = (0..count).map(|i| (place(i), code(i))).collect();
                let line = L::encode(&mut given, overflowed, first);
                assert_eq!(line.overflowed(), overflowed, "{count}");
                let mut decoded = Vec::new();
                line.decode(first, &mut decoded);
                decoded.sort_unstable();
                given.sort_unstable();
                if count > 0 {
                    assert_eq!(decoded, given);
                }
                for index in 0..L::PLACES + 5 {
                    let found = line.find(Portable, place(index));
                    let miss = if overflowed { L::ASIDE } else { L::NONE };
                    let wanted = if index < count { code(index) } else { miss };
                    assert_eq!(found, wanted, "{index} of {count}");
                }
            }
        }
    }

    #[test]
    fn lines_hold_what_they_were_given() {
        let firsts = [77, 0, 1, 0xffff, 0x1_2345, u32::MAX - 60_000];
        for &first in &firsts[..if cfg!(miri) { 1 } else { firsts.len() }] {
            check::<Narrow>(first, 65_535);
            check::<Packed>(first, 65_535);
            check::<Shared>(first, 65_536);
            check::<Wide>(first, 1 << 20);
        }
    }

    /// No code of a short range is mistaken for another where lower bits decide.
    #[test]
    fn codes_have_places_of_their_own() {
        fn check<L: Line>() {
            let codes = L::CODES.first..=L::CODES.first + (L::CODES.count - 1);
            assert!(!codes.contains(&L::ASIDE) && !codes.contains(&L::NONE));
            let mut taken: Vec<usize> = codes.map(|code| L::CODES.index(code)).collect();
            taken.extend([L::ASIDE, L::NONE].map(|code| L::CODES.index(code)));
            let count = taken.len();
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), count);
        }
        check::<Narrow>();
        check::<Packed>();
        check::<Shared>();
        check::<Wide>();
    }
}
