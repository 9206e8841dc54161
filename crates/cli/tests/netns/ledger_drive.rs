//! The ledger of generator and sink: what the sink lacks is what the names say, frame for frame.

use serde_json::Value;

use crate::bench::{Bench, Side};

/// A wire of its own in the middle, `c` and `d`, on which nobody else speaks.
pub(crate) fn wire() -> Option<Bench> {
    let bench = Bench::apart()?;
    bench.ip("link add name c type veth peer name d");
    for interface in ["c", "d"] {
        bench.ip(&format!("link set dev {interface} up"));
        bench.expect(Side::Middle, &format!("ethtool -K {interface} tx off"));
    }
    Some(bench)
}

fn drive(bench: &Bench, words: &str) -> Value {
    let words = format!("{words} --json --no-trial --drain 1");
    let (code, report, said) = bench.linerate(Side::Middle, &words).ended();
    // With 1 it says that frames were lost, or the rate was not reached.
    assert!(code == 0 || code == 1, "{report}{said}");
    let report: Value = serde_json::from_str(&report).expect("a JSON report");
    assert_eq!(report["balanced"], true, "{report}");
    assert_eq!(report["ledger"]["closes"], true, "{report}");
    report
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("no count: {value}"))
}

fn column(report: &Value, place: &str, name: &str) -> u64 {
    let places = report["ledger"]["places"].as_array().expect("a list");
    let mut found = places.iter().filter(|one| one["place"] == place);
    number(&found.next().expect("the place")[name])
}

/// Frames lost, less those gained, from the port that sends to the sink.
fn lost_by_name(report: &Value) -> i64 {
    let parts = report["ledger"]["differences"].as_array().expect("a list");
    let on_the_way = parts.iter().filter(|part| part["from"] != "offered");
    let signed = on_the_way.map(|part| {
        let frames = i64::try_from(number(&part["frames"])).expect("few");
        if part["adds"] == true {
            -frames
        } else {
            frames
        }
    });
    signed.sum()
}

/// What every such run must say, and what `c` and `d`, used for nothing else, must agree with.
#[track_caller]
fn must_agree(bench: &Bench, report: &Value, ports: [&str; 2]) {
    let [from, to] = ports;
    let sent = number(&report["sent"]["frames"]);
    assert!(sent > 0, "{report}");
    assert_eq!(column(report, from, "sent_by_us"), sent, "{report}");
    let left = column(report, from, "left_interface");
    assert_eq!(
        left,
        bench.counter(Side::Middle, "c", "tx", "packets"),
        "{report}"
    );
    let arrived = column(report, to, "arrived_at_interface");
    assert_eq!(
        arrived,
        bench.counter(Side::Middle, "d", "rx", "packets"),
        "{report}"
    );
    let lost = i64::try_from(number(&report["arrived"]["lost"])).expect("few");
    assert_eq!(lost, lost_by_name(report), "{report}");
    let known = column(report, to, "received_by_sink");
    assert_eq!(known + number(&report["arrived"]["lost"]), sent, "{report}");
}

/// Flat out, with rings as small as they may be: who is too slow is named.
fn flat_out(from: &str, to: &str) {
    let Some(bench) = wire() else { return };
    let words = format!("gen {from} --sink {to} --duration 0.5 --answer off");
    let report = drive(&bench, &words);
    let place = |spec: &str| spec.split(',').next().expect("a spec").to_owned();
    must_agree(&bench, &report, [&place(from), &place(to)]);
}

#[test]
fn xdp_to_xdp() {
    flat_out("xdp:c,ring=64", "xdp:d,ring=64");
}

#[test]
fn packet_to_packet() {
    flat_out("packet:c", "packet:d");
}

#[test]
fn xdp_to_packet() {
    flat_out("xdp:c", "packet:d");
}

#[test]
fn packet_to_generic_xdp() {
    flat_out("packet:c", "xdp:d,mode=generic,vlan=ignore,ring=64");
}

#[test]
fn two_workers_and_frames_that_come_back() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: there is one CPU");
        return;
    }
    let Some(bench) = wire() else { return };
    let words = "gen xdp:c,ring=64 --sink xdp:d,ring=64 --reflect --duration 0.5 --workers 2";
    let report = drive(&bench, words);
    let back = column(&report, "xdp:c", "received_by_sink");
    let gone = column(&report, "xdp:d", "forwarded");
    assert_eq!(gone, column(&report, "xdp:d", "sent_by_us"), "{report}");
    assert!(back <= gone && back > 0, "{report}");
}

