//! One frame for every fault there is: sound bytes, one lie. A fault no frame reaches fails here.

use std::collections::BTreeMap;

use wire::emit::{Arp, Extension, Framing, Icmp, Ipv4, Ipv6, Network, Recipe, Tag, Tcp, Transport};
use wire::{Malformed, Readable, parse};

/// Offset of the IP header in an untagged frame.
const L3: usize = 14;
const V4_L4: usize = L3 + 20;
const V6_L4: usize = L3 + 40;

const UDP: Transport<'_> = Transport::Udp {
    src_port: 1000,
    dst_port: 2000,
};

/// Frames by the fault they must have; a fault may have several.
#[derive(Default)]
struct Faulty(BTreeMap<Malformed, Vec<Vec<u8>>>);

impl Faulty {
    fn add(&mut self, fault: Malformed, frame: Vec<u8>) {
        self.0.entry(fault).or_default().push(frame);
    }

    /// The frame of `recipe` with `bytes` written over it at `at`.
    fn lie(&mut self, fault: Malformed, recipe: &Recipe<'_>, at: usize, bytes: &[u8]) {
        let mut frame = emitted(recipe);
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        self.add(fault, frame);
    }

    /// The frame of `recipe`, cut to `len` bytes.
    fn cut(&mut self, fault: Malformed, recipe: &Recipe<'_>, len: usize) {
        let mut frame = emitted(recipe);
        frame.truncate(len);
        self.add(fault, frame);
    }
}

fn emitted(recipe: &Recipe<'_>) -> Vec<u8> {
    let mut frame = vec![0; recipe.frame_len()];
    assert_eq!(recipe.emit(&mut frame), Ok(frame.len()));
    frame
}

fn recipe<'a>(network: Network<'a>, payload: &'a [u8]) -> Recipe<'a> {
    Recipe {
        network,
        payload,
        ..Recipe::default()
    }
}

fn v4<'a>(transport: Transport<'a>, payload: &'a [u8]) -> Recipe<'a> {
    recipe(
        Network::Ipv4(
            Ipv4 {
                src: 1,
                dst: 2,
                ..Ipv4::default()
            },
            transport,
        ),
        payload,
    )
}

fn v4_piece(offset: u16, more: bool, number: u8, payload: &[u8]) -> Recipe<'_> {
    let header = Ipv4 {
        fragment_offset: offset,
        more_fragments: more,
        ..Ipv4::default()
    };
    recipe(Network::Ipv4(header, Transport::Raw(number)), payload)
}

fn v6<'a>(
    extensions: &'a [Extension<'a>],
    transport: Transport<'a>,
    payload: &'a [u8],
) -> Recipe<'a> {
    recipe(
        Network::Ipv6(
            Ipv6 {
                src: 1,
                dst: 2,
                extensions,
                ..Ipv6::default()
            },
            transport,
        ),
        payload,
    )
}

fn link_faults(faulty: &mut Faulty) {
    let nine = [Tag::vlan(1); 9];
    let tagged = |tags| Recipe {
        tags,
        ..v4(UDP, b"")
    };
    faulty.cut(Malformed::EthernetTruncated, &v4(UDP, b""), 13);
    faulty.add(Malformed::EthernetTruncated, Vec::new());
    faulty.cut(Malformed::VlanTagTruncated, &tagged(&nine[..2]), 19);
    faulty.add(Malformed::TooManyVlanTags, emitted(&tagged(&nine)));
    // The ninth tag hides inside SNAP.
    let framing = Framing::Snap {
        oui: [0; 3],
        tags: &nine[..4],
    };
    let split = Recipe {
        tags: &nine[..5],
        framing,
        ..v4(UDP, b"")
    };
    faulty.add(Malformed::TooManyVlanTags, emitted(&split));

    let snap = Recipe {
        framing: Framing::Snap {
            oui: [0; 3],
            tags: &[],
        },
        ..v4(UDP, b"")
    };
    faulty.cut(Malformed::LlcTruncated, &snap, 16);
    faulty.cut(Malformed::SnapTruncated, &snap, 21);
    faulty.lie(Malformed::LlcLengthBeyondFrame, &snap, 12, &[0x05, 0x00]);
    // A length short of the packet: the packet is too long for what carries it.
    faulty.lie(Malformed::Ipv4LengthBeyondFrame, &snap, 12, &[0, 35]);
    faulty.cut(
        Malformed::ArpTruncated,
        &recipe(Network::Arp(Arp::default()), b""),
        41,
    );
    faulty.cut(
        Malformed::ArpTruncated,
        &recipe(Network::Arp(Arp::default()), b""),
        21,
    );
}

