//! Bringing the pages of a column back to where they lie side by side.
//!
//! A page that a change copies lies elsewhere then, since readers may have the page it was copied
//! from; and a column with one such page is read by its directory, not as a slice. What the column
//! was made in are the *homes* of its pages, by their number. Once no version has a home any more,
//! the next copy of its page goes there, and [`Paged::compact`] copies those that no change
//! came to.

use super::{Arena, Paged};
use crate::memory::MemoryError;
use std::sync::Arc;
use zerocopy::FromZeros;

/// A column that is made anew has room for an eighth more.
const ROOM_SHIFT: u32 = 3;

/// So many pages, or one in so many, may be elsewhere before changes bring others home.
const DISPLACED_MIN: usize = 32;
const DISPLACED_SHARE: usize = 4;
/// Pages that are looked at for one that can go home.
const LOOKS_MAX: usize = 64;

impl<T> Paged<T> {
    /// How many pages lie elsewhere than they should; 0 when the column was made beside another.
    #[must_use]
    pub fn displaced(&self) -> usize {
        if self.home.is_null() && self.arena.homes() > 0 {
            0
        } else {
            self.displaced
        }
    }

    /// True when the pages of both come from the same memory, so that neither is given back before
    /// the other.
    #[must_use]
    pub fn is_beside<U>(&self, other: &Paged<U>) -> bool {
        Arc::ptr_eq(&self.arena, &other.arena)
    }
}

impl<T: FromZeros + Copy> Paged<T> {
    /// Copies at most `pages_max` pages home, where nobody has their homes. A column that has more
    /// pages than homes, and no page that is elsewhere for another reason, is made anew as a whole.
    /// Tells how many pages were copied.
    ///
    /// Clones keep what they have. While a clone has a home its page stays where it is; when all
    /// that were there before are dropped, two calls make the column a slice. Memory that nobody
    /// has goes back to the kernel then.
    ///
    /// # Errors
    /// When there is no memory for copies; the values are what they were.
    pub fn compact(&mut self, pages_max: usize) -> Result<usize, MemoryError> {
        if self.displaced() == 0 {
            // What clones had that were dropped since the last page went home.
            self.arena.trim();
            return Ok(0);
        }
        let copied = self.go_home(pages_max);
        let homes = self.arena.homes();
        let outgrown = self.owners.len().saturating_sub(homes);
        if pages_max > 0 && copied == 0 && outgrown == self.displaced {
            *self = self.made_anew()?;
            return Ok(self.owners.len());
        }
        Ok(copied)
    }

    fn go_home(&mut self, pages_max: usize) -> usize {
        let pages = 0..self.owners.len();
        let returns = pages.filter(|&at| self.bring_home(at));
        returns.take(pages_max).count()
    }

    /// Copies a page home, if it is elsewhere and nobody has its home.
    fn bring_home(&mut self, at: usize) -> bool {
        let home = match self.owners[at].is_home() {
            true => None,
            false => self.take_home(at),
        };
        home.map(|home| self.move_page(at, home)).is_some()
    }

    /// After a page was copied elsewhere: where many are, one that can goes home. So changes
    /// without a pause need a quarter more memory, not twice as much, which takes half a page more
    /// a change.
    pub(super) fn make_room(&mut self) {
        if self.displaced() <= DISPLACED_MIN.max(self.owners.len() / DISPLACED_SHARE) {
            return;
        }
        for _ in 0..LOOKS_MAX {
            self.next = (self.next + 1) % self.owners.len();
            if self.bring_home(self.next) {
                return;
            }
        }
    }

