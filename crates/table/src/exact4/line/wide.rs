//! A line for few addresses.

use super::{Coded, Line, Shared, used};
use crate::exact4::codes::Range;
use crate::simd::Lanes;
use std::iter::repeat;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// 12 whole places, their codes, and the code of every other place, as in [`Shared`]; the last
/// three bytes are not in use.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(64))]
pub(crate) struct Wide {
    places: [u32; 12],
    codes: [u8; 16],
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
