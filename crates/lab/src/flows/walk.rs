//! Expiry as a flow cache of 2014 had it: a bitmap of entries, searched from its first bit again
//! for each entry that is over.

/// Entries by their place, and which places are taken.
#[derive(Debug)]
pub(super) struct Walked {
    taken: Vec<u64>,
    over_at: Vec<u32>,
}

impl Walked {
    /// So many entries, which are over one after the other in the order of `ends`.
    pub(super) fn new(ends: &[u32]) -> Self {
        let mut taken = vec![0; ends.len().div_ceil(64)];
        for place in 0..ends.len() {
            taken[place / 64] |= 1 << (place % 64);
        }
        Self {
            taken,
            over_at: ends.to_vec(),
        }
    }

    /// Ends one entry whose time is over; false when there is none.
    pub(super) fn expire_one(&mut self, now: u32) -> bool {
        for (index, word) in self.taken.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                if self.over_at[index * 64 + bit] <= now {
                    *word &= !(1 << bit);
                    return true;
                }
                left &= left - 1;
            }
        }
        false
    }
}
