//! Where the pages of a [`Paged`](super::Paged) column come from and go back to.

use core::{ops::Range, ptr::NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::memory::{HUGE_PAGE_BYTES, Mapping, MemoryError, Pages};

/// Bytes of a page of [`Paged`](super::Paged).
///
/// Copying one takes 3 to 5 us, and the directory of a table of 20 MB is 2.5 KB, which stays in
/// the first-level cache. Pages of 4 KiB are copied in a fraction of a microsecond, but their
/// directory is 40 KB and pushes everything else out.
/// Miri, which copies byte by byte, has small ones.
pub const PAGED_BYTES: usize = if cfg!(miri) { 1 << 10 } else { 64 << 10 };

/// Pages that are mapped at once when copies need more: a huge page.
const PAGES_MORE: usize = if cfg!(miri) {
    4
} else {
    HUGE_PAGE_BYTES / PAGED_BYTES
};

/// From this many pages on that nobody has, mappings without a page in use go back to the kernel:
/// 16 MiB. A reader that follows leaves a few free; one that slept through ten thousand changes
/// of an address leaves 700 MB.
const FREE_MAX: usize = 8 * PAGES_MORE;

/// Memory in mappings that live as long as any page of them, and the pages nobody has.
///
/// A free page is a home, or in the list once; a page in use is neither: so a mapping whose pages
/// are all in the list is nobody's.
#[derive(Debug, Default)]
pub(super) struct Arena(Mutex<Stock>);

#[derive(Debug)]
struct Stock {
    /// The first is the column as it was made, and stays.
    mappings: Vec<Mapping>,
    /// The first pages of the first mapping, in their order, where the pages of the column lie side
    /// by side: which of them nobody has.
    homes: Vec<bool>,
    /// First bytes of other pages that no [`Page`] has.
    free: Vec<NonNull<u8>>,
    /// How many free pages make it worth looking for mappings without a page in use.
    trim_at: usize,
}

impl Default for Stock {
    fn default() -> Self {
        Self {
            mappings: Vec::new(),
            homes: Vec::new(),
            free: Vec::new(),
            trim_at: FREE_MAX,
        }
    }
}

impl Stock {
    /// Where page `at` of the first mapping begins, if it has so many.
    fn start_of(&self, at: usize) -> Option<NonNull<u8>> {
        let first = self.mappings.first()?;
        let is_there = at < first.bytes() / PAGED_BYTES;
        // SAFETY: the page lies within the mapping.
        is_there.then(|| unsafe { first.start().add(at * PAGED_BYTES) })
    }

    /// The home that begins there, if it is one.
    fn home_at(&mut self, start: NonNull<u8>) -> Option<&mut bool> {
        let first = self.mappings.first()?.start().addr().get();
        let offset = start.addr().get().checked_sub(first)?;
        self.homes.get_mut(offset / PAGED_BYTES)
    }

    /// Takes home `at`, if nobody has it. The page behind the last home becomes one.
    fn take_home(&mut self, at: usize) -> Option<NonNull<u8>> {
        let start = self.start_of(at)?;
        if at == self.homes.len() {
            let place = self.free.iter().position(|&free| free == start)?;
            self.free.remove(place);
            self.homes.push(true);
        }
        core::mem::take(self.homes.get_mut(at)?).then_some(start)
    }

    /// Takes a page back.
    fn put(&mut self, start: NonNull<u8>) {
        if let Some(is_free) = self.home_at(start) {
            *is_free = true;
            return;
        }
        self.free.push(start);
        if self.free.len() >= self.trim_at {
            self.trim();
        }
    }

    /// Takes over a mapping of pages that nobody has.
    fn add(&mut self, mapping: Mapping) {
        let start = mapping.start();
        for page in 0..mapping.bytes() / PAGED_BYTES {
            // SAFETY: the page lies within the mapping.
            self.free.push(unsafe { start.add(page * PAGED_BYTES) });
        }
        self.mappings.push(mapping);
    }

    /// Takes `count` free pages that are neighbours within one mapping.
    fn take_row(&mut self, count: usize) -> Option<Vec<NonNull<u8>>> {
        self.take_listed_row(count).or_else(|| {
            // Versions that are dropped out of order, and pages taken one by one, leave neighbours
            // apart in the list: mapping more each time came to hundreds of megabytes.
            self.free.sort_unstable();
            self.take_listed_row(count)
        })
    }

    /// [`Stock::take_row`] of pages that follow one another in the list as in memory.
    fn take_listed_row(&mut self, count: usize) -> Option<Vec<NonNull<u8>>> {
        let ends = 0..=self.free.len().checked_sub(count)?;
        let at = ends.rev().find(|&at| self.is_row(at..at + count))?;
        Some(self.free.drain(at..at + count).collect())
    }

    fn is_row(&self, range: Range<usize>) -> bool {
        let row = &self.free[range];
        let (Some(first), Some(last)) = (row.first(), row.last()) else {
            return true;
        };
        // Another mapping's pages may lie right behind.
        let holds = |mapping: &Mapping| {
            let start = mapping.start().addr().get();
            let all = start..start + mapping.bytes();
            all.contains(&first.addr().get()) && all.contains(&last.addr().get())
        };
        row.windows(2).all(follows) && self.mappings.iter().any(holds)
    }

    /// Unmaps the mappings of which every page is free, but for the first of all, and one more that
    /// the next change finds: mapping it anew would take that a millisecond.
    fn trim(&mut self) {
        self.free.sort_unstable();
        let free = &mut self.free;
        let (mut place, mut kept) = (0, 0);
        self.mappings.retain(|mapping| {
            let is_first = place == 0;
            place += 1;
            let (start, pages) = (mapping.start(), mapping.bytes() / PAGED_BYTES);
            // Pages of a mapping are neighbours once sorted, and the list has each once.
            let from = free.partition_point(|&page| page < start);
            let beyond = start.addr().get() + mapping.bytes();
            let to = free.partition_point(|page| page.addr().get() < beyond);
            let is_used = is_first || to - from < pages;
            if is_used || kept == 0 {
                kept += usize::from(!is_used);
                return true;
            }
            free.drain(from..to);
            false
        });
        // Twice as many until the next look: a page costs a constant, whatever is in use.
        self.trim_at = FREE_MAX.max(2 * self.free.len());
    }
}

fn follows(pair: &[NonNull<u8>]) -> bool {
    pair[0].addr().get() + PAGED_BYTES == pair[1].addr().get()
}

/// At least `count` pages.
fn map(count: usize) -> Result<Mapping, MemoryError> {
    let bytes = count
        .checked_mul(PAGED_BYTES)
        .ok_or(MemoryError::TooLarge)?;
    Mapping::touched(bytes)
}

// SAFETY: the pointers are to memory of `mappings`, which belongs to no thread; nobody reads or
// writes a free page.
unsafe impl Send for Stock {}

/// A page, given back to its arena when dropped.
#[derive(Debug)]
pub(super) struct Page {
    start: NonNull<u8>,
    /// True where it was taken by its number in the first mapping, for the page of that number.
    is_home: bool,
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

    /// An arena with `count` pages side by side, all zero, and those pages: its homes.
    pub(super) fn with_pages(count: usize) -> Result<(Arc<Self>, Vec<Page>), MemoryError> {
        let arena = Arc::new(Self::default());
        arena.grow(count)?;
        let mut free = core::mem::take(&mut arena.stock().free);
        // What rounding to huge pages gave in addition is for copies.
        arena.stock().free = free.split_off(count);
        arena.stock().homes = vec![false; count];
        let pages = free.into_iter().map(|start| arena.own(start, true));
        let pages = pages.collect();
        Ok((arena, pages))
    }

    fn own(self: &Arc<Self>, start: NonNull<u8>, is_home: bool) -> Page {
        Page {
            start,
            is_home,
            arena: Arc::clone(self),
        }
    }

    /// Maps at least `count` pages more. Others may have taken some when this returns.
    fn grow(&self, count: usize) -> Result<(), MemoryError> {
        let mapping = map(count)?;
        self.stock().add(mapping);
        Ok(())
    }

    /// A page with anything in it that is no home.
    pub(super) fn page(self: &Arc<Self>) -> Result<Page, MemoryError> {
        let free = self.stock().free.pop();
        let start = match free {
            Some(start) => start,
            None => {
                self.grow(PAGES_MORE)?;
                self.stock().free.pop().ok_or(MemoryError::TooLarge)?
            }
        };
        Ok(self.own(start, false))
    }

    /// Home `at` with anything in it, if nobody has it. Behind the last home there may be one more.
    pub(super) fn home(self: &Arc<Self>, at: usize) -> Option<Page> {
        let start = self.stock().take_home(at)?;
        Some(self.own(start, true))
    }

    /// `count` pages side by side in one mapping, which may have been used before.
    pub(super) fn row(self: &Arc<Self>, count: usize) -> Result<Vec<Page>, MemoryError> {
        let mut row = self.stock().take_row(count);
        if row.is_none() {
            let mapping = map(count.max(PAGES_MORE))?;
            let mut stock = self.stock();
            stock.add(mapping);
            row = stock.take_row(count);
        }
        let row = row.expect("pages just mapped are neighbours");
        Ok(row
            .into_iter()
            .map(|start| self.own(start, false))
            .collect())
    }

    /// How many homes there are.
    pub(super) fn homes(&self) -> usize {
        self.stock().homes.len()
    }

    /// Gives mappings back of which nobody has a page, but one, however few pages are free.
    pub(super) fn trim(&self) {
        self.stock().trim();
    }

    #[cfg(test)]
    pub(super) fn mappings(&self) -> usize {
        self.stock().mappings.len()
    }

    /// The kind of pages of the first mapping, which is the largest.
    pub(super) fn pages(&self) -> Option<Pages> {
        self.stock().mappings.first().map(Mapping::pages)
    }
}

impl Page {
    /// Its first byte; [`PAGED_BYTES`] are there; a small page begins there.
    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// True of a page that was taken as a home.
    pub(super) fn is_home(&self) -> bool {
        self.is_home
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.arena.stock().put(self.start);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_many_versions_took_goes_back() {
        let (arena, own) = Arena::with_pages(3).expect("memory");
        let mut held: Vec<Page> = (0..3 * FREE_MAX)
            .map(|_| arena.page().expect("memory"))
            .collect();
        let most = arena.mappings();
        let kept = held.swap_remove(FREE_MAX);
        let byte = kept.start();
        // SAFETY: the page is this test's own.
        unsafe { byte.write(7) };
        drop(held);
        assert!(
            arena.mappings() < most / 2,
            "{} of {most}",
            arena.mappings()
        );
        // SAFETY: as above; its mapping is still there.
        assert_eq!(unsafe { byte.read() }, 7);
        // No page is handed out twice, and all can be written.
        let again: Vec<Page> = (0..2 * FREE_MAX)
            .map(|_| arena.page().expect("memory"))
            .collect();
        let mut starts: Vec<_> = again.iter().chain(&own).map(Page::start).collect();
        starts.push(byte);
        starts.sort_unstable();
        assert!(starts.windows(2).all(|two| two[0] != two[1]));
        for page in &again {
            // SAFETY: as above.
            unsafe { page.start().write_bytes(1, PAGED_BYTES) };
        }
        drop((again, own, kept));
    }

    #[test]
    fn homes_are_within_the_first_mapping() {
        let (arena, own) = Arena::with_pages(PAGES_MORE).expect("memory");
        // Side by side or not: another mapping's page is no home.
        let more: Vec<Page> = (0..2 * PAGES_MORE)
            .map(|_| arena.page().expect("memory"))
            .collect();
        drop(more);
        let (homes, spare) = (
            arena.homes(),
            arena.stock().mappings[0].bytes() / PAGED_BYTES,
        );
        assert_eq!((homes, spare), (PAGES_MORE, PAGES_MORE));
        assert!(arena.home(homes).is_none() && arena.home(homes + 1).is_none());
        assert!(arena.home(0).is_none(), "its owner has it");
        drop(own);
        assert!(arena.home(0).is_some_and(|page| page.is_home()));
    }

    /// Columns of four pages and single ones, kept for a while and dropped in any order: their
    /// pages are used again, and a row never has a page of another owner, nor of two mappings.
    #[test]
    fn rows_are_found_among_pages_that_came_back_in_any_order() {
        let (arena, own) = Arena::with_pages(3).expect("memory");
        let mut seed = 5u64;
        let mut draw = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let mut held: Vec<Vec<Page>> = vec![own];
        let mut most = 0;
        for _ in 0..if cfg!(miri) { 60 } else { 3000 } {
            held.push(arena.row(4).expect("memory"));
            held.push(vec![arena.page().expect("memory")]);
            while held.len() > 20 {
                held.swap_remove(draw(held.len()));
            }
            most = most.max(arena.mappings());
            let stock = arena.stock();
            let of = |page: &NonNull<u8>| {
                let mut mappings = stock.mappings.iter();
                mappings.position(|mapping| {
                    let start = mapping.start().addr().get();
                    (start..start + mapping.bytes()).contains(&page.addr().get())
                })
            };
            for row in &held {
                let starts: Vec<_> = row.iter().map(Page::start).collect();
                let is_one = |pair: &[NonNull<u8>]| follows(pair) && of(&pair[0]) == of(&pair[1]);
                assert!(starts.windows(2).all(is_one));
            }
        }
        let mut starts: Vec<_> = held.iter().flatten().map(Page::start).collect();
        starts.sort_unstable();
        assert!(starts.windows(2).all(|two| two[0] != two[1]));
        // 20 holders have some 50 pages. Mapped anew where the list has no row, it was 13 mappings.
        assert!(most <= 120 / PAGES_MORE + 3, "{most} mappings");
    }

    #[test]
    fn a_row_may_be_as_long_as_a_mapping() {
        for count in [0, PAGES_MORE - 1, PAGES_MORE, 2 * PAGES_MORE] {
            let (arena, _own) = Arena::with_pages(1).expect("memory");
            let free = arena.stock().free.len();
            let _rest: Vec<Page> = (0..free).map(|_| arena.page().expect("memory")).collect();
            let row = arena.row(count).expect("memory");
            let starts: Vec<_> = row.iter().map(Page::start).collect();
            assert_eq!(starts.len(), count);
            assert!(starts.windows(2).all(follows));
        }
    }
}
