//! Values of a column found by shares of 2^32, some time before they are read: so their lines can
//! be asked for meanwhile.
//!
//! What is kept of a value until it is read is where it begins, in bytes from the first: vectors
//! make eight of those by one product and a shift, and where all lie side by side each is read by
//! one addition. Found one by one in a directory of pages, and kept as references, values took 11
//! instructions each until they were asked for; this takes four, and eight in pages.

use core::ptr;

use super::paged::PagedView;
use crate::{groups::Groups, prefetch};

/// Values of a column, found for groups of `N` places: place `p` has that at `p * len / 2^32`.
pub trait Shares<'a, T: 'a, const N: usize> {
    /// Finds the values of group `number`, which may be the next. They are to be asked for before
    /// they are read, also those of a group that was there.
    ///
    /// # Panics
    /// When there are fewer groups than `number`, or there is no room for it.
    fn find(&mut self, number: usize, places: [u32; N]);
    /// Asks for the lines of the values of a group that was found, into the second cache level if
    /// `FAR`.
    ///
    /// # Panics
    /// When there is no such group, or one before it was not asked for.
    fn ask<const FAR: bool>(&mut self, number: usize);
    /// The places of a group that was asked for, and their values.
    ///
    /// # Panics
    /// When there is no such group.
    fn get(&self, number: usize) -> (&[u32; N], [&'a T; N]);
}

/// Where values begin, in bytes from the first, for groups of places.
#[derive(Debug)]
struct Offsets<const N: usize, const GROUPS: usize> {
    /// Of the column: at least 1.
    len: u32,
    places: Groups<u32, N, GROUPS>,
    /// Each is that of a value which is there: nothing else is written to it than `find` does.
    offsets: Groups<u64, N, GROUPS>,
}

impl<const N: usize, const GROUPS: usize> Offsets<N, GROUPS> {
    /// # Panics
    /// For no values, or 2^32 of them and more.
    #[inline(always)]
    fn new(len: usize) -> Self {
        let len = u32::try_from(len).unwrap_or(0);
        assert!(len > 0, "shares are of one value to 2^32 - 1");
        Self {
            len,
            places: Groups::new(),
            offsets: Groups::new(),
        }
    }

    /// Finds values `T`, as all calls do.
    #[inline(always)]
    fn find<T>(&mut self, number: usize, places: [u32; N]) {
        let offsets = places.map(|place| {
            let index = (u64::from(place) * u64::from(self.len)) >> 32;
            index * size_of::<T>() as u64
        });
        self.places.set(number, |index| places[index]);
        self.offsets.set(number, |index| offsets[index]);
    }

    #[inline(always)]
    fn get(&self, number: usize) -> (&[u32; N], &[u64; N]) {
        (
            &self.places.as_slice()[number],
            &self.offsets.as_slice()[number],
        )
    }
}

/// [`Shares`] of values that lie side by side: such a value is found by one product, and read by
/// one addition.
#[derive(Debug)]
pub struct RowShares<'a, T, const N: usize, const GROUPS: usize> {
    values: &'a [T],
    /// For as many values.
    offsets: Offsets<N, GROUPS>,
}

impl<'a, T, const N: usize, const GROUPS: usize> RowShares<'a, T, N, GROUPS> {
    /// No groups yet.
    ///
    /// # Panics
    /// When there are no values, or 2^32 of them and more.
    #[inline(always)]
    #[must_use]
    pub fn new(values: &'a [T]) -> Self {
        let offsets = Offsets::new(values.len());
        Self { values, offsets }
    }
}

impl<'a, T, const N: usize, const GROUPS: usize> Shares<'a, T, N> for RowShares<'a, T, N, GROUPS> {
    #[inline(always)]
    fn find(&mut self, number: usize, places: [u32; N]) {
        self.offsets.find::<T>(number, places);
    }

    #[inline(always)]
    fn ask<const FAR: bool>(&mut self, number: usize) {
        for &offset in self.offsets.get(number).1 {
            let first = self.values.as_ptr().cast::<u8>();
            prefetch::read_into::<FAR>(first.wrapping_add(offset as usize));
        }
    }

