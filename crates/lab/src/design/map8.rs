//! 64-byte buckets of 8 addresses with a value each; what does not fit goes on in the next.

use frame::HugeSlice;

use super::{Design, ask, bucket, roll};
use crate::LabError;
use crate::contest::refused;

/// Addresses a bucket.
const PLACES: usize = 8;
/// Addresses a bucket on average, in tenths: a load of 0.6.
const FILL_TENTHS: usize = 48;

/// Set in the last value of a bucket that did not take all its addresses: a bucket that is only
/// full sends no miss on.
const OVERFLOWED: u32 = 1 << 31;

/// 8 addresses, then 8 values; a value of 0 marks a free place.
type Bucket = [[u32; PLACES]; 2];

/// Buckets by hash.
pub(crate) struct Map8 {
    lines: HugeSlice<Bucket>,
}

impl Map8 {
    /// Of addresses that differ, each with the value 1.
    pub(crate) fn new(addresses: impl ExactSizeIterator<Item = u32>) -> Result<Self, LabError> {
        let count = addresses.len() * 10 / FILL_TENTHS + 1;
        let lines = HugeSlice::zeroed(count).map_err(refused)?;
        let mut table = Self { lines };
        addresses.for_each(|address| table.insert(address));
        Ok(table)
    }

    fn insert(&mut self, address: u32) {
        let mut index = bucket(address, self.lines.len());
        loop {
            let [addresses, values] = &mut self.lines[index];
            if let Some(place) = values.iter().position(|&value| value == 0) {
                (addresses[place], values[place]) = (address, 1);
                return;
            }
            values[PLACES - 1] |= OVERFLOWED;
            index = (index + 1) % self.lines.len();
        }
    }

    /// The value of an address; 0 where it is absent.
    #[inline(always)]
    fn value(&self, address: u32) -> u32 {
        let index = bucket(address, self.lines.len());
        let value = value_in(&self.lines[index], address);
        if (value == 0) & (self.lines[index][1][PLACES - 1] >= OVERFLOWED) {
            return self.value_behind(address, index);
        }
        value
    }

    /// The bucket overflowed and the address is not in it.
    #[cold]
    #[inline(never)]
    fn value_behind(&self, address: u32, mut index: usize) -> u32 {
        for _ in 1..self.lines.len() {
            index = (index + 1) % self.lines.len();
            let value = value_in(&self.lines[index], address);
            if (value != 0) | (self.lines[index][1][PLACES - 1] < OVERFLOWED) {
                return value;
            }
        }
        0
    }
}

/// All places at once: at most one holds the address and a value.
#[inline(always)]
fn value_in([addresses, values]: &Bucket, address: u32) -> u32 {
    let places = addresses.iter().zip(values);
    places.fold(0, |any, (&stored, &value)| {
        any | if stored == address { value } else { 0 }
    })
}

impl Design for Map8 {
    fn bytes(&self) -> usize {
        size_of_val(&self.lines[..])
    }

    fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize {
        let count = self.lines.len();
        roll(
            keys,
            found,
            |key| ask(&self.lines, bucket(key, count)),
            |key| self.value(key) != 0,
        )
    }
}
