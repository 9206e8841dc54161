//! 64-byte buckets of 16 addresses, all compared at once; what does not fit goes on in the next.

use frame::HugeSlice;

use super::{Design, ask, bucket, roll};
use crate::LabError;
use crate::contest::refused;

/// Addresses a bucket.
const PLACES: usize = 16;
/// Addresses a bucket on average, in tenths: a load of 0.6.
const FILL_TENTHS: usize = 96;

/// Buckets by hash; a free place holds address 0.
pub(crate) struct Buckets16 {
    lines: HugeSlice<[u32; PLACES]>,
    /// Whether address 0, which marks free places, is in the set.
    zero: bool,
}

impl Buckets16 {
    /// Of addresses that differ.
    pub(crate) fn new(addresses: impl ExactSizeIterator<Item = u32>) -> Result<Self, LabError> {
        let count = addresses.len() * 10 / FILL_TENTHS + 1;
        let lines = HugeSlice::zeroed(count).map_err(refused)?;
        let mut table = Self { lines, zero: false };
        addresses.for_each(|address| table.insert(address));
        Ok(table)
    }

    fn insert(&mut self, address: u32) {
        self.zero |= address == 0;
        let mut index = bucket(address, self.lines.len());
        loop {
            if let Some(place) = self.lines[index].iter_mut().find(|place| **place == 0) {
                *place = address;
                return;
            }
            index = (index + 1) % self.lines.len();
        }
    }

    #[inline(always)]
    fn contains(&self, address: u32) -> bool {
        let index = bucket(address, self.lines.len());
        let line = &self.lines[index];
        let here = line
            .iter()
            .fold(false, |any, &stored| any | (stored == address));
        if here | (line[PLACES - 1] == 0) {
            return here & ((address != 0) | self.zero);
        }
        self.contains_behind(address, index)
    }

    /// The bucket is full and the address not in it.
    #[cold]
    #[inline(never)]
    fn contains_behind(&self, address: u32, mut index: usize) -> bool {
        for _ in 1..self.lines.len() {
            index = (index + 1) % self.lines.len();
            let line = &self.lines[index];
            if line.contains(&address) {
                return (address != 0) | self.zero;
            }
            if line[PLACES - 1] == 0 {
                return false;
            }
        }
        false
    }
}

impl Design for Buckets16 {
    fn bytes(&self) -> usize {
        size_of_val(&self.lines[..])
    }

    fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize {
        let count = self.lines.len();
        roll(
            keys,
            found,
            |key| ask(&self.lines, bucket(key, count)),
            |key| self.contains(key),
        )
    }
}
