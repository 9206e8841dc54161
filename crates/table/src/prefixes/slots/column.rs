//! Where a lookup reads values: side by side, or in pages that versions share.

use frame::memory::PagedView;
use frame::prefetch;

/// Values by index: side by side, or in pages that versions share.
pub(super) trait Column<'a, T: 'a>: Copy {
    /// How many values.
    fn len(self) -> usize;
    /// The value at an index, which must be there.
    fn at(self, index: usize) -> &'a T;
    /// Asks for the line of a value, into the second cache level if `FAR`.
    fn ask<const FAR: bool>(self, index: usize);
}

impl<'a, T> Column<'a, T> for &'a [T] {
    #[inline(always)]
    fn len(self) -> usize {
        <[T]>::len(self)
    }
    #[inline(always)]
    fn at(self, index: usize) -> &'a T {
        &self[index]
    }
    #[inline(always)]
    fn ask<const FAR: bool>(self, index: usize) {
        prefetch::read_into::<FAR>(self.as_ptr().wrapping_add(index).cast());
    }
}

/// As many as 16 bits count: what they choose needs no look whether it is there.
impl<'a, T> Column<'a, T> for &'a [T; 1 << 16] {
    #[inline(always)]
    fn len(self) -> usize {
        1 << 16
    }
    #[inline(always)]
    fn at(self, index: usize) -> &'a T {
        &self[index]
    }
    #[inline(always)]
    fn ask<const FAR: bool>(self, index: usize) {
        self.as_slice().ask::<FAR>(index);
    }
}

impl<'a, T> Column<'a, T> for PagedView<'a, T> {
    #[inline(always)]
    fn len(self) -> usize {
        PagedView::len(self)
    }
    #[inline(always)]
    fn at(self, index: usize) -> &'a T {
        self.value(index)
    }
    #[inline(always)]
    fn ask<const FAR: bool>(self, index: usize) {
        if FAR {
            self.prefetch_far(index);
        } else {
            self.prefetch(index);
        }
    }
}
