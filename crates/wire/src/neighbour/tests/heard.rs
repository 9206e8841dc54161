//! What messages tell, by the sections that say which are to be ignored.

use super::*;
use crate::emit::Extension;

const ROUTER_FLAG: u32 = super::super::ROUTER;
const ASKS: NeighbourKind = NeighbourKind::Request;
const GROUP: u128 = SOLICITED_NODE | 2;
const ALL_NODES: u128 = 0xFF02 << 112 | 1;

fn answers(solicited: bool, overrides: bool, is_router: bool) -> NeighbourKind {
    NeighbourKind::Answer {
        solicited,
        overrides,
        is_router,
    }
}

/// A message of neighbour discovery: what its headers say.
#[derive(Clone, Copy)]
struct Message<'a> {
    kind: u8,
    flags: u32,
    src: u128,
    dst: u128,
    target: u128,
    options: &'a [u8],
}

const SOLICITS: Message<'_> = Message {
    kind: SOLICITATION,
    flags: 0,
    src: ROUTER_V6,
    dst: GROUP,
    target: TARGET_V6,
    options: &[1, 1, 2, 0, 0, 0, 0, 0xA],
};
const ADVERTISES: Message<'_> = Message {
    kind: ADVERTISEMENT,
    flags: SOLICITED | OVERRIDE,
    src: TARGET_V6,
    dst: ROUTER_V6,
    target: TARGET_V6,
    options: &[2, 1, 2, 0, 0, 0, 0, 0xA],
};

impl<'a> Message<'a> {
    fn from(self, src: u128) -> Self {
        Self { src, ..self }
    }

    fn to(self, dst: u128) -> Self {
        Self { dst, ..self }
    }

    fn flags(self, flags: u32) -> Self {
        Self { flags, ..self }
    }

    fn with(self, options: &'a [u8]) -> Self {
        Self { options, ..self }
    }

    /// The packet, with a right checksum.
    fn packet(&self) -> Vec<u8> {
        let header = Ipv6 {
            src: self.src,
            dst: self.dst,
            hop_limit: HOP_LIMIT,
            ..Ipv6::default()
        };
        let icmp = Icmp {
            kind: self.kind,
            code: 0,
            rest: self.flags,
        };
        let payload = [&self.target.to_be_bytes(), self.options].concat();
        let mut frame = written(Recipe {
            network: Network::Ipv6(header, Transport::Icmpv6(icmp)),
            payload: &payload,
            ..Recipe::default()
        });
        frame.split_off(14)
    }
}

/// What is told: kind, sender, and Ethernet address.
type Told = Option<(NeighbourKind, u128, Option<MacAddress>)>;

fn told(packet: &[u8]) -> Told {
    let message = NeighbourMessage::read(ether_type::IPV6, packet)?;
    assert_eq!(message.target, v6(TARGET_V6));
    let IpAddr::V6(sender) = message.sender else {
        panic!("{message:?}");
    };
    Some((message.kind, sender.to_bits(), message.mac))
}

