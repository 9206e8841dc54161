//! One bit for each of the 2^32 addresses: 512 MB, whatever the number of entries.

use frame::HugeSlice;

use super::{Design, ask, roll};
use crate::LabError;
use crate::contest::refused;

/// Bytes of the map.
pub(crate) const BYTES: usize = 1 << 29;

/// The map.
pub(crate) struct Bitmap {
    words: HugeSlice<u64>,
}

#[inline(always)]
fn word_of(address: u32) -> usize {
    (address >> 6) as usize
}

impl Bitmap {
    /// Of these addresses.
    pub(crate) fn new(addresses: impl Iterator<Item = u32>) -> Result<Self, LabError> {
        let mut words = HugeSlice::<u64>::zeroed(BYTES / 8).map_err(refused)?;
        for address in addresses {
            words[word_of(address)] |= 1 << (address & 63);
        }
        Ok(Self { words })
    }
}

impl Design for Bitmap {
    fn bytes(&self) -> usize {
        BYTES
    }

    fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize {
        roll(
            keys,
            found,
            |key| ask(&self.words, word_of(key)),
            |key| self.words[word_of(key)] >> (key & 63) & 1 == 1,
        )
    }
}
