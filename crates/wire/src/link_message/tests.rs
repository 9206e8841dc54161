//! Every message of the link, sound and with each thing wrong that a receiver looks at.

use super::LinkProtocol::{Dhcp, Dhcpv6, Igmp, Mld, Nd, Ra};
use super::*;
use crate::emit::{Extension, Icmp, Ipv4, Ipv6, Network, Recipe, Tag, Transport, fragment};
use crate::parse;

const ROUTER: u128 = 0xFE80 << 112 | 1;
const HOST: u128 = 0xFE80 << 112 | 0xC;
const GLOBAL: u128 = 0x2001_0DB8 << 96 | 1;
const ALL_NODES: u128 = 0xFF02 << 112 | 1;
const ALL_SERVERS: u128 = 0xFF02 << 112 | 0x1_0002;
const CLIENT: u32 = 0xC000_0232;
const SERVER: u32 = 0xC000_0201;
const GROUP: u32 = 0xE000_0001;
/// Hop-by-hop: the router alert of MLD, and padding.
const ALERT: Extension<'_> = Extension::Generic {
    protocol: protocol::HOP_BY_HOP,
    body: &[5, 2, 0, 0, 1, 0],
};
const PADDING: Extension<'_> = Extension::Generic {
    protocol: protocol::HOP_BY_HOP,
    body: &[1, 4, 0, 0, 0, 0],
};

fn frame(network: Network<'_>, tags: &[Tag], payload: &[u8]) -> Vec<u8> {
    let recipe = Recipe {
        network,
        tags,
        payload,
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// What an ICMPv6 message differs in; its body is what comes behind the first 8 bytes.
#[derive(Clone, Copy)]
struct Icmpv6<'a> {
    kind: u8,
    code: u8,
    src: u128,
    dst: u128,
    hop_limit: u8,
    extensions: &'a [Extension<'a>],
    rest: u32,
    body: &'a [u8],
}

/// A neighbour discovery message with a body of this many bytes.
fn nd(kind: u8, body: &[u8]) -> Icmpv6<'_> {
    Icmpv6 {
        kind,
        code: 0,
        src: ROUTER,
        dst: ALL_NODES,
        hop_limit: 255,
        extensions: &[],
        rest: 0,
        body,
    }
}

fn mld(kind: u8, rest: u32, body: &[u8]) -> Icmpv6<'_> {
    Icmpv6 {
        hop_limit: 1,
        extensions: &[ALERT],
        rest,
        ..nd(kind, body)
    }
}

impl<'a> Icmpv6<'a> {
    fn from(self, src: u128) -> Self {
        Self { src, ..self }
    }

    fn to(self, dst: u128) -> Self {
        Self { dst, ..self }
    }

    fn code(self, code: u8) -> Self {
        Self { code, ..self }
    }

    fn hops(self, hop_limit: u8) -> Self {
        Self { hop_limit, ..self }
    }

    fn behind(self, extensions: &'a [Extension<'a>]) -> Self {
        Self { extensions, ..self }
    }

    fn frame(&self, tags: &[Tag]) -> Vec<u8> {
        let ip = Ipv6 {
            src: self.src,
            dst: self.dst,
            hop_limit: self.hop_limit,
            extensions: self.extensions,
            ..Ipv6::default()
        };
        let icmp = Icmp {
            kind: self.kind,
            code: self.code,
            rest: self.rest,
        };
        frame(Network::Ipv6(ip, Transport::Icmpv6(icmp)), tags, self.body)
    }
}

fn found(bytes: &[u8]) -> Option<(LinkProtocol, bool)> {
    let found = link_message(bytes, &parse(bytes, bytes.len()))?;
    Some((found.protocol, found.from_router))
}

/// Behind no tag, one and two: all the same.
#[track_caller]
fn expect(what: &str, message: Icmpv6<'_>, expected: Option<(LinkProtocol, bool)>) {
    for tags in [&[][..], &[Tag::vlan(5)], &[Tag::service(7), Tag::vlan(5)]] {
        assert_eq!(found(&message.frame(tags)), expected, "{what}, {tags:?}");
    }
}

const TARGET: [u8; 16] = HOST.to_be_bytes();

/// A target and one option of 8 bytes, of which the second byte is the length in units of 8.
fn target_and_option(units: u8) -> Vec<u8> {
    [&TARGET[..], &[1, units, 2, 0, 0, 0, 0, 1]].concat()
}

