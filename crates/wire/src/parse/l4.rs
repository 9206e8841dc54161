//! Transport headers: ports and the lengths that can lie. TCP (RFC 9293), UDP (RFC 768), UDP-Lite
//! (RFC 3828), SCTP (RFC 9260), DCCP (RFC 4340), ICMP (RFC 792), ICMPv6 (RFC 4443).

use super::ipv4::PACKET_BYTES_MAX;
use super::walk::{Stop, Walk};
use super::{Fragment, Parsed, Readable};
use crate::{Malformed, protocol};

const TCP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;

/// Which piece of a packet this is.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// Bytes of the packet's payload before this piece.
    pub(super) offset: usize,
    /// More pieces follow.
    pub(super) more: bool,
}

impl Piece {
    pub(super) const WHOLE: Self = Self {
        offset: 0,
        more: false,
    };

    pub(super) fn fragment(self) -> Fragment {
        match (self.offset, self.more) {
            (0, false) => Fragment::Whole,
            (0, true) => Fragment::First,
            _ => Fragment::Later,
        }
    }
}

/// Reads the transport header at `at`, whose number is in `parsed.protocol`.
pub(super) fn walk(
    walk: Walk<'_>,
    at: usize,
    piece: Piece,
    parsed: &mut Parsed,
) -> Result<(), Stop> {
    let (header_min, truncated) = shortest(parsed.protocol);
    if parsed.fragment == Fragment::Later {
        return later(piece.offset, header_min);
    }
    if parsed.protocol == protocol::NO_NEXT_HEADER {
        return Ok(());
    }
    parsed.l4_offset = walk.offset(at);
    ports(walk, at, parsed);
    if walk.remaining(at) < header_min {
        return Err(too_short(piece, truncated));
    }
    match parsed.protocol {
        protocol::TCP => tcp(walk, at, piece, parsed),
        protocol::UDP => udp(walk, at, piece),
        _ => Ok(()),
    }
}

/// A fragment that starts inside the transport header tells of a tiny fragment before it (RFC 1858
/// section 3, RFC 3128).
fn later(offset: usize, header_min: usize) -> Result<(), Stop> {
    if offset < header_min {
        Err(Malformed::TinyFragment.into())
    } else {
        Ok(())
    }
}

/// The shortest header of a protocol, and the fault of a packet that has less.
fn shortest(number: u8) -> (usize, Malformed) {
    match number {
        protocol::TCP => (TCP_BYTES, Malformed::TcpTruncated),
        protocol::UDP => (UDP_BYTES, Malformed::UdpTruncated),
        protocol::ICMP => (8, Malformed::IcmpTruncated),
        protocol::ICMPV6 => (8, Malformed::Icmpv6Truncated),
        protocol::UDP_LITE => (8, Malformed::TransportTruncated),
        protocol::SCTP | protocol::DCCP => (12, Malformed::TransportTruncated),
        _ => (0, Malformed::TransportTruncated),
    }
}

fn too_short(piece: Piece, truncated: Malformed) -> Stop {
    Stop::Fault(if piece.more {
        Malformed::TinyFragment
    } else {
        truncated
    })
}

/// Reads the ports where the protocol has them and both packet and capture hold them.
fn ports(walk: Walk<'_>, at: usize, parsed: &mut Parsed) {
    let has_ports = matches!(
        parsed.protocol,
        protocol::TCP | protocol::UDP | protocol::UDP_LITE | protocol::SCTP | protocol::DCCP
    );
    if !has_ports || walk.remaining(at) < 4 {
        return;
    }
    if let (Ok(src), Ok(dst)) = (walk.be16(at), walk.be16(at + 2)) {
        parsed.src_port = src;
        parsed.dst_port = dst;
        parsed.readable = parsed.readable.with(Readable::PORTS);
    }
}

fn tcp(walk: Walk<'_>, at: usize, piece: Piece, parsed: &mut Parsed) -> Result<(), Stop> {
    let header = usize::from(walk.byte(at + 12)? >> 4) * 4;
    if header < TCP_BYTES {
        return Err(Malformed::TcpDataOffset.into());
    }
    if walk.remaining(at) < header {
        return Err(too_short(piece, Malformed::TcpDataOffset));
    }
    parsed.tcp_flags = walk.byte(at + 13)?;
    Ok(())
}

fn udp(walk: Walk<'_>, at: usize, piece: Piece) -> Result<(), Stop> {
    let len = usize::from(walk.be16(at + 4)?);
    let remaining = walk.remaining(at);
    // RFC 2675 section 4: a datagram that does not fit the field says 0.
    if len == 0 && remaining > PACKET_BYTES_MAX {
        return Ok(());
    }
    if len < UDP_BYTES {
        return Err(Malformed::UdpLength.into());
    }
    if len > remaining && !piece.more {
        return Err(Malformed::UdpLengthBeyondPacket.into());
    }
    Ok(())
}
