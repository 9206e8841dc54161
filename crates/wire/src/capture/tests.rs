//! Round trips, byte orders, resolutions, every truncation, and any bytes.

use super::pcap::{FileHeader, RecordHeader, Resolution};
use super::pcapng::{self, BlockHead, InterfaceDescription, Options, SectionHeader};
use super::pcapng::{PacketRecord, TimeResolution};
use super::*;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

#[test]
fn all_four_magics_round_trip() {
    for order in ORDERS {
        for resolution in [Resolution::Micro, Resolution::Nano] {
            for fcs_bytes in [None, Some(4)] {
                let link_type = LinkType::ETHERNET;
                let header = FileHeader {
                    order,
                    resolution,
                    snaplen: 96,
                    link_type,
                    fcs_bytes,
                };
                let bytes = header.to_bytes();
                assert_eq!(Container::detect(&bytes), Ok(Container::Pcap));
                assert_eq!(FileHeader::parse(&bytes), Ok(header));
                for cut in 0..bytes.len() {
                    assert_eq!(
                        FileHeader::parse(&bytes[..cut]),
                        Err(CaptureFault::TooShort)
                    );
                }
            }
        }
    }
}

#[test]
fn the_magics_are_those_of_the_draft() {
    let nano = [0xa1, 0xb2, 0x3c, 0x4d];
    assert_eq!(pcap::magic(nano), Ok((ByteOrder::Big, Resolution::Nano)));
    let micro = [0xd4, 0xc3, 0xb2, 0xa1];
    assert_eq!(
        pcap::magic(micro),
        Ok((ByteOrder::Little, Resolution::Micro))
    );
    let modified = [0x34, 0xcd, 0xb2, 0xa1];
    assert_eq!(pcap::magic(modified), Err(CaptureFault::ModifiedPcap));
    assert_eq!(
        Container::detect(b"\x1f\x8b\x08\x00"),
        Err(CaptureFault::UnknownMagic)
    );
    assert_eq!(
        Container::detect(b"\x0a\x0d\x0d\x0a"),
        Ok(Container::Pcapng)
    );
}

#[test]
fn record_headers_keep_the_nanosecond() {
    let record = RecordHeader {
        time_ns: 1_700_000_000_123_456_789,
        captured_len: 60,
        original_len: 1514,
    };
    for order in ORDERS {
        let bytes = record.to_bytes(order, Resolution::Nano);
        assert_eq!(
            RecordHeader::parse(&bytes, order, Resolution::Nano),
            Ok(record)
        );
        let micro = RecordHeader {
            time_ns: record.time_ns / 1000 * 1000,
            ..record
        };
        let bytes = record.to_bytes(order, Resolution::Micro);
        assert_eq!(
            RecordHeader::parse(&bytes, order, Resolution::Micro),
            Ok(micro)
        );
    }
}

#[test]
fn hostile_record_lengths_are_refused() {
    let mut record = RecordHeader {
        time_ns: 0,
        captured_len: CAPTURED_BYTES_MAX,
        original_len: u32::MAX, // a lie about the wire costs nothing
    };
    let parse = |record: RecordHeader| {
        let bytes = record.to_bytes(ByteOrder::Little, Resolution::Nano);
        RecordHeader::parse(&bytes, ByteOrder::Little, Resolution::Nano)
    };
    assert_eq!(parse(record), Ok(record));
    record.captured_len += 1;
    assert_eq!(parse(record), Err(CaptureFault::CapturedLength));
}

