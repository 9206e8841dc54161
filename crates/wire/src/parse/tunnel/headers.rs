//! The headers of tunnels, one function each: where what they carry lies, and what it is.

use super::super::walk::{Stop, Walk};
use super::{Carried, Opened, TunnelKind, TunnelPorts};
use crate::{Family, Malformed, Parsed, ether_type, protocol};

/// Transparent Ethernet bridging, in GRE and GENEVE.
const TEB: u16 = 0x6558;
/// Packets that a router redirects to a web cache (WCCP), in GRE.
const WCCP: u16 = 0x883E;
const UDP_BYTES: usize = 8;
const VXLAN_BYTES: usize = 8;
const GENEVE_BYTES: usize = 8;
const GTP_BYTES: usize = 8;
const GRE_BYTES: usize = 4;
const AUTHENTICATION_BYTES_MIN: usize = 12;
/// Extension headers of one GTP-U packet. TS 29.281 defines ten, and one or two are seen.
const GTP_EXTENSIONS_MAX: usize = 8;

type Found<'a> = Result<Option<Opened<'a>>, Stop>;

/// Reads the tunnel header behind the header of `outer`, if there is one.
pub(super) fn open<'a>(walk: Walk<'a>, outer: &Parsed, ports: &TunnelPorts) -> Found<'a> {
    let mut at = usize::from(outer.l4_offset);
    let mut number = outer.protocol;
    // IPv6 has walked it as an extension header.
    if number == protocol::AUTHENTICATION {
        walk.require(at, AUTHENTICATION_BYTES_MIN, Malformed::TunnelTruncated)?;
        let [next, words] = walk.array(at)?;
        let len = (usize::from(words) + 2) * 4;
        walk.require(at, len, Malformed::TunnelTruncated)?;
        (number, at) = (next, at + len);
    }
    let in_ip = |carried| {
        Ok(Some(Opened {
            kind: TunnelKind::of_families(outer.family, carried),
            offset: at,
            id: None,
            carried,
            at,
            walk,
        }))
    };
    match number {
        protocol::IPV4 => in_ip(Carried::V4),
        protocol::IPV6 => in_ip(Carried::V6),
        protocol::GRE => gre(walk, at, outer.family),
        protocol::UDP => udp(walk, at, ports),
        _ => Ok(None),
    }
}

/// What an ether type in a tunnel header says.
fn carried(kind: u16) -> Option<Carried> {
    match kind {
        ether_type::IPV4 => Some(Carried::V4),
        ether_type::IPV6 => Some(Carried::V6),
        TEB => Some(Carried::Ethernet),
        _ => None,
    }
}

/// Where a web cache's packet begins in GRE, and what it is, as Linux reads it
/// (`net/ipv4/gre_demux.c`): a packet of the outer family, behind a redirect header of four bytes
/// if it does not begin as IPv4 does.
fn web_cache(walk: Walk<'_>, at: usize, outer: Family) -> Result<(Carried, usize), Stop> {
    const REDIRECT_BYTES: usize = 4;
    let carried = match outer {
        Family::V6 => Carried::V6,
        _ => Carried::V4,
    };
    let at = at + GRE_BYTES;
    walk.require(at, 1, Malformed::TunnelTruncated)?;
    match walk.byte(at)? >> 4 {
        4 => Ok((carried, 0)),
        _ => Ok((carried, REDIRECT_BYTES)),
    }
}

/// RFC 2784 with key and sequence number (RFC 2890). Another version is PPTP's, and a packet with
/// routing (RFC 1701) is discarded by its receiver; Linux, too, looks at no other bits.
fn gre(walk: Walk<'_>, at: usize, outer: Family) -> Found<'_> {
    const CHECKSUM: u16 = 0x8000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const NOT_OURS: u16 = 0x4007;
    walk.require(at, GRE_BYTES, Malformed::TunnelTruncated)?;
    let flags = walk.be16(at)?;
    if flags & NOT_OURS != 0 {
        return Ok(None);
    }
    let word = |flag: u16| usize::from(flags & flag != 0) * 4;
    let words = word(CHECKSUM) + word(KEY) + word(SEQUENCE);
    let kind = walk.be16(at + 2)?;
    let (carried, more) = match carried(kind) {
        Some(carried) => (carried, 0),
        None if kind == WCCP && words == 0 => web_cache(walk, at, outer)?,
        None => return Ok(None),
    };
    let len = GRE_BYTES + words + more;
    walk.require(at, len, Malformed::TunnelTruncated)?;
    let id = match flags & KEY {
        0 => None,
        _ => Some(u32::from_be_bytes(
            walk.array(at + GRE_BYTES + word(CHECKSUM))?,
        )),
    };
    Ok(Some(Opened {
        kind: TunnelKind::Gre,
        offset: at,
        id,
        carried,
        at: at + len,
        walk,
    }))
}

/// A datagram to the port of a tunnel.
fn udp<'a>(walk: Walk<'a>, at: usize, ports: &TunnelPorts) -> Found<'a> {
    let Some(kind) = ports.kind_of(walk.be16(at + 2)?) else {
        return Ok(None);
    };
    // 0 is that of a jumbogram (RFC 2675), whose datagram ends with the packet.
    let len = usize::from(walk.be16(at + 4)?);
    let walk = match len {
        UDP_BYTES.. if len <= walk.remaining(at) => walk.ending_at(at + len),
        _ => walk,
    };
    let at = at + UDP_BYTES;
    match kind {
        TunnelKind::Vxlan => vxlan(walk, at),
        TunnelKind::Geneve => geneve(walk, at),
        TunnelKind::GtpU => gtp(walk, at),
        _ => Ok(None),
    }
}

