//! A line of one answer.

use super::{Coded, GROUP, Line, find_each, place_of};
use crate::exact4::codes::Range;
use crate::simd::Lanes;
use frame::{Groups, Shares};
use zerocopy::{FromBytes, Immutable, IntoBytes};

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
        let all = self.remainders.iter();
        let mut coded = all.map(|&remainder| (place_of(remainder, first), 1));
        let held = coded
            .next()
            .filter(|_| head != first.wrapping_sub(1) as u16);
        places.extend(held);
        places.extend(coded.filter(|&(place, _)| place as u16 != head));
    }
}
