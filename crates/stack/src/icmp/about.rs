//! Which packets no error is sent about.

use wire::protocol;
use wire::view::{Ipv4View, Ipv6View};

use super::Report;

/// Types of ICMP that are errors (RFC 1122 section 3.2.2).
const ERRORS_V4: [u8; 5] = [3, 4, 5, 11, 12];
/// Types of ICMPv6 below this are errors (RFC 4443 section 2.1).
const INFORMATION_V6: u8 = 128;
/// About redirects nothing is said either (RFC 4443 section 2.4 e.2).
const REDIRECT_V6: u8 = 137;
/// Extension headers that are looked behind.
const EXTENSIONS_MAX: usize = 8;

/// Whether an error may be sent about a packet (RFC 1812 section 4.3.2.7, RFC 4443 section 2.4 e):
/// never about an error, a fragment of IPv4 but the first, or a packet that does not go from one
/// host to one host. Too big is said of packets to groups of IPv6 too, for path MTUs of multicast;
/// later fragments of IPv6 are reported, since RFC 4443 names no exception.
///
/// `packet` begins with its IP header. What is above the link, to all stations for instance, the
/// caller knows.
#[must_use]
pub fn may_be_reported(report: Report, packet: &[u8]) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) => Ipv4View::new_checked(packet).is_ok_and(|view| may_be_v4(&view)),
        Some(6) => Ipv6View::new_checked(packet).is_ok_and(|view| may_be_v6(report, &view)),
        _ => false,
    }
}

/// Whether a packet may come from an address, as from one host.
pub(super) fn is_one_host_v4(address: u32) -> bool {
    let [first, ..] = address.to_be_bytes();
    !matches!(first, 0 | 127 | 224..=255)
}

/// Whether a packet may come from an address, as from one host.
pub(super) fn is_one_host_v6(address: u128) -> bool {
    address > 1 && !is_group_v6(address)
}

fn is_group_v6(address: u128) -> bool {
    address >> 120 == 0xFF
}

fn may_be_v4(packet: &Ipv4View<&[u8]>) -> bool {
    let is_later = packet.fragment_offset() != 0;
    let to_group = packet.dst() >> 28 >= 0xE;
    is_one_host_v4(packet.src()) && !to_group && !is_later && !is_error_v4(packet)
}

/// What is cut before its type counts as an error.
fn is_error_v4(packet: &Ipv4View<&[u8]>) -> bool {
    let kind = packet.payload().first();
    packet.protocol() == protocol::ICMP && kind.is_none_or(|kind| ERRORS_V4.contains(kind))
}

fn may_be_v6(report: Report, packet: &Ipv6View<&[u8]>) -> bool {
    let to_group = is_group_v6(packet.dst()) && !matches!(report, Report::TooBig { .. });
    is_one_host_v6(packet.src()) && !to_group && !is_error_v6(packet)
}

/// Whether an IPv6 packet is an ICMPv6 error, or may be one: what is cut before its type counts
/// as one.
fn is_error_v6(packet: &Ipv6View<&[u8]>) -> bool {
    let mut rest = packet.payload();
    let mut next = packet.next_header();
    for _ in 0..EXTENSIONS_MAX {
        match next {
            protocol::ICMPV6 => return rest.first().is_none_or(|&kind| is_error_type_v6(kind)),
            _ if !protocol::is_ipv6_extension(next) => return false,
            _ => {}
        }
        let Some(header) = rest.first_chunk::<8>() else {
            return true;
        };
        let is_later = next == protocol::FRAGMENT && (header[2] != 0 || header[3] & 0xF8 != 0);
        if is_later {
            return false;
        }
        let len = match next {
            protocol::FRAGMENT => 8,
            protocol::AUTHENTICATION => 8 + 4 * usize::from(header[1]),
            _ => 8 + 8 * usize::from(header[1]),
        };
        next = header[0];
        rest = rest.get(len..).unwrap_or_default();
    }
    true
}

fn is_error_type_v6(kind: u8) -> bool {
    kind < INFORMATION_V6 || kind == REDIRECT_V6
}

#[cfg(test)]
mod tests;
