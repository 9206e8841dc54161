//! A keyed hash for tables that strangers fill: short, and not to be foreseen without the key.

use std::hash::{BuildHasher, Hasher};

/// Makes [`KeyedHasher`]s of one key, which should be drawn at random.
#[derive(Clone, Copy, Debug)]
pub struct KeyedHash(pub [u64; 2]);

impl BuildHasher for KeyedHash {
    type Hasher = KeyedHasher;

    #[inline]
    fn build_hasher(&self) -> KeyedHasher {
        let [state, factor] = self.0;
        KeyedHasher {
            state,
            factor: factor | 1,
        }
    }
}

/// Folds words into a state by a multiplication of 64 by 64 bits each.
#[derive(Clone, Copy, Debug)]
pub struct KeyedHasher {
    state: u64,
    factor: u64,
}

impl KeyedHasher {
    #[inline]
    fn word(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        self.state = (product as u64 ^ (product >> 64) as u64).wrapping_add(self.factor);
    }
}

impl Hasher for KeyedHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.word(value.into());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.word(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.word(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.state
    }
}