fn with_options(options: &[u8]) -> Recipe<'_> {
    recipe(
        Network::Ipv4(
            Ipv4 {
                options,
                ..Ipv4::default()
            },
            UDP,
        ),
        b"",
    )
}

fn ipv4_faults(faulty: &mut Faulty) {
    let plain = v4(UDP, b"hello");
    faulty.cut(Malformed::Ipv4HeaderTruncated, &plain, L3 + 19);
    faulty.lie(Malformed::Ipv4Version, &plain, L3, &[0x65]);
    faulty.lie(Malformed::Ipv4HeaderLength, &plain, L3, &[0x43]);
    faulty.lie(Malformed::Ipv4LengthBelowHeader, &plain, L3 + 2, &[0, 19]);
    faulty.lie(Malformed::Ipv4LengthBelowHeader, &plain, L3 + 2, &[0, 1]);
    faulty.lie(Malformed::Ipv4LengthBeyondFrame, &plain, L3 + 2, &[0, 34]);
    faulty.lie(Malformed::Ipv4LengthBelowHeader, &plain, L3, &[0x4F]);

    for options in [[7, 1, 0, 0], [7, 0, 0, 0], [1, 7, 4, 0], [1, 1, 1, 7]] {
        faulty.add(Malformed::Ipv4Option, emitted(&with_options(&options)));
    }

    let mut beyond = emitted(&v4_piece(65_528 - 16, false, 17, &[0; 24]));
    faulty.add(Malformed::FragmentBeyondPacket, beyond.clone());
    beyond[L3 + 6] |= 0x20;
    faulty.add(Malformed::FragmentBeyondPacket, beyond);
    faulty.add(
        Malformed::TinyFragment,
        emitted(&v4_piece(0, true, 6, &[0x50; 16])),
    );
    faulty.add(
        Malformed::TinyFragment,
        emitted(&v4_piece(8, false, 6, &[0; 40])),
    );
    faulty.add(
        Malformed::TinyFragment,
        emitted(&v4_piece(16, true, 6, &[0; 40])),
    );
    // A whole header but for its options.
    faulty.add(
        Malformed::TinyFragment,
        emitted(&v4_piece(0, true, 6, &[0x60; 20])),
    );
}

