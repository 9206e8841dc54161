//! The Toeplitz hash that receive side scaling spreads flows with.
//!
//! The hash is linear over XOR: a bit of the input that is set contributes the 32 bits of the key
//! that start at its place, and `hash(a ^ b) = hash(a) ^ hash(b)`. Fields that are 0 contribute
//! nothing, so a key without ports hashes like its addresses alone.
//!
//! A key that repeats every 16 bits (the symmetric one does) gives every 16-bit word of the input
//! the same weight: the words are XORed together first and one word is looked up. Other keys look
//! up a table of 16 entries for each half byte: 4.5 KiB, which stays in L1 beside the frames.
//!
//! The hash is for placement only: anybody can make frames that collide.

mod types;
mod vectors;

use core::{fmt, str::FromStr};

use crate::{Family, FlowKey};

pub use types::{HashInput, HashTypes};
pub use vectors::{VECTORS, Vector};

/// Bytes of a key that a hash of two IPv6 addresses and two ports uses.
pub const KEY_BYTES_MIN: usize = 40;
/// Greatest length of a key; some NICs take 52 bytes.
pub const KEY_BYTES_MAX: usize = 52;

/// Bytes of the longest input: two IPv6 addresses and two ports.
const INPUT_BYTES: usize = 36;

/// A key of 40 or 52 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    bytes: [u8; KEY_BYTES_MAX],
    len: u8,
}

/// A key that is neither 40 nor 52 bytes long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyLength(pub usize);

impl fmt::Display for KeyLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an RSS key has 40 or 52 bytes, not {}", self.0)
    }
}

impl core::error::Error for KeyLength {}

/// A text that is no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyText {
    /// Not pairs of hexadecimal digits.
    Digits,
    /// As many bytes as no key has.
    Length(KeyLength),
}

impl fmt::Display for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Digits => f.write_str(
                "not a key: write 'microsoft', 'symmetric' or its bytes as 6d:5a:... of 40 or 52",
            ),
            Self::Length(length) => length.fmt(f),
        }
    }
}

impl core::error::Error for KeyText {}

impl FromStr for Key {
    type Err = KeyText;

    /// `microsoft`, `symmetric`, or bytes in hexadecimal digits, with colons between or without.
    fn from_str(text: &str) -> Result<Self, KeyText> {
        if text.eq_ignore_ascii_case("microsoft") {
            return Ok(Self::MICROSOFT);
        }
        if text.eq_ignore_ascii_case("symmetric") {
            return Ok(Self::SYMMETRIC);
        }
        let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
        let byte = |pair: &[u8]| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        };
        let (mut bytes, mut count) = ([0; KEY_BYTES_MAX], 0);
        let mut put = |pair: &[u8]| {
            let byte = byte(pair).ok_or(KeyText::Digits)?;
            if let Some(place) = bytes.get_mut(count) {
                *place = byte;
            }
            count += 1;
            Ok(())
        };
        if text.contains(':') {
            text.split(':').try_for_each(|pair| put(pair.as_bytes()))?;
        } else {
            text.as_bytes().chunks(2).try_for_each(put)?;
        }
        let bytes = bytes.get(..count).ok_or(KeyLength(count));
        bytes.and_then(Self::new).map_err(KeyText::Length)
    }
}

impl Key {
    /// 0x6D5A repeated: both directions of a flow get the same hash. Its two 16-bit halves are
    /// always equal, so it has 65,536 values (Woo and Park, "Scalable TCP session monitoring with
    /// symmetric receive-side scaling", 2012).
    pub const SYMMETRIC: Self = Self::repeated([0x6D, 0x5A]);

    /// The key of Microsoft's published verification suite, which many drivers default to.
    pub const MICROSOFT: Self = Self::microsoft();

    /// A key from bytes.
    ///
    /// # Errors
    /// [`KeyLength`] unless there are 40 or 52.
    pub fn new(bytes: &[u8]) -> Result<Self, KeyLength> {
        if bytes.len() != KEY_BYTES_MIN && bytes.len() != KEY_BYTES_MAX {
            return Err(KeyLength(bytes.len()));
        }
        let mut key = Self {
            bytes: [0; KEY_BYTES_MAX],
            len: bytes.len() as u8,
        };
        key.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(key)
    }

