//! Errors as they are taken: about which packet of ours, and what they say.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use wire::view::{Ipv4View, Ipv6View};
use wire::{Family, IcmpErrorKind, checksum, protocol};

/// Bytes of the ICMP header in front of the quoted packet.
const HEADER: usize = 8;
const V6_HEADER: usize = 40;

/// An ICMP error about a packet that this host sent, with what it quotes of the packet.
///
/// Everybody can send one (RFC 5927). Its addresses and ports are to be held against a socket or a
/// connection before anything follows from it (RFC 8085 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorAbout {
    /// What it says.
    pub kind: IcmpErrorKind,
    /// The protocol of the quoted packet.
    pub protocol: u8,
    /// Where the quoted packet came from: an address and a port of this host.
    pub local: SocketAddr,
    /// Where the quoted packet was sent to.
    pub remote: SocketAddr,
}

/// A packet that an error quotes.
struct Quoted<'a> {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    /// Its transport header, as far as it is quoted.
    transport: &'a [u8],
}

impl ErrorAbout {
    /// Reads a packet that begins with its IP header and ends where it ends. `None` where it is no
    /// error with a right checksum, or the quoted packet did not come from the address that the
    /// error was sent to, is a later fragment, or lacks its ports.
    #[must_use]
    pub fn read(packet: &[u8]) -> Option<Self> {
        let (family, to, message) = match packet.first()? >> 4 {
            4 => message_v4(packet)?,
            6 => message_v6(packet)?,
            _ => return None,
        };
        let [kind, code, ..] = *message.first_chunk::<HEADER>()?;
        let kind = IcmpErrorKind::of(family, kind, code)?;
        let quoted = match family {
            Family::V4 => quoted_v4(&message[HEADER..])?,
            _ => quoted_v6(&message[HEADER..])?,
        };
        // The first 8 bytes of data are in every error (RFC 792).
        let [a, b, c, d, ..] = *quoted.transport.first_chunk::<8>()?;
        (quoted.source == to).then_some(Self {
            kind,
            protocol: quoted.protocol,
            local: SocketAddr::new(quoted.source, u16::from_be_bytes([a, b])),
            remote: SocketAddr::new(quoted.destination, u16::from_be_bytes([c, d])),
        })
    }
}

/// The ICMP message of an IPv4 packet, and to whom it was sent.
fn message_v4(packet: &[u8]) -> Option<(Family, IpAddr, &[u8])> {
    let view = Ipv4View::new_checked(packet).ok()?;
    let is_whole = view.fragment_offset() == 0 && !view.more_fragments();
    let message = packet.get(view.header_len()..usize::from(view.total_len()))?;
    let is_right = view.protocol() == protocol::ICMP && checksum::checksum(message) == 0;
    let to = Ipv4Addr::from_bits(view.dst()).into();
    (is_whole && is_right).then_some((Family::V4, to, message))
}

/// The same of an IPv6 packet.
fn message_v6(packet: &[u8]) -> Option<(Family, IpAddr, &[u8])> {
    let view = Ipv6View::new_checked(packet).ok()?;
    let len = usize::from(view.payload_len());
    let message = packet.get(V6_HEADER..V6_HEADER + len)?;
    let pseudo = checksum::pseudo_v6(view.src(), view.dst(), protocol::ICMPV6, len as u32);
    let is_right =
        view.next_header() == protocol::ICMPV6 && checksum::transport(pseudo, message) == 0;
    let to = Ipv6Addr::from_bits(view.dst()).into();
    is_right.then_some((Family::V6, to, message))
}

/// A quoted packet is cut, and its checksum may be that of another hop: neither is looked at.
fn quoted_v4(quoted: &[u8]) -> Option<Quoted<'_>> {
    let view = Ipv4View::new_checked(quoted).ok()?;
    (view.fragment_offset() == 0).then_some(Quoted {
        source: Ipv4Addr::from_bits(view.src()).into(),
        destination: Ipv4Addr::from_bits(view.dst()).into(),
        protocol: view.protocol(),
        transport: quoted.get(view.header_len()..)?,
    })
}

/// A host of ours sends no extension headers, so a packet that has any is not one of ours.
fn quoted_v6(quoted: &[u8]) -> Option<Quoted<'_>> {
    let view = Ipv6View::new_checked(quoted).ok()?;
    (!protocol::is_ipv6_extension(view.next_header())).then_some(Quoted {
        source: Ipv6Addr::from_bits(view.src()).into(),
        destination: Ipv6Addr::from_bits(view.dst()).into(),
        protocol: view.next_header(),
        transport: quoted.get(V6_HEADER..)?,
    })
}

#[cfg(test)]
mod tests;
