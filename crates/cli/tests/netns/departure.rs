//! A generator never calls a success what did not leave: exit code 1 and no result, wherever the
//! frames were kept.

use std::process::Output;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::bench::{Bench, Side, await_that};

/// Which kind of port sends.
const KINDS: [&str; 2] = ["packet", "xdp"];

/// The report of a run that must not be called a success.
#[track_caller]
fn without_result(ran: &Output, what: &str) -> Value {
    let code = ran.status.code().unwrap_or(-1);
    let said = String::from_utf8_lossy(&ran.stderr);
    judged((code, &ran.stdout, &said), what)
}

#[track_caller]
fn judged((code, report, said): (i32, &[u8], &str), what: &str) -> Value {
    assert_eq!(code, 1, "{what}: {said}");
    let report: Value = serde_json::from_slice(report).expect("a JSON report");
    assert!(report["no_result"].is_string(), "{what}: {report}");
    assert_eq!(report["balanced"], true, "{what}: {report}");
    report
}

fn says(report: &Value) -> &str {
    report["no_result"].as_str().unwrap_or_default()
}

#[test]
fn frames_longer_than_the_mtu_are_no_result() {
    let Some(bench) = Bench::pair() else { return };
    bench.expect(Side::Middle, "ip link set x mtu 1400");
    let table = [
        "--size imix --rate 1kpps --count 300",
        "--size 1518 --rate 1kpps --count 30",
        // Without a number and a rate, too: the share of them is far from small.
        "--size imix --duration 300ms",
    ];
    for kind in KINDS {
        for frames in table {
            for sink in ["", "--sink packet:y"] {
                let words = format!("gen {kind}:x {sink} {frames} --no-trial --json -q");
                let report = without_result(&bench.run(&words), &words);
                let departure = &report["departure"];
                assert!(
                    departure["not_left"].as_u64() > Some(0),
                    "{words}: {report}"
                );
                assert_eq!(
                    departure["causes"][0]["name"], "tx_refused",
                    "{words}: {report}"
                );
                assert!(says(&report).contains("MTU"), "{words}: {report}");
            }
        }
    }
}

/// Mean size and bits are those of what left, too.
#[test]
fn bytes_are_those_of_frames_that_left() {
    for kind in KINDS {
        let Some(bench) = Bench::pair() else { return };
        bench.expect(Side::Middle, "ip link set x mtu 1000");
        let words = format!(
            "gen {kind}:x --size 64:1+1400:1 --rate 1kpps --count 300 --no-trial --answer off \
             --json -q"
        );
        let report = without_result(&bench.run(&words), &words);
        let sent = &report["sent"];
        let frames = bench.counter(Side::Middle, "x", "tx", "packets");
        let bytes = bench.counter(Side::Middle, "x", "tx", "bytes");
        assert_eq!(sent["frames"], frames, "{kind}: {report}");
        assert!(frames > 0 && frames < 300, "{kind}: {report}");
        // With the FCS, which no interface counts.
        assert_eq!(sent["bytes"], bytes + 4 * frames, "{kind}: {report}");
        assert_eq!(bytes, 60 * frames, "{kind}: {report}");
    }
}

#[test]
fn frames_without_a_carrier_do_not_leave() {
    let Some(bench) = Bench::pair() else { return };
    bench.expect(Side::Middle, "ip link set y down");
    for kind in KINDS {
        let words = format!("gen {kind}:x --rate 100pps --count 20 --no-trial --json -q");
        let report = without_result(&bench.run(&words), &words);
        assert!(
            says(&report).contains("without a carrier all the time"),
            "{report}"
        );
        let loud = bench.run(&words.replace(" -q", ""));
        let said = String::from_utf8_lossy(&loud.stderr);
        let warning = format!("{kind}:x is without a carrier 5 s after it was opened");
        assert!(said.contains(&warning), "{said}");
        let place = &report["ledger"]["places"][0];
        assert_eq!(place["left_interface"], 0, "{report}");
    }
}

/// A NIC that is reset when an offload is switched has its carrier a second later or two.
#[test]
fn a_carrier_that_comes_late_is_awaited_before_the_first_frame() {
    let Some(bench) = Bench::pair() else { return };
    for kind in KINDS {
        bench.expect(Side::Middle, "ip link set y down");
        let words = format!("gen {kind}:x --rate 100pps --count 20 --no-trial --json -q");
        let run = bench.start(&words);
        // Long enough for a start, and shorter than what it waits for.
        sleep(Duration::from_millis(1500));
        let before = bench.counter(Side::Middle, "y", "rx", "packets");
        bench.expect(Side::Middle, "ip link set y up");
        let (_, report, said) = run.ended();
        assert!(!said.contains("is without a carrier 5 s"), "{said}");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        assert!(report["departure"]["link_down"].is_null(), "{report}");
        let came = bench.counter(Side::Middle, "y", "rx", "packets") - before;
        assert!(came >= 20, "{came} of 20 came: {report}");
    }
}

