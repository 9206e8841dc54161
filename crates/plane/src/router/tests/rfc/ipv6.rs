//! What an IPv6 router does with packets of others.

use wire::emit::{Extension, Ipv6};
use wire::protocol;

use super::Line;
use super::making::{FAR_V6, NARROW_V6, changed, from_v6, long_v6, message_v6, plain_v6, with_v6};
use crate::router::tests::lab::{datagram_v6, header_v6};

const ALERT: &[Extension<'_>] = &[Extension::Generic {
    protocol: protocol::HOP_BY_HOP,
    body: &[5, 2, 0, 0, 1, 0],
}];
const LATER: &[Extension<'_>] = &[Extension::Fragment {
    offset: 8,
    more: true,
    identification: 9,
}];

/// RFC 8200 and RFC 4443.
pub(super) const FORWARDING: &[Line] = &[
    (
        "a host of a link",
        || plain_v6("fd00:1::2"),
        "port1 hl63 len96",
    ),
    ("a gateway", || plain_v6(FAR_V6), "port1 hl63 len96"),
    (
        "the longer prefix",
        || plain_v6(NARROW_V6),
        "port2 hl63 len96",
    ),
    (
        "RFC 4443 3.1 no route",
        || plain_v6("fdfa::1"),
        "no_route, told 1,0",
    ),
    ("a blackhole", || plain_v6("fd66::1"), "blackhole"),
    (
        "RFC 4443 3.1 unreachable",
        || plain_v6("fd67::1"),
        "route_unreachable, told 1,0",
    ),
    (
        "RFC 4443 3.1 prohibited",
        || plain_v6("fd68::1"),
        "route_prohibited, told 1,1",
    ),
    (
        "RFC 4443 3.3 hop limit 1",
        || datagram_v6(dying_v6()),
        "ttl_expired, told 3,0",
    ),
    (
        "RFC 4443 3.3 hop limit 0",
        || datagram_v6(with_v6(FAR_V6, |own| own.hop_limit = 0)),
        "ttl_expired, told 3,0",
    ),
    (
        "RFC 8200 4.3 hop-by-hop options",
        || datagram_v6(with_v6(FAR_V6, |own| own.extensions = ALERT)),
        "port1 hl63 len104",
    ),
    (
        "RFC 4443 2.4 e a later fragment",
        || {
            datagram_v6(Ipv6 {
                extensions: LATER,
                ..dying_v6()
            })
        },
        "ttl_expired, told 3,0",
    ),
    (
        "RFC 4443 2.4 e.1 an error",
        || message_v6(dying_v6(), 1, 4),
        "ttl_expired",
    ),
    (
        "RFC 4443 2.4 e an unknown error",
        || message_v6(dying_v6(), 100, 0),
        "ttl_expired",
    ),
    (
        "an echo request",
        || message_v6(dying_v6(), 128, 0),
        "ttl_expired, told 3,0",
    ),
    (
        "payload length past the frame",
        || changed(plain_v6(FAR_V6), 5, 255),
        "ipv6_length_beyond_frame",
    ),
    (
        "version 4 inside",
        || changed(plain_v6(FAR_V6), 0, 0x40),
        "ipv6_version",
    ),
    (
        "padding is cut",
        || [plain_v6(FAR_V6), vec![1; 9]].concat(),
        "port1 hl63 len96",
    ),
];

/// RFC 4291, section 2.5.
pub(super) const ADDRESSES: &[Line] = &[
    ("RFC 4291 2.5.2 source ::", || from_v6("::"), "link_scope"),
    (
        "RFC 4291 2.5.3 source ::1",
        || from_v6("::1"),
        "martian_source",
    ),
    (
        "RFC 4291 2.7 source of multicast",
        || from_v6("ff02::5"),
        "martian_source",
    ),
    (
        "RFC 4291 2.5.5.2 mapped",
        || from_v6("::ffff:10.0.0.2"),
        "martian_source",
    ),
    (
        "RFC 4291 2.5.6 a link-local source",
        || from_v6("fe80::2"),
        "link_scope",
    ),
    (
        "source of the router, IPv6",
        || from_v6("fd00:2::1"),
        "martian_source",
    ),
    (
        "RFC 4291 2.5.3 ::1",
        || plain_v6("::1"),
        "martian_destination",
    ),
    (
        "RFC 4291 2.5.2 ::",
        || plain_v6("::"),
        "martian_destination",
    ),
    (
        "RFC 4291 2.7 multicast",
        || plain_v6("ff05::1"),
        "link_scope",
    ),
    (
        "RFC 4291 2.5.6 fe80::9",
        || plain_v6("fe80::9"),
        "link_scope",
    ),
];

/// RFC 8200, section 5: packets longer than a link takes.
pub(super) const LENGTHS: &[Line] = &[
    (
        "IPv6 as long as the MTU",
        || long_v6(header_v6(NARROW_V6), 1400),
        "port2 hl63 len1400",
    ),
    (
        "RFC 4443 3.2 packet too big",
        || long_v6(header_v6(NARROW_V6), 1401),
        "too_big, told 2,0 mtu1400",
    ),
    (
        "hop limit before length",
        || long_v6(with_v6(NARROW_V6, |own| own.hop_limit = 1), 1401),
        "ttl_expired, told 3,0",
    ),
];

fn dying_v6() -> Ipv6<'static> {
    with_v6(FAR_V6, |own| own.hop_limit = 1)
}
