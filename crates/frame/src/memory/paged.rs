//! A column of values in pages that versions share: a change copies the pages it touches.

use core::{
    fmt,
    ops::Index,
    ptr::{self, NonNull},
    slice,
};
use std::sync::Arc;

use zerocopy::FromZeros;

use super::arena::{Arena, Page};
use crate::{
    memory::{MemoryError, Pages, SMALL_PAGE_BYTES},
    prefetch,
};

/// Bytes of a page of [`Paged`].
///
/// Copying one takes 3 to 5 us, and the directory of a table of 20 MB is 2.5 KB, which stays in
/// the first-level cache. Pages of 4 KiB are copied in a fraction of a microsecond, but their
/// directory is 40 KB and pushes everything else out.
/// Miri, which copies byte by byte, has small ones.
pub const PAGED_BYTES: usize = if cfg!(miri) { 1 << 10 } else { 64 << 10 };

/// A column of values, all bytes zero at first. Clones share pages; [`Paged::get_mut`] copies a
/// page that a clone has too, [`Paged::as_mut_slice`] all. So a version that readers hold is never
/// written.
pub struct Paged<T> {
    /// For each page where the first value of the column would be if all lay side by side: so the
    /// address of a value is one addition, of its index in the column.
    directory: Vec<*mut T>,
    /// The owners of the same pages.
    owners: Vec<Arc<Page>>,
    arena: Arc<Arena>,
    len: usize,
    /// The first value while the pages lie in memory in their order, none behind a gap; else null.
    /// What the directory says of the first page, kept where no other line must be read for it.
    row: *mut T,
}

// SAFETY: the pages are owned through `owners`, which are Send and Sync; values are moved to
// other threads with them.
unsafe impl<T: Send + Sync> Send for Paged<T> {}
// SAFETY: through a shared Paged values can only be read.
unsafe impl<T: Send + Sync> Sync for Paged<T> {}

impl<T> Clone for Paged<T> {
    fn clone(&self) -> Self {
        Self {
            directory: self.directory.clone(),
            owners: self.owners.clone(),
            arena: Arc::clone(&self.arena),
            len: self.len,
            row: self.row,
        }
    }
}

impl<T> Paged<T> {
    /// Values a page.
    const PER_PAGE: usize = PAGED_BYTES / size_of::<T>();
    const SHIFT: u32 = Self::PER_PAGE.trailing_zeros();

    /// Fails to compile for types that pages cannot hold side by side.
    const FITS: () = {
        assert!(size_of::<T>() > 0 && PAGED_BYTES.is_multiple_of(size_of::<T>()));
        assert!(Self::PER_PAGE.is_power_of_two() && align_of::<T>() <= SMALL_PAGE_BYTES);
    };

    /// How many values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What a burst reads; take it once a burst.
    #[inline(always)]
    #[must_use]
    pub fn view(&self) -> PagedView<'_, T> {
        PagedView {
            directory: &self.directory,
            len: self.len,
        }
    }

    /// All values as one slice, where their pages lie side by side: in a column that was made at
    /// once, until a page of it is copied or added. Such a value costs no look at the directory,
    /// which is three or four instructions of a dozen to twenty.
    #[inline(always)]
    #[must_use]
    pub fn as_slice(&self) -> Option<&[T]> {
        let first = NonNull::new(self.row)?;
        // SAFETY: `row` is the one origin that the directory names for all pages, so the first
        // `len` values lie side by side from there on. All are in one mapping, from whose start the
        // pointers of its pages were made, are initialised, and are not written while `self` is
        // borrowed.
        Some(unsafe { slice::from_raw_parts(first.as_ptr(), self.len) })
    }

    /// The kind of memory it lies in. Asks the kernel.
    #[must_use]
    pub fn pages(&self) -> Option<Pages> {
        self.arena.pages()
    }
}

