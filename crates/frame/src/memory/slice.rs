//! Zeroed typed memory in large pages, for tables.

use core::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    slice,
};

use zerocopy::FromZeros;

use crate::memory::{Mapping, MemoryError, Pages, SMALL_PAGE_BYTES};

/// A slice of values that begin as all zero bytes, in a [`Mapping`] of its own. Every page of it is
/// touched, so that no lookup ever faults.
///
/// Values are not dropped when the slice is; types that allow zero bytes seldom own anything.
pub struct HugeSlice<T> {
    mapping: Mapping,
    len: usize,
    values: PhantomData<T>,
}

impl<T: FromZeros> HugeSlice<T> {
    /// `len` values of zero bytes.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn zeroed(len: usize) -> Result<HugeSlice<T>, MemoryError> {
        Self::within(len, Mapping::touched)
    }

    /// `len` values in what `map` maps.
    fn within(
        len: usize,
        map: impl FnOnce(usize) -> Result<Mapping, MemoryError>,
    ) -> Result<HugeSlice<T>, MemoryError> {
        const {
            assert!(
                align_of::<T>() <= SMALL_PAGE_BYTES,
                "mappings begin at a page"
            );
        }
        let bytes = len
            .checked_mul(size_of::<T>())
            .ok_or(MemoryError::TooLarge)?;
        Ok(HugeSlice {
            mapping: map(bytes)?,
            len,
            values: PhantomData,
        })
    }

    /// As [`HugeSlice::zeroed`], but in pages of 4 KiB however the machine is set: to measure what
    /// large pages are worth.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn zeroed_in_small_pages(len: usize) -> Result<HugeSlice<T>, MemoryError> {
        Self::within(len, Mapping::touched_in_small_pages)
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn copy_of(values: &[T]) -> Result<HugeSlice<T>, MemoryError>
    where
        T: Copy,
    {
        let mut copy = HugeSlice::zeroed(values.len())?;
        copy.copy_from_slice(values);
        Ok(copy)
    }
}

impl<T> HugeSlice<T> {
    /// Bytes mapped, rounding included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.mapping.bytes()
    }

    /// The pages the slice is in now. Asks the kernel: for reports, not for the fast path.
    #[must_use]
    pub fn pages(&self) -> Pages {
        self.mapping.pages()
    }
}

impl<T> Deref for HugeSlice<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping is this slice's own, aligned to a page, at least `len` values long;
        // it began as zero bytes, which `T: FromZeros` (asked by `zeroed`) allows.
        unsafe { slice::from_raw_parts(self.mapping.start().as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for HugeSlice<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` is the only way to it.
        unsafe { slice::from_raw_parts_mut(self.mapping.start().as_ptr().cast(), self.len) }
    }
}

impl<T> fmt::Debug for HugeSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HugeSlice")
            .field("len", &self.len)
            .field("mapping", &self.mapping)
            .finish_non_exhaustive()
    }
}