#[test]
fn neighbour_and_router_discovery() {
    let (one, none, long) = (
        target_and_option(1),
        target_and_option(0),
        target_and_option(2),
    );
    let redirect = [TARGET, TARGET].concat();
    let multicast = ALL_NODES.to_be_bytes();
    let (of_nd, from_host, from_router) = (Some((Nd, false)), Some((Ra, false)), Some((Ra, true)));
    for (what, message, expected) in [
        ("solicitation", nd(135, &TARGET), of_nd),
        ("advertisement", nd(136, &one), of_nd),
        (
            "duplicate address detection",
            nd(135, &TARGET).from(0),
            of_nd,
        ),
        ("from a global address", nd(136, &one).from(GLOBAL), of_nd),
        ("router solicitation", nd(133, &[]), from_host),
        ("router advertisement", nd(134, &[0; 8]), from_router),
        ("redirect", nd(137, &redirect), from_router),
        (
            "advertisement of no router",
            nd(134, &[0; 8]).from(GLOBAL),
            None,
        ),
        (
            "redirect of no router",
            nd(137, &redirect).from(GLOBAL),
            None,
        ),
        ("short solicitation", nd(135, &TARGET[..15]), None),
        ("short advertisement", nd(134, &[0; 7]), None),
        ("short redirect", nd(137, &one), None),
        ("target of many", nd(135, &multicast), None),
        ("empty option", nd(135, &none), None),
        ("option past the end", nd(135, &long), None),
        ("half an option", nd(136, &one[..23]), None),
        ("code", nd(135, &TARGET).code(1), None),
        ("behind a header", nd(134, &[0; 8]).behind(&[PADDING]), None),
        ("from many", nd(135, &TARGET).from(ALL_NODES), None),
        ("another kind", nd(138, &redirect), None),
    ] {
        expect(what, message, expected);
        for hop_limit in [0, 1, 64, 254] {
            expect(what, message.hops(hop_limit), None);
        }
    }
}

#[test]
fn listeners_of_groups() {
    let group = ALL_NODES.to_be_bytes();
    let v2_query = |sources: u8| [&group[..], &[0, 0, 0, sources]].concat();
    let (none, one) = (v2_query(0), v2_query(1));
    let of_mld = Some((Mld, false));
    let late = [PADDING, ALERT];
    for (what, message, expected) in [
        ("query", mld(130, 0, &group), of_mld),
        ("report", mld(131, 0, &group), of_mld),
        ("done", mld(132, 0, &group), of_mld),
        ("version 2 query", mld(130, 0, &none), of_mld),
        ("version 2 report", mld(143, 1, &[0; 20]), of_mld),
        ("report without records", mld(143, 0, &[]), of_mld),
        ("report of no address", mld(143, 0, &[]).from(0), of_mld),
        ("sources that are not there", mld(130, 0, &one), None),
        ("records that are not there", mld(143, 2, &[0; 20]), None),
        ("between the versions", mld(130, 0, &none[..18]), None),
        ("short query", mld(130, 0, &group[..12]), None),
        ("code", mld(130, 0, &group).code(1), None),
        ("from afar", mld(130, 0, &group).from(GLOBAL), None),
        ("to one", mld(130, 0, &group).to(HOST), None),
        ("no alert", mld(130, 0, &group).behind(&[PADDING]), None),
        ("no header", mld(130, 0, &group).behind(&[]), None),
        ("two headers", mld(130, 0, &group).behind(&late), None),
    ] {
        expect(what, message, expected);
        for hop_limit in [0, 2, 64, 255] {
            expect(what, message.hops(hop_limit), None);
        }
    }
}

#[test]
fn groups_of_ipv4() {
    let igmp = |ttl, dst, options: &[u8], payload: &[u8]| {
        let ip = Ipv4 {
            src: SERVER,
            dst,
            ttl,
            options,
            ..Ipv4::default()
        };
        found(&frame(
            Network::Ipv4(ip, Transport::Raw(protocol::IGMP)),
            &[Tag::vlan(3)],
            payload,
        ))
    };
    let sized = |kind: u8, len: usize, counts: [u8; 2]| {
        let mut payload = vec![0; len];
        payload[0] = kind;
        payload[7] = counts[0];
        if let Some(count) = payload.get_mut(11) {
            *count = counts[1];
        }
        payload
    };
    let is_read = Some((Igmp, false));
    for (what, payload, expected) in [
        ("query", sized(0x11, 8, [0, 0]), is_read),
        ("version 3 query", sized(0x11, 16, [0, 1]), is_read),
        ("version 1 report", sized(0x12, 8, [0, 0]), is_read),
        ("version 2 report", sized(0x16, 8, [0, 0]), is_read),
        ("leave", sized(0x17, 8, [0, 0]), is_read),
        ("version 3 report", sized(0x22, 16, [1, 0]), is_read),
        ("between the versions", sized(0x11, 10, [0, 0]), None),
        ("sources that are not there", sized(0x11, 16, [0, 2]), None),
        ("records that are not there", sized(0x22, 16, [2, 0]), None),
        ("another kind", sized(0x13, 8, [0, 0]), None),
    ] {
        for options in [&[][..], &[148, 4, 0, 0]] {
            assert_eq!(igmp(1, GROUP, options, &payload), expected, "{what}");
            assert_eq!(igmp(64, GROUP, options, &payload), None, "{what}");
            assert_eq!(igmp(1, CLIENT, options, &payload), None, "{what}");
        }
    }
}