fn ipv6_faults(faulty: &mut Faulty) {
    let plain = v6(&[], UDP, b"hello");
    faulty.cut(Malformed::Ipv6HeaderTruncated, &plain, L3 + 39);
    faulty.lie(Malformed::Ipv6Version, &plain, L3, &[0x45]);
    faulty.lie(Malformed::Ipv6LengthBeyondFrame, &plain, L3 + 4, &[0, 14]);

    let generic = |protocol, body| Extension::Generic { protocol, body };
    let options = generic(60, &[1, 4, 0, 0, 0, 0]);
    let hop_by_hop = generic(0, &[1, 4, 0, 0, 0, 0]);
    let eight = [options; 8];
    assert_eq!(parse_fault(&emitted(&v6(&eight, UDP, b""))), None);
    faulty.add(
        Malformed::TooManyIpv6Extensions,
        emitted(&v6(&[options; 9], UDP, b"")),
    );
    let late = [options, hop_by_hop];
    faulty.add(Malformed::Ipv6HopByHopOrder, emitted(&v6(&late, UDP, b"")));
    let first = [hop_by_hop];
    let led = v6(&first, UDP, b"");
    faulty.lie(Malformed::Ipv6Option, &led, V6_L4 + 3, &[5]);
    faulty.lie(Malformed::Ipv6Option, &led, V6_L4 + 2, &[0, 0, 0, 0, 0, 1]);
    faulty.lie(Malformed::Ipv6ExtensionTruncated, &led, V6_L4 + 1, &[2]);
    faulty.lie(
        Malformed::Ipv6ExtensionTruncated,
        &v6(&[options], UDP, b""),
        V6_L4 + 1,
        &[2],
    );
    faulty.lie(Malformed::Ipv6ExtensionTruncated, &led, L3 + 4, &[0, 0]);
    faulty.lie(Malformed::Ipv6ExtensionTruncated, &plain, L3 + 6, &[51]);

    let piece = |offset, more| {
        [Extension::Fragment {
            offset,
            more,
            identification: 1,
        }]
    };
    let (first, later) = (piece(0, true), piece(65_528, false));
    faulty.add(
        Malformed::FragmentUnaligned,
        emitted(&v6(&first, UDP, b"odd")),
    );
    faulty.add(
        Malformed::FragmentBeyondPacket,
        emitted(&v6(&later, UDP, b"")),
    );
    faulty.add(
        Malformed::TinyFragment,
        emitted(&v6(&first, Transport::Raw(6), &[0x50; 16])),
    );
    let inside = piece(8, false);
    faulty.add(
        Malformed::TinyFragment,
        emitted(&v6(&inside, Transport::Raw(6), &[0; 16])),
    );
    jumbograms(faulty);
}

/// Frames with the jumbo payload option, sound ones first.
fn jumbograms(faulty: &mut Faulty) {
    let jumbo = |len: u32| {
        let [a, b, c, d] = len.to_be_bytes();
        [0xC2, 4, a, b, c, d]
    };
    let frame = |jumbo_len: u32, payload_len: u16, bytes: usize| {
        let body = jumbo(jumbo_len);
        let extensions = [Extension::Generic {
            protocol: 0,
            body: &body,
        }];
        let mut frame = emitted(&v6(&extensions, UDP, b""));
        frame[L3 + 4..L3 + 6].copy_from_slice(&payload_len.to_be_bytes());
        frame[V6_L4 + 8 + 4..V6_L4 + 8 + 6].copy_from_slice(&[0, 0]);
        frame.resize(V6_L4 + bytes, 0);
        frame
    };
    let sound = frame(70_000, 0, 70_000);
    let parsed = parse(&sound, sound.len());
    assert_eq!(
        (parsed.fault, parsed.l3_len, parsed.dst_port),
        (None, 70_040, 2000)
    );

    faulty.add(Malformed::Ipv6Jumbogram, frame(70_001, 0, 70_000)); // past the frame
    faulty.add(Malformed::Ipv6Jumbogram, frame(1000, 0, 70_000)); // no need of the option
    faulty.add(Malformed::Ipv6Jumbogram, frame(70_000, 16, 70_000)); // two lengths
    let mut short_option = sound.clone();
    short_option[V6_L4 + 3] = 3;
    faulty.add(Malformed::Ipv6Jumbogram, short_option);
    let mut fragment = sound;
    fragment[V6_L4] = 44;
    faulty.add(Malformed::Ipv6Jumbogram, fragment);
}

