//! A line of up to 30 answers, read one place at a time.

use super::{Coded, Line, place_of, used};
use crate::exact4::codes::Range;
use crate::simd::Lanes;
use std::iter::repeat_n;
use zerocopy::{FromBytes, Immutable, IntoBytes};

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
            (place_of(remainder, first), code as u8)
        });
        used(coded, places);
    }
}
