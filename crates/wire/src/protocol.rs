//! Protocol numbers this crate knows (IANA assigned Internet protocol numbers).

/// IPv6 hop-by-hop options.
pub const HOP_BY_HOP: u8 = 0;
/// ICMP for IPv4.
pub const ICMP: u8 = 1;
/// Group management for IPv4 (RFC 3376, RFC 9776).
pub const IGMP: u8 = 2;
/// An IPv4 packet (RFC 2003).
pub const IPV4: u8 = 4;
/// TCP.
pub const TCP: u8 = 6;
/// UDP.
pub const UDP: u8 = 17;
/// DCCP.
pub const DCCP: u8 = 33;
/// An IPv6 packet (RFC 2473).
pub const IPV6: u8 = 41;
/// IPv6 routing header.
pub const ROUTING: u8 = 43;
/// IPv6 fragment header.
pub const FRAGMENT: u8 = 44;
/// Generic routing encapsulation (RFC 2784).
pub const GRE: u8 = 47;
/// IP encapsulating security payload (RFC 4303).
pub const ESP: u8 = 50;
/// IP authentication header (RFC 4302).
pub const AUTHENTICATION: u8 = 51;
/// ICMP for IPv6.
pub const ICMPV6: u8 = 58;
/// IPv6: nothing follows.
pub const NO_NEXT_HEADER: u8 = 59;
/// IPv6 destination options.
pub const DESTINATION_OPTIONS: u8 = 60;
/// SCTP.
pub const SCTP: u8 = 132;
/// IPv6 mobility header.
pub const MOBILITY: u8 = 135;
/// UDP-Lite.
pub const UDP_LITE: u8 = 136;
/// Host Identity Protocol.
pub const HIP: u8 = 139;
/// Shim6.
pub const SHIM6: u8 = 140;

/// True for the IPv6 extension headers that carry a next-header field and a length in a known
/// place (RFC 7045 section 4). ESP is none of them: what follows it is encrypted.
#[inline]
#[must_use]
pub const fn is_ipv6_extension(protocol: u8) -> bool {
    matches!(
        protocol,
        HOP_BY_HOP
            | ROUTING
            | FRAGMENT
            | AUTHENTICATION
            | DESTINATION_OPTIONS
            | MOBILITY
            | HIP
            | SHIM6
    )
}