impl<T: FromZeros + Copy> Paged<T> {
    /// `len` values of zero bytes, side by side.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn zeroed(len: usize) -> Result<Self, MemoryError> {
        let () = Self::FITS;
        let (arena, pages) = Arena::with_pages(len.div_ceil(Self::PER_PAGE))?;
        Ok(Self::of_row(arena, pages, len))
    }

    /// `len` values in pages that lie side by side in one mapping, of which the caller fills those
    /// that are not of zero bytes.
    fn of_row(arena: Arc<Arena>, pages: Vec<Page>, len: usize) -> Self {
        let owners: Vec<Arc<Page>> = pages.into_iter().map(Arc::new).collect();
        let origins = owners.iter().enumerate();
        let directory: Vec<*mut T> = origins.map(|(at, page)| Self::origin(at, page)).collect();
        Self {
            row: directory.first().copied().unwrap_or(ptr::null_mut()),
            directory,
            owners,
            arena,
            len,
        }
    }

    /// What the directory says of a page.
    fn origin(at: usize, page: &Page) -> *mut T {
        let first: *mut T = page.start().cast().as_ptr();
        first.wrapping_sub(at * Self::PER_PAGE)
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn copy_of(values: &[T]) -> Result<Self, MemoryError> {
        let mut copy = Self::zeroed(values.len())?;
        for (page, values) in values.chunks(Self::PER_PAGE).enumerate() {
            copy.page_mut(page)?.copy_from_slice(values);
        }
        Ok(copy)
    }

    /// The value at `index`, to be written: its page is copied first if a clone has it too.
    ///
    /// # Errors
    /// When there is no memory for the copy.
    ///
    /// # Panics
    /// When there is no such value.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Result<&mut T, MemoryError> {
        assert!(index < self.len, "{index} of {} values", self.len);
        let page = self.page_mut(index >> Self::SHIFT)?;
        Ok(&mut page[index & (Self::PER_PAGE - 1)])
    }

    /// The values of page `page`, to be written: [`Paged::per_page`] of them but for the last.
    ///
    /// # Errors
    /// When there is no memory for the copy.
    ///
    /// # Panics
    /// When there is no such page.
    pub fn page_mut(&mut self, page: usize) -> Result<&mut [T], MemoryError> {
        let count = (self.len - page * Self::PER_PAGE).min(Self::PER_PAGE);
        if Arc::get_mut(&mut self.owners[page]).is_none() {
            self.copy_page(page, count)?;
        }
        // SAFETY: `owners[page]` has no other reference (looked at above, or new), so no other
        // Paged reaches the page, and `&mut self` is the only way to it through this one. It
        // holds `PER_PAGE` values that began as zero bytes or were copied from such.
        Ok(unsafe { slice::from_raw_parts_mut(self.first(page).as_ptr(), count) })
    }

    /// The first value of a page.
    fn first(&self, page: usize) -> NonNull<T> {
        self.owners[page].start().cast()
    }

    #[cold]
    fn copy_page(&mut self, page: usize, count: usize) -> Result<(), MemoryError> {
        let copy = self.arena.page()?;
        let start: NonNull<T> = copy.start().cast();
        // SAFETY: both pages are `PAGED_BYTES` long, apart, and begin at a small page; the new one
        // belongs to nobody else. What lies behind `count` is set to zero, since the page may
        // have been used before.
        unsafe {
            start.copy_from_nonoverlapping(self.first(page), count);
            start.add(count).write_bytes(0, Self::PER_PAGE - count);
        }
        self.directory[page] = Self::origin(page, &copy);
        self.row = ptr::null_mut();
        self.owners[page] = Arc::new(copy);
        Ok(())
    }

    /// Appends a value.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn push(&mut self, value: T) -> Result<(), MemoryError> {
        if self.len == self.owners.len() * Self::PER_PAGE {
            self.add_page()?;
        }
        self.len += 1;
        let pushed = self.get_mut(self.len - 1).map(|place| *place = value);
        if pushed.is_err() {
            self.len -= 1;
        }
        pushed
    }

    /// A page of zero bytes more, with no values yet.
    fn add_page(&mut self) -> Result<(), MemoryError> {
        let page = self.arena.page()?;
        // SAFETY: the page is new, and as long as this.
        unsafe { page.start().write_bytes(0, PAGED_BYTES) };
        self.directory.push(Self::origin(self.owners.len(), &page));
        self.owners.push(Arc::new(page));
        // Another mapping's page may lie right behind, but no pointer to one may reach the other.
        self.row = ptr::null_mut();
        Ok(())
    }

    /// A copy of `values` in pages from where those of `self` come from. A column too small for
    /// large pages of its own has them so, and needs no place of the first-level TLB beside the
    /// larger column.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn copy_beside<U: FromZeros + Copy>(&self, values: &[U]) -> Result<Paged<U>, MemoryError> {
        let () = Paged::<U>::FITS;
        let pages = self
            .arena
            .row(values.len().div_ceil(Paged::<U>::PER_PAGE))?;
        let mut copy = Paged::of_row(Arc::clone(&self.arena), pages, values.len());
        for (page, values) in values.chunks(Paged::<U>::PER_PAGE).enumerate() {
            copy.fill_page(page, values);
        }
        Ok(copy)
    }

    /// All values as one slice, to be written. Where a clone has a page of the column too, or its
    /// pages do not lie side by side, it is copied first as a whole, and is a slice from then on.
    /// Asks the owner of each page, so take it once for many values.
    ///
    /// # Errors
    /// When there is no memory for the copy.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], MemoryError> {
        let mut owners = self.owners.iter_mut();
        let is_mine = owners.all(|page| Arc::get_mut(page).is_some());
        if !is_mine || self.row.is_null() {
            *self = self.copied()?;
        }
        let Some(first) = NonNull::new(self.row) else {
            return Ok(&mut []);
        };
        // SAFETY: as for `as_slice`; and no page has another reference (looked at above, or new),
        // so `&mut self` is the only way to them.
        Ok(unsafe { slice::from_raw_parts_mut(first.as_ptr(), self.len) })
    }

    /// A copy whose pages lie side by side.
    fn copied(&self) -> Result<Self, MemoryError> {
        let pages = self.arena.row(self.owners.len())?;
        let mut copy = Self::of_row(Arc::clone(&self.arena), pages, self.len);
        for page in 0..self.owners.len() {
            let count = (self.len - page * Self::PER_PAGE).min(Self::PER_PAGE);
            // SAFETY: the page holds so many values, which nobody writes while `self` is borrowed.
            let values = unsafe { slice::from_raw_parts(self.first(page).as_ptr(), count) };
            copy.fill_page(page, values);
        }
        Ok(copy)
    }

    /// Writes a page that nobody else has and that may have been used before: `values`, and zero
    /// bytes behind them.
    fn fill_page(&mut self, page: usize, values: &[T]) {
        assert!(values.len() <= Self::PER_PAGE && Arc::get_mut(&mut self.owners[page]).is_some());
        let start = self.first(page);
        // SAFETY: the page is `PAGED_BYTES` long and this Paged alone has it; `values` lie
        // elsewhere, since they are borrowed and `self` is, mutably.
        unsafe {
            start.copy_from_nonoverlapping(NonNull::from(values).cast(), values.len());
            let rest = start.add(values.len());
            rest.write_bytes(0, Self::PER_PAGE - values.len());
        }
    }

    /// Values a page.
    #[must_use]
    pub const fn per_page() -> usize {
        Self::PER_PAGE
    }
}

impl<T> fmt::Debug for Paged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paged")
            .field("len", &self.len)
            .field("pages", &self.owners.len())
            .finish_non_exhaustive()
    }
}

/// A [`Paged`] to be read: one more load a value than a slice, of a directory that stays cached.
#[derive(Debug)]
pub struct PagedView<'a, T> {
    directory: &'a [*mut T],
    len: usize,
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
    pub(super) unsafe fn at_offset(self, offset: usize) -> &'a T {
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

#[cfg(all(test, not(loom)))]
mod tests;
