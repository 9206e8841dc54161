//! Messages by which the hosts and routers of a link find and configure each other: what a network
//! needs before any flow can begin.
//!
//! They are read strictly. A message that a receiver has to ignore is none: a wrong hop limit, a
//! wrong code, a length that does not hold what the message says. Checksums are not verified.

use crate::{Family, Fragment, Parsed, Readable, protocol};

/// Options of a message or header that are looked at.
const OPTIONS_MAX: usize = 64;
const IPV6_BYTES: usize = 40;
/// Ports of DHCP (RFC 2131) and DHCPv6 (RFC 8415).
const DHCP_SERVER: u16 = 67;
const DHCP_CLIENT: u16 = 68;
const DHCPV6_CLIENT: u16 = 546;
const DHCPV6_SERVER: u16 = 547;
/// A UDP header and what comes before the options of DHCP: RFC 2131 section 2.
const DHCP_BYTES: u16 = 8 + 236;
/// The same of DHCPv6: RFC 8415 section 8.
const DHCPV6_BYTES: u16 = 8 + 4;

macro_rules! protocols {
    ($($variant:ident = $name:literal, $sentence:literal;)+) => {
        /// A protocol of the link.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum LinkProtocol {
            $(#[doc = concat!($sentence, ".")] $variant,)+
        }

        impl LinkProtocol {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name of the rule that lets it pass.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// One sentence for people, without capital and full stop.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$variant => $sentence,)+
                }
            }
        }
    };
}

protocols! {
    Nd = "nd", "neighbour discovery: neighbour solicitations and advertisements (RFC 4861)";
    Ra = "ra", "router discovery: router solicitations, advertisements and redirects (RFC 4861)";
    Dhcp = "dhcp", "DHCP of IPv4, ports 68 and 67 (RFC 2131)";
    Dhcpv6 = "dhcpv6", "DHCP of IPv6, ports 546 and 547 (RFC 8415)";
    Igmp = "igmp", "IGMP queries, reports and leaves (RFC 1112, 2236 and 3376)";
    Mld = "mld", "MLD queries, reports and dones (RFC 2710 and 3810)";
}

/// One message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkMessage {
    /// Its protocol.
    pub protocol: LinkProtocol,
    /// Only routers and DHCP servers send it.
    pub from_router: bool,
}

/// The message of the link that a frame is; `None` where it is none, or is one that its receiver
/// has to ignore.
///
/// Of a DHCP message in fragments the first one counts: neighbour discovery in fragments is to be
/// ignored (RFC 6980), and no message about groups is that long.
#[must_use]
pub fn link_message(bytes: &[u8], parsed: &Parsed) -> Option<LinkMessage> {
    let is_read = parsed.readable.has(Readable::ADDRESSES) && parsed.fragment != Fragment::Later;
    if parsed.fault.is_some() || !is_read || is_multicast(parsed.family, parsed.src) {
        return None;
    }
    let packet = Packet { bytes, parsed };
    match (parsed.family, parsed.protocol) {
        (Family::V4, protocol::IGMP) => packet.igmp(),
        (Family::V4, protocol::UDP) => packet.dhcp(),
        (Family::V6, protocol::UDP) => packet.dhcpv6(),
        (Family::V6, protocol::ICMPV6) => packet.icmpv6(),
        _ => None,
    }
}

/// Whether the sender of a frame claims to be a router or a DHCP server, however wrong the message
/// is: a host might believe it.
#[must_use]
#[inline]
pub fn claims_router(bytes: &[u8], parsed: &Parsed) -> bool {
    match (parsed.family, parsed.protocol) {
        (Family::V4, protocol::UDP) => is_answer(parsed, (DHCP_SERVER, DHCP_CLIENT)),
        (Family::V6, protocol::UDP) => is_answer(parsed, (DHCPV6_SERVER, DHCPV6_CLIENT)),
        (Family::V6, protocol::ICMPV6) if parsed.l4_offset != 0 => {
            matches!(bytes.get(usize::from(parsed.l4_offset)), Some(134 | 137))
        }
        _ => false,
    }
}

#[inline]
fn is_answer(parsed: &Parsed, (server, client): (u16, u16)) -> bool {
    parsed.readable.ports() && (parsed.src_port, parsed.dst_port) == (server, client)
}

/// A packet that may be a message of the link.
struct Packet<'a> {
    bytes: &'a [u8],
    parsed: &'a Parsed,
}

