//! Packets of other link types: made Ethernet, or left out by name.

use wire::capture::pcap::{FileHeader, RecordHeader, Resolution};
use wire::capture::pcapng::SectionHeader;
use wire::capture::{ByteOrder, LinkType};

use super::captures::*;
use crate::PortErrorKind;

#[test]
fn other_link_types_are_refused_by_name() {
    for (number, expect) in [
        (
            105,
            "IEEE 802.11 wireless, link type 105, not read yet; capture on an Ethernet interface",
        ),
        (220, "Linux USB"),
        (999, "but link type 999"),
    ] {
        let header = FileHeader {
            order: ByteOrder::Big,
            resolution: Resolution::Micro,
            snaplen: 0,
            link_type: LinkType(number),
            fcs_bytes: None,
        };
        let error = reader(&header.to_bytes()).err().unwrap();
        assert_eq!(error.kind(), PortErrorKind::LinkType);
        assert!(error.to_string().contains(expect), "{error}");
        let order = ByteOrder::Little;
        let ng = [
            &SectionHeader { order }.to_bytes()[..],
            &interface(number, 9).to_bytes(order),
            &enhanced(order, 0, 1, 60, &[1; 60]),
        ];
        // Another interface may be described further on.
        let mut reader = reader(&ng.concat()).unwrap();
        assert_eq!(read_on(&mut reader), []);
        let error = reader.failure().unwrap();
        assert_eq!(error.kind(), PortErrorKind::LinkType);
        assert!(error.to_string().contains(expect), "{error}");
    }
}

/// A packet of 20 bytes, and what it is behind the header that is made for it.
fn made(link_type: u16) -> (Vec<u8>, Vec<u8>) {
    let (ipv4, ipv6) = ([0x45; 20], [0x60; 20]);
    let cooked = [0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 7, 0, 0, 8, 0];
    let cooked2 = [8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 7, 0, 0];
    let (header, packet): (&[u8], _) = match link_type {
        0 => (&[2, 0, 0, 0], ipv4),
        108 => (&[0, 0, 0, 24], ipv6),
        113 => (&cooked, ipv4),
        276 => (&cooked2, ipv4),
        229 => (&[], ipv6),
        _ => (&[], ipv4),
    };
    let src = match link_type {
        113 | 276 => [2, 0, 0, 0, 0, 7],
        _ => [0; 6],
    };
    let ether_type: [u8; 2] = if packet == ipv6 { [0x86, 0xdd] } else { [8, 0] };
    let frame = [&[0; 6][..], &src, &ether_type, &packet].concat();
    ([header, &packet].concat(), frame)
}

#[test]
fn packets_of_other_link_types_are_made_ethernet() {
    for number in [0, 12, 14, 101, 108, 113, 228, 229, 276] {
        let (captured, frame) = made(number);
        let header = FileHeader {
            order: ByteOrder::Big,
            resolution: Resolution::Nano,
            snaplen: 0,
            link_type: LinkType(number),
            fcs_bytes: None,
        };
        let original_len = captured.len() as u32 + 80;
        let record = RecordHeader {
            time_ns: 5,
            captured_len: captured.len() as u32,
            original_len,
        };
        let record = record.to_bytes(ByteOrder::Big, Resolution::Nano);
        let bytes = [
            &header.to_bytes()[..],
            &record,
            &captured,
            &record,
            &captured,
        ]
        .concat();
        let wanted = (5, frame.len() as u32 + 80, frame);
        let (read, warnings) = read_all(&bytes);
        assert_eq!(read, [wanted.clone(), wanted], "{number}");
        assert_eq!(warnings, Vec::<String>::new());
        assert!(reader(&bytes).unwrap().mode().contains("made Ethernet"));
    }
}

#[test]
fn each_interface_of_a_pcapng_has_its_link_type_wherever_it_stands() {
    let order = ByteOrder::Little;
    let types = [105, 276, 1, 101, 220];
    for first in 0..types.len() {
        let mut bytes = SectionHeader { order }.to_bytes().to_vec();
        let mut frames = Vec::new();
        for at in 0..types.len() {
            let number = types[(first + at) % types.len()];
            let (captured, frame) = made(number);
            bytes.extend(interface(number, 9).to_bytes(order));
            bytes.extend(enhanced(
                order,
                at as u32,
                1,
                captured.len() as u32,
                &captured,
            ));
            match number {
                105 | 220 => {}
                1 => frames.push((1, captured.len() as u32, captured)),
                _ => frames.push((1, frame.len() as u32, frame)),
            }
        }
        let mut reader = reader(&bytes).unwrap();
        assert_eq!(read_on(&mut reader), frames, "{first}");
        assert_eq!((reader.missed(), reader.failure().is_none()), (2, true));
    }
}

#[test]
fn frames_of_a_later_foreign_interface_are_left_out_and_counted() {
    let order = ByteOrder::Little;
    let mut bytes = SectionHeader { order }.to_bytes().to_vec();
    bytes.extend(interface(1, 9).to_bytes(order));
    bytes.extend(interface(105, 9).to_bytes(order));
    bytes.extend(enhanced(order, 1, 1, 60, &[1; 60]));
    bytes.extend(enhanced(order, 0, 2, 60, &[2; 60]));
    bytes.extend(enhanced(order, 7, 3, 60, &[3; 60]));
    bytes.extend(enhanced(order, 0, 4, 60, &[4; 60]));
    let mut reader = reader(&bytes).unwrap();
    assert_eq!(
        read_on(&mut reader),
        [(2, 60, vec![2; 60]), (4, 60, vec![4; 60])]
    );
    assert_eq!(reader.missed(), 2);
    let warnings = reader.warnings().join("\n");
    assert!(warnings.contains("802.11 wireless") && warnings.contains("does not describe"));
}
