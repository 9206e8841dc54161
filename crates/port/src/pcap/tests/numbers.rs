//! The numbers of records, those that cannot be read among them, and captures without a frame.

use wire::capture::pcapng::{self, SectionHeader};
use wire::capture::{ByteOrder, CaptureFault, LinkType};

use super::captures::*;
use crate::pcap::{CaptureReader, LeftOut, Step};

const ORDER: ByteOrder = ByteOrder::Little;

/// A section with an Ethernet interface and one of IEEE 802.11, then these blocks.
fn section(blocks: &[Vec<u8>]) -> Vec<u8> {
    let head = SectionHeader { order: ORDER }.to_bytes();
    let interfaces = [1, 105].map(|link_type| interface(link_type, 9).to_bytes(ORDER));
    [&head[..], &interfaces.concat(), &blocks.concat()].concat()
}

fn frame(on: u32) -> Vec<u8> {
    enhanced(ORDER, on, 1, 60, &[1; 60])
}

/// What each record came to: its number, and why it was left out.
fn steps(reader: &mut CaptureReader) -> Vec<(u64, Option<LeftOut>)> {
    let mut steps = Vec::new();
    loop {
        let why = match reader.next() {
            Step::Record(_) => None,
            Step::LeftOut(why) => Some(why),
            Step::Waiting | Step::Ended => return steps,
        };
        steps.push((reader.number(), why));
    }
}

/// As tshark 4.0 numbers them (`frame.number`), but for the interface that is not described, where
/// tshark ends.
#[test]
fn records_are_numbered_whether_they_can_be_read_or_not() {
    let simple = [&ORDER.bytes_u32(60)[..], &[7; 60]].concat();
    let bytes = section(&[
        frame(0),
        frame(1),
        block(5, ORDER, &[0; 12]),
        block(9, ORDER, b"MESSAGE=hi"),
        block(0x0bad, ORDER, &[0, 0, 0, 1, 2, 3, 4, 5]),
        block(4, ORDER, &[0; 4]),
        frame(7),
        block(pcapng::SIMPLE_PACKET, ORDER, &simple),
        frame(1),
        frame(0),
    ]);
    let foreign = Some(LeftOut::Link(LinkType(105)));
    let read = steps(&mut reader(&bytes).unwrap());
    let wanted = [
        (1, None),
        (2, foreign),
        (3, Some(LeftOut::NoFrame(9))),
        (4, Some(LeftOut::NoFrame(0x0bad))),
        (5, Some(LeftOut::Fault(CaptureFault::UnknownInterface))),
        (6, None),
        (7, foreign),
        (8, None),
    ];
    assert_eq!(read, wanted);
}

#[test]
fn a_capture_without_a_frame_says_why() {
    let head = pcap_bytes(ORDER, wire::capture::pcap::Resolution::Micro, &[]).0;
    let section_header = SectionHeader { order: ORDER }.to_bytes().to_vec();
    for (bytes, why) in [
        (head.clone(), Some("holds no frames: it has 0 records")),
        (gzip(&head), Some("it has 0 records")),
        (section_header.clone(), Some("it has 0 records")),
        (section_header[..20].to_vec(), Some("it has 0 records")),
        (section(&[]), Some("it has 0 records")),
        (
            section(&[frame(9)]),
            Some("its one record cannot be read: the capture has a frame of an interface"),
        ),
        (
            section(&[frame(1), frame(9)]),
            Some("none of its 2 records can be read, the first cannot be read as Ethernet (IEEE"),
        ),
        (
            section(&[block(9, ORDER, b"A=1")]),
            Some("its 1 records hold none"),
        ),
        (section(&[frame(1), frame(0)]), None),
    ] {
        let mut reader = reader(&bytes).unwrap();
        assert_eq!(reader.emptiness(), None, "not before the end");
        steps(&mut reader);
        let said = reader.emptiness();
        let agrees = match (why, &said) {
            (Some(why), Some(said)) => said.contains(why),
            (why, said) => why.is_none() && said.is_none(),
        };
        assert!(agrees, "{said:?}, not {why:?}");
    }
}
