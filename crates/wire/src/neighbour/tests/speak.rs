//! What is written is read back, and is what the sections say byte by byte.

use super::*;

const SPEAKER: Speaker<'_> = Speaker {
    mac: OURS,
    tags: &[],
    is_router: true,
};

const HOST: Speaker<'_> = Speaker {
    is_router: false,
    ..SPEAKER
};
/// Destinations of link and network.
const GROUP: (MacAddress, u128) = (MacAddress([0x33, 0x33, 0xFF, 0, 0, 1]), SOLICITED_NODE | 1);
const ALL: (MacAddress, u128) = (MacAddress([0x33, 0x33, 0, 0, 0, 1]), 0xFF02 << 112 | 1);
const ONE: (MacAddress, u128) = (ROUTER, ROUTER_V6);

/// A frame that `write` writes.
fn spoken(write: impl FnOnce(&mut [u8]) -> Result<usize, EmitError>) -> Vec<u8> {
    let mut out = [0xEE; 96];
    let len = write(&mut out).expect("room");
    out[..len].to_vec()
}

/// Destination in the link header and ether type; the payload in hexadecimal digits.
fn shown(frame: &[u8]) -> (MacAddress, u16, String) {
    assert_eq!(frame[6..12], OURS.0, "from us");
    let kind = u16::from_be_bytes([frame[12], frame[13]]);
    let payload = frame[14..].iter().map(|byte| format!("{byte:02x}"));
    let dst = frame.first_chunk().copied().unwrap_or_default();
    (MacAddress(dst), kind, payload.collect())
}

#[test]
fn arp_byte_by_byte() {
    let (own, target) = (v4(TARGET_V4), v4(ROUTER_V4));
    let padding = "00".repeat(18);
    let ours = "024c52000002c6336402";
    for (name, frame, dst, expected) in [
        (
            "a request to all",
            spoken(|out| SPEAKER.request(own, target, None, out)),
            MacAddress::BROADCAST,
            format!("0001080006040001{ours}000000000000c6336401"),
        ),
        (
            "a request to one",
            spoken(|out| SPEAKER.request(own, target, Some(ROUTER), out)),
            ROUTER,
            format!("0001080006040001{ours}000000000000c6336401"),
        ),
        (
            "a reply",
            spoken(|out| SPEAKER.answer(own, target, ROUTER, out)),
            ROUTER,
            format!("0001080006040002{ours}02000000000ac6336401"),
        ),
        (
            "a reply to a probe",
            spoken(|out| SPEAKER.answer(own, v4(0), ROUTER, out)),
            ROUTER,
            format!("0001080006040002{ours}02000000000a00000000"),
        ),
        (
            "an announcement",
            spoken(|out| SPEAKER.announce(own, out)),
            MacAddress::BROADCAST,
            format!("0001080006040001{ours}000000000000c6336402"),
        ),
    ] {
        let expected = (dst, ether_type::ARP, expected + &padding);
        assert_eq!(shown(&frame), expected, "{name}");
    }
}

/// Each row: the frame; destinations of link and network; flags, and the option's kind (RFC 4861
/// sections 4.3, 4.4, 7.2.2, 7.2.4 and 7.2.6).
#[test]
fn discovery_field_by_field() {
    let (own, target) = (v6(TARGET_V6), v6(ROUTER_V6));
    for (name, frame, (link, dst), about, (kind, flags, option)) in [
        (
            "a solicitation",
            spoken(|out| SPEAKER.request(own, target, None, out)),
            GROUP,
            ROUTER_V6,
            (135, 0, 1),
        ),
        (
            "a solicitation to one",
            spoken(|out| SPEAKER.request(own, target, Some(ROUTER), out)),
            ONE,
            ROUTER_V6,
            (135, 0, 1),
        ),
        (
            "an answer",
            spoken(|out| SPEAKER.answer(own, target, ROUTER, out)),
            ONE,
            TARGET_V6,
            (136, 0xE000_0000, 2),
        ),
        (
            "an answer of a host",
            spoken(|out| HOST.answer(own, target, ROUTER, out)),
            ONE,
            TARGET_V6,
            (136, 0x6000_0000, 2),
        ),
        (
            "an answer to a probe",
            spoken(|out| SPEAKER.answer(own, v6(0), ROUTER, out)),
            ALL,
            TARGET_V6,
            (136, 0xA000_0000, 2),
        ),
        (
            "an announcement",
            spoken(|out| SPEAKER.announce(own, out)),
            ALL,
            TARGET_V6,
            (136, 0xA000_0000, 2),
        ),
    ] {
        assert_eq!(
            (frame[..6].to_vec(), frame.len()),
            (link.0.to_vec(), 86),
            "{name}"
        );
        let packet = Ipv6View::new_checked(&frame[14..]).unwrap();
        assert_eq!((packet.src(), packet.dst()), (TARGET_V6, dst), "{name}");
        assert_eq!(
            (packet.hop_limit(), packet.payload_len()),
            (255, 32),
            "{name}"
        );
        assert!(has_right_sum(&packet, packet.payload()), "{name}");
        let message = IcmpView::new_checked(packet.payload()).unwrap();
        let found = (message.kind(), message.code(), message.rest());
        assert_eq!(found, (kind, 0, flags), "{name}");
        let (found, rest) = message.payload().split_at(16);
        assert_eq!(found, about.to_be_bytes(), "{name}");
        assert_eq!(rest, [&[option, 1][..], &OURS.0].concat(), "{name}");
    }
}

#[test]
fn what_is_written_is_read_and_bears_the_tags() {
    let service = [Tag::service(9), Tag::vlan(7)];
    for tags in [&[][..], &service[1..], &service[..]] {
        let speaker = Speaker { tags, ..SPEAKER };
        for (own, asked) in [
            (v4(TARGET_V4), v4(ROUTER_V4)),
            (v6(TARGET_V6), v6(ROUTER_V6)),
        ] {
            let frame = spoken(|out| speaker.request(own, asked, None, out));
            let request = NeighbourRequest::read(&frame).expect("a request");
            assert_eq!((request.sender, request.target), (own, asked));
            assert_eq!(request.sender_mac, OURS);
            let at = 14 + 4 * tags.len();
            let kind = u16::from_be_bytes([frame[at - 2], frame[at - 1]]);
            assert_eq!(frame[12..at - 2], tag_bytes(tags));
            let message = NeighbourMessage::read(kind, &frame[at..]).expect("a message");
            assert_eq!((message.mac, message.is_probe()), (Some(OURS), false));
            let announced = spoken(|out| speaker.announce(own, out));
            let message = NeighbourMessage::read(kind, &announced[at..]).expect("a message");
            assert_eq!((message.target, message.mac), (own, Some(OURS)));
            assert_eq!(message.sender, own);
        }
    }
}

fn tag_bytes(tags: &[Tag]) -> Vec<u8> {
    let bytes = tags
        .iter()
        .flat_map(|tag| [tag.tpid.to_be_bytes(), tag.tci.to_be_bytes()]);
    bytes.flatten().collect()
}

#[test]
fn nothing_is_written_for_addresses_of_two_families_or_without_room() {
    let (own, other) = (v4(TARGET_V4), v6(ROUTER_V6));
    let mut out = [0; 96];
    assert_eq!(SPEAKER.request(own, other, None, &mut out), Ok(0));
    assert_eq!(SPEAKER.answer(other, own, ROUTER, &mut out), Ok(0));
    assert!(SPEAKER.announce(own, &mut out[..59]).is_err());
    assert!(SPEAKER.announce(other, &mut out[..85]).is_err());
}
