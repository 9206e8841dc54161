//! What a test frame says of itself at its end.
//!
//! | bytes | field |
//! | --- | --- |
//! | 4 | check |
//! | 2 | stream |
//! | 6 | sequence |
//! | 6 | time of sending in ns, modulo 2^48 |
//!
//! They are the last bytes of the IP packet, big endian. All but the check are written with a
//! constant pattern added bit by bit: zeros, with which others pad, are not a stream, a number and
//! a time that could be ours.
//!
//! The check is CRC-32C of what [`Cover`] says, which differs whenever up to three bits of that are
//! flipped (up to five where it is at most 655 bytes; Koopman 2002), or any within 32 of each
//! other, and overlooks one in 2^32 of other changes.

mod covered;
mod crc;
mod plain;
mod read;

use frame::Nanos;

pub(crate) use covered::{Addresses, Covered};
pub(crate) use read::{Reading, Sound, read};

/// Bytes of a signature: check 32 bits, stream 16, sequence 48, time of sending 48. A 64-byte
/// frame of UDP in IPv4 has room for exactly that behind its headers.
pub const SIGNATURE_BYTES: usize = 18;

/// Bits of sequence and time.
const BITS: u32 = 48;
pub(crate) const MASK: u64 = (1 << BITS) - 1;

/// Bits added to stream and sequence, and to the time: digits of pi.
const PATTERN_NUMBER: u64 = 0x243f_6a88_85a3_08d3;
const PATTERN_SENT: u64 = 0x1319_8a2e_0370;

/// What the check of a signature covers beside the signature itself. In both cases: source and
/// destination address, transport protocol, ports (or echo identifier and number), TCP flags,
/// length and bytes of the payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cover {
    /// Nothing that a bridge or router may change: not MACs, VLAN tags, traffic class, time to
    /// live or hop limit, flow label, nor checksums. The checksums of IPv4 header and transport,
    /// which are verified too, protect what of it they cover.
    #[default]
    Network,
    /// Every byte in front of the transport header as well: for a path that changes no byte of a
    /// frame, such as a bridge.
    Link,
}

/// Stream, number and time of sending of a test frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The stream: what one worker sent, in order.
    pub stream: u16,
    /// Number within the stream, from 0, below 2^48: 32 days at 100 million a second.
    pub sequence: u64,
    /// When it was sent by the sender's clock, modulo 2^48 ns: 78 hours.
    pub sent: Nanos,
}

impl Signature {
    /// The signature of a sound test frame, which begins with its Ethernet header and is without
    /// FCS; `None` of all others.
    #[must_use]
    pub fn of(frame: &[u8]) -> Option<Self> {
        match read(frame) {
            Reading::Sound(sound) => Some(sound.signature),
            Reading::Unsound(_) => None,
        }
    }

    /// Nanoseconds from sending to `now`, which is within 39 hours of it: negative where the clocks
    /// of the two differ by more than the way took.
    #[must_use]
    pub const fn age(&self, now: Nanos) -> i64 {
        let age = now.0.wrapping_sub(self.sent.0) & MASK;
        // The upper half of the circle is the past of the clock that is ahead.
        (age << (64 - BITS)) as i64 >> (64 - BITS)
    }

    /// Stream and sequence in one word, the stream above.
    #[inline(always)]
    const fn number(&self) -> u64 {
        (self.stream as u64) << BITS | self.sequence & MASK
    }

    /// The bytes of a frame's end.
    #[inline(always)]
    pub(crate) const fn encode(&self, check: u32) -> Encoded {
        Encoded {
            check,
            number: self.number() ^ PATTERN_NUMBER,
            sent: (self.sent.0 ^ PATTERN_SENT) & MASK,
        }
    }

    /// The check and the fields of a frame's end.
    #[inline]
    pub(crate) fn decode(bytes: &[u8; SIGNATURE_BYTES]) -> (u32, Self) {
        Encoded::read(bytes).decode()
    }
}

