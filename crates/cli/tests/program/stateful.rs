//! A bridge that remembers flows, between two captures.

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

/// A capture of both directions as one side: its answers are dropped, which is said with the way
/// out, and that way works.
#[test]
fn a_capture_of_both_directions_is_named() {
    let place = Place::new();
    let (asks, answers) = (udp(CLIENT, SERVER), answer(SERVER, CLIENT));
    place.write("both.pcap", pcap(&[asks.clone(), answers.clone()]));
    place.write("inside.txt", CLIENT);
    let words = "bridge pcap:in=both.pcap pcap:out=o.pcap --stateful allow-new=first --json";
    let run = place.run(words).ended(0);
    assert_eq!(
        run.json()["frames"]["dropped"].to_string(),
        r#"{"other_side":1}"#
    );
    for part in [
        "pcap:in=both.pcap holds both directions",
        "--block-src INSIDE",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    for (side, out, sent) in [
        ("dst", "inside.pcap", asks),
        ("src", "outside.pcap", answers),
    ] {
        let split = format!("bridge pcap:in=both.pcap pcap:out={out} --block-{side} inside.txt");
        place.run(&split).ended(0);
        assert_eq!(frames(&place.read(out)), [sent], "{out}");
    }
    let ports = "pcap:in=inside.pcap,out=a.pcap pcap:in=outside.pcap,out=b.pcap";
    let words = format!("bridge {ports} --stateful allow-new=first --json");
    let run = place.run(&words).ended(0);
    assert_eq!(run.json()["frames"]["dropped"].to_string(), "{}");
    assert!(!run.stderr.contains("both directions"), "{}", run.stderr);
}

/// Seconds behind the first record of [`pcap`] instead of one behind each other.
fn at(seconds: &[u32], frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = pcap(frames);
    let mut record = 24;
    for (&seconds, frame) in seconds.iter().zip(frames) {
        let time = (1_700_000_000 + seconds).to_le_bytes();
        bytes[record..record + 4].copy_from_slice(&time);
        record += 16 + frame.len();
    }
    bytes
}

/// A flow times out by the times of the records, and two captures are one sequence.
#[test]
fn time_is_that_of_the_captures() {
    let place = Place::new();
    let asks = || udp(CLIENT, SERVER);
    let answers = || answer(SERVER, CLIENT);
    let inside = at(&[0, 7200, 7210], &[asks(), asks(), asks()]);
    // In time, two hours late, and in time again.
    let outside = at(&[1, 3600, 7201], &[answers(), answers(), answers()]);
    place.write("inside.pcap", inside);
    place.write("outside.pcap", outside);
    for workers in [1, 2] {
        let words = format!(
            "bridge pcap:in=inside.pcap,out=a.pcap pcap:in=outside.pcap,out=b.pcap --workers \
             {workers} --stateful allow-new=first --flow-log flows.jsonl --json"
        );
        let report = place.run(&words).ended(0).json();
        assert_eq!(report["balanced"], true, "{report}");
        if workers == 1 {
            let dropped = report["frames"]["dropped"].to_string();
            assert_eq!(dropped, r#"{"not_established":1}"#, "{report}");
            assert_eq!(report["flows"]["begun"], 2, "{report}");
        }
        let log = String::from_utf8(place.read("flows.jsonl")).expect("text");
        for line in log.lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
            for time in ["begun", "last", "time"] {
                let time = line[time].as_f64().expect("a time") - 1_700_000_000.0;
                assert!((-0.3..7_300.0).contains(&time), "{line}");
            }
        }
        std::fs::remove_file(place.path("flows.jsonl")).expect("a file");
    }
}

/// Both flows of the captures go on when they end, and each line says who began.
#[test]
fn flows_are_written_down() {
    let place = place();
    let words = "bridge pcap:in=inside.pcap pcap:in=outside.pcap --stateful allow-new=first,second \
                 --flow-log flows.jsonl --json";
    let report = place.run(words).ended(0).json();
    let counts = &report["flows"];
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
    let records = ran.json()["flows"]["records"].to_string();
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
