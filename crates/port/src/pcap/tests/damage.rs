//! Captures that are cut anywhere or damaged, and any bytes: no harm, and a reason.

use proptest::prelude::*;
use wire::capture::ByteOrder;
use wire::capture::pcap::Resolution;
use wire::capture::pcapng::{self, InterfaceDescription};

use super::captures::*;
use crate::PortErrorKind;

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
fn what_is_no_capture_is_refused_with_a_reason() {
    for (bytes, expect) in [
        (&b""[..], "is empty"),
        (b"\x7fELF\x02\x01", "does not begin like a pcap"),
        (b"abc", "ends within its file header"),
        (b"\x28\xb5\x2f\xfd rest", "compressed with zstd"),
        (b"\xfd7zXZ\0", "compressed with xz"),
        (b"PK\x03\x04", "compressed with zip"),
        (b"7z\xbc\xaf\x27\x1c", "compressed with 7-Zip"),
        (b"\x1f\x9d\x90", "compressed with compress"),
        (
            b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0",
            "ends within its file header",
        ),
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
fn zeros_behind_gzip_are_nothing_and_other_bytes_are_told() {
    let (bytes, _) = pcap_bytes(ByteOrder::Little, Resolution::Nano, &frames());
    let packed = gzip(&bytes);
    for (behind, told) in [
        (&b""[..], false),
        (&[0; 10_240], false),
        (b"junk", true),
        (b"\0x", true),
    ] {
        let (read, warnings) = read_all(&[&packed[..], behind].concat());
        assert_eq!(
            (read, warnings.len()),
            (frames(), usize::from(told)),
            "{warnings:?}"
        );
        assert!(
            !told || warnings[0].contains("that are no gzip"),
            "{warnings:?}"
        );
    }
}

/// What `cat a.pcap b.pcap` and `cat a.pcap.gz b.pcap.gz` make: the second header is no record.
#[test]
fn a_second_capture_behind_the_first_is_told() {
    for order in ORDERS {
        for resolution in [Resolution::Micro, Resolution::Nano] {
            let (bytes, _) = pcap_bytes(order, resolution, &frames());
            let twice = [&bytes[..], &bytes].concat();
            let packed = [gzip(&bytes), gzip(&bytes)].concat();
            for joined in [twice, packed] {
                let (read, warnings) = read_all(&joined);
                assert_eq!(read.len(), frames().len());
                assert!(
                    warnings[0].contains("join them with mergecap"),
                    "{warnings:?}"
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
}
