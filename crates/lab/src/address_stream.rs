//! Random addresses in memory, more than any cache holds.

use frame::{HugeSlice, prefetch};

use crate::experiment::LabError;
use crate::shuffle::Seeded;

/// Addresses: 64 MiB, read on from trial to trial.
const ADDRESSES: usize = 1 << 24;
const LINE_BYTES: usize = 64;

/// The stream, read round and round.
pub(crate) struct AddressStream(HugeSlice<u32>);

impl AddressStream {
    pub(crate) fn new(seed: u64) -> Result<Self, LabError> {
        let mut seeded = Seeded::new(seed);
        Self::of(ADDRESSES, |_| seeded.next() as u32)
    }

    /// What `address` says of each place.
    pub(crate) fn of(len: usize, mut address: impl FnMut(usize) -> u32) -> Result<Self, LabError> {
        let stream = HugeSlice::<u32>::zeroed(len);
        let mut stream = stream.map_err(|error| LabError(error.to_string()))?;
        for (place, filled) in stream.iter_mut().enumerate() {
            *filled = address(place);
        }
        Ok(Self(stream))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The burst of `len` addresses at `at`, of which the stream has a whole number, or the one it
    /// comes to after going round; asks for a later one, as no frame's addresses come from
    /// memory of their own.
    #[inline(always)]
    pub(crate) fn burst(&self, at: usize, len: usize) -> &[u32] {
        let at = at % self.len();
        let burst = &self.0[at..(at + len).min(self.len())];
        let ahead = burst.as_ptr().wrapping_add(2 * len).cast::<u8>();
        for line in 0..size_of_val(burst) / LINE_BYTES {
            prefetch::read(ahead.wrapping_add(LINE_BYTES * line));
        }
        burst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_goes_round() {
        let stream = AddressStream::of(4096, |place| place as u32).expect("memory");
        assert_eq!(stream.burst(0, 4), [0, 1, 2, 3]);
        assert_eq!(stream.burst(4092, 4), [4092, 4093, 4094, 4095]);
        assert_eq!(stream.burst(4096 + 8, 2), [8, 9]);
    }
}
