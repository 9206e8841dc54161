//! Addresses drawn so that it is known which are in a set, and streams of them from memory.

use frame::{HugeSlice, MemoryError, prefetch};

use crate::LabError;
use crate::contest::refused;
use crate::shuffle::Seeded;

/// Bytes of a stream: no cache holds it, so that each key comes from memory as a packet's does.
const STREAM_BYTES: usize = 64 << 20;
/// Keys that the driver asks for ahead of the burst in work.
const KEYS_AHEAD: usize = 512;

/// What a set holds: `u32` for IPv4, `u128` for IPv6.
pub(crate) trait Key: Copy + Eq + 'static {
    /// 4 or 6.
    const FAMILY: u32;

    /// The address of this number under this seed; different numbers give different addresses.
    fn nth(number: u32, seed: u64) -> Self;
    /// Zeroed memory for keys.
    fn memory(len: usize) -> Result<HugeSlice<Self>, MemoryError>;
}

impl Key for u32 {
    const FAMILY: u32 = 4;

    /// A bijection of 32 bits (MurmurHash3's finalizer, Appleby 2011): numbers from `n` on give
    /// addresses that are in no set of the first `n`.
    #[inline]
    fn nth(number: u32, seed: u64) -> Self {
        let mut word = number ^ seed as u32;
        word = (word ^ word >> 16).wrapping_mul(0x85eb_ca6b);
        word = (word ^ word >> 13).wrapping_mul(0xc2b2_ae35);
        word ^ word >> 16
    }

    fn memory(len: usize) -> Result<HugeSlice<Self>, MemoryError> {
        HugeSlice::zeroed(len)
    }
}

impl Key for u128 {
    const FAMILY: u32 = 6;

    /// Within `2000::/3`; the lower half is a bijection of the number.
    #[inline]
    fn nth(number: u32, seed: u64) -> Self {
        let low = Seeded::new(seed ^ u64::from(number)).next();
        let high = Seeded::new(!low).next();
        (u128::from(high >> 3) | 1 << 61) << 64 | Self::from(low)
    }

    fn memory(len: usize) -> Result<HugeSlice<Self>, MemoryError> {
        HugeSlice::zeroed(len)
    }
}

/// Which keys a stream is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Every key is in the set.
    Hit,
    /// None is.
    Miss,
    /// Each is with probability one half.
    Half,
}

/// Keys in memory, more than any cache holds.
#[derive(Debug)]
pub(crate) struct Stream<K> {
    keys: HugeSlice<K>,
}

impl<K: Key> Stream<K> {
    /// [`STREAM_BYTES`] of keys from `draw`.
    pub(crate) fn drawn(draw: impl FnMut() -> K) -> Result<Self, LabError> {
        Self::with_len(STREAM_BYTES / size_of::<K>(), draw)
    }

    /// So many keys from `draw`.
    pub(crate) fn with_len(len: usize, mut draw: impl FnMut() -> K) -> Result<Self, LabError> {
        let mut keys = K::memory(len).map_err(refused)?;
        for key in keys.iter_mut() {
            *key = draw();
        }
        Ok(Self { keys })
    }

    /// Keys for a set that holds the first `entries` numbers under `set_seed`.
    pub(crate) fn of_set(
        entries: usize,
        set_seed: u64,
        share: Share,
        seed: u64,
    ) -> Result<Self, LabError> {
        let mut seeded = Seeded::new(seed);
        let mut draw = draws::<K>(entries, set_seed);
        Self::drawn(move || {
            let word = seeded.next();
            let hit = match share {
                Share::Hit => true,
                Share::Miss => false,
                Share::Half => word >> 63 == 0,
            };
            draw(hit, word)
        })
    }

    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }
}

/// A key of the first `entries` numbers, or of those behind, by the lower half of a random word.
pub(crate) fn draws<K: Key>(entries: usize, set_seed: u64) -> impl FnMut(bool, u64) -> K {
    let entries = entries as u64;
    move |hit, word| {
        let (first, count) = if hit {
            (0, entries)
        } else {
            (entries, (1 << 32) - entries)
        };
        let number = first + (((word & 0xffff_ffff) * count) >> 32);
        K::nth(number as u32, set_seed)
    }
}

