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
//! constant pattern added bit by bit ([`PATTERN`]): zeros, with which others pad, are not a stream,
//! a number and a time that could be ours.
//!
//! The check is CRC-32C of what [`Cover`] says, which differs whenever up to three bits of that are
//! flipped (up to five where it is at most 655 bytes; Koopman 2002), or any within 32 of each
//! other, and overlooks one in 2^32 of other changes.

mod covered;
mod crc;
mod read;

use frame::Nanos;

pub(crate) use covered::{Addresses, Covered};
pub(crate) use read::{Reading, read};

/// Bytes of a signature: check 32 bits, stream 16, sequence 48, time of sending 48. A 64-byte
/// frame of UDP in IPv4 has room for exactly that behind its headers.
pub const SIGNATURE_BYTES: usize = 18;

/// Bits of sequence and time.
const BITS: u32 = 48;
pub(crate) const MASK: u64 = (1 << BITS) - 1;

/// Bits added to stream, sequence and time: digits of pi.
const PATTERN: u128 = 0x243f_6a88_85a3_08d3_1319_8a2e_0370;

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
            Reading::Sound(signature) => Some(signature),
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

    /// The bytes of a frame's end.
    #[inline(always)]
    pub(crate) fn encode(&self, check: u32) -> Encoded {
        let sequence = u128::from(self.sequence & MASK) << 48;
        let fields = u128::from(self.stream) << 96 | sequence | u128::from(self.sent.0 & MASK);
        let fields = fields ^ PATTERN;
        Encoded {
            high: u64::from(check) << 32 | (fields >> 80) as u64,
            middle: (fields >> 16) as u64,
            low: fields as u16,
        }
    }

    /// The check and the fields of a frame's end.
    #[inline]
    pub(crate) fn decode(bytes: &[u8; SIGNATURE_BYTES]) -> (u32, Self) {
        let [a, b, c, d, fields @ ..] = *bytes;
        let mut wide = [0; 16];
        wide[2..].copy_from_slice(&fields);
        let fields = u128::from_be_bytes(wide) ^ PATTERN;
        let signature = Self {
            stream: (fields >> 96) as u16,
            sequence: (fields >> 48) as u64 & MASK,
            sent: Nanos(fields as u64 & MASK),
        };
        (u32::from_be_bytes([a, b, c, d]), signature)
    }
}

/// A signature as it stands in a frame, in three pieces.
#[derive(Clone, Copy)]
pub(crate) struct Encoded {
    high: u64,
    middle: u64,
    low: u16,
}

impl Encoded {
    /// Its sum as one's complement of 16-bit words wants it: of 32-bit words, not folded.
    #[inline(always)]
    pub(crate) const fn sum(self) -> u64 {
        (self.high >> 32)
            + (self.high & 0xffff_ffff)
            + (self.middle >> 32)
            + (self.middle & 0xffff_ffff)
            + self.low as u64
    }

    /// Writes it over the end of a frame.
    #[inline(always)]
    pub(crate) fn write(self, frame: &mut [u8]) {
        let Some(place) = frame.last_chunk_mut::<SIGNATURE_BYTES>() else {
            return;
        };
        place[0..8].copy_from_slice(&self.high.to_be_bytes());
        place[8..16].copy_from_slice(&self.middle.to_be_bytes());
        place[16..18].copy_from_slice(&self.low.to_be_bytes());
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
            assert_eq!(encoded.sum() % 0xffff, u64::from(sum) % 0xffff);
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
