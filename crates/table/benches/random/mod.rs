//! Random words and addresses, the same in every run.

use table::Address;

/// A stream of random words (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// Any address.
    pub(crate) fn address<A: Address>(&mut self) -> A {
        A::narrow(u128::from(self.word()) << 64 | u128::from(self.word()))
    }

    /// That many addresses.
    pub(crate) fn column<A: Address>(&mut self, count: usize) -> Vec<A> {
        (0..count).map(|_| self.address()).collect()
    }
}
