//! What an IPv4 router does with packets of others.

use wire::emit::Ipv4;

use super::Line;
use super::making::{FAR, NARROW, changed, from, long, options, plain, raw, with, wrong_checksum};
use crate::router::tests::lab::{datagram, header};

/// RFC 1812, sections 4.2.2, 5.2 and 5.3.
pub(super) const FORWARDING: &[Line] = &[
    (
        "5.2.4.3 a host of a link",
        || plain("10.0.1.2"),
        "port1 ttl63 len76",
    ),
    ("5.2.4.3 a gateway", || plain(FAR), "port1 ttl63 len76"),
    (
        "5.2.4.3 the longer prefix",
        || plain(NARROW),
        "port2 ttl63 len76",
    ),
    (
        "5.2.4.3 the longest prefix",
        || plain("10.9.8.128"),
        "port1 ttl63 len76",
    ),
    (
        "5.2.4.3 below it",
        || plain("10.9.8.127"),
        "port2 ttl63 len76",
    ),
    (
        "5.2.7.2 back by the same link",
        || plain("10.0.0.3"),
        "port0 ttl63 len76",
    ),
    (
        "5.2.7.1 no route",
        || plain("10.250.0.1"),
        "no_route, told 3,0",
    ),
    ("a blackhole", || plain("10.66.0.1"), "blackhole"),
    (
        "5.2.7.1 unreachable",
        || plain("10.67.0.1"),
        "route_unreachable, told 3,1",
    ),
    (
        "5.2.7.1 prohibited",
        || plain("10.68.0.1"),
        "route_prohibited, told 3,13",
    ),
    (
        "5.3.1 TTL 0",
        || datagram(with(FAR, |own| own.ttl = 0)),
        "ttl_expired, told 11,0",
    ),
    (
        "5.3.1 TTL 1",
        || datagram(with(FAR, |own| own.ttl = 1)),
        "ttl_expired, told 11,0",
    ),
    (
        "5.3.1 TTL 2",
        || datagram(with(FAR, |own| own.ttl = 2)),
        "port1 ttl1 len76",
    ),
    (
        "5.3.1 TTL 1 and no route",
        || datagram(with("10.250.0.1", |own| own.ttl = 1)),
        "no_route, told 3,0",
    ),
    (
        "4.2.2.1 no-operation",
        || options(&[1, 1, 1, 0]),
        "port1 ttl63 len80",
    ),
    (
        "4.2.2.1 router alert",
        || options(&[0x94, 4, 0, 0]),
        "port1 ttl63 len80",
    ),
    (
        "4.2.2.1 unknown",
        || options(&[0x5E, 4, 1, 2]),
        "port1 ttl63 len80",
    ),
    (
        "4.2.2.1 malformed",
        || options(&[0x5E, 12, 1, 2]),
        "header_option, told 12,0",
    ),
    (
        "RFC 7126 LSRR",
        || options(&[0x83, 7, 4, 10, 0, 0, 1, 0]),
        "source_route",
    ),
    (
        "RFC 7126 SSRR",
        || options(&[0x89, 7, 4, 10, 0, 0, 1, 0]),
        "source_route",
    ),
    (
        "5.2.2 version 5",
        || changed(plain(FAR), 0, 0x55),
        "ipv4_version",
    ),
    (
        "5.2.2 header length 4",
        || changed(plain(FAR), 0, 0x44),
        "ipv4_header_length",
    ),
    (
        "5.2.2 total length 19",
        || changed(plain(FAR), 3, 19),
        "ipv4_length_below_header",
    ),
    (
        "5.2.2 total length 255",
        || changed(plain(FAR), 3, 255),
        "ipv4_length_beyond_frame",
    ),
    (
        "5.2.2 a wrong checksum",
        || wrong_checksum(),
        "header_checksum",
    ),
    (
        "padding is cut",
        || [plain(FAR), vec![1; 9]].concat(),
        "port1 ttl63 len76",
    ),
    (
        "a protocol of nobody",
        || raw(header(FAR), 200),
        "port1 ttl63 len60",
    ),
    (
        "half a UDP header",
        || raw(header(FAR), 17),
        "port1 ttl63 len60",
    ),
];