/// One's complement sum of two words: the carry goes around.
#[inline(always)]
pub(crate) const fn add(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    sum + carry as u64
}

/// The one's complement sum of 16-bit words whose plain sum, or that of wider words, is `sum`.
#[inline(always)]
pub(crate) const fn fold(sum: u64) -> u16 {
    // Adding a number to itself with its halves swapped carries the low half's overflow around.
    let sum = (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32;
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

/// A signature as it stands in a frame, the pattern added.
#[derive(Clone, Copy)]
pub(crate) struct Encoded {
    check: u32,
    /// Stream and sequence.
    number: u64,
    /// Below 2^48.
    sent: u64,
}

impl Encoded {
    /// Its one's complement sum of 16-bit words as the end of a segment of `len` bytes, not folded.
    #[inline(always)]
    pub(crate) const fn sum_in(self, len: usize) -> u64 {
        let sum = add(add(self.number, self.sent), self.check as u64);
        if len.is_multiple_of(2) {
            sum
        } else {
            fold(sum).swap_bytes() as u64
        }
    }

    /// What stands at the end of a frame.
    #[inline(always)]
    pub(crate) fn read(bytes: &[u8; SIGNATURE_BYTES]) -> Self {
        let word = |at: usize| {
            let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
            bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
        };
        let [a, b, c, d, ..] = *bytes;
        Self {
            check: u32::from_be_bytes([a, b, c, d]),
            number: word(4),
            sent: word(10) & MASK,
        }
    }

    /// The check and the fields.
    #[inline(always)]
    pub(crate) const fn decode(self) -> (u32, Signature) {
        let number = self.number ^ PATTERN_NUMBER;
        let signature = Signature {
            stream: (number >> BITS) as u16,
            sequence: number & MASK,
            sent: Nanos(self.sent ^ PATTERN_SENT),
        };
        (self.check, signature)
    }

    /// Writes it over the end of a frame.
    #[inline(always)]
    pub(crate) fn write(self, frame: &mut [u8]) {
        let Some(place) = frame.last_chunk_mut::<SIGNATURE_BYTES>() else {
            return;
        };
        // The zeros in front of the time go under the number.
        place[10..18].copy_from_slice(&self.sent.to_be_bytes());
        place[4..12].copy_from_slice(&self.number.to_be_bytes());
        place[0..4].copy_from_slice(&self.check.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_kept() {
        for (stream, sequence, sent) in [
            (0, 0, 0),
            (u16::MAX, MASK, MASK),
            (1, 2, 3),
            (0x1234, 0x9876_5432_10fe, 0xabcd_ef01_2345),
        ] {
            let sent = Nanos(sent);
            let signature = Signature {
                stream,
                sequence,
                sent,
            };
            let mut bytes = [0; SIGNATURE_BYTES];
            let encoded = signature.encode(0xdead_beef);
            encoded.write(&mut bytes);
            assert_eq!(Signature::decode(&bytes), (0xdead_beef, signature));
            let sum = wire::checksum::ones_complement(&bytes);
            for (len, sum) in [(18, sum), (19, sum.swap_bytes())] {
                let told = fold(encoded.sum_in(len));
                assert_eq!(u64::from(told) % 0xffff, u64::from(sum) % 0xffff);
            }
        }
    }

    #[test]
    fn age_survives_the_end_of_the_circle() {
        let sent_at = |sent| Signature {
            stream: 0,
            sequence: 0,
            sent: Nanos(sent & MASK),
        };
        assert_eq!(sent_at(100).age(Nanos(150)), 50);
        assert_eq!(sent_at(MASK).age(Nanos(MASK + 8)), 8);
        assert_eq!(sent_at(150).age(Nanos(100)), -50);
        assert_eq!(sent_at(3).age(Nanos(MASK - 1)), -5);
        assert_eq!(
            sent_at(0x7654_1234_5678_9abc).age(Nanos(0x7654_1234_5678_9abd)),
            1
        );
    }
}