    /// The same values in memory of their own, with room for more pages.
    fn made_anew(&self) -> Result<Self, MemoryError> {
        let count = self.owners.len();
        let (arena, mut pages) = Arena::with_pages(count + (count >> ROOM_SHIFT) + 1)?;
        pages.truncate(count);
        let mut copy = Self::of_row(arena, pages, self.len);
        copy.fill_from(self);
        Ok(copy)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const PER_PAGE: usize = Paged::<u32>::PER_PAGE;

    fn column(pages: usize) -> (Paged<u32>, Vec<u32>) {
        let values: Vec<u32> = (0..(pages * PER_PAGE) as u32).collect();
        (Paged::copy_of(&values).expect("memory"), values)
    }

    /// One version more, as a writer makes it: readers have the one before until it is there.
    fn compacted(paged: &mut Paged<u32>, pages_max: usize) -> usize {
        let read = paged.clone();
        let copied = paged.compact(pages_max).expect("memory");
        drop(read);
        copied
    }

    fn set(paged: &mut Paged<u32>, values: &mut [u32], at: usize, value: u32) {
        *paged.get_mut(at).expect("memory") = value;
        values[at] = value;
    }

    #[test]
    fn pages_go_home_when_nobody_has_them_any_more() {
        let (mut paged, mut values) = column(3);
        let (before, first) = (values.clone(), paged.clone());
        set(&mut paged, &mut values, PER_PAGE, 7);
        let second = paged.clone();
        set(&mut paged, &mut values, 2 * PER_PAGE, 8);
        assert_eq!((paged.as_slice(), paged.displaced()), (None, 2));
        assert_eq!(
            paged.compact(9).expect("memory"),
            0,
            "readers have the homes"
        );
        assert_eq!(first.as_slice(), Some(&before[..]));
        drop(first);
        // The second version has the home of the last page still.
        assert_eq!((compacted(&mut paged, 9), paged.displaced()), (1, 1));
        drop(second);
        assert_eq!((compacted(&mut paged, 9), paged.displaced()), (1, 0));
        assert_eq!(paged.as_slice(), Some(&values[..]));
        assert_eq!(compacted(&mut paged, 9), 0);
    }

    #[test]
    fn the_next_change_of_a_page_takes_it_home() {
        let (mut paged, mut values) = column(2);
        for value in 0..3 {
            let read = paged.clone();
            set(&mut paged, &mut values, 1, value);
            assert_eq!(paged.displaced(), usize::from(value % 2 == 0));
            drop(read);
        }
    }

    #[test]
    fn only_so_many_pages_are_copied_at_once() {
        let (mut paged, mut values) = column(5);
        let read = paged.clone();
        for page in 0..5 {
            set(&mut paged, &mut values, page * PER_PAGE, 1);
        }
        drop(read);
        let copied = [2, 0, 2, 2].map(|pages_max| compacted(&mut paged, pages_max));
        assert_eq!(copied, [2, 0, 2, 1]);
        assert_eq!(paged.as_slice(), Some(&values[..]));
    }

    /// Homes that are free, and a page too many: one after the other, in the same memory.
    #[test]
    fn nothing_is_made_anew_that_can_go_home() {
        let (mut paged, mut values) = column(3);
        let beside = paged.copy_beside(&[1u8]).expect("memory");
        let read = paged.clone();
        set(&mut paged, &mut values, 0, 1);
        while paged.displaced() == 1 {
            paged.push(5).expect("memory");
            values.push(5);
        }
        assert_eq!(compacted(&mut paged, 9), 0, "a reader has the home");
        drop(read);
        assert_eq!((compacted(&mut paged, 0), compacted(&mut paged, 9)), (0, 1));
        assert!(beside.is_beside(&paged));
        assert_eq!(compacted(&mut paged, 9), values.len().div_ceil(PER_PAGE));
        assert_eq!(paged.as_slice(), Some(&values[..]));
    }

    #[test]
    fn a_column_that_began_empty_becomes_a_slice() {
        let mut paged = Paged::<u32>::zeroed(0).expect("memory");
        for value in 0..3 {
            paged.push(value).expect("memory");
        }
        assert_eq!((paged.as_slice(), paged.displaced()), (None, 1));
        assert_eq!(compacted(&mut paged, 9), 1);
        assert_eq!(paged.as_slice(), Some(&[0, 1, 2][..]));
    }

    /// Behind the last value there are zero bytes, also where a page lay before that had others.
    #[test]
    fn what_lies_behind_the_last_value_is_zero() {
        let (mut paged, _) = column(2);
        let mut short = paged.copy_beside(&[7u32; 3]).expect("memory");
        for value in 0..4 {
            let read = (paged.clone(), short.clone());
            *paged.get_mut(0).expect("memory") = u32::MAX;
            paged.page_mut(1).expect("memory").fill(u32::MAX);
            drop(read.0);
            *short.get_mut(0).expect("memory") = value;
            assert_eq!(*short.view().portion(u32::MAX), 0);
        }
    }

    /// Without a pause, and with readers that follow: few pages are elsewhere, and little memory.
    #[test]
    fn changes_without_a_pause_leave_few_pages_elsewhere() {
        let pages = if cfg!(miri) { 40 } else { 160 };
        let (mut paged, mut values) = column(pages);
        for at in 0..4 * pages {
            let read = paged.clone();
            set(
                &mut paged,
                &mut values,
                at * 7 % pages * PER_PAGE,
                at as u32,
            );
            drop(read);
            let most = DISPLACED_MIN.max(pages / DISPLACED_SHARE);
            assert!(paged.displaced() <= most + 1, "{}", paged.displaced());
        }
    }

    /// A reader that slept through a thousand versions, and dropped them in any order.
    #[test]
    fn memory_goes_back_once_all_is_at_home() {
        let pages = if cfg!(miri) { 8 } else { 100 };
        let (mut paged, mut values) = column(pages);
        let mut held = Vec::new();
        for at in 0..10 * pages {
            held.push(paged.clone());
            set(&mut paged, &mut values, at % pages * PER_PAGE, at as u32);
        }
        let most = paged.arena.mappings();
        while !held.is_empty() {
            held.swap_remove(held.len() * 5 / 7);
        }
        while compacted(&mut paged, 64) > 0 {}
        assert_eq!(paged.as_slice(), Some(&values[..]));
        assert!(most > 10 && paged.arena.mappings() <= 2, "{most} mappings");
    }

    #[test]
    fn a_column_that_has_outgrown_its_homes_is_made_anew() {
        let (mut paged, mut values) = column(3);
        // Until the pages that rounding left are in use.
        while paged.displaced() == 0 {
            paged.push(5).expect("memory");
            values.push(5);
        }
        let beside = paged.copy_beside(&[1u8]).expect("memory");
        let read = paged.clone();
        assert!(beside.is_beside(&paged));
        assert_eq!(compacted(&mut paged, 1), values.len().div_ceil(PER_PAGE));
        assert_eq!(paged.as_slice(), Some(&values[..]));
        assert!(!beside.is_beside(&paged) && beside.displaced() == 0);
        drop(read);
        // Room for more.
        for value in 0..PER_PAGE as u32 {
            paged.push(value).expect("memory");
            values.push(value);
        }
        assert_eq!(paged.as_slice(), Some(&values[..]));
    }

    /// Versions kept for a while and dropped in any order: none is ever written, and in the end a
    /// few versions more make a slice.
    #[test]
    fn whatever_came_before_a_few_versions_make_a_slice() {
        for seed in 1..if cfg!(miri) { 3 } else { 40 } {
            let mut state: u64 = seed;
            let mut draw = |below: usize| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) as usize % below
            };
            // Large ones have a few pages left in their mapping.
            let (small, large) = (1 + draw(12), 24 + draw(8));
            let is_large = !cfg!(miri) && draw(2) == 0;
            let (mut paged, mut values) = column(if is_large { large } else { small });
            let mut held: Vec<(Paged<u32>, Vec<u32>)> = Vec::new();
            for step in 0..if cfg!(miri) { 30 } else { 400 } {
                held.push((paged.clone(), values.clone()));
                match draw(12) {
                    0 => drop(paged.compact(draw(5)).expect("memory")),
                    1 => {
                        paged.push(step).expect("memory");
                        values.push(step);
                    }
                    _ => {
                        let at = draw(values.len());
                        set(&mut paged, &mut values, at, step);
                    }
                }
                while held.len() > draw(8) {
                    let (old, was) = held.swap_remove(draw(held.len()));
                    let view = old.view();
                    let same = (0..was.len()).all(|at| view[at] == was[at]);
                    assert!(same && view.len() == was.len(), "seed {seed}, step {step}");
                }
            }
            held.clear();
            let rounds = (0..4).filter(|_| compacted(&mut paged, usize::MAX) > 0);
            let rounds = rounds.count();
            assert_eq!(
                paged.as_slice(),
                Some(&values[..]),
                "seed {seed}, {rounds} rounds"
            );
        }
    }
}