/// Where in a stream a trial reads: each goes on where the last ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor(usize);

impl Cursor {
    /// Begins at the key at `place`.
    pub(crate) fn at(place: usize) -> Self {
        Self(place)
    }

    /// The next `count` keys, or the first behind `shift` where fewer are left.
    pub(crate) fn take<'a, K>(&mut self, keys: &'a [K], count: usize, shift: usize) -> &'a [K] {
        let count = count.min(keys.len());
        if self.0 + count > keys.len() {
            self.0 = shift.min(keys.len() - count);
        }
        let taken = &keys[self.0..self.0 + count];
        self.0 += count;
        taken
    }
}

/// Hands `keys` to `lookup` in bursts. The stream is asked for ahead in software: hardware alone
/// gave 170 where that gave 280 million keys a second. It is asked for into the second cache level,
/// which keeps more misses under way: in the first, which has two dozen on a Zen 4, the set would
/// wait for it.
#[inline(always)]
pub(crate) fn drive<K: Key>(keys: &[K], burst: usize, mut lookup: impl FnMut(&[K])) {
    let lines = (burst * size_of::<K>()).div_ceil(64);
    for chunk in keys.chunks(burst) {
        let ahead = chunk.as_ptr().wrapping_add(KEYS_AHEAD).cast::<u8>();
        for line in 0..lines {
            prefetch::read_far(ahead.wrapping_add(64 * line));
        }
        lookup(chunk);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn share_of<K: Key + std::hash::Hash>(share: Share) -> f64 {
        let set: HashSet<K> = (0..1000).map(|number| K::nth(number, 7)).collect();
        assert_eq!(set.len(), 1000);
        let stream = Stream::<K>::of_set(1000, 7, share, 3).expect("memory");
        let keys = &stream.keys()[..10_000];
        let hits = keys.iter().filter(|key| set.contains(key)).count();
        hits as f64 / keys.len() as f64
    }

    #[test]
    fn streams_have_the_share_of_hits_they_claim() {
        for shares in [share_of::<u32> as fn(Share) -> f64, share_of::<u128>] {
            assert_eq!((shares(Share::Hit), shares(Share::Miss)), (1.0, 0.0));
            assert!((0.47..0.53).contains(&shares(Share::Half)));
        }
    }

    #[test]
    fn streams_are_larger_than_caches_and_random() {
        let stream = Stream::<u32>::of_set(6_000_000, 1, Share::Miss, 2).expect("memory");
        assert!(size_of_val(stream.keys()) >= 64 << 20);
        let some: HashSet<&u32> = stream.keys()[..100_000].iter().collect();
        assert!(some.len() > 99_000);
    }

    #[test]
    fn trials_read_on_and_begin_again() {
        let keys: Vec<u32> = (0..10).collect();
        let mut cursor = Cursor::default();
        assert_eq!(cursor.take(&keys, 4, 1), [0, 1, 2, 3]);
        assert_eq!(cursor.take(&keys, 4, 1), [4, 5, 6, 7]);
        assert_eq!(cursor.take(&keys, 4, 1), [1, 2, 3, 4]);
        assert_eq!(cursor.take(&keys, 40, 1).len(), 10);
    }

    #[test]
    fn every_key_is_driven_once() {
        fn check<K: Key + std::fmt::Debug>(keys: &[K]) {
            for burst in [1, 3, 64, 512, 2000] {
                let mut seen = Vec::new();
                drive(keys, burst, |chunk| {
                    assert!(chunk.len() == burst || seen.len() + chunk.len() == keys.len());
                    seen.extend_from_slice(chunk);
                });
                assert_eq!(seen, keys);
            }
        }
        let keys: Vec<u32> = (0..1000).collect();
        let wide: Vec<u128> = (0..1000).collect();
        check(&keys);
        check(&wide);
        check::<u32>(&[]);
    }
}