#[test]
fn a_wire_that_is_too_narrow_is_told_from_a_slow_sink() {
    let Some(bench) = wire() else { return };
    bench.ip("link set dev d mtu 1000");
    let words = "gen xdp:c --sink xdp:d --size 64:1+1400:1 --count 2000 --rate 20kpps --answer off";
    let report = drive(&bench, words);
    must_agree(&bench, &report, ["xdp:c", "xdp:d"]);
    let parts = report["ledger"]["differences"].as_array().expect("a list");
    let narrow = parts.iter().find(|part| part["name"] == "longer_than_mtu");
    let narrow = narrow.unwrap_or_else(|| panic!("a name: {report}"));
    let text = bench.expect(Side::Middle, "ip -j -s link show dev c");
    let told: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        narrow["frames"], told[0]["stats64"]["tx"]["dropped"],
        "{report}"
    );
    assert!(number(&narrow["frames"]) > 500, "{report}");
}

#[test]
fn frames_that_nobody_here_sent_are_foreign() {
    let Some(bench) = wire() else { return };
    let words = "sink packet:d --duration 3 --json";
    let mut sink = bench.linerate(Side::Middle, words);
    crate::bench::await_that("the sink takes its interface", || {
        sink.must_run();
        bench.promiscuity("d") > Some(0)
    });
    let frame = format!("ffffffffffff02000000000188b5{}", "5a".repeat(46));
    bench.role_says(Side::Middle, &format!("send c {frame} 9"));
    let (code, report, said) = sink.ended();
    // With 1 the sink says that no test frame arrived: none was sent.
    assert_eq!(code, 1, "{report}{said}");
    let report: Value = serde_json::from_str(&report).expect("a JSON report");
    assert_eq!(report["balanced"], true, "{report}");
    assert_eq!(report["ledger"]["closes"], true, "{report}");
    let parts = report["ledger"]["differences"].as_array().expect("a list");
    let foreign: Vec<_> = parts
        .iter()
        .filter(|part| part["name"] == "foreign")
        .collect();
    assert_eq!(foreign.len(), 1, "{report}");
    assert_eq!(foreign[0]["frames"], 9, "{report}");
    assert_eq!(
        column(&report, "packet:d", "received_by_sink"),
        0,
        "{report}"
    );
}

/// Nobody may answer an ICMP error, and what it quotes is no test frame (RFC 1122, 3.2.2).
#[test]
fn icmp_errors_are_not_sent_back() {
    // IPv4 from 192.0.2.9, ICMP port unreachable, which quotes a datagram of 192.0.2.1.
    let quoted = "450000200000000040110000c0000201c000020900090009000c0000";
    let error = format!(
        "02000000000202000000000108004500003800000000400100\
         00c0000209c00002010303000000000000{quoted}"
    );
    let other = format!("02000000000202000000000188b5{}", "5a".repeat(46));
    for kind in ["packet", "xdp"] {
        for (frame, back) in [(&error, 0), (&other, 9)] {
            let Some(bench) = wire() else { return };
            let sink = bench.start(&format!("sink {kind}:d --reflect --answer off --json -q"));
            crate::bench::await_that("the sink takes its interface", || {
                bench.is_taken(&format!("{kind}:d"))
            });
            bench.role_says(Side::Middle, &format!("send c {frame} 9"));
            crate::bench::await_that("the frames come", || {
                bench.counter(Side::Middle, "d", "rx", "packets") >= 9
            });
            std::thread::sleep(std::time::Duration::from_millis(200));
            sink.signal(rustix::process::Signal::INT);
            let (_, report, said) = sink.ended();
            let report: Value = serde_json::from_str(&report).expect("a JSON report");
            let what = format!("{kind} {frame}: {report}{said}");
            assert_eq!(report["frames"]["tx"], back, "{what}");
            assert_eq!(report["arrived"]["corrupted"], 0, "{what}");
            assert_eq!(report["balanced"], true, "{what}");
            assert_eq!(report["ledger"]["closes"], true, "{what}");
        }
    }
}

#[test]
fn a_rate_that_is_not_reached_is_short_by_name() {
    let Some(bench) = wire() else { return };
    let report = drive(
        &bench,
        "gen packet:c --sink packet:d --rate 30Mpps --duration 0.3",
    );
    let parts = report["ledger"]["differences"].as_array().expect("a list");
    let behind = parts
        .iter()
        .find(|part| part["name"] == "behind")
        .expect("a name");
    let offered = column(&report, "packet:c", "offered");
    let sent = number(&report["sent"]["frames"]);
    // Of those behind, some left after the time was over.
    let short = number(&behind["frames"]) - number(&report["sent"]["late"]);
    assert_eq!(offered, sent + short, "{report}");
    assert_eq!(behind["frames"], report["sent"]["behind"], "{report}");
    assert!(number(&behind["frames"]) > sent, "{report}");
}
