//! What is emitted is what is parsed, field by field, for all header combinations.

mod recipes;

use proptest::prelude::*;
use recipes::case;
use wire::emit::{Arp, EmitError, Framing, Network, Recipe, Tag};
use wire::view::{ArpView, EthernetView, Ipv4View, Ipv6View};
use wire::{Family, MacAddress, Parsed, parse};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn parse_of_emit_is_what_was_meant(case in case()) {
        let frame = case.emit();
        prop_assert_eq!(parse(&frame, frame.len()), case.expected());
    }

    #[test]
    fn views_agree_with_parse(case in case()) {
        let frame = case.emit();
        let parsed = parse(&frame, frame.len());
        let link = EthernetView::new_checked(&frame).expect("a sound frame");
        prop_assert_eq!(link.src(), MacAddress([2, 0, 0, 0, 0, 1]));
        let packet = &frame[usize::from(parsed.l3_offset)..];
        if parsed.family == Family::V4 {
            let view = Ipv4View::new_checked(packet).expect("a sound packet");
            prop_assert!(view.checksum_is_right());
            let seen = (Some(view.src()), Some(view.dst()));
            prop_assert_eq!(seen, (parsed.src_v4(), parsed.dst_v4()));
            prop_assert_eq!(u32::from(view.total_len()), parsed.l3_len);
            prop_assert_eq!(view.protocol(), parsed.protocol);
        } else {
            let view = Ipv6View::new_checked(packet).expect("a sound packet");
            let seen = (Some(view.src()), Some(view.dst()));
            prop_assert_eq!(seen, (parsed.src_v6(), parsed.dst_v6()));
            prop_assert_eq!(u32::from(view.payload_len()) + 40, parsed.l3_len);
        }
    }

    #[test]
    fn short_buffers_are_errors_and_stay_untouched(case in case(), room in 0usize..200) {
        let frame = case.emit();
        let recipe = Recipe { payload: &frame, ..Recipe::default() };
        let mut out = vec![0xEE; room.min(recipe.frame_len() - 1)];
        let room = out.len();
        let needed = recipe.frame_len();
        prop_assert_eq!(recipe.emit(&mut out), Err(EmitError::BufferTooShort { needed, room }));
        prop_assert!(out.iter().all(|byte| *byte == 0xEE));
    }
}

fn emitted(recipe: &Recipe<'_>) -> Vec<u8> {
    let mut frame = vec![0; recipe.frame_len()];
    assert_eq!(recipe.emit(&mut frame), Ok(frame.len()));
    frame
}

#[test]
fn arp_is_no_ip_and_reads_back() {
    let message = Arp {
        operation: 1,
        sender_mac: MacAddress([2, 0, 0, 0, 0, 1]),
        sender: 0x0A00_0001,
        target_mac: MacAddress::default(),
        target: 0x0A00_0002,
    };
    let tags = [Tag::service(5), Tag::vlan(7)];
    let recipe = Recipe {
        dst_mac: MacAddress::BROADCAST,
        tags: &tags,
        network: Network::Arp(message),
        len_min: 60,
        ..Recipe::default()
    };
    let frame = emitted(&recipe);
    let parsed = parse(&frame, frame.len());
    let expected = Parsed {
        l3_offset: 22,
        ether_type: 0x0806,
        vlan_tci: 5,
        vlan_tags: 2,
        ..Parsed::default()
    };
    assert_eq!(parsed, expected);
    assert_eq!(parsed.flow_key(), None);
    let view = ArpView::new_checked(&frame[22..])
        .expect("long enough")
        .expect("Ethernet, IPv4");
    assert_eq!(
        (view.operation(), view.sender(), view.target()),
        (1, 0x0A00_0001, 0x0A00_0002)
    );
    assert_eq!(
        (view.sender_mac(), view.target_mac()),
        (message.sender_mac, message.target_mac)
    );
}

#[test]
fn other_payloads_are_no_ip() {
    for framing in [
        Framing::Ethernet2,
        Framing::Llc([0x42, 0x42, 0x03]), // spanning tree
        Framing::Llc([0xFF, 0xFF, 0x00]), // raw IPX
        Framing::Llc([0x06, 0x06, 0x13]), // SAP of IP, no information frame
        Framing::Snap {
            oui: [0, 0, 0x0C],
            tags: &[],
        }, // Cisco's own types
    ] {
        let recipe = Recipe {
            framing,
            network: Network::Other(0x0800 + u16::from(framing == Framing::Ethernet2) * 0x8047),
            payload: &[0x45; 60],
            ..Recipe::default()
        };
        let frame = emitted(&recipe);
        let parsed = parse(&frame, frame.len());
        assert_eq!(
            (parsed.family, parsed.fault),
            (Family::None, None),
            "{framing:?}"
        );
        assert!(!parsed.is_ip() && parsed.src_ip().is_none());
    }
}

#[test]
fn fields_no_header_can_say_are_errors() {
    use wire::emit::{Extension, Ipv4, Ipv6, Tcp, Transport};
    let mut out = [0; 128];
    let udp = Transport::Udp {
        src_port: 1,
        dst_port: 2,
    };
    let v4 = |options, fragment_offset| {
        Network::Ipv4(
            Ipv4 {
                options,
                fragment_offset,
                ..Ipv4::default()
            },
            udp,
        )
    };
    let extensions = [Extension::Generic {
        protocol: 60,
        body: &[0; 5],
    }];
    let tcp = Transport::Tcp(Tcp {
        options: &[1; 44],
        ..Tcp::default()
    });
    for network in [
        v4(&[1; 3], 0),
        v4(&[1; 44], 0),
        v4(&[], 4),
        Network::Ipv6(
            Ipv6 {
                extensions: &extensions,
                ..Ipv6::default()
            },
            udp,
        ),
        Network::Ipv4(Ipv4::default(), tcp),
    ] {
        let result = Recipe {
            network,
            ..Recipe::default()
        }
        .emit(&mut out);
        assert!(
            matches!(result, Err(EmitError::Unaligned(_))),
            "{network:?}: {result:?}"
        );
    }
    let long = [0; 65_530];
    let recipe = Recipe {
        network: v4(&[], 0),
        payload: &long,
        ..Recipe::default()
    };
    assert_eq!(
        recipe.emit(&mut out),
        Err(EmitError::TooLong("IPv4 total length"))
    );
    let framing = Framing::Llc([6, 6, 3]);
    let recipe = Recipe {
        framing,
        payload: &long[..1536],
        ..Recipe::default()
    };
    assert_eq!(
        recipe.emit(&mut out),
        Err(EmitError::TooLong("802.3 length"))
    );
}
