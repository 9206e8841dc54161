//! The name of a datagram as a number that nobody outside the process can foresee.

use wire::DatagramKey;

use crate::secret::Secret;

/// A keyed hash of datagrams: four widening multiplications.
#[derive(Clone, Copy, Debug)]
pub struct DatagramHash {
    words: [u64; 4],
}

impl DatagramHash {
    /// One with a key of its own.
    #[must_use]
    pub fn draw() -> Self {
        Self::with_secret(&Secret::draw())
    }

    pub(super) fn with_secret(secret: &Secret) -> Self {
        Self {
            words: secret.flow_key(),
        }
    }

    /// Where the draws of a table begin.
    pub(super) fn seed(&self) -> u64 {
        self.words[0] | 1
    }

    /// The hash of a datagram; `side` is another part of its name.
    #[inline]
    #[must_use]
    pub fn of(&self, key: &DatagramKey, side: u8) -> u64 {
        let [a, b, c, d] = self.words;
        let name = u64::from(key.identification)
            | u64::from(key.protocol) << 32
            | u64::from(side) << 40
            | (key.family as u64) << 48;
        let src = fold(key.src as u64 ^ a, (key.src >> 64) as u64 ^ b);
        let dst = fold(key.dst as u64 ^ c, (key.dst >> 64) as u64 ^ d);
        fold(src ^ dst.rotate_left(32) ^ d, name ^ a)
    }

    /// The hash of a source's address, or of its upper half.
    #[inline]
    pub(super) fn of_site(&self, site: u64) -> u64 {
        fold(site ^ self.words[1], self.words[2] | 1)
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
