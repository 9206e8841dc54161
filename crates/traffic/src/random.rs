//! Random numbers for generator and faults: fast, seeded, the same on every machine.

/// wyrand (Wang Yi, wyhash final version 4): one 64x64 multiplication a number, passes BigCrush and
/// PractRand. Not for secrets.
#[derive(Debug, Clone)]
pub struct Random(u64);

const STEP: u64 = 0x2d35_8dcc_aa6c_78a5;
const BLEND: u64 = 0x8bb8_4b93_962e_acc9;

impl Random {
    /// A sequence of its own for each pair of seed and stream.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(mix(seed, stream ^ 0x9e37_79b9_7f4a_7c15))
    }

    /// The next 64 random bits.
    #[inline(always)]
    #[allow(clippy::should_implement_trait)] // an endless sequence is no Option
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        fold(self.0, self.0 ^ BLEND)
    }

    /// A number below `count`, which is at most 2^32; 0 when it is 0. The bias is below 2^-32.
    #[inline(always)]
    pub fn below(&mut self, count: u64) -> u64 {
        scale(self.next() >> 32, count)
    }
}

/// Maps a random number below 2^32 to one below `count`, at most 2^32, without a division.
#[inline(always)]
pub(crate) const fn scale(random: u64, count: u64) -> u64 {
    (random * count) >> 32
}

/// A number that depends on every bit of both.
#[inline(always)]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    let ab = fold(a ^ STEP, b ^ BLEND);
    fold(ab ^ a.rotate_left(32), ab ^ STEP)
}

#[inline(always)]
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_even() {
        let mut random = Random::new(7, 0);
        let mut ones = [0_u32; 64];
        const DRAWS: u32 = 100_000;
        for _ in 0..DRAWS {
            let number = random.next();
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += (number >> bit & 1) as u32;
            }
        }
        // Five standard deviations of a fair coin: 0.5 * sqrt(100,000) * 5 = 791.
        assert!(
            ones.iter().all(|&count| count.abs_diff(DRAWS / 2) < 791),
            "{ones:?}"
        );
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).next();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
        assert_ne!(first(0, 0), first(0, 1));
    }

    #[test]
    fn below_stays_below() {
        let mut random = Random::new(1, 1);
        for count in [1, 2, 3, 7, 1 << 32] {
            assert!((0..1000).all(|_| random.below(count) < count));
        }
        assert_eq!(random.below(0), 0);
    }
}