    /// The key's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    const fn repeated(word: [u8; 2]) -> Self {
        let mut bytes = [0; KEY_BYTES_MAX];
        let mut at = 0;
        while at < KEY_BYTES_MAX {
            bytes[at] = word[at % 2];
            at += 1;
        }
        Self {
            bytes,
            len: KEY_BYTES_MAX as u8,
        }
    }

    const fn microsoft() -> Self {
        const BYTES: [u8; KEY_BYTES_MIN] = [
            0x6D, 0x5A, 0x56, 0xDA, 0x25, 0x5B, 0x0E, 0xC2, 0x41, 0x67, 0x25, 0x3D, 0x43, 0xA3,
            0x8F, 0xB0, 0xD0, 0xCA, 0x2B, 0xCB, 0xAE, 0x7B, 0x30, 0xB4, 0x77, 0xCB, 0x2D, 0xA3,
            0x80, 0x30, 0xF2, 0x0C, 0x6A, 0x42, 0xB7, 0x3B, 0xBE, 0xAC, 0x01, 0xFA,
        ];
        let mut bytes = [0; KEY_BYTES_MAX];
        let mut at = 0;
        while at < KEY_BYTES_MIN {
            bytes[at] = BYTES[at];
            at += 1;
        }
        Self {
            bytes,
            len: KEY_BYTES_MIN as u8,
        }
    }

    /// The 32 bits of the key from bit `at` on, the first byte's high bit being bit 0.
    fn window(&self, at: usize) -> u32 {
        let mut wide = 0u64;
        for byte in self.bytes.iter().skip(at / 8).take(5) {
            wide = wide << 8 | u64::from(*byte);
        }
        (wide >> (8 - at % 8)) as u32
    }

    /// True when every 16 bits that a hash can use are the same.
    fn repeats_every_16_bits(&self) -> bool {
        self.bytes[..KEY_BYTES_MIN]
            .chunks_exact(2)
            .all(|word| word == &self.bytes[..2])
    }

    /// The hash of `input` by the definition, bit by bit: the oracle of the tables. Input past
    /// the reach of the key counts as 0.
    #[must_use]
    pub fn hash_bytes(&self, input: &[u8]) -> u32 {
        let bits = input.iter().take(KEY_BYTES_MAX - 4).enumerate();
        bits.fold(0, |hash, (place, byte)| {
            (0..8).fold(hash, |hash, bit| {
                let set = byte >> (7 - bit) & 1 != 0;
                if set {
                    hash ^ self.window(place * 8 + bit)
                } else {
                    hash
                }
            })
        })
    }
}

/// A key made ready to hash with: 4.6 KiB, built once.
#[derive(Clone)]
pub struct Toeplitz {
    /// Present when the key repeats every 16 bits: the hash of each high and low byte of a word.
    word: Option<[[u32; 256]; 2]>,
    /// Hash of each half byte at each place of the input.
    halves: [[u32; 16]; INPUT_BYTES * 2],
}

impl Toeplitz {
    /// Builds the tables of `key`.
    #[must_use]
    pub fn new(key: &Key) -> Self {
        let mut halves = [[0; 16]; INPUT_BYTES * 2];
        for (place, table) in halves.iter_mut().enumerate() {
            for (value, entry) in table.iter_mut().enumerate() {
                *entry = contribution(key, place * 4, 4, value);
            }
        }
        let word = key.repeats_every_16_bits().then(|| {
            [0, 8].map(|at| core::array::from_fn(|value| contribution(key, at, 8, value)))
        });
        Self { word, halves }
    }

    /// The RSS hash of a flow: addresses, then ports (which are 0 where a flow has none).
    #[inline]
    #[must_use]
    pub fn hash(&self, key: &FlowKey) -> u32 {
        let ports = u32::from(key.src_port) << 16 | u32::from(key.dst_port);
        match key.family {
            Family::V6 => self.hash_v6(key.src, key.dst, ports),
            _ => self.hash_v4(key.src as u32, key.dst as u32, ports),
        }
    }

    /// The hash of IPv4 addresses and `src_port << 16 | dst_port`.
    #[inline]
    #[must_use]
    pub fn hash_v4(&self, src: u32, dst: u32, ports: u32) -> u32 {
        if let Some(tables) = &self.word {
            return folded(tables, src ^ dst ^ ports);
        }
        self.at(0, src) ^ self.at(1, dst) ^ self.at(2, ports)
    }

    /// The hash of IPv6 addresses and `src_port << 16 | dst_port`.
    #[inline]
    #[must_use]
    pub fn hash_v6(&self, src: u128, dst: u128, ports: u32) -> u32 {
        if let Some(tables) = &self.word {
            let both = src ^ dst;
            let half = (both >> 64) as u64 ^ both as u64;
            return folded(tables, (half >> 32) as u32 ^ half as u32 ^ ports);
        }
        let words = |wide: u128| [96, 64, 32, 0].map(|shift| (wide >> shift) as u32);
        let input = words(src).into_iter().chain(words(dst)).chain([ports]);
        input
            .enumerate()
            .fold(0, |hash, (place, word)| hash ^ self.at(place, word))
    }

    /// What the 32-bit word number `place` of the input contributes.
    #[inline]
    fn at(&self, place: usize, word: u32) -> u32 {
        let tables = &self.halves[place * 8..place * 8 + 8];
        let mut hash = 0;
        for (index, table) in tables.iter().enumerate() {
            hash ^= table[(word >> (28 - 4 * index) & 15) as usize];
        }
        hash
    }
}

/// The hash of a word that stands for the whole input, for a key that repeats every 16 bits.
#[inline]
fn folded(tables: &[[u32; 256]; 2], word: u32) -> u32 {
    let word = word >> 16 ^ word;
    tables[0][usize::from((word >> 8) as u8)] ^ tables[1][usize::from(word as u8)]
}

/// What the `width` bits of `value` contribute when they lie from bit `at` of the input.
fn contribution(key: &Key, at: usize, width: usize, value: usize) -> u32 {
    (0..width)
        .filter(|bit| value >> (width - 1 - bit) & 1 != 0)
        .fold(0, |hash, bit| hash ^ key.window(at + bit))
}

impl fmt::Debug for Toeplitz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toeplitz")
            .field("folded", &self.word.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
