//! A version of the same entries whose pages lie where they should.

use super::{ChangeError, LiveLists, Version};
use crate::compact::Compacting;
use crate::compiled::CompiledLists;

/// Pages of 64 KiB that one call of [`LiveLists::compact`] copies, but for columns that have no
/// place to go back to: 32 MiB, some three milliseconds.
pub const COMPACTED_MAX: usize = 512;

/// What [`LiveLists::compact`] did.
#[derive(Clone, Debug)]
pub struct Compacted {
    /// The version with pages copied; none where there was nothing that could be.
    pub version: Option<Version>,
    /// Pages that lie elsewhere still. Where there is a version too, more can be copied once the
    /// workers have it and let go of the one before; where there is none, they hold older ones.
    pub displaced: usize,
}

impl LiveLists {
    /// Makes a version of the same entries whose pages lie side by side, as far as older versions
    /// have let go of where they lay, and [`COMPACTED_MAX`] of them. Worth it when changes have
    /// paused: lookups find lines without a directory then, and those among networks have 1.25
    /// to 1.5 times the rate. The next change copies the pages that it touches elsewhere again.
    ///
    /// Once the workers have the version, and what came before it is dropped, call it again until
    /// nothing is displaced: three times at most, unless there are more pages.
    ///
    /// # Errors
    /// [`ChangeError::Table`]; then the version is the one it was.
    pub fn compact(&mut self) -> Result<Compacted, ChangeError> {
        let mut table = CompiledLists::clone(&self.current.lists);
        let mut work = Compacting::new(COMPACTED_MAX);
        table.v4.compact(&mut work)?;
        table.v6.compact(&mut work)?;
        let version = (work.copied > 0).then(|| {
            self.show(table);
            self.current.clone()
        });
        Ok(Compacted {
            version,
            displaced: work.displaced,
        })
    }
}
