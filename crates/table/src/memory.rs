//! Zeroed memory for tables: large pages where a table is large.

use crate::compiled::CompileError;
use frame::{HugePiece, HugeSlice};
use std::ops::{Deref, DerefMut};
use zerocopy::FromZeros;

/// Columns shorter than this live on the heap: a huge page would be mostly empty.
const HUGE_BYTES_MIN: usize = 1 << 20;

/// A column of a table. Take the slice once a burst: telling the two apart is a branch.
#[derive(Debug)]
pub(crate) enum Slab<T> {
    /// Few.
    Heap(Vec<T>),
    /// Many.
    Huge(HugeSlice<T>),
}

/// A column of `len` zeros.
pub(crate) fn zeroed<T: FromZeros + Clone>(len: usize) -> Result<Slab<T>, CompileError> {
    if cfg!(miri) || len.saturating_mul(size_of::<T>()) < HUGE_BYTES_MIN {
        return Ok(Slab::Heap(vec![T::new_zeroed(); len]));
    }
    HugeSlice::zeroed(len)
        .map(Slab::Huge)
        .map_err(out_of_memory)
}

/// `count` columns of `len` zeros each that have owners of their own and lie side by side, so that
/// many small ones are in large pages.
pub(crate) fn pieces<T: FromZeros>(
    len: usize,
    count: usize,
) -> Result<Vec<HugePiece<T>>, CompileError> {
    HugePiece::zeroed(len, count).map_err(out_of_memory)
}

/// Memory that is not there, as an error of this crate.
pub(crate) fn out_of_memory(error: frame::MemoryError) -> CompileError {
    CompileError::Memory {
        reason: error.to_string(),
    }
}

/// A column that holds what `values` holds.
pub(crate) fn copy_of<T: FromZeros + Copy>(values: &[T]) -> Result<Slab<T>, CompileError> {
    let mut copy = zeroed(values.len())?;
    copy.copy_from_slice(values);
    Ok(copy)
}

impl<T> Deref for Slab<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        match self {
            Self::Heap(values) => values,
            Self::Huge(values) => values,
        }
    }
}

impl<T> DerefMut for Slab<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Heap(values) => values,
            Self::Huge(values) => values,
        }
    }
}
