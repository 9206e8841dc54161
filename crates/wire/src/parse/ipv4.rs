//! The IPv4 header (RFC 791): addresses first, then what is wrong with the rest.

use super::l4::{self, Piece};
use super::walk::{Stop, Walk};
use super::{Parsed, Readable};
use crate::Malformed;

const HEADER_BYTES: usize = 20;
/// Greatest length of a packet once reassembled.
pub(super) const PACKET_BYTES_MAX: usize = 65_535;

pub(super) fn walk(walk: Walk<'_>, at: usize, parsed: &mut Parsed) -> Result<(), Stop> {
    read_addresses(walk, at, parsed);
    walk.require(at, HEADER_BYTES, Malformed::Ipv4HeaderTruncated)?;
    let first = walk.byte(at)?;
    if first >> 4 != 4 {
        return Err(Malformed::Ipv4Version.into());
    }
    let header = usize::from(first & 15) * 4;
    if header < HEADER_BYTES {
        return Err(Malformed::Ipv4HeaderLength.into());
    }
    let total = match usize::from(walk.be16(at + 2)?) {
        0 if walk.be16(at + 6)? & 0x3FFF == 0 => offloaded(walk, at, header)?,
        total => total,
    };
    if total < header {
        return Err(Malformed::Ipv4LengthBelowHeader.into());
    }
    walk.require(at, total, Malformed::Ipv4LengthBeyondFrame)?;
    parsed.l3_len = total as u32;
    let piece = fragment(walk.be16(at + 6)?, total)?;
    parsed.fragment = piece.fragment();
    parsed.protocol = walk.byte(at + 9)?;
    options(walk, at + HEADER_BYTES, at + header)?;
    l4::walk(walk.ending_at(at + total), at + header, piece, parsed)
}

/// The length of a whole packet that says 0: all that is there. A host that leaves segmenting to
/// its NIC shows packets so before it is done (TCP segmentation offload), and such a packet may be
/// longer than its length could say. Less than a header is no packet.
fn offloaded(walk: Walk<'_>, at: usize, header: usize) -> Result<usize, Stop> {
    match walk.remaining(at) {
        there if there > header => Ok(there),
        _ => Err(Malformed::Ipv4LengthBelowHeader.into()),
    }
}

/// Reads what is captured of the addresses, provided that the version is 4: no fault further on
/// may hide an address.
fn read_addresses(walk: Walk<'_>, at: usize, parsed: &mut Parsed) {
    if !walk.byte(at).is_ok_and(|first| first >> 4 == 4) {
        return;
    }
    if let Ok(src) = walk.array(at + 12) {
        parsed.src = u128::from(u32::from_be_bytes(src));
        parsed.readable = parsed.readable.with(Readable::SRC);
    }
    if let Ok(dst) = walk.array(at + 16) {
        parsed.dst = u128::from(u32::from_be_bytes(dst));
        parsed.readable = parsed.readable.with(Readable::DST);
    }
}

/// The flags and offset word of a packet of `total` bytes.
fn fragment(word: u16, total: usize) -> Result<Piece, Stop> {
    let piece = Piece {
        offset: usize::from(word & 0x1FFF) * 8,
        more: word & 0x2000 != 0,
    };
    if piece.offset == 0 && !piece.more {
        return Ok(piece);
    }
    // The header of the whole packet is at least as long as that of this fragment.
    if piece.offset + total > PACKET_BYTES_MAX {
        return Err(Malformed::FragmentBeyondPacket.into());
    }
    Ok(piece)
}

/// Options from `at` to `end` (RFC 791 section 3.1): at most 40 bytes.
fn options(walk: Walk<'_>, mut at: usize, end: usize) -> Result<(), Stop> {
    while at < end {
        match walk.byte(at)? {
            0 => return Ok(()),
            1 => at += 1,
            _ if at + 1 == end => return Err(Malformed::Ipv4Option.into()),
            _ => {
                let len = usize::from(walk.byte(at + 1)?);
                if len < 2 || at + len > end {
                    return Err(Malformed::Ipv4Option.into());
                }
                at += len;
            }
        }
    }
    Ok(())
}