#[test]
fn frames_for_an_interface_that_is_down_come_to_an_end() {
    let Some(bench) = Bench::pair() else { return };
    bench.expect(Side::Middle, "ip link set x down");
    for kind in KINDS {
        // Neither a count nor Ctrl-C would end these where nothing leaves.
        for pace in ["--count 20", ""] {
            let words = format!("gen {kind}:x --rate 100pps {pace} --no-trial --json -q");
            let report = without_result(&bench.run(&words), &words);
            assert!(
                says(&report).contains("ip link set dev x up"),
                "{words}: {report}"
            );
            assert_eq!(
                report["departure"]["link_down"]["state"], "down",
                "{report}"
            );
        }
    }
}

/// Runs the program and does something to the interfaces when it has begun to send by `by`.
#[track_caller]
fn disturbed(bench: &Bench, by: &str, words: &str, disturb: &str) -> Value {
    let run = bench.start(words);
    await_that("it sends", || bench.promiscuity(by).is_some());
    await_that("it sends", || {
        bench.counter(Side::Middle, by, SENT[usize::from(by != "x")], "packets") > 20
    });
    bench.expect(Side::Middle, disturb);
    let (code, report, said) = run.ended();
    judged((code, report.as_bytes(), &said), words)
}

/// What a test frame is to the interface: of a tap it is one that came.
const SENT: [&str; 2] = ["tx", "rx"];

#[test]
fn an_interface_that_goes_in_the_middle_leaves_no_result() {
    let changes = [
        ("ip link del dev x", "gone"),
        ("ip link set x down", "down"),
        ("ip link set y down", "without a carrier"),
    ];
    let table = KINDS.map(|kind| changes.map(|change| (kind, "", change)));
    let with_sink = ("packet", "--sink packet:y", changes[0]);
    for (kind, sink, (disturb, state)) in table.into_iter().flatten().chain([with_sink]) {
        let Some(bench) = Bench::pair() else { return };
        let words = format!("gen {kind}:x {sink} --rate 500pps --duration 4s --no-trial --json -q");
        let report = disturbed(&bench, "x", &words, disturb);
        let down = &report["departure"]["link_down"];
        assert_eq!(down["state"], state, "{words} {disturb}: {report}");
        assert!(down["since_seconds"].as_f64() > Some(0.0), "{report}");
        if sink.is_empty() && state == "gone" {
            // What lay in rings when the interface went did not leave, and the link explains it.
            let frames = |value: &Value| value.as_u64().unwrap_or(0);
            let left = frames(&report["sent"]["frames"]);
            let kept = frames(&report["departure"]["not_left"]);
            assert_eq!(
                left + kept,
                frames(&report["frames"]["originated"]),
                "{report}"
            );
            for cause in report["departure"]["causes"].as_array().expect("causes") {
                assert_eq!(cause["name"], "link_down", "{report}");
            }
        }
    }
}

#[test]
fn a_tap_that_is_set_down_leaves_no_result() {
    let Some(bench) = Bench::apart() else { return };
    let words = "gen tap:host0 --rate 500pps --duration 4s --no-trial --json -q";
    let report = disturbed(&bench, "host0", words, "ip link set host0 down");
    let down = &report["departure"]["link_down"];
    assert_eq!(down["state"], "down", "{report}");
}

/// Three frames of 60, 1500 and 60 bytes.
fn capture() -> tempfile::NamedTempFile {
    let mut bytes = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(65_535_u32.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    for len in [60_u32, 1500, 60] {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xB5];
        frame.resize(len as usize, 0);
        for word in [1, 0, len, len] {
            bytes.extend(u32::to_le_bytes(word));
        }
        bytes.extend(frame);
    }
    let file = tempfile::NamedTempFile::with_suffix(".pcap").expect("a file");
    std::fs::write(file.path(), bytes).expect("a capture");
    file
}

#[test]
fn a_capture_of_which_a_frame_does_not_leave_is_not_replayed() {
    let Some(bench) = Bench::pair() else { return };
    bench.expect(Side::Middle, "ip link set x mtu 1400");
    let file = capture();
    for kind in KINDS {
        let replay = format!("gen {kind}:x --replay {}", file.path().display());
        let report = without_result(&bench.run(&format!("{replay} --json -q")), kind);
        assert_eq!(report["sent"]["frames"], 2, "{report}");
        assert_eq!(report["departure"]["not_left"], 1, "{report}");
    }
    bench.expect(Side::Middle, "ip link set x down");
    let replay = format!("gen packet:x --replay {} --json -q", file.path().display());
    without_result(&bench.run(&replay), "a replay by an interface that is down");
}

#[test]
fn a_no_drop_rate_of_frames_that_no_port_carries_is_refused() {
    let Some(bench) = Bench::pair() else { return };
    for (low, high) in [("x", "y"), ("y", "x")] {
        bench.expect(Side::Middle, &format!("ip link set {low} mtu 1400"));
        bench.expect(Side::Middle, &format!("ip link set {high} mtu 1500"));
        let said = bench.refusal("ndr --tx packet:x --rx packet:y --size 64,1518 --duration 100ms");
        assert!(said.contains("--size 1518"), "{said}");
        assert!(said.contains(&format!("packet:{low}")), "{said}");
        assert!(said.contains("1418 or less"), "{said}");
    }
}
