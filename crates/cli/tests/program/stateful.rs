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

/// Both conversations of the captures go on when they end, and each line says who began.
#[test]
fn conversations_are_written_down() {
    let place = place();
    let words = "bridge pcap:in=inside.pcap pcap:in=outside.pcap --stateful allow-new=first,second \
                 --flow-log flows.jsonl --json";
    let report = place.run(words).ended(0).json();
    let counts = &report["conversations"];
    let log = String::from_utf8(place.read("flows.jsonl")).expect("text");
    let lines: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(counts["records"], lines.len());
    assert_eq!(counts["records_lost"], 0);
    assert_eq!(counts["begun"], lines.len());
    let ours = lines.iter().find(|line| line["src"] == CLIENT);
    let ours = ours.unwrap_or_else(|| panic!("{CLIENT} began one:\n{log}"));
    assert_eq!(ours["dst"], SERVER);
    assert_eq!(
        (&ours["event"], &ours["protocol"]),
        (&"stopped".into(), &"udp".into())
    );
    assert_eq!(ours["src_frames"], 1);
    assert_eq!(ours["port"], "pcap:in=inside.pcap");
}

/// A FIFO without a reader once kept a bridge from starting, and from ending.
#[test]
fn a_log_that_nobody_reads_keeps_nobody_waiting() {
    let place = place();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("fifo"), mode).expect("a FIFO");
    let ran = place.run(
        "bridge pcap:in=inside.pcap pcap:in=outside.pcap --stateful allow-new=first,second \
         --flow-log fifo --json",
    );
    let ran = ran.ended(0);
    let records = ran.json()["conversations"]["records"].to_string();
    let part = format!("(nothing reads it): {records} of {records} lines are missing");
    assert!(ran.stderr.contains(&part), "no '{part}' in\n{}", ran.stderr);
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let place = place();
    for (words, part) in [
        ("--stateful allow-new=eth7", "no port is called 'eth7'"),
        ("--stateful first", "allow-new=PORT"),
        ("--flows 10", "--stateful"),
        ("--stateful allow-new=first --flows 1G", "choose fewer"),
        (
            "--stateful allow-new=first --flow-log - --json",
            "standard output",
        ),
        (
            "--stateful allow-new=first --flow-log no/such/folder",
            "cannot be opened",
        ),
    ] {
        let ran = place.run(&format!("bridge pcap:in=inside.pcap null: {words}"));
        let ran = ran.ended(2);
        let said = ran.complaints();
        assert!(said.contains(part), "no '{part}' in\n{said}");
    }
}
