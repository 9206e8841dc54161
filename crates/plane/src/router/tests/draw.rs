//! Random numbers of a seed: SplitMix64.

pub(super) struct Draw(pub(super) u64);

impl Draw {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ word >> 31) % end
    }

    pub(super) fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    pub(super) fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}
