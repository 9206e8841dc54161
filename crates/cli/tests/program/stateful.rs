//! A bridge that remembers conversations, between two captures.

use super::Place;
use super::capture::{arp, frames, pcap, udp};

const CLIENT: &str = "10.0.0.1";
const SERVER: &str = "198.51.100.1";

/// The answer to [`udp`]: its ports the other way round.
fn answer(src: &str, dst: &str) -> Vec<u8> {
    let mut frame = udp(src, dst);
    frame[34..38].rotate_left(2);
    frame
}

fn place() -> Place {
    let place = Place::new();
    let inside = [udp(CLIENT, SERVER), arp()];
    let outside = [
        answer(SERVER, CLIENT),
        udp(SERVER, CLIENT),
        answer("198.51.100.2", CLIENT),
        arp(),
    ];
    place.write("inside.pcap", pcap(&inside));
    place.write("outside.pcap", pcap(&outside));
    place
}

#[test]
fn answers_pass_and_strangers_do_not() {
    let place = place();
    let ports = "pcap:in=inside.pcap,out=to-inside.pcap pcap:in=outside.pcap,out=to-outside.pcap";
    let words = format!("bridge {ports} --stateful allow-new=first --flows 1000 --json");
    let json = place.run(&words).ended(0).json();
    assert_eq!(
        json["frames"]["dropped"].to_string(),
        r#"{"not_established":2}"#
    );
    assert_eq!(json["balanced"], true);
    let passed = [answer(SERVER, CLIENT), arp()];
    assert_eq!(frames(&place.read("to-inside.pcap")), passed);
    let passed = [udp(CLIENT, SERVER), arp()];
    assert_eq!(frames(&place.read("to-outside.pcap")), passed);
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let place = place();
    for (words, part) in [
        ("--stateful allow-new=eth7", "no port is called 'eth7'"),
        ("--stateful first", "allow-new=PORT"),
        ("--flows 10", "--stateful"),
        ("--stateful allow-new=first --flows 1G", "choose fewer"),
        ("--stateful allow-new=first --workers 2", "one worker"),
    ] {
        let ran = place.run(&format!("bridge pcap:in=inside.pcap null: {words}"));
        let ran = ran.ended(2);
        let said = ran.complaints();
        assert!(said.contains(part), "no '{part}' in\n{said}");
    }
}
