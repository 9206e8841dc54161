//! An outside judge: random sound packets made by etherparse are parsed here, and random frames
//! made here are parsed by etherparse.

mod recipes;

use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use proptest::prelude::*;
use recipes::{Case, Ext, Ip, Link, case};
use wire::{Family, Fragment, Parsed, parse};

/// Family, addresses, ports and protocol.
type Facts = (Family, u128, u128, Option<(u16, u16)>, u8);

fn ours(parsed: &Parsed) -> Facts {
    // etherparse reads no transport header from any fragment.
    let whole = parsed.fragment == Fragment::Whole;
    let ports = whole && matches!(parsed.protocol, 6 | 17) && parsed.readable.ports();
    let ports = ports.then_some((parsed.src_port, parsed.dst_port));
    (
        parsed.family,
        parsed.src,
        parsed.dst,
        ports,
        parsed.protocol,
    )
}

fn theirs(packet: &SlicedPacket<'_>) -> Option<Facts> {
    let (family, src, dst, number) = match packet.net.as_ref()? {
        NetSlice::Ipv4(slice) => {
            let header = slice.header();
            let bits = |address: [u8; 4]| u128::from(u32::from_be_bytes(address));
            let (src, dst) = (bits(header.source()), bits(header.destination()));
            (Family::V4, src, dst, slice.payload().ip_number.0)
        }
        NetSlice::Ipv6(slice) => {
            let header = slice.header();
            let (src, dst) = (header.source(), header.destination());
            let number = slice.payload().ip_number.0;
            (
                Family::V6,
                u128::from_be_bytes(src),
                u128::from_be_bytes(dst),
                number,
            )
        }
        NetSlice::Arp(_) => return None,
    };
    let ports = match &packet.transport {
        Some(TransportSlice::Udp(udp)) => Some((udp.source_port(), udp.destination_port())),
        Some(TransportSlice::Tcp(tcp)) => Some((tcp.source_port(), tcp.destination_port())),
        _ => None,
    };
    Some((family, src, dst, ports, number))
}

/// Frames cut down to what etherparse 0.18 reads: Ethernet II, at most three tags of the TPIDs it
/// knows, and of the extension headers hop-by-hop, destination options, routing and fragment.
fn within_its_reach() -> impl Strategy<Value = Case> {
    case().prop_map(|mut case| {
        case.link = Link::Ethernet2;
        case.tags.retain(|tag| tag.tpid != 0x9200);
        case.tags.truncate(3);
        if let Ip::V6 { extensions, .. } = &mut case.ip {
            let rank = |extension: &Ext| match extension {
                Ext::Generic(0, _) => Some(0),
                Ext::Generic(60, _) => Some(1),
                Ext::Generic(43, _) => Some(2),
                Ext::Fragment(..) => Some(3),
                _ => None,
            };
            extensions.retain(|extension| rank(extension).is_some());
            extensions.sort_by_key(rank);
            extensions.dedup_by_key(|extension| rank(extension));
        }
        case.align_payload();
        step_around_its_mask(&mut case);
        case
    })
}

/// etherparse 0.18 masks the low byte of a fragment header with 9F, not F9: it takes the last
/// fragments at 32, 64 and 96 bytes for whole packets (`Ipv6FragmentHeaderSlice`).
fn step_around_its_mask(case: &mut Case) {
    let Ip::V6 { extensions, .. } = &mut case.ip else {
        return;
    };
    for extension in extensions {
        if let Ext::Fragment(offset @ (32 | 64 | 96), false) = extension {
            *offset += 256;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn etherparse_reads_our_frames_as_we_do(case in within_its_reach()) {
        let frame = case.emit();
        let parsed = parse(&frame, frame.len());
        let packet = SlicedPacket::from_ethernet(&frame);
        prop_assert!(packet.is_ok(), "{:?}", packet);
        let theirs = packet.ok().as_ref().and_then(theirs);
        prop_assert_eq!(Some(ours(&parsed)), theirs);
    }

    #[test]
    fn we_read_the_frames_etherparse_makes(
        tags in 0u8..3, six: bool, tcp: bool, src: [u8; 16], dst: [u8; 16],
        ports: (u16, u16), payload in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let link = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let id = |number: u16| number.try_into().expect("12 bits");
        let short = |address: [u8; 16]| address[..4].try_into().expect("4 bytes");
        let network = match (tags, six) {
            (0, false) => link.ipv4(short(src), short(dst), 64),
            (0, true) => link.ipv6(src, dst, 64),
            (1, false) => link.single_vlan(id(5)).ipv4(short(src), short(dst), 64),
            (1, true) => link.single_vlan(id(5)).ipv6(src, dst, 64),
            (_, false) => link.double_vlan(id(5), id(6)).ipv4(short(src), short(dst), 64),
            (_, true) => link.double_vlan(id(5), id(6)).ipv6(src, dst, 64),
        };
        let mut frame = Vec::new();
        let written = if tcp {
            network.tcp(ports.0, ports.1, 1, 2).syn().write(&mut frame, &payload)
        } else {
            network.udp(ports.0, ports.1).write(&mut frame, &payload)
        };
        prop_assert!(written.is_ok());
        let parsed = parse(&frame, frame.len());
        prop_assert_eq!((parsed.fault, parsed.vlan_tags), (None, tags));
        prop_assert_eq!((parsed.src_port, parsed.dst_port), ports);
        let packet = SlicedPacket::from_ethernet(&frame);
        prop_assert_eq!(Some(ours(&parsed)), packet.ok().as_ref().and_then(theirs));
        prop_assert_eq!(parsed.tcp_flags, if tcp { 0x02 } else { 0 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Checksums of emitted frames, judged by etherparse: whole packets with UDP or TCP.
    #[test]
    fn etherparse_agrees_with_our_checksums(case in within_its_reach()) {
        let frame = case.emit();
        let parsed = parse(&frame, frame.len());
        prop_assume!(parsed.readable.ports() && matches!(parsed.protocol, 6 | 17));
        let at = usize::from(parsed.l4_offset);
        let end = usize::from(parsed.l3_offset) + parsed.l3_len as usize;
        let segment = &frame[at..end];
        let expected = match (parsed.family, parsed.protocol) {
            (Family::V4, 17) => {
                let (header, rest) = etherparse::UdpHeader::from_slice(segment).expect("sound");
                header.calc_checksum_ipv4_raw(v4(parsed.src), v4(parsed.dst), rest).ok()
            }
            (_, 17) => {
                let (header, rest) = etherparse::UdpHeader::from_slice(segment).expect("sound");
                let (src, dst) = (parsed.src.to_be_bytes(), parsed.dst.to_be_bytes());
                header.calc_checksum_ipv6_raw(src, dst, rest).ok()
            }
            (Family::V4, _) => {
                let (header, rest) = etherparse::TcpHeader::from_slice(segment).expect("sound");
                header.calc_checksum_ipv4_raw(v4(parsed.src), v4(parsed.dst), rest).ok()
            }
            _ => {
                let (header, rest) = etherparse::TcpHeader::from_slice(segment).expect("sound");
                let (src, dst) = (parsed.src.to_be_bytes(), parsed.dst.to_be_bytes());
                header.calc_checksum_ipv6_raw(src, dst, rest).ok()
            }
        };
        let place = at + if parsed.protocol == 17 { 6 } else { 16 };
        let found = u16::from_be_bytes([frame[place], frame[place + 1]]);
        prop_assert_eq!(Some(found), expected);
    }
}

fn v4(address: u128) -> [u8; 4] {
    (address as u32).to_be_bytes()
}
