//! Where the pages of a [`Paged`](super::Paged) column come from and go back to.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::memory::{HUGE_PAGE_BYTES, Mapping, MemoryError, PAGED_BYTES, Pages};

/// Pages that are mapped at once when copies need more: a huge page.
const PAGES_MORE: usize = if cfg!(miri) {
    4
} else {
    HUGE_PAGE_BYTES / PAGED_BYTES
};

/// Memory in mappings that live as long as any page of them, and the pages nobody has.
#[derive(Debug, Default)]
pub(super) struct Arena(Mutex<Stock>);

#[derive(Debug, Default)]
struct Stock {
    mappings: Vec<Mapping>,
    /// First bytes of pages that no [`Page`] has.
    free: Vec<NonNull<u8>>,
}

// SAFETY: the pointers are to memory of `mappings`, which belongs to no thread; nobody reads or
// writes a free page.
unsafe impl Send for Stock {}

/// A page, given back to its arena when dropped.
#[derive(Debug)]
pub(super) struct Page {
    start: NonNull<u8>,
    arena: Arc<Arena>,
}

// SAFETY: a Page is the only owner of its bytes, which belong to no thread.
unsafe impl Send for Page {}
// SAFETY: a shared Page gives out its address and nothing else.
unsafe impl Sync for Page {}

impl Arena {
    fn stock(&self) -> MutexGuard<'_, Stock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An arena with `count` pages side by side, all zero, and those pages.
    pub(super) fn with_pages(count: usize) -> Result<(Arc<Self>, Vec<Page>), MemoryError> {
        let arena = Arc::new(Self::default());
        arena.grow(count)?;
        let mut free = core::mem::take(&mut arena.stock().free);
        // What rounding to huge pages gave in addition is for copies.
        arena.stock().free = free.split_off(count);
        let own = |start| Page {
            start,
            arena: Arc::clone(&arena),
        };
        let pages = free.into_iter().map(own).collect();
        Ok((arena, pages))
    }

    /// Maps at least `count` pages more.
    fn grow(&self, count: usize) -> Result<(), MemoryError> {
        let bytes = count
            .checked_mul(PAGED_BYTES)
            .ok_or(MemoryError::TooLarge)?;
        let mapping = Mapping::touched(bytes)?;
        let start = mapping.start();
        let mut stock = self.stock();
        for page in 0..mapping.bytes() / PAGED_BYTES {
            // SAFETY: the page lies within the mapping.
            stock.free.push(unsafe { start.add(page * PAGED_BYTES) });
        }
        stock.mappings.push(mapping);
        Ok(())
    }

    /// A page with anything in it.
    pub(super) fn page(self: &Arc<Self>) -> Result<Page, MemoryError> {
        let free = self.stock().free.pop();
        let start = match free {
            Some(start) => start,
            None => {
                self.grow(PAGES_MORE)?;
                self.stock().free.pop().ok_or(MemoryError::TooLarge)?
            }
        };
        Ok(Page {
            start,
            arena: Arc::clone(self),
        })
    }

    /// The kind of pages of the first mapping, which is the largest.
    pub(super) fn pages(&self) -> Option<Pages> {
        self.stock().mappings.first().map(Mapping::pages)
    }
}

impl Page {
    /// Its first byte; [`PAGED_BYTES`] are there, aligned to as many.
    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.arena.stock().free.push(self.start);
    }
}