fn transport_faults(faulty: &mut Faulty) {
    let tcp = Transport::Tcp(Tcp::default());
    let shorter = |len: u8| [0, len];
    faulty.lie(Malformed::TcpTruncated, &v4(tcp, b""), L3 + 2, &shorter(39));
    faulty.lie(Malformed::TcpDataOffset, &v4(tcp, b""), V4_L4 + 12, &[0x40]);
    faulty.lie(Malformed::TcpDataOffset, &v4(tcp, b""), V4_L4 + 12, &[0x60]);
    faulty.lie(
        Malformed::TcpDataOffset,
        &v6(&[], tcp, b"abc"),
        V6_L4 + 12,
        &[0x60],
    );
    faulty.lie(Malformed::UdpTruncated, &v4(UDP, b""), L3 + 2, &shorter(27));
    faulty.lie(
        Malformed::UdpTruncated,
        &v6(&[], UDP, b""),
        L3 + 4,
        &shorter(7),
    );
    faulty.lie(Malformed::UdpLength, &v4(UDP, b"abc"), V4_L4 + 4, &[0, 7]);
    faulty.lie(
        Malformed::UdpLength,
        &v6(&[], UDP, b"abc"),
        V6_L4 + 4,
        &[0, 0],
    );
    faulty.lie(
        Malformed::UdpLengthBeyondPacket,
        &v4(UDP, b"abc"),
        V4_L4 + 4,
        &[0, 12],
    );
    faulty.lie(
        Malformed::UdpLengthBeyondPacket,
        &v6(&[], UDP, b"abc"),
        V6_L4 + 4,
        &[0, 12],
    );
    let icmp = Transport::Icmp(Icmp::default());
    faulty.lie(
        Malformed::IcmpTruncated,
        &v4(icmp, b""),
        L3 + 2,
        &shorter(27),
    );
    let icmpv6 = Transport::Icmpv6(Icmp::default());
    faulty.lie(
        Malformed::Icmpv6Truncated,
        &v6(&[], icmpv6, b""),
        L3 + 4,
        &shorter(7),
    );
    for (number, len) in [(132, 11), (33, 11), (136, 7)] {
        let frame = emitted(&v4(Transport::Raw(number), &[0; 12][..len]));
        faulty.add(Malformed::TransportTruncated, frame);
    }
}

/// What `number` carries, in IPv4 packets inside each other that each end behind the next.
fn carried(number: u8, payload: &[u8], around: usize) -> Vec<u8> {
    let mut packet = emitted(&v4(Transport::Raw(number), payload)).split_off(L3);
    for _ in 0..around {
        packet = emitted(&v4(Transport::Raw(4), &packet)).split_off(L3);
    }
    let mut frame = emitted(&v4(UDP, b""))[..L3].to_vec();
    frame.append(&mut packet);
    frame
}

