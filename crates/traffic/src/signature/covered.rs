//! What the check covers.

use frame::Crc32c;
use wire::protocol;

use super::crc::{Crc, Steps, Tables};
use super::{MASK, Signature};

/// What tells a check with [`super::Cover::Link`] from one without: it is as likely as any other
/// that one is taken for the other.
const CHECK_NETWORK: u32 = 0x4c52_4e01;
const CHECK_LINK: u32 = 0x4c52_4c02;

/// The addresses of a frame.
#[derive(Clone, Copy)]
pub(crate) enum Addresses {
    V4(u32, u32),
    V6(u128, u128),
}

/// The covered fields of a frame.
#[derive(Clone, Copy)]
pub(crate) struct Covered<'a> {
    pub(crate) addresses: Addresses,
    /// Source port in the upper half; or identifier and number of an echo request.
    pub(crate) ports: u32,
    pub(crate) protocol: u8,
    /// TCP flags, or ICMP type.
    pub(crate) kind: u8,
    /// Bytes behind the transport header and in front of the signature.
    pub(crate) payload: &'a [u8],
}

impl Covered<'_> {
    /// The check of a signature with [`super::Cover::Network`]. A payload of zeros is never looked
    /// at when `zeros` says so.
    #[inline(always)]
    pub(crate) fn check(&self, signature: &Signature, zeros: bool) -> u32 {
        self.remainder(signature, zeros, &[]) ^ CHECK_NETWORK
    }

    /// The check of a signature with [`super::Cover::Link`]: `front` is all in front of the
    /// transport header.
    #[inline(always)]
    pub(crate) fn check_link(&self, signature: &Signature, zeros: bool, front: &[u8]) -> u32 {
        self.remainder(signature, zeros, front) ^ CHECK_LINK
    }

    /// The flow: a hash of addresses, ports and protocol, in the direction that the frame has. Two
    /// flows have the same one time in 2^64.
    #[inline(always)]
    pub(crate) fn flow(&self) -> u64 {
        // Odd numbers from the digits of pi and of e.
        const FIRST: u64 = 0x243f_6a88_85a3_08d3;
        const SECOND: u64 = 0xb7e1_5162_8aed_2a6b;
        let mix = |word: u64| {
            let word = word.wrapping_mul(FIRST);
            word ^ word >> 32
        };
        let addresses = match self.addresses {
            Addresses::V4(src, dst) => mix(u64::from(src) << 32 | u64::from(dst)),
            Addresses::V6(src, dst) => {
                let words = [src >> 64, src, dst >> 64, dst].map(|word| word as u64);
                words.into_iter().fold(6, |sum, word| mix(sum ^ word))
            }
        };
        let ports = u64::from(self.ports) << 8 | u64::from(self.protocol);
        let all = (addresses ^ ports).wrapping_mul(SECOND);
        all ^ all >> 29
    }

    #[inline(always)]
    fn remainder(&self, signature: &Signature, zeros: bool, front: &[u8]) -> u32 {
        match Crc32c::detect() {
            Some(instruction) => self.crc(instruction, signature, zeros, front),
            // By value: by reference, both would go through memory in the other case too.
            None => crc_by_tables(*self, *signature, zeros, front),
        }
    }

    /// The higher port first; identifier and number of an echo request as they are.
    #[inline(always)]
    fn ports_in_order(&self) -> u32 {
        match self.protocol {
            protocol::UDP | protocol::TCP => self.ports.max(self.ports.rotate_left(16)),
            _ => self.ports,
        }
    }

    /// Addresses and ports are covered the lower first, so that a frame sent back with source and
    /// destination exchanged is as sound as it was.
    #[inline(always)]
    fn crc(&self, steps: impl Steps, signature: &Signature, zeros: bool, front: &[u8]) -> u32 {
        let start = Crc::start(steps);
        let crc = if zeros {
            start
        } else {
            start.bytes(self.payload)
        };
        let (crc, version) = match self.addresses {
            Addresses::V4(src, dst) => {
                let (low, high) = (src.min(dst), src.max(dst));
                (crc.word(u64::from(low) << 32 | u64::from(high)), 4)
            }
            Addresses::V6(src, dst) => {
                let (low, high) = (src.min(dst), src.max(dst));
                let crc = crc.word((low >> 64) as u64).word(low as u64);
                (crc.word((high >> 64) as u64).word(high as u64), 6)
            }
        };
        let ports = u64::from(self.ports_in_order()) << 32;
        let kind = u64::from(self.protocol) << 24 | u64::from(self.kind) << 16;
        crc.word(ports | kind | self.payload.len() as u64 & 0xffff)
            .word(signature.number())
            .word((signature.sent.0 & MASK) << 16 | version)
            .bytes(front)
            .value()
    }
}

#[inline(never)]
fn crc_by_tables(covered: Covered<'_>, signature: Signature, zeros: bool, front: &[u8]) -> u32 {
    covered.crc(Tables, &signature, zeros, front)
}