fn udp4(src_port: u16, dst_port: u16, len: usize) -> Vec<u8> {
    let ip = Ipv4 {
        src: SERVER,
        dst: CLIENT,
        ..Ipv4::default()
    };
    let ports = Transport::Udp { src_port, dst_port };
    frame(Network::Ipv4(ip, ports), &[], &vec![0; len])
}

fn udp6(dst: u128, src_port: u16, dst_port: u16, len: usize) -> Vec<u8> {
    let ip = Ipv6 {
        src: GLOBAL,
        dst,
        ..Ipv6::default()
    };
    let ports = Transport::Udp { src_port, dst_port };
    frame(Network::Ipv6(ip, ports), &[], &vec![0; len])
}

#[test]
fn dhcp_both_ways() {
    let (request, answer) = (Some((Dhcp, false)), Some((Dhcp, true)));
    let (request6, answer6) = (Some((Dhcpv6, false)), Some((Dhcpv6, true)));
    for (what, bytes, expected) in [
        ("discover", udp4(68, 67, 300), request),
        ("offer", udp4(67, 68, 300), answer),
        ("between relay and server", udp4(67, 67, 300), None),
        ("ports of others", udp4(68, 68, 300), None),
        ("less than a header", udp4(67, 68, 235), None),
        ("solicit", udp6(ALL_SERVERS, 546, 547, 4), request6),
        ("to a server's address", udp6(ROUTER, 546, 547, 4), request6),
        ("advertise", udp6(HOST, 547, 546, 4), answer6),
        ("advertise to many", udp6(ALL_NODES, 547, 546, 4), None),
        ("from afar", udp6(GLOBAL, 547, 546, 4), None),
        ("to afar", udp6(GLOBAL, 546, 547, 4), None),
        ("less than its header", udp6(HOST, 547, 546, 3), None),
        (
            "between relay and server of IPv6",
            udp6(HOST, 547, 547, 4),
            None,
        ),
    ] {
        assert_eq!(found(&bytes), expected, "{what}");
    }
}

/// Of a datagram in fragments the first has the ports; discovery in fragments is none.
#[test]
fn fragments() {
    let cut = |whole: &[u8], range: std::ops::Range<usize>| {
        let mut out = vec![0; 1500];
        let len = fragment((whole, &parse(whole, whole.len())), range, 7, &mut out);
        out.truncate(len.expect("a fragment"));
        out
    };
    let offer = udp4(67, 68, 300);
    assert_eq!(found(&cut(&offer, 0..64)), Some((Dhcp, true)));
    assert_eq!(found(&cut(&offer, 64..308)), None);
    let advertise = udp6(HOST, 547, 546, 100);
    assert_eq!(found(&cut(&advertise, 0..64)), Some((Dhcpv6, true)));
    let advertisement = nd(134, &[0; 8]).frame(&[]);
    assert_eq!(found(&cut(&advertisement, 0..8)), None);
    assert_eq!(
        found(&cut(&advertisement, 0..16)),
        None,
        "one whole fragment"
    );
}

/// Who only claims to be a router is told by the kind and the ports alone.
#[test]
fn claims() {
    let claims = |bytes: &[u8]| claims_router(bytes, &parse(bytes, bytes.len()));
    for (what, bytes, expected) in [
        ("advertisement", nd(134, &[0; 8]).frame(&[]), true),
        ("redirect", nd(137, &[]).frame(&[Tag::vlan(1)]), true),
        ("forwarded", nd(134, &[]).hops(64).frame(&[]), true),
        ("hidden", nd(134, &[]).behind(&[PADDING]).frame(&[]), true),
        ("router solicitation", nd(133, &[]).frame(&[]), false),
        ("neighbour", nd(136, &TARGET).frame(&[]), false),
        ("offer", udp4(67, 68, 0), true),
        ("discover", udp4(68, 67, 0), false),
        ("advertise", udp6(GLOBAL, 547, 546, 0), true),
        ("solicit", udp6(ALL_SERVERS, 546, 547, 0), false),
    ] {
        assert_eq!(claims(&bytes), expected, "{what}");
    }
}

/// Every message cut by a capture at every byte, and with every byte of it at its ends.
#[test]
fn any_bytes_give_an_answer() {
    let report = [&[4, 0, 0, 0][..], &TARGET].concat();
    for whole in [
        nd(135, &target_and_option(1)).frame(&[]),
        mld(143, 1, &report).frame(&[]),
        udp4(67, 68, 300),
        udp6(HOST, 547, 546, 8),
    ] {
        assert!(found(&whole).is_some());
        for len in 0..whole.len().min(110) {
            let _ = link_message(&whole[..len], &parse(&whole[..len], whole.len()));
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bytes = whole.clone();
                bytes[len] = value;
                let _ = found(&bytes);
            }
        }
    }
}