fn tunnel_faults(faulty: &mut Faulty) {
    for (number, payload) in [
        (47, &[0, 0, 8][..]),
        (47, &[0xA0, 0, 8, 0, 1, 2, 3, 4]),
        (51, &[4, 4, 0, 0, 1, 2, 3, 4, 5, 6, 7]),
        (51, &[4, 4, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ] {
        for around in 0..=3 {
            faulty.add(Malformed::TunnelTruncated, carried(number, payload, around));
        }
    }
    let gtp = Transport::Udp {
        src_port: 1000,
        dst_port: 2152,
    };
    let too_long = [0x30, 255, 0, 30, 0, 0, 0, 1, 0x45];
    faulty.add(Malformed::TunnelLength, emitted(&v4(gtp, &too_long)));
    let no_extension = [0x34, 255, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0x85, 0, 0, 0, 0];
    faulty.add(Malformed::TunnelLength, emitted(&v4(gtp, &no_extension)));
    faulty.add(
        Malformed::TooManyTunnels,
        carried(17, &[0, 1, 0, 1, 0, 8, 0, 0], 5),
    );
}

/// The first fault of a frame and of what it carries.
fn parse_fault(frame: &[u8]) -> Option<Malformed> {
    let parsed = parse(frame, frame.len());
    let inside = || {
        let go_on = |_: &wire::Tunnel| core::ops::ControlFlow::Continue(());
        wire::TunnelPorts::default().each(frame, &parsed, go_on)
    };
    parsed.fault.or_else(inside)
}

#[test]
fn every_fault_is_reached_and_named() {
    let mut faulty = Faulty::default();
    link_faults(&mut faulty);
    ipv4_faults(&mut faulty);
    ipv6_faults(&mut faulty);
    transport_faults(&mut faulty);
    tunnel_faults(&mut faulty);
    for fault in Malformed::ALL {
        let frames = faulty
            .0
            .get(fault)
            .unwrap_or_else(|| panic!("no frame for {fault:?}"));
        for (index, frame) in frames.iter().enumerate() {
            assert_eq!(
                parse_fault(frame),
                Some(*fault),
                "frame {index} of {fault:?}"
            );
        }
    }
}

#[test]
fn a_packet_may_reach_its_greatest_length_and_no_further() {
    // Offset, header and payload of an IPv4 fragment; offset and payload of an IPv6 one.
    let piece = |payload| emitted(&v4_piece(65_496, false, 17, payload));
    assert_eq!(parse_fault(&piece(&[0; 19])), None);
    assert_eq!(
        parse_fault(&piece(&[0; 20])),
        Some(Malformed::FragmentBeyondPacket)
    );
    let extensions = [Extension::Fragment {
        offset: 65_528,
        more: false,
        identification: 1,
    }];
    let piece = |payload| emitted(&v6(&extensions, Transport::Raw(17), payload));
    assert_eq!(parse_fault(&piece(&[0; 7])), None);
    assert_eq!(
        parse_fault(&piece(&[0; 8])),
        Some(Malformed::FragmentBeyondPacket)
    );
}

#[test]
fn ports_are_those_of_the_packet_and_never_of_what_lies_behind_it() {
    for (len, readable) in [(23, false), (24, true)] {
        let mut frame = emitted(&v4(UDP, b""));
        frame[L3 + 3] = len;
        let parsed = parse(&frame, frame.len());
        assert_eq!(parsed.fault, Some(Malformed::UdpTruncated));
        assert_eq!(parsed.readable.ports(), readable, "{len} bytes");
        assert_eq!(parsed.src_port, if readable { 1000 } else { 0 });
    }
}

#[test]
fn padding_behind_the_packet_does_not_repair_a_lie() {
    // The frame is long enough for everything; only the lengths inside say otherwise.
    let padded = Recipe {
        len_min: 200,
        ..v4(UDP, b"abc")
    };
    let mut frame = emitted(&padded);
    assert_eq!(parse_fault(&frame), None);
    frame[V4_L4 + 4..V4_L4 + 6].copy_from_slice(&[0, 100]);
    assert_eq!(parse_fault(&frame), Some(Malformed::UdpLengthBeyondPacket));
}

#[test]
fn fragments_share_a_flow_key_and_ports_stay_readable_in_the_first() {
    let first = emitted(&v4_piece(0, true, 17, &[1; 16]));
    let later = emitted(&v4_piece(16, false, 17, &[1; 16]));
    let (first, later) = (parse(&first, first.len()), parse(&later, later.len()));
    assert!(first.readable.has(Readable::PORTS) && !later.readable.has(Readable::PORTS));
    assert_eq!((first.src_port, later.src_port), (0x0101, 0));
    assert_eq!(first.flow_key(), later.flow_key());
    assert!(first.flow_key().is_some());
}

#[test]
fn an_atomic_fragment_is_a_whole_packet() {
    let extensions = [Extension::Fragment {
        offset: 0,
        more: false,
        identification: 9,
    }];
    let frame = emitted(&v6(&extensions, UDP, b"x"));
    let parsed = parse(&frame, frame.len());
    assert_eq!(
        (parsed.fragment, parsed.dst_port),
        (wire::Fragment::Whole, 2000)
    );
    assert_eq!(parsed.flow_key().map(|key| key.dst_port), Some(2000));
}
