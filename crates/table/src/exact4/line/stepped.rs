//! A line of up to 30 answers, read by vectors.

use super::{Coded, Line, find_each, place_of};
use crate::exact4::codes::Range;
use crate::exact4::lookup::GROUP;
use crate::simd::Lanes;
use frame::{Groups, Shares};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// 28 places of 16 bits, in descending order of their codes, and a step of up to three for each: a
/// code is the sum of the steps from its place to the last.
///
/// Behind the last place is a step of one where the line could not take all its addresses: so
/// every other place has the code 0 or 1. Where codes are more than three apart unused places have
/// steps between them. These, and those in front, hold a remainder that none of the line's places
/// has.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(64))]
pub(crate) struct Stepped {
    remainders: [u16; 28],
    steps: u64,
}

/// The step of a line that overflowed.
const OVERFLOWED: u64 = 1 << 29;
/// The highest step of a place.
const STEP_MAX: u8 = 3;

impl Stepped {
    /// How high the step of a place is.
    fn step(&self, index: usize) -> u8 {
        ((self.steps >> (1 + index) & 1) + 2 * (self.steps >> (33 + index) & 1)) as u8
    }
}

impl Line for Stepped {
    const PLACES: usize = 28;
    // 16 of 28, as `Packed`: 4.0 bytes an address. One line in 400 overflows where 16 answers are
    // alike, one in 190 of 30; `fill` tells when it is too many.
    const FILL: usize = 16;
    // As for `Narrow`.
    const LINES_MIN: usize = 65_538;
    const CODES: Range = Range {
        first: 2,
        count: 30,
    };
    const ESCAPES: bool = true;
    const ASIDE: u8 = 1;

    #[inline(always)]
    fn find<S: Lanes>(&self, lanes: S, place: u32) -> u8 {
        let found = lanes.equal16(zerocopy::transmute_ref!(self), place as u16);
        lanes.sum_steps_of_one(found, self.steps)
    }

    #[inline(always)]
    fn find_all<'l, S: Lanes, C: Shares<'l, Self, GROUP>, const FAR: bool, const COUNT: usize>(
        lanes: S,
        shares: &mut C,
        groups: impl Iterator<Item = (usize, Option<usize>)>,
        codes: &mut [[u8; GROUP]; COUNT],
    ) {
        if !lanes.sums_steps() {
            return find_each::<_, _, _, FAR, _>(lanes, shares, groups, codes);
        }
        const { assert!(COUNT.is_multiple_of(2)) };
        let mut found = Groups::<u32, GROUP, COUNT>::new();
        let mut steps = Groups::<u64, GROUP, COUNT>::new();
        for (group, next) in groups {
            let (places, lines) = shares.get(group);
            found.push(|index| {
                lanes.equal16(zerocopy::transmute_ref!(lines[index]), places[index] as u16)
            });
            steps.push(|index| lines[index].steps);
            if let Some(next) = next {
                shares.ask::<FAR>(next);
            }
        }
        if !found.as_slice().len().is_multiple_of(2) {
            // Of the two that vectors take together nobody asks for this one.
            found.push(|_| 0);
            steps.push(|_| 0);
        }
        let found = found.as_slice().as_flattened().as_chunks().0.iter();
        let all = found.zip(steps.as_slice().as_flattened().as_chunks().0);
        let codes = codes.as_flattened_mut().as_chunks_mut().0;
        for (codes, (found, steps)) in codes.iter_mut().zip(all) {
            *codes = lanes.sum_steps(found, steps);
        }
    }

    #[inline(always)]
    fn overflowed(&self) -> bool {
        self.steps & OVERFLOWED != 0
    }

    fn encode(places: &mut [Coded], overflowed: bool, first: u32) -> Self {
        places.sort_unstable_by_key(|coded| coded.1);
        let mut line = Self {
            remainders: [first.wrapping_sub(1) as u16; 28],
            steps: if overflowed { OVERFLOWED } else { 0 },
        };
        let (mut index, mut sum) = (Self::PLACES, u8::from(overflowed));
        for &(place, code) in &*places {
            loop {
                index -= 1;
                let step = (code - sum).min(STEP_MAX);
                sum += step;
                line.steps |= u64::from(step & 1) << (1 + index);
                line.steps |= u64::from(step >> 1) << (33 + index);
                if sum == code {
                    break;
                }
            }
            line.remainders[index] = place as u16;
        }
        line
    }

    fn decode(&self, first: u32, places: &mut Vec<Coded>) {
        let mut code = u8::from(self.overflowed());
        for (index, &remainder) in self.remainders.iter().enumerate().rev() {
            code += self.step(index);
            if remainder != first.wrapping_sub(1) as u16 {
                places.push((place_of(remainder, first), code));
            }
        }
    }

    fn fits(places: &[Coded]) -> bool {
        let codes = places
            .iter()
            .fold(0, |codes: u64, coded| codes | 1 << coded.1);
        let (mut left, mut below, mut unused) = (codes, 0, 0);
        while left != 0 {
            let code = left.trailing_zeros();
            unused += (code - below - 1) / u32::from(STEP_MAX);
            (below, left) = (code, left & (left - 1));
        }
        places.len() + unused as usize <= Self::PLACES
    }
}
