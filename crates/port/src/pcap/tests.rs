//! Captures of every kind: what is read is what was written, whole or cut anywhere, and any bytes
//! do no harm.

mod captures;

use proptest::prelude::*;
use wire::capture::pcap::{FileHeader, RecordHeader, Resolution};
use wire::capture::pcapng::{self, InterfaceDescription, SectionHeader};
use wire::capture::{ByteOrder, LinkType};

use super::*;
use captures::*;

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

/// Cuts a capture after every byte: exactly the frames that are whole come out, and a warning
/// unless the cut is between two records.
fn check_every_cut(bytes: &[u8], ends: &[usize], frames: &[Owned], clean: &[usize]) {
    for cut in 0..bytes.len() {
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        match reader(&bytes[..cut]) {
            Err(error) => {
                assert_eq!(
                    (whole, error.kind()),
                    (0, PortErrorKind::NotACapture),
                    "{cut}"
                );
            }
            Ok(mut reader) => {
                assert_eq!(read_on(&mut reader), frames[..whole], "cut at {cut}");
                let warned = reader.warnings();
                assert_eq!(
                    warned.is_empty(),
                    clean.contains(&cut),
                    "cut at {cut}: {warned:?}"
                );
                assert!(
                    warned.iter().all(|text| text.contains("is cut off")),
                    "{warned:?}"
                );
            }
        }
    }
}

#[test]
fn a_pcap_cut_anywhere_gives_what_is_whole() {
    for order in ORDERS {
        let (bytes, ends) = pcap_bytes(order, Resolution::Nano, &frames());
        check_every_cut(&bytes, &ends, &frames(), &[&[24], &ends[..]].concat());
    }
}

#[test]
fn a_pcapng_cut_anywhere_gives_what_is_whole() {
    for order in ORDERS {
        let (bytes, ends) = pcapng_bytes(order, &frames());
        // Between blocks, those passed over included.
        let described = 28 + InterfaceDescription::BYTES;
        let mut clean = vec![28, described, described + 52];
        clean.extend(ends.iter().flat_map(|&end| [end, end + 52]));
        check_every_cut(&bytes, &ends, &frames(), &clean);
    }
}

#[test]
fn a_gzip_cut_anywhere_invents_nothing() {
    let (bytes, _) = pcap_bytes(ByteOrder::Little, Resolution::Nano, &frames());
    let packed = gzip(&bytes);
    assert_eq!(read_all(&packed), (frames(), vec![]));
    assert_eq!(
        read_all(&[gzip(&bytes[..100]), gzip(&bytes[100..])].concat()).0,
        frames()
    );
    for cut in 0..packed.len() {
        if let Ok(mut reader) = reader(&packed[..cut]) {
            let read = read_on(&mut reader);
            assert_eq!(read, frames()[..read.len()]);
            assert!(!reader.warnings().is_empty(), "cut at {cut} is told");
        }
    }
    let mut bent = packed.clone();
    let at = bent.len() - 6; // in the checksum
    bent[at] ^= 1;
    let mut reader = reader(&bent).unwrap();
    read_on(&mut reader);
    let failure = reader.failure().unwrap();
    assert_eq!(failure.kind(), PortErrorKind::Read);
}

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

#[test]
fn what_is_no_capture_is_refused_with_a_reason() {
    for (bytes, expect) in [
        (&b""[..], "is empty"),
        (b"\x7fELF\x02\x01", "does not begin like a pcap"),
        (b"abc", "ends within a record"),
        (b"\x28\xb5\x2f\xfd rest", "compressed with zstd"),
        (b"\xfd7zXZ\0", "compressed with xz"),
        (b"\x34\xcd\xb2\xa1\x02\0\x04\0", "modified kind"),
        (
            b"\xd4\xc3\xb2\xa1\x09\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0",
            "version",
        ),
    ] {
        match reader(bytes) {
            Ok(_) => panic!("{bytes:?} was taken"),
            Err(error) => {
                assert_eq!(error.kind(), PortErrorKind::NotACapture);
                let sentence = error.to_string();
                assert!(
                    sentence.contains("test.pcap") && sentence.contains(expect),
                    "{sentence}"
                );
            }
        }
    }
}

