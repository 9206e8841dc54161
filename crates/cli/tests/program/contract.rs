//! The names and types of the JSON report, which later tools read.

use serde_json::Value;

use super::Place;
use super::capture::{LIST, mixed, pcap};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Count,
    Number,
    Text,
    Truth,
    List,
    Object,
}

use Kind::{Count, List, Number, Object, Text, Truth};

#[track_caller]
fn check(value: &Value, fields: &[(&str, Kind)]) {
    for &(name, kind) in fields {
        let field = &value[name];
        let fits = match kind {
            Count => field.is_u64(),
            Number => field.is_number(),
            Text => field.is_string(),
            Truth => field.is_boolean(),
            List => field.is_array(),
            Object => field.is_object(),
        };
        assert!(fits, "{name} is no {kind:?}: {field}");
    }
}

const REPORT: [(&str, Kind); 11] = [
    ("version", Text),
    ("seconds", Number),
    ("frames", Object),
    ("balanced", Truth),
    ("mpps", Number),
    ("ns_per_frame", Number),
    ("workers", List),
    ("ports", List),
    ("sets", List),
    ("memory", Object),
    ("machine", Object),
];

fn check_report(json: &Value) {
    check(json, &REPORT);
    let frames = [
        "rx",
        "tx",
        "originated",
        "consumed",
        "punted",
        "held",
        "cloned",
        "handed_off",
    ];
    check(&json["frames"], &frames.map(|name| (name, Count)));
    check(&json["frames"], &[("dropped", Object)]);
    for worker in json["workers"].as_array().expect("a list") {
        let counts = ["id", "cpu", "rx", "tx", "dropped", "sleeps"];
        check(worker, &counts.map(|name| (name, Count)));
        let numbers = ["busy", "burst_mean", "cpu_seconds"];
        check(worker, &numbers.map(|name| (name, Number)));
    }
    for port in json["ports"].as_array().expect("a list") {
        let counts = [
            "id",
            "rx_frames",
            "rx_bytes",
            "tx_frames",
            "tx_bytes",
            "missed",
            "to_host",
            "unfiltered",
            "unfiltered_before",
            "shortcut",
            "missed_merged",
            "missed_too_long",
        ];
        check(port, &counts.map(|name| (name, Count)));
        check(port, &[("spec", Text), ("mode", Text), ("states", List)]);
    }
    for set in json["sets"].as_array().expect("a list") {
        let counts = ["entries", "bytes", "hits_src", "hits_dst", "would_drop"];
        check(set, &counts.map(|name| (name, Count)));
        check(set, &[("name", Text), ("action", Text)]);
    }
    check(&json["memory"], &[("pages", Text), ("bytes", Count)]);
    check(
        &json["machine"],
        &[("cpu", Text), ("kernel", Text), ("cpus", Count)],
    );
}

fn sum_of_drops(json: &Value) -> u64 {
    let dropped = json["frames"]["dropped"].as_object().expect("an object");
    dropped
        .values()
        .map(|number| number.as_u64().expect("a count"))
        .sum()
}

#[test]
fn a_bridge() {
    let place = Place::new();
    place.write("in.pcap", pcap(&mixed()));
    place.write("list.txt", LIST);
    place.write("other.txt", "203.0.113.0/24\n2001:db8::/32\n");
    let words = "bridge pcap:in=in.pcap null: --block list.txt --count other.txt --json";
    let ran = place.run(words).ended(0);
    let json = ran.json();
    check_report(&json);
    assert_eq!(ran.text().lines().count(), 1, "one object on one line");
    let frames = &json["frames"];
    let number = |name: &str| frames[name].as_u64().expect("a count");
    assert_eq!(number("rx"), number("tx") + sum_of_drops(&json));
    assert_eq!(json["balanced"], true);
    let seconds = json["seconds"].as_f64().expect("a number");
    let mpps = json["mpps"].as_f64().expect("a number");
    assert!(
        (mpps - 6.0 / seconds / 1e6).abs() < 1e-9,
        "mpps is rx / seconds / 1e6"
    );
}

#[test]
fn the_report_of_no_frames_has_numbers_too() {
    let place = Place::new();
    place.write("in.pcap", pcap(&[]));
    let json = place
        .run("bridge pcap:in=in.pcap null: --json")
        .ended(0)
        .json();
    check_report(&json);
    assert_eq!(json["ns_per_frame"], 0.0);
}

#[test]
fn a_demo() {
    let ran = Place::new()
        .run("demo --entries 10k --seconds 1 --json --seed 7")
        .ended(0);
    let json = ran.json();
    check_report(&json);
    assert_eq!(json["balanced"], true);
    assert_eq!(json["sets"][0]["entries"], 10_000);
    let demo = &json["demo"];
    check(
        demo,
        &[("entries", Count), ("generator_ns_per_frame", Number)],
    );
    let share = demo["generator_share"].as_f64().expect("a number");
    assert!((0.0..=1.0).contains(&share), "{share}");
    let (rx, dropped) = (
        json["frames"]["rx"].as_u64().expect("a count"),
        sum_of_drops(&json),
    );
    let hit = dropped as f64 / rx as f64;
    assert!(
        (0.09..0.11).contains(&hit),
        "a tenth of the frames is dropped, not {hit}"
    );
}

#[test]
fn a_set_check() {
    let place = Place::new();
    place.write("list.txt", LIST);
    let ran = place
        .run("set check list.txt --test 198.18.77.1 --json")
        .ended(0);
    let json = ran.json();
    check(
        &json,
        &[("version", Text), ("files", List), ("tests", List)],
    );
    let counts = [
        "lines",
        "bytes_read",
        "entries",
        "addresses",
        "networks",
        "ranges",
        "merged",
    ];
    let file = &json["files"][0];
    check(file, &counts.map(|name| (name, Count)));
    check(
        file,
        &["covered_v4", "bytes", "bad_lines", "warning_count"].map(|name| (name, Count)),
    );
    check(
        file,
        &["covered_v4_share", "read_seconds", "compile_seconds"].map(|name| (name, Number)),
    );
    check(
        file,
        &["name", "file", "format", "covered_v6"].map(|name| (name, Text)),
    );
    check(
        file,
        &["families", "bad", "warnings"].map(|name| (name, List)),
    );
    check(
        &json["tests"][0],
        &[("address", Text), ("count", Count), ("matches", List)],
    );
    check(
        &json["tests"][0]["matches"][0],
        &[("file", Text), ("line", Count), ("text", Text)],
    );
}
