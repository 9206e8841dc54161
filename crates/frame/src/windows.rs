//! Stretches of a slice, by where they begin.

use core::fmt;

use crate::prefetch;

/// All stretches of `N` values that lie within a slice.
///
/// One comparison tells that such a stretch is there, and none is multiplied by its size: for
/// loops that keep where something begins, ask for it, and read it later. A slice of arrays takes
/// a shift more each time, and a stretch of a slice two comparisons.
pub struct Windows<'a, T, const N: usize> {
    values: &'a [T],
    /// The last place where one begins.
    last: usize,
}

impl<T, const N: usize> Clone for Windows<'_, T, N> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for Windows<'_, T, N> {}

impl<T, const N: usize> fmt::Debug for Windows<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Windows").field("last", &self.last).finish()
    }
}

impl<'a, T, const N: usize> Windows<'a, T, N> {
    /// `None` when there are fewer than `N` values.
    #[inline(always)]
    #[must_use]
    pub fn new(values: &'a [T]) -> Option<Self> {
        let last = values.len().checked_sub(N)?;
        Some(Self { values, last })
    }

    /// The stretch that begins at `start`.
    ///
    /// # Panics
    /// When it is not there.
    #[inline(always)]
    #[must_use]
    pub fn at(self, start: u32) -> &'a [T; N] {
        let start = start as usize;
        if start > self.last {
            missing(start, N);
        }
        // SAFETY: `last + N` is the length of `values`, which are borrowed for `'a`: so `N` of them
        // lie from `start` on. An array is aligned as its values are.
        unsafe { &*self.values.as_ptr().add(start).cast() }
    }

    /// Asks for the line in which a stretch begins, into the second cache level if `FAR`. Nothing
    /// happens when it is not there.
    #[inline(always)]
    pub fn ask<const FAR: bool>(self, start: u32) {
        let first = self.values.as_ptr().wrapping_add(start as usize);
        prefetch::read_into::<FAR>(first.cast());
    }
}

/// A function of its own: a message about a variable would have it written to memory each time.
#[cold]
#[inline(never)]
fn missing(start: usize, count: usize) -> ! {
    panic!("no {count} values at {start}")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_those_of_the_slice() {
        let values: Vec<u16> = (0..70).collect();
        let windows = Windows::<_, 32>::new(&values).expect("enough");
        for start in 0..=38 {
            windows.ask::<false>(start);
            assert_eq!(windows.at(start)[..], values[start as usize..][..32]);
        }
        windows.ask::<true>(u32::MAX);
        assert!(Windows::<_, 32>::new(&values[..31]).is_none());
        assert_eq!(
            Windows::<_, 32>::new(&values[..32]).map(|windows| windows.at(0)[31]),
            Some(31)
        );
    }

    #[test]
    #[should_panic(expected = "no 4 values at 2")]
    fn what_is_not_there_is_not_read() {
        let windows = Windows::<u8, 4>::new(&[0; 5]).expect("enough");
        let _ = windows.at(2);
    }
}
