//! What one line holds: some places with a code each, and a mark when it could not take all its
//! addresses.
//!
//! A code is a small number for the answer of an address; 0 means "none". So a hit reads no
//! second line, however many lists there are.

mod narrow;
mod shared;
mod wide;

use super::codes::Range;
use crate::simd::Lanes;
use frame::Shares;
pub(crate) use narrow::Narrow;
pub(crate) use shared::Shared;
pub(crate) use wide::Wide;
use zerocopy::{FromZeros, Immutable, IntoBytes};

/// Keys whose lines are found, asked for and answered together.
pub(super) const GROUP: usize = 8;

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

/// The place of a line that has this remainder; `first` is the lowest one that belongs to the line.
fn place_of(remainder: u16, first: u32) -> u32 {
    first.wrapping_add(u32::from(remainder.wrapping_sub(first as u16)))
}

/// Appends the places that are in use: the first, and all that differ from it.
fn used(mut all: impl Iterator<Item = Coded>, places: &mut Vec<Coded>) {
    let first = all.next().unwrap_or_default();
    places.extend((first.1 != 0).then_some(first));
    places.extend(all.filter(|coded| coded.0 != first.0));
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
            check::<Shared>(first, 65_536);
            check::<Wide>(first, 1 << 20);
        }
    }
}
