//! The keyed hash of a flow: nobody outside can fill one line of an index.

use super::FlowId;
use crate::address::Address;
use crate::secret::Secret;

/// A hash that a secret chooses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowHash {
    words: [u64; 4],
}

impl FlowHash {
    pub(crate) fn new(secret: &Secret) -> Self {
        Self {
            words: secret.flow_key(),
        }
    }

    /// Two products of 64 by 64 bits for IPv4 and four for IPv6, each folded so that all bits of
    /// its factors count.
    #[inline(always)]
    pub(crate) fn of<A: Address>(&self, id: &FlowId<A>) -> u64 {
        let [a, b, c, d] = self.words;
        let (low, high, rest) = id.words();
        if A::BITS == 32 {
            let pair = (low as u64) << 32 | high as u64;
            return fold(fold(pair ^ a, rest ^ b) ^ c, d);
        }
        let low = fold(low as u64 ^ a, (low >> 64) as u64 ^ b);
        let high = fold(high as u64 ^ c, (high >> 64) as u64 ^ d);
        fold(fold(low ^ high.rotate_left(32) ^ c, rest ^ b) ^ a, d)
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