#[test]
fn times_beyond_the_format_stop_at_its_end() {
    let record = RecordHeader {
        time_ns: u64::MAX,
        captured_len: 0,
        original_len: 0,
    };
    let bytes = record.to_bytes(ByteOrder::Big, Resolution::Nano);
    assert_eq!(bytes[..4], [0xff; 4]);
    let all_ones = [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    let record = RecordHeader::parse(&all_ones, ByteOrder::Big, Resolution::Micro).unwrap();
    assert_eq!(
        record.time_ns,
        4_294_967_295_000_000_000 + 4_294_967_295_000
    );
}

fn block(kind: u32, order: ByteOrder, body: &[u8]) -> Vec<u8> {
    assert_eq!(body.len() % 4, 0);
    let len = order.bytes_u32(body.len() as u32 + 12);
    [&order.bytes_u32(kind)[..], &len, body, &len].concat()
}

fn body_of(bytes: &[u8], order: ByteOrder) -> &[u8] {
    let head = BlockHead::parse(bytes, order).unwrap();
    pcapng::body(bytes, head).unwrap()
}

#[test]
fn a_section_brings_its_own_byte_order() {
    for section in ORDERS {
        for order in ORDERS {
            let bytes = SectionHeader { order }.to_bytes();
            let head = BlockHead::parse(&bytes, section).unwrap();
            assert_eq!((head.kind, head.order), (pcapng::SECTION_HEADER, order));
            let body = pcapng::body(&bytes, head).unwrap();
            assert_eq!(
                SectionHeader::parse(body, head.order),
                Ok(SectionHeader { order })
            );
        }
    }
}

#[test]
fn a_section_of_another_version_or_order_is_refused() {
    let mut bytes = SectionHeader {
        order: ByteOrder::Big,
    }
    .to_bytes();
    bytes[13] = 2;
    let body = body_of(&bytes, ByteOrder::Big);
    assert_eq!(
        SectionHeader::parse(body, ByteOrder::Big),
        Err(CaptureFault::Version)
    );
    bytes[8] = 0;
    let head = BlockHead::parse(&bytes, ByteOrder::Big);
    assert_eq!(head, Err(CaptureFault::ByteOrderMagic));
}

#[test]
fn interfaces_round_trip() {
    for order in ORDERS {
        for (byte, offset_s) in [(6, 0), (9, -1), (0x80 | 20, 1 << 40), (12, i64::MIN)] {
            let interface = InterfaceDescription {
                link_type: LinkType(276),
                snaplen: 65_535,
                resolution: TimeResolution::from_byte(byte),
                offset_s,
                fcs_bytes: None,
            };
            let bytes = interface.to_bytes(order);
            let body = body_of(&bytes, order);
            assert_eq!(InterfaceDescription::parse(body, order), Ok(interface));
        }
    }
}

#[test]
fn an_interface_without_options_counts_microseconds() {
    let body = [1, 0, 0, 0, 0, 0, 4, 0];
    let interface = InterfaceDescription::parse(&body, ByteOrder::Little).unwrap();
    assert_eq!(interface.resolution, TimeResolution::MICRO);
    assert_eq!((interface.snaplen, interface.offset_s), (262_144, 0));
    assert_eq!(interface.link_type, LinkType::ETHERNET);
}

#[test]
fn resolutions_of_both_bases() {
    let ns = |byte, ticks| TimeResolution::from_byte(byte).nanos(ticks);
    assert_eq!(ns(0, 3), 3_000_000_000);
    assert_eq!(ns(3, 1_234), 1_234_000_000);
    assert_eq!(ns(6, 1_700_000_000_123_456), 1_700_000_000_123_456_000);
    assert_eq!(ns(9, 1_700_000_000_123_456_789), 1_700_000_000_123_456_789);
    assert_eq!(ns(12, 1_999), 1);
    assert_eq!(ns(28, u64::MAX), 1);
    assert_eq!(ns(127, u64::MAX), 0);
    assert_eq!(ns(0x80, 2), 2_000_000_000);
    assert_eq!(ns(0x80 | 10, 1), 976_562);
    assert_eq!(ns(0x80 | 32, 1 << 31), 500_000_000);
    assert_eq!(ns(0xff, u64::MAX), 0);
    assert!(TimeResolution::from_byte(0x80 | 9).is_exact());
    assert!(!TimeResolution::from_byte(0x80 | 10).is_exact());
    assert!(!TimeResolution::from_byte(10).is_exact());
}

#[test]
fn offsets_clamp_instead_of_wrapping() {
    let (nano, second) = (TimeResolution::NANO, TimeResolution::from_byte(0));
    for (resolution, ticks, offset_s, time_ns, is_time) in [
        (nano, 5, 2, 2_000_000_005, true),
        (nano, 5_000_000_000, -3, 2_000_000_000, true),
        (nano, 3_000_000_000, -3, 0, true),
        (nano, 2_999_999_999, -3, 0, false),
        (nano, 0, i64::MIN, 0, false),
        (nano, u64::MAX, 0, u64::MAX, true),
        (nano, u64::MAX, 1, u64::MAX, false),
        (nano, u64::MAX, i64::MAX, u64::MAX, false),
        (second, 18_446_744_073, 0, 18_446_744_073_000_000_000, true),
        (second, 18_446_744_074, 0, u64::MAX, false),
        (second, u64::MAX, i64::MAX, u64::MAX, false),
    ] {
        let time = (
            resolution.time_ns(ticks, offset_s),
            resolution.has_time(ticks, offset_s),
        );
        assert_eq!(time, (time_ns, is_time), "{ticks} {offset_s}");
    }
}

#[test]
fn enhanced_packets_round_trip_at_every_padding() {
    let frame: Vec<u8> = (0..64).collect();
    let mut place = [0xee; 200];
    for order in ORDERS {
        for len in 0..=frame.len() {
            let packet = PacketRecord {
                interface: 7,
                ticks: Some(0x0102_0304_0506_0708),
                original_len: 1514,
                bytes: &frame[..len],
            };
            let written = pcapng::emit_enhanced(&mut place, order, &packet).unwrap();
            let head = BlockHead::parse(&place, order).unwrap();
            assert_eq!(
                (head.kind, head.total_len as usize),
                (pcapng::ENHANCED_PACKET, written)
            );
            let body = pcapng::body(&place[..written], head).unwrap();
            assert_eq!(pcapng::parse_enhanced(body, order), Ok(packet));
            let short = pcapng::emit_enhanced(&mut place[..written - 1], order, &packet);
            assert_eq!(short, Err(CaptureFault::NoRoom));
            for cut in 12..written {
                assert_eq!(
                    pcapng::body(&place[..cut], head),
                    Err(CaptureFault::TooShort)
                );
            }
        }
    }
}

#[test]
fn a_simple_packet_is_cut_by_the_snap_length() {
    for order in ORDERS {
        let mut body = order.bytes_u32(10).to_vec();
        body.extend_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0]);
        let whole = pcapng::parse_simple(&body, order, 0).unwrap();
        assert_eq!(
            (whole.bytes.len(), whole.original_len, whole.ticks),
            (10, 10, None)
        );
        let snapped = pcapng::parse_simple(&body, order, 4).unwrap();
        assert_eq!(
            (snapped.bytes, snapped.original_len),
            (&[1, 2, 3, 4][..], 10)
        );
        let lie = pcapng::parse_simple(&body[..8], order, 0);
        assert_eq!(lie, Err(CaptureFault::CapturedLength));
    }
}

