//! The IPv6 header and its extension headers (RFC 8200, RFC 7045), walked at most eight deep.

use super::ipv4::PACKET_BYTES_MAX;
use super::l4::{self, Piece};
use super::walk::{Stop, Walk};
use super::{Parsed, Readable};
use crate::{Fragment, Malformed, protocol};

/// Most extension headers a packet may have: RFC 8200 names seven and recommends each once.
pub const EXTENSIONS_MAX: usize = 8;

/// Options of one header that are looked at. RFC 8504 section 5.3 lets a host stop at eight;
/// without a bound a header of 2,048 one-byte options costs 2 us.
const OPTIONS_MAX: usize = 32;

const HEADER_BYTES: usize = 40;
const OPTION_PAD1: u8 = 0;
const OPTION_JUMBO: u8 = 0xC2;

pub(super) fn walk(walk: Walk<'_>, at: usize, parsed: &mut Parsed) -> Result<(), Stop> {
    read_addresses(walk, at, parsed);
    walk.require(at, HEADER_BYTES, Malformed::Ipv6HeaderTruncated)?;
    if walk.byte(at)? >> 4 != 6 {
        return Err(Malformed::Ipv6Version.into());
    }
    let payload = usize::from(walk.be16(at + 4)?);
    walk.require(at, HEADER_BYTES + payload, Malformed::Ipv6LengthBeyondFrame)?;
    parsed.protocol = walk.byte(at + 6)?;
    let payload = match jumbo_payload(walk, at + HEADER_BYTES, payload, parsed.protocol)? {
        Some(jumbo) => {
            let fits = jumbo > PACKET_BYTES_MAX && jumbo <= walk.remaining(at + HEADER_BYTES);
            if payload != 0 || !fits {
                return Err(Malformed::Ipv6Jumbogram.into());
            }
            jumbo
        }
        // A host that leaves segmenting to its NIC shows packets so before it is done. They are
        // all that is there; only a packet without a next header has no payload.
        None if payload == 0 && parsed.protocol != protocol::NO_NEXT_HEADER => {
            walk.remaining(at + HEADER_BYTES)
        }
        None => payload,
    };
    let packet = HEADER_BYTES + payload;
    parsed.l3_len = u32::try_from(packet).unwrap_or(u32::MAX);
    extensions(walk.ending_at(at + packet), at + HEADER_BYTES, parsed)
}

/// Reads what is captured of the addresses, provided that the version is 6.
fn read_addresses(walk: Walk<'_>, at: usize, parsed: &mut Parsed) {
    if !walk.byte(at).is_ok_and(|first| first >> 4 == 6) {
        return;
    }
    if let Ok(src) = walk.array(at + 8) {
        parsed.src = u128::from_be_bytes(src);
        parsed.readable = parsed.readable.with(Readable::SRC);
    }
    if let Ok(dst) = walk.array(at + 24) {
        parsed.dst = u128::from_be_bytes(dst);
        parsed.readable = parsed.readable.with(Readable::DST);
    }
}

/// The jumbo payload length (RFC 2675), which only a leading hop-by-hop header can hold.
///
/// A payload length of 0 in front of such a header makes no sense without the option.
fn jumbo_payload(
    walk: Walk<'_>,
    at: usize,
    payload: usize,
    next: u8,
) -> Result<Option<usize>, Stop> {
    if next != protocol::HOP_BY_HOP {
        return Ok(None);
    }
    // With a payload length the header must fit in it; without one it is the option that counts.
    let walk = if payload != 0 {
        walk.ending_at(at + payload)
    } else {
        walk
    };
    walk.require(at, 8, Malformed::Ipv6ExtensionTruncated)?;
    let found = jumbo_option(walk, at, extension_len(walk, at)?)?;
    if payload == 0 && found.is_none() {
        return Err(Malformed::Ipv6ExtensionTruncated.into());
    }
    Ok(found)
}

/// Length in bytes of the extension header at `at`, which must end within the packet.
fn extension_len(walk: Walk<'_>, at: usize) -> Result<usize, Stop> {
    let len = (usize::from(walk.byte(at + 1)?) + 1) * 8;
    walk.require(at, len, Malformed::Ipv6ExtensionTruncated)?;
    Ok(len)
}

/// Walks the options of the header of `len` bytes at `at`; gives the jumbo payload length if one
/// of them says it.
fn jumbo_option(walk: Walk<'_>, at: usize, len: usize) -> Result<Option<usize>, Stop> {
    let end = at + len;
    let mut at = at + 2;
    for _ in 0..OPTIONS_MAX {
        if at >= end {
            break;
        }
        if walk.byte(at)? == OPTION_PAD1 {
            at += 1;
            continue;
        }
        if at + 2 > end {
            return Err(Malformed::Ipv6Option.into());
        }
        let [kind, option_len] = walk.array(at)?;
        if at + 2 + usize::from(option_len) > end {
            return Err(Malformed::Ipv6Option.into());
        }
        if kind == OPTION_JUMBO {
            if option_len != 4 {
                return Err(Malformed::Ipv6Jumbogram.into());
            }
            return Ok(Some(u32::from_be_bytes(walk.array(at + 2)?) as usize));
        }
        at += 2 + usize::from(option_len);
    }
    Ok(None)
}

/// Walks the extension headers from `at`, then the transport header.
fn extensions(walk: Walk<'_>, mut at: usize, parsed: &mut Parsed) -> Result<(), Stop> {
    let mut piece = Piece::WHOLE;
    for depth in 0..=EXTENSIONS_MAX {
        let kind = parsed.protocol;
        if parsed.fragment == Fragment::Later || !protocol::is_ipv6_extension(kind) {
            return l4::walk(walk, at, piece, parsed);
        }
        if depth == EXTENSIONS_MAX {
            break;
        }
        if kind == protocol::HOP_BY_HOP && depth > 0 {
            return Err(Malformed::Ipv6HopByHopOrder.into());
        }
        let truncated = Malformed::Ipv6ExtensionTruncated;
        walk.require(at, 8, truncated)?;
        let [next, len] = walk.array(at)?;
        let len = match kind {
            protocol::FRAGMENT => {
                piece = fragment(walk, at, piece, parsed)?;
                8
            }
            protocol::AUTHENTICATION => (usize::from(len) + 2) * 4,
            _ => (usize::from(len) + 1) * 8,
        };
        walk.require(at, len, truncated)?;
        parsed.protocol = next;
        at += len;
    }
    Err(Malformed::TooManyIpv6Extensions.into())
}

/// The fragment header at `at` (RFC 8200 section 4.5); `outer` is what headers before it said.
fn fragment(walk: Walk<'_>, at: usize, outer: Piece, parsed: &mut Parsed) -> Result<Piece, Stop> {
    if parsed.l3_len as usize > HEADER_BYTES + PACKET_BYTES_MAX {
        return Err(Malformed::Ipv6Jumbogram.into());
    }
    let word = walk.be16(at + 2)?;
    let len = walk.remaining(at + 8);
    let offset = usize::from(word & 0xFFF8);
    let piece = Piece {
        offset,
        more: word & 1 != 0 || outer.more,
    };
    if word & 1 != 0 && !len.is_multiple_of(8) {
        return Err(Malformed::FragmentUnaligned.into());
    }
    if offset + len > PACKET_BYTES_MAX {
        return Err(Malformed::FragmentBeyondPacket.into());
    }
    parsed.fragment = piece.fragment();
    Ok(piece)
}
