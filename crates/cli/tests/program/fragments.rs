//! Fragments through a bridge that remembers flows, between two captures.

use super::Place;
use super::capture::{frames, pcap};

/// A fragment of 16 bytes behind so many others of UDP from 10.0.0.1 to 198.51.100.1.
fn piece(nth: u8, last: bool, identification: u8) -> Vec<u8> {
    let mut frame = vec![0; 60];
    frame[12] = 8;
    frame[14] = 0x45;
    frame[17] = 36;
    frame[19] = identification;
    frame[20] = if last { 0 } else { 0x20 };
    frame[21] = 2 * nth;
    (frame[22], frame[23]) = (64, 17);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 198, 51, 100, 1]);
    if nth == 0 {
        frame[34..42].copy_from_slice(&[16, 0, 0, 53, 0, 48, 0, 0]);
    }
    frame
}

fn place() -> Place {
    let place = Place::new();
    let came = [
        piece(2, true, 1),
        piece(1, false, 1),
        piece(0, false, 1),
        // Whose first never comes.
        piece(1, false, 2),
        piece(0, false, 3),
        piece(0, false, 3),
    ];
    // All recorded in one second: time goes by the records, and fragments wait for two.
    let mut capture = pcap(&came);
    for record in capture[24..].chunks_mut(16 + 60) {
        record[..4].copy_from_slice(&1_700_000_000_u32.to_le_bytes());
    }
    place.write("inside.pcap", capture);
    place
}

const BRIDGE: &str = "bridge pcap:in=inside.pcap pcap:out=outside.pcap --stateful allow-new=first";

#[test]
fn what_comes_before_the_first_waits_for_it() {
    let place = place();
    for workers in [1, 2] {
        let words = format!("{BRIDGE} --workers {workers} --json");
        let json = place.run(&words).ended(0).json();
        let dropped = json["frames"]["dropped"].to_string();
        assert_eq!(dropped, r#"{"fragment_duplicate":1,"shutdown":1}"#);
        assert_eq!(json["balanced"], true);
        let counted = &json["fragments"];
        let counted = ["begun", "complete", "duplicates"].map(|name| &counted[name]);
        assert_eq!(counted, [3, 1, 1], "{workers} workers");
        let passed = [
            piece(2, true, 1),
            piece(1, false, 1),
            piece(0, false, 1),
            piece(0, false, 3),
        ];
        // Packets of several workers have no order between them.
        let mut left = frames(&place.read("outside.pcap"));
        left.sort_by_key(|frame| frame[19]);
        assert_eq!(left, passed, "{workers} workers");
    }
}

/// A first fragment of UDP over IPv6 behind another fragment header, whose packet goes on or not.
fn nested(more: u8) -> Vec<u8> {
    let mut frame = vec![0; 86];
    (frame[12], frame[13]) = (0x86, 0xDD);
    (frame[14], frame[19], frame[20], frame[21]) = (0x60, 32, 44, 64);
    frame[22..26].copy_from_slice(&[0x2A, 0x0E, 0, 1]);
    frame[38..42].copy_from_slice(&[0x2A, 0x0E, 0, 2]);
    frame[54..62].copy_from_slice(&[44, 0, 0, more, 0, 0, 0, 7]);
    frame[62..70].copy_from_slice(&[17, 0, 0, 1, 0, 0, 0, 8]);
    frame[70..78].copy_from_slice(&[16, 0, 0, 53, 0, 48, 0, 1]);
    frame
}

/// It passed, as a first fragment without others, and by several workers on another way.
#[test]
fn a_fragment_of_a_fragment_is_dropped_by_any_number_of_workers() {
    let place = Place::new();
    place.write("inside.pcap", pcap(&[nested(1), nested(0)]));
    for workers in [1, 2] {
        let words = format!("{BRIDGE} --workers {workers} --json");
        let json = place.run(&words).ended(0).json();
        let dropped = json["frames"]["dropped"].to_string();
        assert_eq!(dropped, r#"{"fragment_unknown":2}"#, "{workers} workers");
        assert_eq!(json["balanced"], true);
    }
}

#[test]
fn nothing_waits_where_that_is_off() {
    let place = place();
    let ran = place.run(&format!("{BRIDGE} --fragments off --json"));
    let json = ran.ended(0).json();
    let dropped = json["frames"]["dropped"].to_string();
    assert_eq!(dropped, r#"{"fragment_unknown":3}"#);
    assert_eq!(json["balanced"], true);
}

#[test]
fn bounds_are_shown_and_wrong_ones_refused() {
    let place = place();
    let words = "--fragments held=2048,timeout=500 --dry-run";
    let said = place.run(&format!("{BRIDGE} {words}")).ended(0);
    let said = said.text();
    assert!(said.contains("2,048 may wait 0.5 s"), "{said}");
    for (words, part) in [
        ("--fragments held=0", "zero does nothing"),
        ("--fragments pieces=9000", "choose 1 to 8192"),
        ("--fragments some", "write for instance"),
    ] {
        let ran = place.run(&format!("{BRIDGE} {words}")).ended(2);
        let said = ran.complaints();
        assert!(said.contains(part), "no '{part}' in\n{said}");
    }
}
