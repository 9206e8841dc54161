//! What the exit code of a bridge says of its captures.

use super::Place;
use super::capture::{mixed, pcap};

/// A capture of which nothing can be read is exit code 2, whatever is wrong with it; one that
/// breaks off is 1, and what stands before is bridged; one that ends where it may is 0.
#[test]
fn captures_that_cannot_be_read_or_break_off() {
    let place = Place::new();
    let whole = pcap(&mixed());
    let first = 24 + 16 + 60;
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    // A section, and a packet of an interface that was not described.
    let mut section = vec![
        0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
    ];
    section.extend([[0xff; 8].as_slice(), &[28, 0, 0, 0]].concat());
    let mut packet = vec![0_u8; 32];
    (packet[0], packet[4], packet[28]) = (6, 32, 32);
    let stray = [&section[..], &packet].concat();
    for (name, bytes, code, frames) in [
        ("empty", vec![], 2, 0),
        ("text", b"not a capture at all".to_vec(), 2, 0),
        ("head-cut", whole[..10].to_vec(), 2, 0),
        ("link-type", with(20, &[0x0f, 0x27]), 2, 0),
        ("record-head-cut", whole[..30].to_vec(), 2, 0),
        ("record-cut", whole[..60].to_vec(), 2, 0),
        ("first-too-long", with(24 + 8, &[0xff; 4]), 2, 0),
        ("section-cut", section[..20].to_vec(), 2, 0),
        ("no-interface", stray, 2, 0),
        ("cut", whole[..first + 20].to_vec(), 1, 1),
        ("second-too-long", with(first + 8, &[0xff; 4]), 1, 1),
        ("no-records", whole[..24].to_vec(), 0, 0),
        ("section-alone", section, 0, 0),
        ("one", whole[..first].to_vec(), 0, 1),
        ("whole", whole.clone(), 0, 6),
    ] {
        place.write(name, bytes);
        let ran = place.run(&format!(
            "bridge pcap:in={name} pcap:out=o.pcap,format=pcap"
        ));
        let ran = ran.ended(code);
        let named = ran.stderr.contains(name);
        assert!(named || code == 0, "{name}: {}", ran.stderr);
        if place.path("o.pcap").exists() {
            assert_eq!(
                super::capture::frames(&place.read("o.pcap")).len(),
                frames,
                "{name}"
            );
        }
        let _ = std::fs::remove_file(place.path("o.pcap"));
    }
}
