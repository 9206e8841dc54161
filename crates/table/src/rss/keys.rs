//! Keys drawn at random, and what makes a key fit to place flows with.
//!
//! The hash is linear over GF(2), so a check needs no sample of flows: the buckets that a field
//! reaches when all its bits vary are two to the power of the rank of the field's windows of the
//! key, and all of them are reached alike.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use wire::toeplitz::{KEY_BYTES_MAX, KEY_BYTES_MIN, Key};

/// Bits of a bucket's number that each field has to reach: 128 buckets.
const BUCKET_BITS: u32 = 7;
/// A field of 16 bits: a port, or the low half of an address, in which hosts of a network differ.
const FIELD_BITS: usize = 16;
/// Bytes of the input at which such fields end: source, destination and ports of IPv4, then of
/// IPv6.
const FIELD_ENDS: [usize; 8] = [4, 8, 10, 12, 16, 32, 34, 36];
/// Bits of the longest input.
const INPUT_BITS: usize = 36 * 8;
/// Of 32 bits of the hash, how many one bit of the input may turn over, on average: half of them,
/// within what eight standard deviations of a random key's mean leave.
const TURNED: std::ops::RangeInclusive<f64> = 12.0..=20.0;
/// Keys tried before giving up; a random one fails once in some hundred.
const TRIES: usize = 64;

/// What is wrong with a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyWeakness {
    /// The 16 bits that end at this byte of the input reach too few of 128 buckets.
    Spread {
        /// The byte of the input behind the field.
        end: usize,
        /// Buckets that it reaches.
        buckets: u32,
    },
    /// A bit of the input turns over so many bits of the hash on average, where 16 are due.
    Avalanche(f64),
    /// This bit of the input turns over none.
    Deaf(usize),
}

impl fmt::Display for KeyWeakness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spread { end, buckets } => write!(
                f,
                "the 16 bits before byte {end} of the input reach {buckets} of 128 buckets"
            ),
            Self::Avalanche(mean) => write!(
                f,
                "a bit of the input turns over {mean:.1} of 32 bits of the hash, where 16 are due"
            ),
            Self::Deaf(bit) => write!(f, "bit {bit} of the input changes nothing"),
        }
    }
}

impl std::error::Error for KeyWeakness {}

/// Whether flows that differ in any one field spread over buckets by this key, and each bit of the
/// input reaches the hash. The published keys pass.
///
/// # Errors
/// The first weakness found.
pub fn check_key(key: &Key) -> Result<(), KeyWeakness> {
    let windows: Vec<u32> = (0..INPUT_BITS).map(|bit| window(key, bit)).collect();
    if let Some(bit) = windows.iter().position(|window| *window == 0) {
        return Err(KeyWeakness::Deaf(bit));
    }
    let turned: u32 = windows.iter().map(|window| window.count_ones()).sum();
    let mean = f64::from(turned) / windows.len() as f64;
    if !TURNED.contains(&mean) {
        return Err(KeyWeakness::Avalanche(mean));
    }
    for end in FIELD_ENDS {
        let field = &windows[end * 8 - FIELD_BITS..end * 8];
        let rank = rank(field.iter().map(|window| window & ((1 << BUCKET_BITS) - 1)));
        if rank < BUCKET_BITS {
            let buckets = 1 << rank;
            return Err(KeyWeakness::Spread { end, buckets });
        }
    }
    Ok(())
}

/// A key from the system's random source, of 52 bytes where `long`, else of 40, that passed
/// [`check_key`].
///
/// # Errors
/// The last weakness, where none of many keys passed: the source is not random.
pub fn random_key(long: bool) -> Result<Key, KeyWeakness> {
    let count = if long { KEY_BYTES_MAX } else { KEY_BYTES_MIN };
    drawn(count, || {
        let state = RandomState::new();
        std::array::from_fn(|word| state.hash_one(word))
    })
}

fn drawn(count: usize, mut words: impl FnMut() -> [u64; 7]) -> Result<Key, KeyWeakness> {
    let mut weakness = KeyWeakness::Deaf(0);
    for _ in 0..TRIES {
        let bytes = words().map(u64::to_ne_bytes).concat();
        // Both lengths are those of a key.
        let Ok(key) = Key::new(&bytes[..count]) else {
            break;
        };
        match check_key(&key) {
            Ok(()) => return Ok(key),
            Err(found) => weakness = found,
        }
    }
    Err(weakness)
}

/// What one bit of the input turns over.
fn window(key: &Key, bit: usize) -> u32 {
    let mut input = [0; INPUT_BITS / 8];
    input[bit / 8] = 0x80 >> (bit % 8);
    key.hash_bytes(&input)
}

/// How many of the words are independent over GF(2).
fn rank(words: impl Iterator<Item = u32>) -> u32 {
    let mut basis = [0_u32; 32];
    let mut rank = 0;
    for mut word in words {
        while word != 0 {
            let top = word.ilog2() as usize;
            if basis[top] == 0 {
                basis[top] = word;
                rank += 1;
                break;
            }
            word ^= basis[top];
        }
    }
    rank
}

// Without unsafe code, and minutes of tables under Miri.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use wire::toeplitz::Toeplitz;

    #[test]
    fn published_keys_pass_and_degenerate_ones_do_not() {
        assert_eq!(check_key(&Key::MICROSOFT), Ok(()));
        assert_eq!(check_key(&Key::SYMMETRIC), Ok(()));
        let key = |byte: u8| Key::new(&[byte; 40]).expect("40 bytes");
        assert_eq!(check_key(&key(0)), Err(KeyWeakness::Deaf(0)));
        assert_eq!(check_key(&key(0xff)), Err(KeyWeakness::Avalanche(32.0)));
        let spread = KeyWeakness::Spread { end: 4, buckets: 4 };
        assert_eq!(check_key(&key(0x55)), Err(spread));
    }

    #[test]
    fn the_rank_is_how_many_buckets_there_are() {
        let mut key = *Key::MICROSOFT
            .as_bytes()
            .first_chunk::<40>()
            .expect("40 bytes");
        for (place, byte) in [(3, 0x0F), (4, 0x0F), (5, 0xF0), (6, 0x0F)] {
            key[place] = byte;
            let key = Key::new(&key).expect("40 bytes");
            let hash = Toeplitz::new(&key);
            let mut counts = [0_u32; 128];
            (0..=u32::from(u16::MAX)).for_each(|src| {
                counts[hash.hash_v4(0x0A00_0000 | src, 7, 9) as usize % 128] += 1;
            });
            let reached = counts.iter().filter(|count| **count > 0).count() as u32;
            let windows = (16..32).map(|bit| window(&key, bit) & 127);
            assert_eq!(1 << rank(windows), reached);
            let even = (1 << 16) / reached;
            assert!(counts.iter().all(|count| *count == 0 || *count == even));
        }
    }

    #[test]
    fn drawn_keys_differ_and_pass() {
        for long in [false, true] {
            let keys = [random_key(long), random_key(long)].map(|key| key.expect("random"));
            assert_ne!(keys[0], keys[1]);
            assert_eq!(keys[0].as_bytes().len(), if long { 52 } else { 40 });
            assert_eq!(check_key(&keys[1]), Ok(()));
        }
        assert_eq!(drawn(40, || [0; 7]), Err(KeyWeakness::Deaf(0)));
    }
}
