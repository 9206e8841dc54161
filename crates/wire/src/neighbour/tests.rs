//! Requests as hosts send them, and what must not be answered.

mod heard;
mod speak;

use super::*;
use crate::Malformed;
use crate::emit::{Icmp, Ipv6, Transport};
use crate::view::{ArpView, IcmpView};

const OURS: MacAddress = MacAddress([2, 0x4c, 0x52, 0, 0, 2]);
const ROUTER: MacAddress = MacAddress([2, 0, 0, 0, 0, 0xA]);
const TARGET_V4: u32 = 0xC633_6402;
const ROUTER_V4: u32 = 0xC633_6401;
const TARGET_V6: u128 = 0x2001_0db8_0002_0000_0000_0000_0000_0002;
const ROUTER_V6: u128 = 0x2001_0db8_0002_0000_0000_0000_0000_0001;

fn written(recipe: Recipe<'_>) -> Vec<u8> {
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).unwrap();
    bytes
}

fn arp(operation: u16, sender: u32) -> Vec<u8> {
    written(Recipe {
        dst_mac: MacAddress::BROADCAST,
        src_mac: ROUTER,
        network: Network::Arp(Arp {
            operation,
            sender_mac: ROUTER,
            sender,
            target_mac: MacAddress::default(),
            target: TARGET_V4,
        }),
        len_min: 60,
        ..Recipe::default()
    })
}

fn solicitation(tags: &[Tag], hop_limit: u8, src: u128) -> Vec<u8> {
    let header = Ipv6 {
        src,
        // The group of all whose address ends so (RFC 4291 section 2.7.1).
        dst: 0xff02_0000_0000_0000_0000_0001_ff00_0002,
        hop_limit,
        ..Ipv6::default()
    };
    let message = Icmp {
        kind: SOLICITATION,
        ..Icmp::default()
    };
    let mut payload = TARGET_V6.to_be_bytes().to_vec();
    // Who has no address yet must not name an Ethernet address (RFC 4861 section 4.3).
    if src != 0 {
        payload.extend([1, 1, 2, 0, 0, 0, 0, 0xA]);
    }
    written(Recipe {
        src_mac: ROUTER,
        tags,
        network: Network::Ipv6(header, Transport::Icmpv6(message)),
        payload: &payload,
        ..Recipe::default()
    })
}

fn with(mut bytes: Vec<u8>, at: usize, byte: u8) -> Vec<u8> {
    bytes[at] = byte;
    bytes
}

#[test]
fn what_must_be_answered_is_told_from_what_must_not() {
    let tag = Tag::vlan(7);
    let service = [Tag::service(9), tag];
    let table = [
        ("ARP", arp(1, ROUTER_V4), true),
        ("an ARP reply", arp(2, ROUTER_V4), false),
        (
            "a neighbour solicitation",
            solicitation(&[], 255, ROUTER_V6),
            true,
        ),
        ("one with a tag", solicitation(&[tag], 255, ROUTER_V6), true),
        ("one with two", solicitation(&service, 255, ROUTER_V6), true),
        (
            "one with three",
            solicitation(&[tag, tag, tag], 255, ROUTER_V6),
            false,
        ),
        (
            "one that a router passed on",
            solicitation(&[], 254, ROUTER_V6),
            false,
        ),
        (
            "a wrong checksum",
            with(solicitation(&[], 255, ROUTER_V6), 56, 1),
            false,
        ),
        (
            "a code",
            with(solicitation(&[], 255, ROUTER_V6), 55, 1),
            false,
        ),
        (
            "an advertisement",
            with(solicitation(&[], 255, ROUTER_V6), 54, 136),
            false,
        ),
        ("a group as sender", with(arp(1, ROUTER_V4), 6, 3), false),
        (
            "addresses of another kind",
            with(arp(1, ROUTER_V4), 15, 6),
            false,
        ),
    ];
    for (name, bytes, expected) in table {
        assert_eq!(NeighbourRequest::read(&bytes).is_some(), expected, "{name}");
        for len in 0..bytes.len() {
            let _no_panic = NeighbourRequest::read(&bytes[..len]);
        }
    }
}

#[test]
fn probes_are_told_from_requests() {
    let table = [
        (arp(1, ROUTER_V4), false),
        (arp(1, 0), true),
        (arp(1, TARGET_V4), true),
        (solicitation(&[], 255, ROUTER_V6), false),
        (solicitation(&[], 255, 0), true),
    ];
    for (bytes, expected) in table {
        let request = NeighbourRequest::read(&bytes).expect("a request");
        assert_eq!(request.is_probe(), expected, "{request:?}");
    }
}

fn answered(request: &[u8]) -> Vec<u8> {
    let request = NeighbourRequest::read(request).expect("a request");
    let mut bytes = [0; 94];
    let len = request.answer(OURS, &mut bytes).expect("room");
    bytes[..len].to_vec()
}

#[test]
fn an_arp_reply_names_the_address_that_was_asked_for() {
    let reply = answered(&arp(1, ROUTER_V4));
    assert_eq!(
        (reply.len(), &reply[..6], &reply[6..12]),
        (60, &ROUTER.0[..], &OURS.0[..])
    );
    let message = ArpView::new_checked(&reply[14..]).unwrap().unwrap();
    assert_eq!((message.operation(), message.sender()), (2, TARGET_V4));
    assert_eq!((message.sender_mac(), message.target()), (OURS, ROUTER_V4));
    assert_eq!(message.target_mac(), ROUTER);
}

#[test]
fn an_advertisement_is_whole_and_bears_the_tags_of_its_solicitation() {
    for tags in [&[][..], &[Tag::vlan(7)], &[Tag::service(9), Tag::vlan(7)]] {
        let reply = answered(&solicitation(tags, 255, ROUTER_V6));
        let at = 14 + 4 * tags.len();
        assert_eq!(reply.len(), at + 40 + 32);
        let packet = Ipv6View::new_checked(&reply[at..]).unwrap();
        assert_eq!((packet.src(), packet.dst()), (TARGET_V6, ROUTER_V6));
        assert_eq!(packet.hop_limit(), 255);
        let body = packet.payload();
        assert!(has_right_sum(&packet, body), "{reply:02x?}");
        let message = IcmpView::new_checked(body).unwrap();
        assert_eq!(
            (message.kind(), message.rest()),
            (ADVERTISEMENT, 0x6000_0000)
        );
        assert_eq!(message.payload()[..16], TARGET_V6.to_be_bytes());
        assert_eq!(message.payload()[16..], [2, 1, 2, 0x4c, 0x52, 0, 0, 2]);
        let parsed = crate::parse(&reply, reply.len());
        assert_eq!(
            (parsed.fault, usize::from(parsed.vlan_tags)),
            (None::<Malformed>, tags.len())
        );
    }
}

#[test]
fn an_announcement_is_from_the_address_and_asks_nobody() {
    let mut bytes = [0xFF; 64];
    assert_eq!(announce(OURS, &mut bytes), Ok(60));
    assert_eq!((&bytes[..6], &bytes[6..12]), (&[0xFF; 6][..], &OURS.0[..]));
    assert_eq!(bytes[12..14], [0x80, 0x35]);
    assert_eq!(NeighbourRequest::read(&bytes[..60]), None);
    assert!(announce(OURS, &mut [0; 59]).is_err());
}