impl Packet<'_> {
    fn igmp(&self) -> Option<LinkMessage> {
        let len = self.len();
        let fits = match self.byte(0)? {
            0x12 | 0x16 | 0x17 => len >= 8,
            // RFC 3376 section 7.1: version 1 and 2 have 8 bytes, version 3 no less than 12.
            0x11 => len == 8 || len >= 12 && len >= 12 + 4 * usize::from(self.be16(10)?),
            0x22 => len >= 8 + 8 * usize::from(self.be16(6)?),
            _ => false,
        };
        let ttl = self.header_byte(8)?;
        (fits && ttl == 1 && self.is_whole() && self.goes_to_group())
            .then_some(message(LinkProtocol::Igmp, false))
    }

    fn dhcp(&self) -> Option<LinkMessage> {
        let from_router = self.direction((DHCP_SERVER, DHCP_CLIENT))?;
        (self.be16(4)? >= DHCP_BYTES).then_some(message(LinkProtocol::Dhcp, from_router))
    }

    /// Clients are spoken to at their link-local address, servers there or at the address of all
    /// of them: RFC 8415 sections 7.1 and 18.3.10.
    fn dhcpv6(&self) -> Option<LinkMessage> {
        let from_router = self.direction((DHCPV6_SERVER, DHCPV6_CLIENT))?;
        let dst = self.parsed.dst;
        let near = is_link_local(dst) || !from_router && dst >> 112 == 0xFF02;
        (near && self.be16(4)? >= DHCPV6_BYTES)
            .then_some(message(LinkProtocol::Dhcpv6, from_router))
    }

    fn icmpv6(&self) -> Option<LinkMessage> {
        if !self.is_whole() || self.byte(1)? != 0 {
            return None;
        }
        match self.byte(0)? {
            130..=132 | 143 => self.mld(),
            133..=137 => self.neighbour_discovery(),
            _ => None,
        }
    }

    /// RFC 3810 section 6.2: hop limit 1, a link-local source or none, and a router alert in the
    /// hop-by-hop header, which is the only one.
    fn mld(&self) -> Option<LinkMessage> {
        let len = self.len();
        let fits = match self.byte(0)? {
            130 => len == 24 || len >= 28 && len >= 28 + 16 * usize::from(self.be16(26)?),
            143 => len >= 8 + 20 * usize::from(self.be16(6)?),
            _ => len >= 24,
        };
        let src = self.parsed.src;
        let near = self.header_byte(7)? == 1 && (is_link_local(src) || src == 0);
        (fits && near && self.goes_to_group() && self.has_router_alert()?)
            .then_some(message(LinkProtocol::Mld, false))
    }

    /// RFC 4861 sections 6.1, 7.1 and 8.1. Behind extension headers it could be hidden from who
    /// looks for it (RFC 7113): there it is no such message.
    fn neighbour_discovery(&self) -> Option<LinkMessage> {
        use LinkProtocol::{Nd, Ra};
        let (found, header) = match self.byte(0)? {
            133 => (message(Ra, false), 8),
            134 => (message(Ra, true), 16),
            135 | 136 => (message(Nd, false), 24),
            _ => (message(Ra, true), 40),
        };
        let is_bare = self.extensions() == 0 && self.header_byte(7)? == 255;
        let near = !found.from_router || is_link_local(self.parsed.src);
        // The target; a redirect's is a router or a host, too.
        let target_is_host = header < 24 || self.byte(8)? != 0xFF;
        (is_bare && near && target_is_host && self.options_fit(header)?).then_some(found)
    }

    /// Whether the options from `at` on end where the message does, none of them being empty.
    fn options_fit(&self, mut at: usize) -> Option<bool> {
        for _ in 0..OPTIONS_MAX {
            if at >= self.len() {
                return Some(at == self.len());
            }
            match usize::from(self.byte(at + 1)?) {
                0 => return Some(false),
                units => at += 8 * units,
            }
        }
        Some(false)
    }

    /// Whether the one extension header is hop-by-hop and says that routers look (RFC 2711).
    fn has_router_alert(&self) -> Option<bool> {
        let len = self.extensions();
        let is_only = self.header_byte(6)? == protocol::HOP_BY_HOP
            && len == 8 + 8 * usize::from(self.header_byte(IPV6_BYTES + 1)?);
        let mut at = 2;
        for _ in 0..OPTIONS_MAX {
            if !is_only || at >= len {
                break;
            }
            match self.header_byte(IPV6_BYTES + at)? {
                0 => at += 1,
                5 => return Some(self.header_byte(IPV6_BYTES + at + 1)? == 2),
                _ => at += 2 + usize::from(self.header_byte(IPV6_BYTES + at + 1)?),
            }
        }
        Some(false)
    }

    /// Whether it goes from server to client; `None` if it goes neither way.
    fn direction(&self, (server, client): (u16, u16)) -> Option<bool> {
        if !self.parsed.readable.ports() {
            return None;
        }
        match (self.parsed.src_port, self.parsed.dst_port) {
            ports if ports == (server, client) => Some(true),
            ports if ports == (client, server) => Some(false),
            _ => None,
        }
    }

    fn is_whole(&self) -> bool {
        self.parsed.fragment == Fragment::Whole
    }

    fn goes_to_group(&self) -> bool {
        is_multicast(self.parsed.family, self.parsed.dst)
    }

    /// Bytes of the message.
    fn len(&self) -> usize {
        let end = usize::from(self.parsed.l3_offset) + self.parsed.l3_len as usize;
        end.saturating_sub(self.parsed.l4_offset.into())
    }

    /// Bytes between the IPv6 header and the message.
    fn extensions(&self) -> usize {
        let headers = self.parsed.l4_offset.saturating_sub(self.parsed.l3_offset);
        usize::from(headers).saturating_sub(IPV6_BYTES)
    }

    /// A byte of the message; `None` where the capture does not reach.
    fn byte(&self, at: usize) -> Option<u8> {
        let message = usize::from(self.parsed.l4_offset);
        let known = message != 0 && at < self.len();
        known.then(|| self.bytes.get(message + at).copied())?
    }

    fn be16(&self, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes([self.byte(at)?, self.byte(at + 1)?]))
    }

    /// A byte of the IP header or of those behind it.
    fn header_byte(&self, at: usize) -> Option<u8> {
        let header = usize::from(self.parsed.l3_offset);
        self.bytes.get(header + at).copied()
    }
}

const fn message(protocol: LinkProtocol, from_router: bool) -> LinkMessage {
    LinkMessage {
        protocol,
        from_router,
    }
}

const fn is_link_local(address: u128) -> bool {
    address >> 118 == 0xFE80 >> 6
}

fn is_multicast(family: Family, address: u128) -> bool {
    match family {
        Family::V4 => address >> 28 == 0xE,
        Family::V6 => address >> 120 == 0xFF,
        Family::None => false,
    }
}

#[cfg(test)]
mod tests;
