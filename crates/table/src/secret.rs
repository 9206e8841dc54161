//! Keyed placement: nobody outside the process can tell which addresses share a line.

use std::hash::{BuildHasher, RandomState};
#[cfg(target_endian = "little")]
use zerocopy::{FromBytes, IntoBytes};

/// Secrets drawn at compile time of a table, from the system's random source by way of std's
/// [`RandomState`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secret {
    words: [u64; 4],
}

impl Secret {
    /// Fresh secrets. Constant under Miri, whose runs should repeat.
    pub(crate) fn draw() -> Self {
        if cfg!(miri) {
            return Self::from_seed(1);
        }
        let state = RandomState::new();
        Self {
            words: [0u64, 1, 2, 3].map(|index| state.hash_one(index)),
        }
    }

    /// The same secrets from the same seed (SplitMix64), so that tests repeat.
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self {
            words: [1u64, 2, 3, 4].map(|index| {
                let mut word = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                word ^ word >> 31
            }),
        }
    }

    /// The permutation of the IPv4 addresses that these secrets choose.
    pub(crate) fn permutation(&self) -> Permutation {
        let [a, b, c, _] = self.words;
        Permutation {
            mask: a as u32,
            factors: [(a >> 32) as u32 | 1, b as u32 | 1, (b >> 32) as u32 | 1],
            sum: c as u32,
        }
    }

    /// Factor and sum of the hash of a sieve.
    pub(crate) fn sieve_key(&self) -> [u64; 2] {
        [self.words[2], self.words[3]]
    }

    /// What the hash of flows is keyed by.
    pub(crate) fn flow_key(&self) -> [u64; 4] {
        self.words
    }

    /// A hash of IPv6 addresses; tests draw from it.
    #[cfg(test)]
    pub(crate) fn hash(&self) -> Hash {
        Hash { words: self.words }
    }

    /// The permutation of the IPv6 addresses that these secrets choose.
    pub(crate) fn wide_permutation(&self) -> WidePermutation {
        let [mask, b, c, d] = self.words;
        WidePermutation {
            mask,
            factor: b | 1,
            inner: c | 1,
            outer: d | 1,
        }
    }
}

/// A keyed bijection of 32 bits: xor, then thrice an odd factor with a shift between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    mask: u32,
    factors: [u32; 3],
    sum: u32,
}

impl Permutation {
    #[inline(always)]
    pub(crate) fn apply(&self, address: u32) -> u32 {
        let mut word = (address ^ self.mask).wrapping_mul(self.factors[0]);
        word = (word ^ word >> 16)
            .wrapping_mul(self.factors[1])
            .wrapping_add(self.sum);
        (word ^ word >> 15).wrapping_mul(self.factors[2])
    }
}

/// A keyed bijection of 128 bits: two rounds of a Feistel network. Whatever the round function,
/// such a round is undone by itself, so different addresses stay different.
///
/// Its products keep 64 bits, so that vectors of addresses are mixed at once: what mixes them so
/// reads these numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WidePermutation {
    pub(crate) mask: u64,
    /// Odd, of the first round.
    pub(crate) factor: u64,
    /// Odd, of the second round, what is squared.
    pub(crate) inner: u64,
    /// Odd, of the second round, added to twice the square root.
    pub(crate) outer: u64,
}

impl WidePermutation {
    /// The lower and the upper half. The upper one is mixed last: its bits depend on all of the
    /// address by way of two products with a shift between, so that addresses in sequence do not
    /// fall into the lines in a lattice.
    #[inline(always)]
    pub(crate) fn apply(&self, address: u128) -> [u64; 2] {
        self.apply_halves([address as u64, (address >> 64) as u64])
    }

    /// [`WidePermutation::apply`] for many; as many words as addresses.
    #[inline(always)]
    pub(crate) fn apply_all(&self, addresses: &[u128], words: &mut [[u64; 2]]) {
        #[cfg(target_endian = "little")]
        if let Ok(halves) = <[[u64; 2]]>::ref_from_bytes(addresses.as_bytes()) {
            // Of 64-bit words the compiler makes vectors (AVX2), of 128-bit words it does not.
            for (word, &halves) in words.iter_mut().zip(halves) {
                *word = self.apply_halves(halves);
            }
            return;
        }
        for (word, &address) in words.iter_mut().zip(addresses) {
            *word = self.apply(address);
        }
    }

    #[inline(always)]
    fn apply_halves(&self, [low, high]: [u64; 2]) -> [u64; 2] {
        let low = low ^ self.first_round(high);
        [low, high ^ self.second_round(low)]
    }

    #[inline(always)]
    fn first_round(&self, high: u64) -> u64 {
        let product = (high ^ self.mask).wrapping_mul(self.factor);
        product ^ product >> 32
    }

    /// A square, since with another constant factor addresses that differ in their upper bits alone
    /// fell into the lines in a lattice: some secrets passed on twice as many.
    #[inline(always)]
    fn second_round(&self, low: u64) -> u64 {
        let product = low.wrapping_mul(self.inner);
        let product = product ^ product >> 32;
        product.wrapping_mul((product << 1).wrapping_add(self.outer))
    }
}

/// A keyed 64-bit hash of 128 bits: two widening multiplications, folded.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash {
    words: [u64; 4],
}

#[cfg(test)]
impl Hash {
    pub(crate) fn apply(&self, address: u128) -> u64 {
        let [a, b, c, d] = self.words;
        let once = fold(address as u64 ^ a, (address >> 64) as u64 ^ b);
        fold(once ^ c, address as u64 ^ d)
    }
}

#[cfg(test)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_permutation_does_not_collide() {
        let permutation = Secret::from_seed(7).permutation();
        let count = if cfg!(miri) { 500 } else { 300_000 };
        let low: HashSet<u32> = (0..count).map(|a| permutation.apply(a)).collect();
        assert_eq!(low.len(), count as usize);
        let high: HashSet<u32> = (0..count).map(|a| permutation.apply(a << 12)).collect();
        assert_eq!(high.len(), (count as usize).min(1 << 20));
    }

    #[test]
    fn a_wide_permutation_can_be_undone() {
        let wide = Secret::from_seed(5).wide_permutation();
        let mut address = 1u128;
        for _ in 0..1000 {
            address = address.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
            for address in [address, address >> 64, address & 7, address << 100] {
                let [low, high] = wide.apply(address);
                let high = high ^ wide.second_round(low);
                let low = low ^ wide.first_round(high);
                assert_eq!(u128::from(high) << 64 | u128::from(low), address);
            }
        }
    }

    #[test]
    fn processes_differ() {
        if !cfg!(miri) {
            assert_ne!(Secret::draw().words, Secret::draw().words);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics, and no unsafe code")]
    fn sequences_spread() {
        let permutation = Secret::from_seed(3).permutation();
        let wide = Secret::from_seed(3).wide_permutation();
        let mut counts = [[0u32; 256]; 4];
        for address in 0..25_600u32 {
            counts[0][(permutation.apply(address) >> 24) as usize] += 1;
            counts[1][(permutation.apply(address << 8) >> 24) as usize] += 1;
            counts[2][(wide.apply(u128::from(address) << 64)[1] >> 56) as usize] += 1;
            counts[3][(wide.apply(u128::from(address) | 1 << 125)[1] >> 56) as usize] += 1;
        }
        // Mean 100, standard deviation 10.
        for count in counts.iter().flatten() {
            assert!((30..300).contains(count), "{count} of 100");
        }
    }
}