#[test]
fn an_obsolete_packet_has_a_short_interface() {
    let order = ByteOrder::Big;
    let body = [
        0, 3, 0xff, 0xff, // interface 3, drops unknown
        0, 0, 0, 1, 0, 0, 0, 2, // ticks
        0, 0, 0, 2, 0, 0, 0, 60, // captured, original
        0xaa, 0xbb, 0, 0,
    ];
    let packet = pcapng::parse_obsolete(&body, order).unwrap();
    assert_eq!((packet.interface, packet.ticks), (3, Some(1 << 32 | 2)));
    assert_eq!((packet.bytes, packet.original_len), (&[0xaa, 0xbb][..], 60));
}

#[test]
fn block_lengths_that_lie_are_refused() {
    let order = ByteOrder::Little;
    let bytes = block(99, order, &[0; 8]);
    for wrong in [0_u32, 4, 8, 11, 13, 14, 15, 21] {
        let mut bytes = bytes.clone();
        bytes[4..8].copy_from_slice(&wrong.to_le_bytes());
        assert_eq!(
            BlockHead::parse(&bytes, order),
            Err(CaptureFault::BlockLength),
            "{wrong}"
        );
    }
    let mut bytes = bytes;
    bytes[16] = 24;
    let head = BlockHead::parse(&bytes, order).unwrap();
    assert_eq!(pcapng::body(&bytes, head), Err(CaptureFault::BlockLength));
}

#[test]
fn options_end_at_their_end_or_at_the_blocks() {
    let order = ByteOrder::Little;
    let bytes = [
        9, 0, 1, 0, 6, 0, 0, 0, 2, 0, 2, 0, b'e', b't', 0, 0, 0, 0, 0, 0, 9, 9,
    ];
    let options: Vec<_> = Options::new(&bytes, order).map(Result::unwrap).collect();
    assert_eq!(options.len(), 2);
    assert_eq!((options[1].code, options[1].value), (2, &b"et"[..]));
    // Without an end mark, and the last one without its padding.
    assert_eq!(
        Options::new(&bytes[..14], order)
            .filter(Result::is_ok)
            .count(),
        2
    );
    // An option that reaches beyond its block is named once, and the walk is over.
    let walked: Vec<_> = Options::new(&bytes[..13], order).collect();
    assert_eq!(walked.last(), Some(&Err(CaptureFault::OptionLength)));
    assert_eq!(walked.len(), 2);
}

#[test]
fn faults_have_sentences_of_their_own() {
    for (index, fault) in CaptureFault::ALL.iter().enumerate() {
        assert!(fault.to_string().starts_with("the capture "));
        assert!(
            !CaptureFault::ALL[..index]
                .iter()
                .any(|f| f.sentence() == fault.sentence())
        );
    }
}

/// Any bytes: no parser panics, and none returns more bytes than it was given. Small inputs with
/// every value of the bytes that steer are enumerated; long ones come from a seeded generator.
#[test]
fn any_bytes_never_panic() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..20_000_usize {
        let mut bytes = [0_u8; 96];
        for byte in &mut bytes {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Small values are the interesting ones: lengths and kinds.
            *byte = if state & 0x300 == 0 {
                (state >> 16) as u8
            } else {
                (state >> 16) as u8 & 7
            };
        }
        let bytes = &bytes[..round % 97];
        for order in ORDERS {
            parse_everything(bytes, order);
        }
    }
}

fn parse_everything(bytes: &[u8], order: ByteOrder) {
    let _ = Container::detect(bytes);
    let _ = FileHeader::parse(bytes);
    let _ = RecordHeader::parse(bytes, order, Resolution::Micro);
    if let Ok(head) = BlockHead::parse(bytes, order) {
        let _ = pcapng::body(bytes, head);
    }
    let _ = SectionHeader::parse(bytes, order);
    let _ = InterfaceDescription::parse(bytes, order);
    assert!(Options::new(bytes, order).count() <= bytes.len() / 4 + 1);
    let packets = [
        pcapng::parse_enhanced(bytes, order),
        pcapng::parse_obsolete(bytes, order),
        pcapng::parse_simple(bytes, order, 0),
    ];
    for packet in packets.into_iter().flatten() {
        assert!(packet.bytes.len() <= bytes.len());
    }
}
