//! Parts of one mapping that have owners of their own.

use core::{
    fmt,
    ops::{Deref, DerefMut},
    ptr::NonNull,
    slice,
};
use std::sync::Arc;

use zerocopy::FromZeros;

use crate::memory::{Mapping, MemoryError, SMALL_PAGE_BYTES};

/// A slice of values that begin as all zero bytes, in a [`Mapping`] that it shares with other
/// slices: together they lie in large pages where each alone is too small for one. Owners may be
/// different threads; the memory goes back when the last of them lets go.
///
/// Values are not dropped when the slice is; types that allow zero bytes seldom own anything.
pub struct HugePiece<T> {
    start: NonNull<T>,
    len: usize,
    /// Keeps the memory there.
    _mapping: Arc<Mapping>,
}

// SAFETY: a piece owns its values, which no other piece has; they are moved with it.
unsafe impl<T: Send> Send for HugePiece<T> {}
// SAFETY: through a shared piece values can only be read.
unsafe impl<T: Sync> Sync for HugePiece<T> {}

impl<T: FromZeros> HugePiece<T> {
    /// `count` pieces of `len` values each, side by side.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn zeroed(len: usize, count: usize) -> Result<Vec<HugePiece<T>>, MemoryError> {
        const {
            assert!(
                align_of::<T>() <= SMALL_PAGE_BYTES,
                "mappings begin at a page"
            );
        }
        let bytes = len.checked_mul(size_of::<T>());
        let bytes = bytes.and_then(|bytes| bytes.checked_mul(count));
        let mapping = Arc::new(Mapping::touched(bytes.ok_or(MemoryError::TooLarge)?)?);
        let first: NonNull<T> = mapping.start().cast();
        let piece = |at: usize| HugePiece {
            // SAFETY: `at < count`, so `at * len` values from the start are inside the mapping,
            // whose length was computed without overflow.
            start: unsafe { first.add(at * len) },
            len,
            _mapping: Arc::clone(&mapping),
        };
        Ok((0..count).map(piece).collect())
    }
}

impl<T> Deref for HugePiece<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` values from `start` on lie inside the mapping, which `_mapping` keeps;
        // they are this piece's alone (`zeroed` makes disjoint ones), and began as zero bytes,
        // which `T: FromZeros` allows.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for HugePiece<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` is the only way to them.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T> fmt::Debug for HugePiece<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HugePiece")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_apart_and_outlive_each_other() {
        let mut pieces = HugePiece::<u64>::zeroed(5, 3).expect("a page");
        for (number, piece) in pieces.iter_mut().enumerate() {
            assert_eq!(**piece, [0; 5]);
            piece.fill(number as u64 + 1);
        }
        let mut last = pieces.pop().expect("three of them");
        let other = std::thread::spawn(move || {
            last[4] = 9;
            last
        });
        drop(pieces.swap_remove(0));
        assert_eq!(*pieces[0], [2; 5]);
        drop(pieces);
        let last = other.join().expect("no panic");
        assert_eq!(*last, [3, 3, 3, 3, 9]);
    }

    #[test]
    fn nothing_is_a_piece_too_and_too_much_is_refused() {
        let none = HugePiece::<u64>::zeroed(0, 4).expect("nothing");
        assert!(none.iter().all(|piece| piece.is_empty()));
        assert!(HugePiece::<u64>::zeroed(usize::MAX / 2, 3).is_err());
    }
}
