//! The router as a host, what no errors are sent about, and frames that are odd below IP.

use wire::emit::{Ipv4, Ipv6};

use super::Line;
use super::making::{FAR, message, message_v6, plain, raw, with, with_v6};
use crate::router::tests::lab::{datagram, datagram_v6, header, header_v6, mac, v6};

/// RFC 1812, sections 4.3.2.7 and 4.3.3.6; RFC 1122, section 3.2.2.
pub(super) const HOSTS: &[Line] = &[
    (
        "4.3.2.7 an ICMP error",
        || message(dying(), 3, 3),
        "ttl_expired",
    ),
    (
        "4.3.2.7 an echo request",
        || message(dying(), 8, 0),
        "ttl_expired, told 11,0",
    ),
    (
        "4.3.2.7 a later fragment",
        || datagram(later()),
        "ttl_expired",
    ),
    (
        "4.3.2.7 a first fragment",
        || datagram(first()),
        "ttl_expired, told 11,0",
    ),
    (
        "4.3.2.7 to all stations",
        || to_all(datagram(dying())),
        "other_station",
    ),
    (
        "4.3.3.6 echo",
        || message(own(), 8, 0),
        "port0 ttl64 len76 icmp 0,0",
    ),
    (
        "4.3.3.6 echo to another address",
        || message(header("10.0.2.1"), 8, 0),
        "port0 ttl64 len76 icmp 0,0",
    ),
    (
        "4.3.3.6 echo with TTL 1",
        || message(Ipv4 { ttl: 1, ..own() }, 8, 0),
        "port0 ttl64 len76 icmp 0,0",
    ),
    ("4.3.3.6 an echo reply", || message(own(), 0, 0), "consumed"),
    (
        "RFC 1122 3.2.2.5 a malformed option",
        || {
            let options = &[0x5E, 12, 1, 2];
            datagram(Ipv4 { options, ..own() })
        },
        "header_option, told 12,0",
    ),
    (
        "an error for the router",
        || message(own(), 3, 3),
        "consumed",
    ),
    ("ICMP of nobody", || message(own(), 99, 0), "consumed"),
    (
        "RFC 1122 3.2.2.1 UDP",
        || datagram(own()),
        "local, told 3,3",
    ),
    (
        "RFC 1122 3.2.2.1 a protocol",
        || raw(own(), 200),
        "local, told 3,2",
    ),
    ("TCP, by silence", || raw(own(), 6), "local"),
    ("UDP that is cut", || raw(own(), 17), "local"),
    (
        "a fragment for the router",
        || {
            datagram(Ipv4 {
                more_fragments: true,
                ..own()
            })
        },
        "local",
    ),
    (
        "RFC 4443 4.2 echo",
        || message_v6(own_v6(), 128, 0),
        "port0 hl64 len96 icmp 129,0",
    ),
    (
        "RFC 4443 3.1 UDP",
        || datagram_v6(own_v6()),
        "local, told 1,4",
    ),
    (
        "echo at a link-local address",
        || message_v6(with_v6("fe80::1", |own| own.src = v6("fe80::2")), 128, 0),
        "port0 hl64 len96 icmp 129,0",
    ),
    (
        "a link-local host asks a global address",
        || datagram_v6(with_v6("fd00:0::1", |own| own.src = v6("fe80::2"))),
        "local, told 1,4",
    ),
];

/// Frames.
pub(super) const LINKS: &[Line] = &[
    ("for another station", || for_other(), "other_station"),
    ("IPv4 called IPv6", || renamed(0x86DD), "ipv6_version"),
    ("a type of nobody", || renamed(0x88B5), "non_ip"),
    ("a priority tag", || tagged(0), "port1 ttl63 len76"),
    ("a VLAN of nobody", || tagged(7), "no_interface"),
    (
        "half a header",
        || plain(FAR)[..24].to_vec(),
        "ipv4_header_truncated",
    ),
    (
        "no header",
        || plain(FAR)[..14].to_vec(),
        "ipv4_header_truncated",
    ),
    (
        "half a link header",
        || plain(FAR)[..13].to_vec(),
        "ethernet_truncated",
    ),
];

fn dying() -> Ipv4<'static> {
    with(FAR, |own| own.ttl = 1)
}

fn later() -> Ipv4<'static> {
    Ipv4 {
        fragment_offset: 64,
        ..dying()
    }
}

fn first() -> Ipv4<'static> {
    Ipv4 {
        more_fragments: true,
        ..dying()
    }
}

fn own() -> Ipv4<'static> {
    header("10.0.0.1")
}

fn own_v6() -> Ipv6<'static> {
    header_v6("fd00:0::1")
}

fn to_all(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[..6].fill(0xFF);
    bytes
}

fn for_other() -> Vec<u8> {
    let mut bytes = plain(FAR);
    bytes[..6].copy_from_slice(&mac(0, 9).0);
    bytes
}

fn renamed(kind: u16) -> Vec<u8> {
    let mut bytes = plain(FAR);
    bytes[12..14].copy_from_slice(&kind.to_be_bytes());
    bytes
}

fn tagged(vlan: u8) -> Vec<u8> {
    let bytes = plain(FAR);
    [&bytes[..12], &[0x81, 0, 0, vlan], &bytes[12..]].concat()
}
