//! Lines by their *places*: where they begin, in numbers of 16 bits from the first line on.
//!
//! A lookup keeps the place of a line, not its number: it is asked for and read without a shift.

use super::NUMBER;
use super::line::Line;
use frame::Windows;
use frame::memory::PagedView;

/// The numbers of 16 bits in a line, as a shift.
const BITS: u32 = size_of::<Line>().ilog2() - 1;

const _: () = assert!(NUMBER < 1 << (u32::BITS - BITS), "a place has 32 bits");

/// The place of the line of a number.
#[inline(always)]
pub(super) const fn of(number: u32) -> u32 {
    number << BITS
}

/// Lines by place.
pub(super) trait Places<'a>: Copy {
    /// The line at a place, which must be there.
    fn at(self, place: u32) -> &'a Line;
    /// Asks for the line at a place.
    fn ask(self, place: u32);
}

impl<'a> Places<'a> for Windows<'a, u16, 32> {
    #[inline(always)]
    fn at(self, place: u32) -> &'a Line {
        Windows::at(self, place)
    }
    #[inline(always)]
    fn ask(self, place: u32) {
        Windows::ask::<false>(self, place);
    }
}

impl<'a> Places<'a> for PagedView<'a, Line> {
    #[inline(always)]
    fn at(self, place: u32) -> &'a Line {
        self.value((place >> BITS) as usize)
    }
    #[inline(always)]
    fn ask(self, place: u32) {
        self.prefetch((place >> BITS) as usize);
    }
}