/// RFC 7348: the I flag, and a network identifier of 24 bits.
fn vxlan(walk: Walk<'_>, at: usize) -> Found<'_> {
    if walk.remaining(at) < VXLAN_BYTES || walk.byte(at)? & 0x08 == 0 {
        return Ok(None);
    }
    Ok(Some(Opened {
        kind: TunnelKind::Vxlan,
        offset: at,
        id: Some(u32::from_be_bytes(walk.array(at + 4)?) >> 8),
        carried: Carried::Ethernet,
        at: at + VXLAN_BYTES,
        walk,
    }))
}

/// RFC 8926: version 0, and options of up to 252 bytes.
fn geneve(walk: Walk<'_>, at: usize) -> Found<'_> {
    if walk.remaining(at) < GENEVE_BYTES {
        return Ok(None);
    }
    let first = walk.byte(at)?;
    let Some(carried) = carried(walk.be16(at + 2)?).filter(|_| first >> 6 == 0) else {
        return Ok(None);
    };
    let len = GENEVE_BYTES + usize::from(first & 0x3F) * 4;
    walk.require(at, len, Malformed::TunnelTruncated)?;
    Ok(Some(Opened {
        kind: TunnelKind::Geneve,
        offset: at,
        id: Some(u32::from_be_bytes(walk.array(at + 4)?) >> 8),
        carried,
        at: at + len,
        walk,
    }))
}

/// TS 29.281 section 5: version 1, a G-PDU (message type 255); the length counts from behind the
/// first eight bytes. What is inside says its version itself.
fn gtp(walk: Walk<'_>, at: usize) -> Found<'_> {
    const VERSION_AND_PROTOCOL: u8 = 0x30;
    const EXTENSION: u8 = 0x04;
    const OPTIONAL: u8 = 0x07;
    const G_PDU: u8 = 255;
    if walk.remaining(at) < GTP_BYTES {
        return Ok(None);
    }
    let [flags, message] = walk.array(at)?;
    if flags & 0xF0 != VERSION_AND_PROTOCOL || message != G_PDU {
        return Ok(None);
    }
    let len = GTP_BYTES + usize::from(walk.be16(at + 2)?);
    walk.require(at, len, Malformed::TunnelLength)?;
    let walk = walk.ending_at(at + len);
    let id = Some(u32::from_be_bytes(walk.array(at + 4)?));
    let mut inner = at + GTP_BYTES;
    if flags & OPTIONAL != 0 {
        walk.require(inner, 4, Malformed::TunnelTruncated)?;
        inner += 4;
        if flags & EXTENSION != 0 {
            inner = gtp_extensions(walk, inner)?;
        }
    }
    // A session may carry frames or nothing of IP; an empty packet, too.
    let version = match walk.remaining(inner) {
        0 => return Ok(None),
        _ => walk.byte(inner)? >> 4,
    };
    let carried = match version {
        4 => Carried::V4,
        6 => Carried::V6,
        _ => return Ok(None),
    };
    Ok(Some(Opened {
        kind: TunnelKind::GtpU,
        offset: at,
        id,
        carried,
        at: inner,
        walk,
    }))
}

/// The chain of extension headers in front of `at`; the byte before each says its type, 0 ends it.
/// Each begins with its length in units of four bytes and ends with the next one's type.
fn gtp_extensions(walk: Walk<'_>, mut at: usize) -> Result<usize, Stop> {
    for _ in 0..GTP_EXTENSIONS_MAX {
        if walk.byte(at - 1)? == 0 {
            return Ok(at);
        }
        walk.require(at, 1, Malformed::TunnelTruncated)?;
        let len = usize::from(walk.byte(at)?) * 4;
        if len == 0 {
            return Err(Malformed::TunnelLength.into());
        }
        walk.require(at, len, Malformed::TunnelTruncated)?;
        at += len;
    }
    match walk.byte(at - 1)? {
        0 => Ok(at),
        _ => Err(Malformed::TunnelLength.into()),
    }
}
