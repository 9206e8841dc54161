//! What stands behind the IP header: transport header, zeros, signature.

use wire::{checksum, protocol};

use crate::signature::{Addresses, Covered, Signature, add, fold};
use crate::{Cover, Protocol, Recipe, SIGNATURE_BYTES};

/// Data offset of five words, in front of the flags of a TCP header.
const TCP_OFFSET: u32 = 5 << 28;
/// What a segment offers to take: the most.
const TCP_WINDOW: u32 = 0xffff;
/// ICMP and ICMPv6 echo request (RFC 792, RFC 4443 section 4.1).
const ECHO_V4: u8 = 8;
const ECHO_V6: u8 = 128;

/// What stands behind the IP headers of all frames of a recipe. Its protocol is known when compiled
/// where frames are made: tested for each, it cost a tenth of the time of the shortest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    /// Number of the protocol in IPv4.
    protocol: u8,
    /// Of TCP.
    flags: u8,
    cover: Cover,
}

impl Segment {
    pub(super) fn new(recipe: &Recipe) -> Self {
        let (protocol, flags) = match recipe.protocol {
            Protocol::Udp => (protocol::UDP, 0),
            Protocol::Tcp { flags } => (protocol::TCP, flags),
            Protocol::IcmpEcho => (protocol::ICMP, 0),
        };
        Self {
            protocol,
            flags,
            cover: recipe.stamp.unwrap_or_default().cover,
        }
    }

    /// Number of the protocol in IPv4, as [`Self::write`] asks to be told.
    #[inline(always)]
    pub(super) const fn protocol(&self) -> u8 {
        self.protocol
    }

    /// Writes from `at` to the end of a frame, which is zero there but for the first eight bytes,
    /// and complete in front.
    /// `PROTOCOL` is [`Self::protocol`].
    #[inline(always)]
    pub(super) fn write<const PROTOCOL: u8>(
        &self,
        frame: &mut [u8],
        at: usize,
        addresses: Addresses,
        ports: u32,
        signature: Option<&Signature>,
    ) {
        let is_v6 = matches!(addresses, Addresses::V6(..));
        let (number, kind) = match PROTOCOL {
            protocol::TCP => (PROTOCOL, self.flags),
            protocol::ICMP if is_v6 => (protocol::ICMPV6, ECHO_V6),
            protocol::ICMP => (PROTOCOL, ECHO_V4),
            _ => (PROTOCOL, 0),
        };
        let len = frame.len() - at;
        let signature_sum = match signature {
            None => 0,
            Some(signature) => {
                let kind = (number, kind);
                self.sign::<PROTOCOL>(frame, at, addresses, ports, kind, signature)
            }
        };
        let pseudo = pseudo(addresses) + u64::from(number) + len as u64;
        let sum = add(pseudo, signature_sum);
        let Some(segment) = frame.get_mut(at..) else {
            return;
        };
        match PROTOCOL {
            protocol::TCP => write_tcp(segment, sum, ports, self.flags),
            protocol::ICMP if is_v6 => write_echo(segment, sum, ports, ECHO_V6),
            protocol::ICMP => write_echo(segment, signature_sum, ports, ECHO_V4),
            _ => write_udp(segment, sum, ports),
        }
    }

    /// Writes the signature and returns its sum where it stands.
    #[inline(always)]
    fn sign<const PROTOCOL: u8>(
        &self,
        frame: &mut [u8],
        at: usize,
        addresses: Addresses,
        ports: u32,
        (protocol, kind): (u8, u8),
        signature: &Signature,
    ) -> u64 {
        let (front, segment) = frame.split_at_mut(at);
        let header_len = if PROTOCOL == protocol::TCP { 20 } else { 8 };
        let payload = segment.get(header_len..segment.len() - SIGNATURE_BYTES);
        let covered = Covered {
            addresses,
            ports,
            protocol,
            kind,
            payload: payload.unwrap_or_default(),
        };
        let check = match self.cover {
            Cover::Network => covered.check(signature, true),
            Cover::Link => covered.check_link(signature, true, front),
        };
        let encoded = signature.encode(check);
        encoded.write(segment);
        encoded.sum_in(segment.len())
    }
}

/// The sum of the addresses as 32-bit words.
#[inline(always)]
const fn pseudo(addresses: Addresses) -> u64 {
    match addresses {
        Addresses::V4(src, dst) => src as u64 + dst as u64,
        Addresses::V6(src, dst) => sum_u128(src) + sum_u128(dst),
    }
}

/// `sum` is that of all but the header.
#[inline(always)]
fn write_udp(segment: &mut [u8], sum: u64, ports: u32) {
    let len = segment.len() as u64;
    let checksum = checksum::udp_nonzero(!fold(add(sum, u64::from(ports) + len)));
    let word = u64::from(ports) << 32 | len << 16 | u64::from(checksum);
    if let Some(header) = segment.first_chunk_mut() {
        *header = word.to_be_bytes();
    }
}

fn write_tcp(segment: &mut [u8], sum: u64, ports: u32, flags: u8) {
    let word = TCP_OFFSET | u32::from(flags) << 16 | TCP_WINDOW;
    let checksum = !fold(add(sum, u64::from(ports) + u64::from(word)));
    let Some(header) = segment.first_chunk_mut::<20>() else {
        return;
    };
    header[0..8].copy_from_slice(&(u64::from(ports) << 32).to_be_bytes());
    header[12..16].copy_from_slice(&word.to_be_bytes());
    header[16..18].copy_from_slice(&checksum.to_be_bytes());
}

fn write_echo(segment: &mut [u8], sum: u64, ports: u32, kind: u8) {
    let kind = u64::from(kind) << 8;
    let checksum = !fold(add(sum, kind + u64::from(ports)));
    let word = kind << 48 | u64::from(checksum) << 32 | u64::from(ports);
    if let Some(header) = segment.first_chunk_mut() {
        *header = word.to_be_bytes();
    }
}

/// The sum of the four 32-bit words of an address.
const fn sum_u128(address: u128) -> u64 {
    let (high, low) = ((address >> 64) as u64, address as u64);
    (high >> 32) + (high & 0xffff_ffff) + (low >> 32) + (low & 0xffff_ffff)
}
