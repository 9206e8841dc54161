//! What is written is read again.

use proptest::prelude::*;

use super::captures::*;
use crate::pcap::{CaptureWriter, Format};

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

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
