//! What a packet is to somebody who follows flows: whose it is, and what it can begin.

use crate::{Family, FlowKey, Fragment, Parsed, Readable, protocol};

/// Headers of a chain that are looked at before a fragment header.
const EXTENSIONS_MAX: usize = 8;
/// The protocol of the keys of pieces: the number of no flow, since something follows an
/// IPv6 fragment header.
const PIECES: u8 = protocol::FRAGMENT;

/// A packet's part in a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Follow {
    /// It belongs to this one, and may begin it. An echo has its identifier as both ports.
    Of(FlowKey),
    /// It answers in this one and never begins it: an echo reply.
    Answer(FlowKey),
    /// The first piece of a packet of `of`; the others are known by `pieces` alone.
    First {
        /// The flow.
        of: FlowKey,
        /// Addresses, and the identification of the packet instead of ports.
        pieces: FlowKey,
    },
    /// Another piece, without ports.
    Later(FlowKey),
    /// An ICMP error about a packet of this flow, as the quoted packet went.
    Error(FlowKey),
    /// No flow can be told, as of ICMP messages that are neither echo nor error, of errors
    /// that quote nothing that can be read, and of packets whose ports or addresses are not there.
    None,
}

impl Follow {
    /// What it is looked up by: where what is known of it lies. Of a first piece the flow.
    #[must_use]
    #[inline]
    pub fn key(&self) -> Option<&FlowKey> {
        match self {
            Self::Of(key) | Self::Answer(key) | Self::Later(key) | Self::Error(key) => Some(key),
            Self::First { of, .. } => Some(of),
            Self::None => None,
        }
    }
}

/// What the packet in `bytes`, of which `parsed` was read, is.
#[must_use]
pub fn follow(bytes: &[u8], parsed: &Parsed) -> Follow {
    if !parsed.is_ip() || !parsed.readable.has(Readable::ADDRESSES) {
        return Follow::None;
    }
    if parsed.fragment == Fragment::Later {
        return pieces(bytes, parsed).map_or(Follow::None, Follow::Later);
    }
    let follow = match parsed.protocol {
        protocol::ICMP if parsed.family == Family::V4 => icmp(bytes, parsed),
        protocol::ICMPV6 if parsed.family == Family::V6 => icmp(bytes, parsed),
        number if has_ports(number) && !parsed.readable.ports() => Follow::None,
        _ => Follow::Of(key(parsed, parsed.src_port, parsed.dst_port)),
    };
    match (follow, parsed.fragment) {
        (Follow::Of(of), Fragment::First) => match pieces(bytes, parsed) {
            Some(pieces) => Follow::First { of, pieces },
            None => Follow::None,
        },
        (follow, _) => follow,
    }
}

fn has_ports(number: u8) -> bool {
    use protocol::{DCCP, SCTP, TCP, UDP, UDP_LITE};
    matches!(number, TCP | UDP | UDP_LITE | SCTP | DCCP)
}

fn key(parsed: &Parsed, src_port: u16, dst_port: u16) -> FlowKey {
    FlowKey {
        src: parsed.src,
        dst: parsed.dst,
        src_port,
        dst_port,
        protocol: parsed.protocol,
        family: parsed.family,
    }
}

/// Addresses, and the identification instead of ports.
fn pieces(bytes: &[u8], parsed: &Parsed) -> Option<FlowKey> {
    let identification = match parsed.family {
        Family::V4 => u32::from(be16(bytes, usize::from(parsed.l3_offset) + 4)?),
        Family::V6 => {
            let at = fragment_header(bytes, usize::from(parsed.l3_offset))?;
            u32::from(be16(bytes, at + 4)?) << 16 | u32::from(be16(bytes, at + 6)?)
        }
        Family::None => return None,
    };
    let (high, low) = ((identification >> 16) as u16, identification as u16);
    let mut key = key(parsed, high, low);
    key.protocol = PIECES;
    Some(key)
}

/// Where the fragment header of an IPv6 packet is.
pub(crate) fn fragment_header(bytes: &[u8], packet: usize) -> Option<usize> {
    let mut next = *bytes.get(packet + 6)?;
    let mut at = packet + 40;
    for _ in 0..EXTENSIONS_MAX {
        if next == protocol::FRAGMENT {
            return Some(at);
        }
        if !protocol::is_ipv6_extension(next) {
            return None;
        }
        next = *bytes.get(at)?;
        at += 8 + 8 * usize::from(*bytes.get(at + 1)?);
    }
    None
}

fn icmp(bytes: &[u8], parsed: &Parsed) -> Follow {
    let at = usize::from(parsed.l4_offset);
    let (Some(&kind), Some(identifier)) = (bytes.get(at), be16(bytes, at + 4)) else {
        return Follow::None;
    };
    let echo = key(parsed, identifier, identifier);
    let quote = bytes.get(at + 8..);
    match (parsed.family, kind) {
        (Family::V4, 8) | (Family::V6, 128) => Follow::Of(echo),
        (Family::V4, 0) | (Family::V6, 129) => Follow::Answer(echo),
        // RFC 792: unreachable, source quench, time exceeded, parameter problem. RFC 4443: the
        // same without quench, and too big.
        (Family::V4, 3 | 4 | 11 | 12) | (Family::V6, 1..=4) => quote
            .and_then(|quote| quoted(quote, parsed.family))
            .map_or(Follow::None, Follow::Error),
        _ => Follow::None,
    }
}

/// The flow of a packet whose beginning an error quotes.
fn quoted(bytes: &[u8], family: Family) -> Option<FlowKey> {
    let (number, transport, src, dst) = match family {
        Family::V4 => {
            let header = usize::from(bytes.first()? & 15) * 4;
            let later = be16(bytes, 6)? & 0x1FFF != 0;
            if bytes.first()? >> 4 != 4 || header < 20 || later {
                return None;
            }
            let address = |at| Some(u128::from(u32::from_be_bytes(array(bytes, at)?)));
            (*bytes.get(9)?, header, address(12)?, address(16)?)
        }
        Family::V6 => {
            if bytes.first()? >> 4 != 6 {
                return None;
            }
            let address = |at| Some(u128::from_be_bytes(array(bytes, at)?));
            (*bytes.get(6)?, 40, address(8)?, address(24)?)
        }
        Family::None => return None,
    };
    let (src_port, dst_port) = match (number, *bytes.get(transport)?) {
        (protocol::ICMP, 0 | 8) | (protocol::ICMPV6, 128 | 129) => {
            let identifier = be16(bytes, transport + 4)?;
            (identifier, identifier)
        }
        (protocol::ICMP | protocol::ICMPV6, _) => return None,
        _ if has_ports(number) => (be16(bytes, transport)?, be16(bytes, transport + 2)?),
        _ => (0, 0),
    };
    Some(FlowKey {
        src,
        dst,
        src_port,
        dst_port,
        protocol: number,
        family,
    })
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests;