    #[inline(always)]
    fn get(&self, number: usize) -> (&[u32; N], [&'a T; N]) {
        let (places, offsets) = self.offsets.get(number);
        // SAFETY: `offsets` is for as many values as there are, is asked for none but of type `T`,
        // and has only offsets of values that are there: a place is below 2^32, so its share of
        // `len` is below `len`. The values are borrowed for `'a`.
        let value = |offset: u64| unsafe { &*self.values.as_ptr().byte_add(offset as usize) };
        (places, offsets.map(value))
    }
}

/// [`Shares`] of values in pages: the directory tells where a value is when it is asked for.
#[derive(Debug)]
pub struct PagedShares<'a, T, const N: usize, const GROUPS: usize> {
    view: PagedView<'a, T>,
    /// For as many values.
    offsets: Offsets<N, GROUPS>,
    values: Groups<&'a T, N, GROUPS>,
}

impl<'a, T, const N: usize, const GROUPS: usize> PagedShares<'a, T, N, GROUPS> {
    /// No groups yet.
    ///
    /// # Panics
    /// When there are no values, or 2^32 of them and more.
    #[inline(always)]
    #[must_use]
    pub fn new(view: PagedView<'a, T>) -> Self {
        Self {
            view,
            offsets: Offsets::new(view.len()),
            values: Groups::new(),
        }
    }
}

impl<'a, T, const N: usize, const GROUPS: usize> Shares<'a, T, N>
    for PagedShares<'a, T, N, GROUPS>
{
    #[inline(always)]
    fn find(&mut self, number: usize, places: [u32; N]) {
        self.offsets.find::<T>(number, places);
    }

    #[inline(always)]
    fn ask<const FAR: bool>(&mut self, number: usize) {
        let (_, offsets) = self.offsets.get(number);
        let view = self.view;
        self.values.set(number, |index| {
            // SAFETY: as in `RowShares::get`: the offset is of a value of the column.
            let value = unsafe { view.at_offset(offsets[index] as usize) };
            prefetch::read_into::<FAR>(ptr::from_ref(value).cast());
            value
        });
    }

    #[inline(always)]
    fn get(&self, number: usize) -> (&[u32; N], [&'a T; N]) {
        let (places, _) = self.offsets.get(number);
        (places, self.values.as_slice()[number])
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{PagedShares, RowShares, Shares};
    use crate::Paged;

    const PLACES: [u32; 8] = [0, 1, 77, 1 << 30, 1 << 31, 3 << 30, u32::MAX - 1, u32::MAX];

    /// Both find what the product says, whatever the length, and again after a group was replaced.
    #[test]
    fn shares_are_of_the_product() {
        let per_page = Paged::<u64>::per_page();
        for len in [
            1,
            2,
            3,
            per_page - 1,
            per_page,
            per_page + 1,
            5 * per_page / 2,
        ] {
            let values: Vec<u64> = (0..len as u64).collect();
            let column = Paged::copy_of(&values).expect("memory");
            let mut changed = column.clone();
            *changed.get_mut(len / 2).expect("memory") += 0;
            check(RowShares::<u64, 4, 3>::new(&values), len);
            check(PagedShares::<u64, 4, 3>::new(column.view()), len);
            check(PagedShares::<u64, 4, 3>::new(changed.view()), len);
        }
    }

    fn check<'a>(mut shares: impl Shares<'a, u64, 4>, len: usize) {
        let [low, high] = [0, 4].map(|at| PLACES[at..].first_chunk().copied().expect("four"));
        for (number, places) in [(0, high), (1, low), (2, high), (0, low), (1, high)] {
            shares.find(number, places);
            if number == 1 {
                shares.ask::<true>(number);
            } else {
                shares.ask::<false>(number);
            }
        }
        for (number, places) in [(0, low), (1, high), (2, high)] {
            let share = |place: u32| (u64::from(place) * len as u64) >> 32;
            let (held, values) = shares.get(number);
            assert_eq!(
                (*held, values.map(|value| *value)),
                (places, places.map(share))
            );
        }
    }

    #[test]
    fn values_of_any_size_lie_side_by_side() {
        let values: Vec<[u8; 3]> = (0..100).map(|value| [value, 1, 2]).collect();
        let mut shares = RowShares::<[u8; 3], 8, 1>::new(&values);
        shares.find(0, PLACES);
        let share = |place: u32| ((u64::from(place) * 100) >> 32) as u8;
        assert_eq!(shares.get(0).1.map(|value| value[0]), PLACES.map(share));
    }

    #[test]
    #[should_panic(expected = "one value")]
    fn nothing_has_no_shares() {
        let _ = RowShares::<u64, 4, 1>::new(&[]);
    }

    #[test]
    #[should_panic(expected = "missing")]
    fn groups_come_in_order() {
        RowShares::<u64, 4, 3>::new(&[1]).find(1, [0; 4]);
    }
}
