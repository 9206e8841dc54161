//! The second design, and the way out when there are very many different answers: the changes
//! of answer in ascending order, an index over the upper 16 bits, and halving within a block.
//!
//! Work is bounded by the logarithm of the changes in a block. Slower than the tree: each step
//! waits for the one before.

use crate::address::Address;
use crate::compiled::CompileError;
use crate::flatten::Runs;
use crate::mask::ListMask;
use crate::memory::{Slab, copy_of};

#[derive(Debug)]
pub(super) struct Sorted<A> {
    /// `index[top]` is how many runs begin before the block of `top`; one more word at the end.
    index: Slab<u32>,
    runs: Runs<A>,
}

impl<A: Address> Sorted<A> {
    pub(super) fn new(runs: &Runs<A>) -> Result<Self, CompileError> {
        let mut index = vec![0u32; (1 << 16) + 1];
        for start in &runs.starts {
            index[start.top16() + 1] += 1;
        }
        for top in 1..index.len() {
            index[top] += index[top - 1];
        }
        Ok(Self {
            index: copy_of(&index)?,
            runs: runs.clone(),
        })
    }

    pub(super) fn add_burst(&self, keys: &[A], masks: &mut [ListMask]) {
        for (&key, mask) in keys.iter().zip(masks) {
            mask.0 |= self.lookup(key);
        }
    }

    fn lookup(&self, key: A) -> u32 {
        let top = key.top16();
        let (from, to) = (self.index[top] as usize, self.index[top + 1] as usize);
        let within = self.runs.starts[from..to].partition_point(|&start| start <= key);
        // The first run begins at the first address, so there is always one at or before `key`.
        self.runs.masks[from + within - 1]
    }

    pub(super) fn bytes(&self) -> usize {
        let Runs { starts, masks } = &self.runs;
        size_of_val(&self.index[..]) + size_of_val(&starts[..]) + size_of_val(&masks[..])
    }
}
