//! Where a lookup reads values: side by side, or in pages that versions share.

use frame::memory::PagedView;
use frame::prefetch;
use std::ptr;

/// Values by index: side by side, or in pages that versions share.
pub(super) trait Column<'a, T: 'a>: Copy {
    /// How many values.
    fn len(self) -> usize;
    /// The value at an index, which must be there.
    fn at(self, index: usize) -> &'a T;
    /// Asks for the line of a value, into the second cache level if `FAR`.
    fn ask<const FAR: bool>(self, index: usize);
}

/// A [`Column`] whose values are found at one time and read at another.
pub(super) trait Findable<'a, T: 'a>: Column<'a, T> {
    /// What is kept of a value that was found: the least that finds it again.
    type Found: Copy;
    /// Finds a value that must be there and asks for its line, into the first cache level.
    fn find(self, index: u32) -> Self::Found;
    /// Reads what was found.
    fn read(self, found: Self::Found) -> &'a T;
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

impl<'a, T> Findable<'a, T> for &'a [T] {
    type Found = u32;
    #[inline(always)]
    fn find(self, index: u32) -> u32 {
        self.ask::<false>(index as usize);
        index
    }
    #[inline(always)]
    fn read(self, found: u32) -> &'a T {
        self.at(found as usize)
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

impl<'a, T> Findable<'a, T> for PagedView<'a, T> {
    type Found = &'a T;
    #[inline(always)]
    fn find(self, index: u32) -> &'a T {
        let value = self.value(index as usize);
        prefetch::read(ptr::from_ref(value).cast());
        value
    }
    #[inline(always)]
    fn read(self, found: &'a T) -> &'a T {
        found
    }
}