#[test]
fn hostile_lengths_take_no_memory_and_end_the_capture() {
    let (good, _) = pcap_bytes(ByteOrder::Little, Resolution::Nano, &frames());
    let mut bytes = good.clone();
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 60, 0, 0, 0]);
    let (read, warnings) = read_all(&bytes);
    assert_eq!(read, frames());
    assert!(warnings[0].contains("is damaged at byte"), "{warnings:?}");

    let order = ByteOrder::Little;
    let (good, _) = pcapng_bytes(order, &frames());
    for kind in [pcapng::ENHANCED_PACKET, pcapng::INTERFACE_DESCRIPTION] {
        let tail = [order.bytes_u32(kind), order.bytes_u32(0xffff_fff0), [0; 4]].concat();
        let (read, warnings) = read_all(&[&good[..], &tail].concat());
        assert_eq!(read, frames());
        assert!(
            warnings[0].contains("length cannot be right"),
            "{warnings:?}"
        );
    }
    // An unknown block of four gigabytes is passed over as far as there is something.
    let tail = [order.bytes_u32(77), order.bytes_u32(0xffff_fff0), [0; 4]].concat();
    let (read, warnings) = read_all(&[&good[..], &tail].concat());
    assert_eq!(read, frames());
    assert!(warnings[0].contains("is cut off"), "{warnings:?}");
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
                Step::Ended => break,
            }
        }
        assert_eq!(read, frames());
        assert!(waits > 10 && reader.warnings().is_empty());
    }
}

#[test]
fn what_is_written_is_read_again() {
    for format in [Format::Pcap, Format::Pcapng] {
        assert_eq!(
            read_all(&write_all(format, &frames()).0),
            (frames(), vec![])
        );
        // Across many flushes.
        let many: Vec<Owned> = frames().into_iter().cycle().take(20_000).collect();
        assert_eq!(read_all(&write_all(format, &many).0).0, many);
    }
    assert_eq!(
        read_all(&write_all(Format::PcapMicro, &frames()).0).0,
        micro(&frames())
    );
}

#[test]
fn what_is_packed_is_a_whole_gzip_file_of_the_same_bytes() {
    for format in [Format::Pcap, Format::Pcapng] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gz");
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = CaptureWriter::gzip("a.gz", Box::new(file), format);
        for (time_ns, original_len, bytes) in &frames() {
            assert!(writer.write(*time_ns, *original_len, bytes));
            writer.flush();
        }
        assert_eq!(writer.finish().unwrap(), Vec::<String>::new());
        assert_eq!(writer.finish().unwrap(), Vec::<String>::new());
        let packed = std::fs::read(&path).unwrap();
        assert_eq!(read_all(&packed), (frames(), vec![]));
    }
}

#[test]
fn times_after_2106_are_told_in_pcap_and_kept_in_pcapng() {
    let late: Vec<Owned> = vec![(u64::MAX, 1, vec![1])];
    let (_, warnings) = write_all(Format::Pcap, &late);
    assert!(warnings[0].contains("1 frames of out are later than the year 2106"));
    let (bytes, warnings) = write_all(Format::Pcapng, &late);
    assert_eq!((read_all(&bytes).0, warnings.len()), (late, 0));
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Any bytes behind any beginning: no panic, an end, and no more bytes out than in.
    #[test]
    fn any_bytes_do_no_harm(
        start in 0..4_usize,
        bytes in prop::collection::vec(
            prop_oneof![Just(0_u8), Just(1), Just(6), any::<u8>()],
            0..400,
        ),
    ) {
        let (little, big) = (ByteOrder::Little, ByteOrder::Big);
        let start = match start {
            0 => Vec::new(),
            1 => pcap_bytes(big, Resolution::Micro, &[]).0,
            2 => pcapng_bytes(little, &[]).0,
            _ => pcapng_bytes(big, &frames()[..1]).0,
        };
        let bytes = [start, bytes].concat();
        if let Ok(mut reader) = reader(&bytes) {
            let out: usize = read_on(&mut reader).iter().map(|frame| frame.2.len()).sum();
            prop_assert!(out <= bytes.len());
        }
    }

    /// One byte changed anywhere in a good capture.
    #[test]
    fn a_changed_byte_does_no_harm(at in 0..700_usize, to: u8, ng: bool) {
        let (mut bytes, _) = if ng {
            pcapng_bytes(ByteOrder::Little, &frames())
        } else {
            pcap_bytes(ByteOrder::Little, Resolution::Nano, &frames())
        };
        let at = at % bytes.len();
        bytes[at] = to;
        if let Ok(mut reader) = reader(&bytes) {
            let read = read_on(&mut reader);
            prop_assert!(read.len() <= 6, "{} frames of five", read.len());
        }
    }

    #[test]
    fn any_frames_come_back(
        frames in prop::collection::vec(
            (
                0..4_294_967_295_999_999_999_u64,
                any::<u32>(),
                prop::collection::vec(any::<u8>(), 0..200),
            ),
            0..20,
        ),
    ) {
        for format in [Format::Pcap, Format::Pcapng] {
            prop_assert_eq!(&read_all(&write_all(format, &frames).0).0, &frames);
        }
    }
}
