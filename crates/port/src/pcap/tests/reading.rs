//! Captures of every kind give the frames that are in them.

use wire::capture::pcap::{FileHeader, Resolution};
use wire::capture::pcapng::{self, InterfaceDescription, SectionHeader};
use wire::capture::{ByteOrder, LinkType};

use super::captures::*;
use crate::pcap::{CaptureReader, Format, Step};

#[test]
fn pcap_of_all_four_magics() {
    for order in ORDERS {
        let (bytes, _) = pcap_bytes(order, Resolution::Nano, &frames());
        assert_eq!(read_all(&bytes), (frames(), vec![]));
        let (bytes, _) = pcap_bytes(order, Resolution::Micro, &frames());
        assert_eq!(read_all(&bytes), (micro(&frames()), vec![]));
    }
}

#[test]
fn pcapng_of_both_orders() {
    for order in ORDERS {
        let (bytes, _) = pcapng_bytes(order, &frames());
        assert_eq!(read_all(&bytes), (frames(), vec![]));
    }
}

#[test]
fn modes_say_what_was_found() {
    let mode = |bytes: &[u8]| reader(bytes).unwrap().mode();
    let (micro, _) = pcap_bytes(ByteOrder::Big, Resolution::Micro, &[]);
    assert_eq!(mode(&micro), "pcap (microsecond, Ethernet)");
    assert_eq!(mode(&gzip(&micro)), "pcap (microsecond, Ethernet, gzip)");
    let (ng, _) = pcapng_bytes(ByteOrder::Little, &[]);
    assert_eq!(mode(&ng), "pcapng (Ethernet)");
}

#[test]
fn sections_of_both_orders_in_one_file() {
    let (little, _) = pcapng_bytes(ByteOrder::Little, &frames());
    let (big, _) = pcapng_bytes(ByteOrder::Big, &frames());
    let both = [&little[..], &big, &little].concat();
    let (read, warnings) = read_all(&both);
    assert_eq!(read, [frames(), frames(), frames()].concat());
    assert!(warnings.is_empty());
}

/// Times that 64 bits of nanoseconds since 1970 do not hold are counted, and the others are not.
#[test]
fn times_out_of_range_are_told() {
    let order = ByteOrder::Little;
    let second = 1_000_000;
    for (offset_s, ticks, untimely) in [
        (0, [0, 1, second], 0),
        (-1, [0, second - 1, second], 2),
        (-5, [second, 4 * second, 5 * second], 2),
        (0, [second, u64::MAX, 1 << 62], 2),
        (i64::MAX, [0, 1, 2], 3),
    ] {
        let mut bytes = SectionHeader { order }.to_bytes().to_vec();
        let described = InterfaceDescription {
            offset_s,
            ..interface(1, 6)
        };
        bytes.extend(described.to_bytes(order));
        for ticks in ticks {
            bytes.extend(enhanced(order, 0, ticks, 3, &[9, 9, 9]));
        }
        let (read, warnings) = read_all(&bytes);
        assert_eq!(read.len(), 3);
        let told = format!("{untimely} frames of test.pcap have times before 1970 or after");
        match untimely {
            0 => assert_eq!(warnings, [""; 0]),
            _ => assert!(warnings[0].contains(&told), "{offset_s}: {warnings:?}"),
        }
    }
}

#[test]
fn every_packet_block_and_resolution() {
    for order in ORDERS {
        let mut bytes = SectionHeader { order }.to_bytes().to_vec();
        let mut simple_interface = interface(1, 6);
        simple_interface.snaplen = 8;
        bytes.extend(simple_interface.to_bytes(order));
        bytes.extend(
            InterfaceDescription {
                offset_s: 10,
                ..interface(1, 0x80 | 20)
            }
            .to_bytes(order),
        );
        // Simple: eight bytes of ten, no time.
        let simple = [&order.bytes_u32(10)[..], &[1, 2, 3, 4, 5, 6, 7, 8]].concat();
        bytes.extend(block(pcapng::SIMPLE_PACKET, order, &simple));
        // Obsolete: interface 1, 2^20 + 1 ticks of 2^-20 s, ten seconds later.
        let words = [0, (1 << 20) + 1, 3, 60]
            .map(|word| order.bytes_u32(word))
            .concat();
        let head = [order.bytes_u16(1), order.bytes_u16(0)].concat();
        let obsolete = [&head[..], &words, &[7, 7, 7]].concat();
        bytes.extend(block(pcapng::OBSOLETE_PACKET, order, &obsolete));
        bytes.extend(enhanced(order, 0, 5, 3, &[9, 9, 9]));
        let (read, warnings) = read_all(&bytes);
        let expected = [
            (0, 10, vec![1, 2, 3, 4, 5, 6, 7, 8]),
            (11_000_000_953, 60, vec![7, 7, 7]),
            (5_000, 3, vec![9, 9, 9]),
        ];
        assert_eq!(read, expected);
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].contains("1 frames of test.pcap have times finer"),
            "{warnings:?}"
        );
    }
}

#[test]
fn a_slow_pipe_gives_each_frame_once_it_is_whole() {
    for bytes in [
        pcap_bytes(ByteOrder::Big, Resolution::Nano, &frames()).0,
        pcapng_bytes(ByteOrder::Little, &frames()).0,
        gzip(&pcapng_bytes(ByteOrder::Big, &frames()).0),
    ] {
        let pipe = Box::new(Dripping(bytes, 0, false));
        let mut reader = CaptureReader::from_read("pipe", pipe).unwrap();
        let mut read = Vec::new();
        let mut waits = 0;
        loop {
            match reader.next() {
                Step::Record(r) => read.push((r.time_ns, r.original_len, r.bytes.to_vec())),
                Step::Waiting => waits += 1,
                Step::LeftOut(_) | Step::Ended => break,
            }
        }
        assert_eq!(read, frames());
        assert!(waits > 10 && reader.warnings().is_empty());
    }
}

#[test]
fn the_largest_frame_there_can_be_is_read() {
    let largest = vec![(
        7,
        300_000,
        vec![5; wire::capture::CAPTURED_BYTES_MAX as usize],
    )];
    for format in [Format::Pcap, Format::Pcapng] {
        let (bytes, _) = write_all(format, &largest);
        assert_eq!(read_all(&bytes), (largest.clone(), vec![]));
        let (read, warnings) = read_all(&bytes[..bytes.len() - 1]);
        assert_eq!((read.len(), warnings.len()), (0, 1));
    }
}

#[test]
fn a_frame_check_sequence_is_told() {
    let header = FileHeader {
        order: ByteOrder::Big,
        resolution: Resolution::Micro,
        snaplen: 0,
        link_type: LinkType::ETHERNET,
        fcs_bytes: Some(4),
    };
    let (_, warnings) = read_all(&header.to_bytes());
    assert!(
        warnings[0].contains("end with 4 bytes of FCS"),
        "{warnings:?}"
    );
}