/// Holds rows against what is read of them; what is cut tells nothing.
fn check(table: &[(&str, Message<'_>, Told)]) {
    for (name, message, expected) in table {
        let packet = message.packet();
        assert_eq!(told(&packet), *expected, "{name}");
        for len in 0..packet.len() {
            assert_eq!(told(&packet[..len]), None, "{name}, cut to {len}");
        }
    }
}

/// RFC 4861 section 7.1.1.
#[test]
fn solicitations_are_read_or_ignored() {
    let s = SOLICITS;
    let probe = s.from(0).with(&[]);
    let foreign: &[u8] = &[9, 1, 0, 0, 0, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 0xA];
    let twice: &[u8] = &[1, 1, 2, 0, 0, 0, 0, 0xA, 1, 1, 2, 0, 0, 0, 0, 0xB];
    let empty: &[u8] = &[1, 0, 2, 0, 0, 0, 0, 0xA];
    let beyond: &[u8] = &[1, 2, 2, 0, 0, 0, 0, 0xA];
    let asks = |mac| Some((ASKS, ROUTER_V6, mac));
    check(&[
        ("to its group", s, asks(Some(ROUTER))),
        ("to one", s.to(TARGET_V6), asks(Some(ROUTER))),
        ("without option", s.with(&[]), asks(None)),
        ("another option first", s.with(foreign), asks(Some(ROUTER))),
        ("the first of two", s.with(twice), asks(Some(ROUTER))),
        ("of an answer", s.with(ADVERTISES.options), asks(None)),
        ("an option of no length", s.with(empty), None),
        ("an option beyond the end", s.with(beyond), None),
        ("a byte behind the options", s.with(&[1]), None),
        ("a probe", probe, Some((ASKS, 0, None))),
        ("a probe with option", s.from(0), None),
        ("a probe to one", probe.to(TARGET_V6), None),
        ("a probe to all", probe.to(ALL_NODES), None),
    ]);
    let about_group = Message {
        target: ALL_NODES,
        ..s
    };
    check(&[("about a group", about_group, None)]);
}

/// RFC 4861 section 7.1.2.
#[test]
fn advertisements_are_read_or_ignored() {
    let a = ADVERTISES;
    let of = |kind| Message { kind, ..a };
    let says = |kind, mac| Some((kind, TARGET_V6, mac));
    let router = answers(false, false, true);
    let announced = answers(false, true, false);
    let asked_for = answers(true, true, false);
    check(&[
        ("an answer", a, says(asked_for, Some(ROUTER))),
        (
            "by a router",
            a.flags(ROUTER_FLAG),
            says(router, Some(ROUTER)),
        ),
        ("without option", a.with(&[]), says(asked_for, None)),
        (
            "of a request",
            a.with(SOLICITS.options),
            says(asked_for, None),
        ),
        (
            "announced",
            a.flags(OVERRIDE).to(ALL_NODES),
            says(announced, Some(ROUTER)),
        ),
        ("asked for, to all", a.to(ALL_NODES), None),
        ("a router's advertisement", of(134), None),
        ("a redirect", of(137), None),
    ]);
}

#[test]
fn what_came_over_a_router_or_was_changed_is_ignored() {
    let sound = SOLICITS.packet();
    assert!(told(&sound).is_some());
    for (name, at) in [
        ("hop limit", 7),
        ("code", 41),
        ("checksum", 43),
        ("next header", 6),
    ] {
        let changed = with(sound.clone(), at, sound[at] ^ 2);
        assert_eq!(told(&changed), None, "{name}");
    }
    // Behind an extension header it would have a right checksum (RFC 6980 forbids fragments).
    let header = Ipv6 {
        src: ROUTER_V6,
        dst: GROUP,
        hop_limit: HOP_LIMIT,
        extensions: &[Extension::Fragment {
            offset: 0,
            more: false,
            identification: 1,
        }],
        ..Ipv6::default()
    };
    let icmp = Icmp {
        kind: SOLICITATION,
        ..Icmp::default()
    };
    let frame = written(Recipe {
        network: Network::Ipv6(header, Transport::Icmpv6(icmp)),
        payload: &TARGET_V6.to_be_bytes(),
        ..Recipe::default()
    });
    assert_eq!(told(&frame[14..]), None);
}

/// RFC 826, and RFC 5227 for probes and announcements.
#[test]
fn arp_is_about_who_sends_it() {
    for (name, operation, sender, target_mac, target, expected) in [
        (
            "a request",
            1,
            ROUTER_V4,
            [0; 6],
            TARGET_V4,
            Some((TARGET_V4, ASKS)),
        ),
        ("a probe", 1, 0, [0; 6], TARGET_V4, Some((TARGET_V4, ASKS))),
        (
            "announced",
            1,
            ROUTER_V4,
            [0; 6],
            ROUTER_V4,
            Some((ROUTER_V4, ASKS)),
        ),
        (
            "a reply",
            2,
            ROUTER_V4,
            OURS.0,
            TARGET_V4,
            Some((ROUTER_V4, answers(true, true, false))),
        ),
        (
            "announced by a reply",
            2,
            ROUTER_V4,
            ROUTER.0,
            ROUTER_V4,
            Some((ROUTER_V4, answers(false, true, false))),
        ),
        (
            "a reply to all",
            2,
            ROUTER_V4,
            [0xFF; 6],
            TARGET_V4,
            Some((ROUTER_V4, answers(false, true, false))),
        ),
        ("a reverse request", 3, ROUTER_V4, [0; 6], TARGET_V4, None),
        ("no operation", 0, ROUTER_V4, [0; 6], TARGET_V4, None),
    ] {
        let frame = written(Recipe {
            network: Network::Arp(Arp {
                operation,
                sender_mac: ROUTER,
                sender,
                target_mac: MacAddress(target_mac),
                target,
            }),
            ..Recipe::default()
        });
        let found = NeighbourMessage::read(ether_type::ARP, &frame[14..]);
        assert!(found.is_none_or(|own| own.sender == v4(sender) && own.mac == Some(ROUTER)));
        let expected = expected.map(|(about, kind)| (v4(about), kind));
        assert_eq!(found.map(|own| (own.target, own.kind)), expected, "{name}");
        for len in 0..frame.len() - 14 {
            let cut = NeighbourMessage::read(ether_type::ARP, &frame[14..14 + len]);
            assert_eq!(cut, None, "{name}, cut to {len}");
        }
    }
}
