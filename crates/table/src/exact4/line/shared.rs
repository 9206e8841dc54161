//! A line of up to 254 answers.

use super::{Coded, Line, place_of, used};
use crate::exact4::codes::Range;
use crate::simd::Lanes;
use std::iter::repeat;
use zerocopy::{FromBytes, Immutable, IntoBytes};

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
        let coded = coded.map(|(&remainder, &code)| (place_of(remainder, first), code));
        used(coded, places);
    }
}