/// RFC 1812, sections 4.2.2.11, 5.3.4, 5.3.5 and 5.3.7.
pub(super) const ADDRESSES: &[Line] = &[
    ("5.3.7 source 0.0.0.0", || from("0.0.0.0"), "martian_source"),
    ("5.3.7 source 0.1.2.3", || from("0.1.2.3"), "martian_source"),
    (
        "5.3.7 source 127.0.0.1",
        || from("127.0.0.1"),
        "martian_source",
    ),
    (
        "5.3.7 source of multicast",
        || from("224.0.0.5"),
        "martian_source",
    ),
    (
        "5.3.7 source of class E",
        || from("240.0.0.1"),
        "martian_source",
    ),
    (
        "5.3.7 source of broadcast",
        || from("255.255.255.255"),
        "martian_source",
    ),
    (
        "5.3.7 source of a link's broadcast",
        || from("10.0.2.255"),
        "martian_source",
    ),
    (
        "5.3.7 source of the router",
        || from("10.0.0.1"),
        "martian_source",
    ),
    (
        "5.3.7 source of the router elsewhere",
        || from("10.0.2.1"),
        "martian_source",
    ),
    (
        "5.3.8 source of elsewhere",
        || from("10.0.2.2"),
        "port1 ttl63 len76",
    ),
    (
        "5.3.8 source without route",
        || from("10.251.0.1"),
        "port1 ttl63 len76",
    ),
    (
        "5.3.7 destination 127.0.0.1",
        || plain("127.0.0.1"),
        "martian_destination",
    ),
    (
        "5.3.7 destination 0.0.0.0",
        || plain("0.0.0.0"),
        "martian_destination",
    ),
    (
        "5.3.7 destination of class E",
        || plain("240.0.0.1"),
        "martian_destination",
    ),
    (
        "5.3.5.1 limited broadcast",
        || plain("255.255.255.255"),
        "link_scope",
    ),
    (
        "5.3.5.2 directed broadcast",
        || plain("10.0.1.255"),
        "link_scope",
    ),
    (
        "5.3.5.2 of the own link",
        || plain("10.0.0.255"),
        "link_scope",
    ),
    (
        "RFC 1112 link-local multicast",
        || plain("224.0.0.5"),
        "link_scope",
    ),
    ("multicast", || plain("239.1.1.1"), "link_scope"),
    (
        "RFC 3927 7 a link-local source",
        || from("169.254.1.1"),
        "link_scope",
    ),
    (
        "RFC 3927 7 a link-local destination",
        || plain("169.254.1.1"),
        "link_scope",
    ),
];

/// RFC 791, section 3.2; RFC 1191: packets longer than a link takes.
pub(super) const LENGTHS: &[Line] = &[
    (
        "as long as the MTU",
        || long(header(NARROW), 1400),
        "port2 ttl63 len1400",
    ),
    (
        "RFC 791 one byte longer",
        || long(header(NARROW), 1401),
        "port2 ttl63 len1396 frag2000 + port2 ttl63 len25 frag00ac",
    ),
    (
        "RFC 791 options that are copied, and that are not",
        || long(mixed(), 1476),
        "port2 ttl63 len1396 frag2000 + port2 ttl63 len108 frag00ab",
    ),
    (
        "RFC 791 a fragment of a fragment",
        || long(piece(true, 800), 1476),
        "port2 ttl63 len1396 frag2064 + port2 ttl63 len100 frag2110",
    ),
    (
        "RFC 791 the last fragment",
        || long(piece(false, 800), 1476),
        "port2 ttl63 len1396 frag2064 + port2 ttl63 len100 frag0110",
    ),
    (
        "past the longest packet",
        || long(piece(false, 65_528), 1476),
        "fragment_beyond_packet",
    ),
    (
        "RFC 1191 4 not to be cut",
        || long(with(NARROW, |own| own.dont_fragment = true), 1401),
        "too_big, told 3,4 mtu1400",
    ),
    (
        "TTL before length",
        || long(with(NARROW, |own| own.ttl = 1), 1476),
        "ttl_expired, told 11,0",
    ),
];

fn piece(more: bool, offset: u16) -> Ipv4<'static> {
    with(NARROW, |own| {
        own.more_fragments = more;
        own.fragment_offset = offset;
    })
}

/// One that is copied into every fragment, and one that is not.
fn mixed() -> Ipv4<'static> {
    with(NARROW, |own| own.options = &[0x94, 4, 0, 0, 0x5E, 4, 1, 2])
}
