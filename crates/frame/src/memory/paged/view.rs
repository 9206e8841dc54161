//! A column in pages, to be read.

use core::ops::Index;

use super::Paged;
use crate::memory::PAGED_BYTES;
use crate::prefetch;

/// A [`Paged`] to be read: one more load a value than a slice, of a directory that stays cached.
#[derive(Debug)]
pub struct PagedView<'a, T> {
    /// Where the first value would be for each page, as [`Paged`] has it.
    pub(super) directory: &'a [*mut T],
    pub(super) len: usize,
}

impl<T> Clone for PagedView<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PagedView<'_, T> {}

impl<'a, T> PagedView<'a, T> {
    /// How many values.
    #[inline(always)]
    #[must_use]
    pub fn len(self) -> usize {
        self.len
    }

    /// True when there are none.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The value at `index`.
    #[inline(always)]
    #[must_use]
    pub fn get(self, index: usize) -> Option<&'a T> {
        // SAFETY: `at` gives the address of a value of the Paged that `'a` borrows: initialised,
        // and not written while it is borrowed.
        (index < self.len).then(|| unsafe { &*self.at(index) })
    }

    /// The value at `index`, for as long as the column is borrowed.
    ///
    /// # Panics
    /// When there is no such value.
    #[inline(always)]
    #[must_use]
    pub fn value(self, index: usize) -> &'a T {
        self.get(index).expect("an index below the length")
    }

    /// True when the last page is as full as the others, so that [`PagedView::portion`] may be
    /// asked.
    #[inline(always)]
    #[must_use]
    pub fn has_whole_pages(self) -> bool {
        !self.is_empty() && self.len.is_multiple_of(Paged::<T>::PER_PAGE)
    }

    /// The value at `place * len / 2^32`, for as long as the column is borrowed: one product tells
    /// the page and the place in it, so that no index is taken apart and held against the length.
    ///
    /// Where not [`PagedView::has_whole_pages`] it is a value or another, or the zero bytes behind
    /// the last.
    ///
    /// # Panics
    /// When there are no values.
    #[inline(always)]
    #[must_use]
    pub fn portion(self, place: u32) -> &'a T {
        assert!(!self.is_empty(), "a column of no values has no portions");
        let product = u64::from(place) * self.directory.len() as u64;
        let index = product >> (32 - Paged::<T>::SHIFT);
        // SAFETY: `place` is below 2^32, so the product is below the length of the directory times
        // 2^32; what is above those bits is the page of `index`. A page holds `PER_PAGE` values,
        // which began as zero bytes, and the Paged that `'a` borrows is not written meanwhile.
        unsafe {
            let origin = self.directory.get_unchecked((product >> 32) as usize);
            &*origin.wrapping_add(index as usize)
        }
    }

    /// The value that would begin so many bytes behind the first if all lay side by side.
    ///
    /// # Safety
    /// There is such a value: `offset` is a multiple of the size of one, below that of all.
    #[inline(always)]
    pub(in crate::memory) unsafe fn at_offset(self, offset: usize) -> &'a T {
        // SAFETY: a page holds `PAGED_BYTES` of whole values (`FITS`), the directory has one for
        // every value that is there, and its origin lies as far before the page as the values of
        // the pages before. The Paged that `'a` borrows is not written meanwhile.
        unsafe {
            let origin = self.directory.get_unchecked(offset / PAGED_BYTES);
            &*origin.wrapping_byte_add(offset)
        }
    }

    /// Asks for the line of the value at `index`; nothing happens when there is no such value.
    #[inline(always)]
    pub fn prefetch(self, index: usize) {
        if index < self.len {
            prefetch::read(self.at(index).cast());
        }
    }

    /// Asks for the line of the value at `index` to come to the second cache level.
    #[inline(always)]
    pub fn prefetch_far(self, index: usize) {
        if index < self.len {
            prefetch::read_far(self.at(index).cast());
        }
    }

    /// Where the value at `index` is; `index` is below `len`.
    #[inline(always)]
    fn at(self, index: usize) -> *const T {
        debug_assert!(index < self.len);
        // SAFETY: the directory has a page for every index below `len`.
        let origin = unsafe { self.directory.get_unchecked(index >> Paged::<T>::SHIFT) };
        // Within the page: its origin lies as far before it as the values of the pages before.
        origin.wrapping_add(index)
    }
}

impl<'a, T, const N: usize> PagedView<'a, [T; N]> {
    /// The parts of all values, one after the other.
    #[inline(always)]
    #[must_use]
    pub fn flattened(self) -> PagedView<'a, T> {
        const { assert!(size_of::<[T; N]>().is_power_of_two() && N.is_power_of_two()) };
        let directory: *const [*mut [T; N]] = self.directory;
        PagedView {
            // SAFETY: both kinds of pointer have the same layout, and are the same origins, since
            // a page holds `N` times as many parts as values and each is `N` times as small; the
            // slice is borrowed as long as before.
            directory: unsafe { &*(directory as *const [*mut T]) },
            len: self.len * N,
        }
    }
}

impl<T> Index<usize> for PagedView<'_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        self.value(index)
    }
}
