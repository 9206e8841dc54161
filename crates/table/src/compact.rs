//! Bringing the columns of tables back to where changes found them.
//!
//! A change copies the pages it touches, and a column with a page elsewhere is read by a directory:
//! pairs of lookups had three quarters of their rate then. Once workers have let go of the versions
//! before, the pages can go home ([`Paged::compact`]), as one version more.

use crate::compiled::CompileError;
use crate::memory::out_of_memory;
use frame::Paged;
use zerocopy::FromZeros;

/// How far the columns of tables are compacted.
#[derive(Debug)]
pub(crate) struct Compacting {
    /// Pages that may still be copied.
    pages_left: usize,
    /// Pages that were.
    pub(crate) copied: usize,
    /// Pages that are not at home yet.
    pub(crate) displaced: usize,
}

impl Compacting {
    /// Nothing yet, and `pages_max` pages to be copied at most.
    pub(crate) fn new(pages_max: usize) -> Self {
        Self {
            pages_left: pages_max,
            copied: 0,
            displaced: 0,
        }
    }

    /// Straightens one column more.
    pub(crate) fn column<T: FromZeros + Copy>(
        &mut self,
        column: &mut Paged<T>,
    ) -> Result<(), CompileError> {
        let copied = column.compact(self.pages_left).map_err(out_of_memory)?;
        self.copied += copied;
        // A column that is made anew may have more.
        self.pages_left = self.pages_left.saturating_sub(copied);
        self.displaced += column.displaced();
        Ok(())
    }
}
