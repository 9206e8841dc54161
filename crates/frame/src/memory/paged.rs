//! A column of values in pages that versions share: a change copies the pages it touches.

mod compact;
mod view;

use core::{
    fmt,
    ptr::{self, NonNull},
    slice,
};
use std::sync::Arc;

use zerocopy::FromZeros;

use super::arena::{Arena, PAGED_BYTES, Page};
use crate::memory::{MemoryError, Pages, SMALL_PAGE_BYTES};

pub use view::PagedView;

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
    /// The origin of all pages that are at home; null in a column that has no homes: that lies
    /// beside another, or was made without a value.
    home: *mut T,
    /// Pages that are not at home.
    displaced: usize,
    /// The page that was looked at last for one that can go home.
    next: usize,
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
            home: self.home,
            displaced: self.displaced,
            next: self.next,
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
        let displaced = owners.iter().filter(|page| !page.is_home()).count();
        let row = directory.first().copied().unwrap_or(ptr::null_mut());
        Self {
            row,
            home: if displaced == 0 { row } else { ptr::null_mut() },
            displaced,
            next: 0,
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
        let count = self.values_of(page);
        if Arc::get_mut(&mut self.owners[page]).is_none() {
            self.copy_page(page)?;
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
    fn copy_page(&mut self, page: usize) -> Result<(), MemoryError> {
        let copy = self.page_for(page)?;
        self.move_page(page, copy);
        self.make_room();
        Ok(())
    }

    /// Memory for page `page`: its home, if nobody has that.
    fn page_for(&self, page: usize) -> Result<Page, MemoryError> {
        match self.take_home(page) {
            Some(home) => Ok(home),
            None => self.arena.page(),
        }
    }

    /// The home of a page, if nobody has it.
    fn take_home(&self, page: usize) -> Option<Page> {
        (!self.home.is_null())
            .then(|| self.arena.home(page))
            .flatten()
    }

    /// Copies a page to `copy`, which has the values from then on.
    fn move_page(&mut self, page: usize, copy: Page) {
        let count = self.values_of(page);
        let start: NonNull<T> = copy.start().cast();
        // SAFETY: both pages are `PAGED_BYTES` long, apart, and begin at a small page; the new one
        // belongs to nobody else. What lies behind `count` is set to zero, since the page may
        // have been used before.
        unsafe {
            start.copy_from_nonoverlapping(self.first(page), count);
            start.add(count).write_bytes(0, Self::PER_PAGE - count);
        }
        self.displaced -= usize::from(!self.owners[page].is_home());
        self.displaced += usize::from(!copy.is_home());
        self.directory[page] = Self::origin(page, &copy);
        self.owners[page] = Arc::new(copy);
        self.look_whether_straight();
    }

    /// How many values a page holds.
    fn values_of(&self, page: usize) -> usize {
        (self.len - page * Self::PER_PAGE).min(Self::PER_PAGE)
    }

    fn look_whether_straight(&mut self) {
        // Pages elsewhere may lie side by side too, but maybe in two mappings, and no pointer to
        // one may reach the other. Homes lie in one.
        self.row = if self.displaced == 0 {
            self.home
        } else {
            ptr::null_mut()
        };
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
        let at = self.owners.len();
        let page = self.page_for(at)?;
        // SAFETY: the page is new, and as long as this.
        unsafe { page.start().write_bytes(0, PAGED_BYTES) };
        self.displaced += usize::from(!page.is_home());
        self.directory.push(Self::origin(at, &page));
        self.owners.push(Arc::new(page));
        self.look_whether_straight();
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
        copy.home = self.home;
        copy.fill_from(self);
        Ok(copy)
    }

    /// Fills pages that nobody else has with those of a column of as many values.
    fn fill_from(&mut self, other: &Self) {
        for page in 0..other.owners.len() {
            let count = other.values_of(page);
            // SAFETY: the page holds so many values, which nobody writes while it is borrowed.
            let values = unsafe { slice::from_raw_parts(other.first(page).as_ptr(), count) };
            self.fill_page(page, values);
        }
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

#[cfg(all(test, not(loom)))]
mod tests;
