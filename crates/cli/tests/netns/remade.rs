//! A generator sends on by an interface that was removed and made anew in mid-run, although it
//! receives nothing there: the run ends, and says what happened.

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::bench::{Bench, PATIENCE, Running, Side, await_that};

/// Frames of a run, at 1,000 a second.
const FRAMES: u64 = 4000;

/// The report of a run that must end by itself, without a result.
#[track_caller]
fn ended(mut run: Running, what: &str) -> Value {
    let begun = std::time::Instant::now();
    while !run.has_ended() {
        assert!(begun.elapsed() < PATIENCE, "{what}: it does not end");
        sleep(Duration::from_millis(20));
    }
    let (code, report, said) = run.ended();
    assert_eq!(code, 1, "{what}: {report}{said}");
    let report: Value = serde_json::from_str(&report).expect("a JSON report");
    assert_eq!(report["balanced"], true, "{what}: {report}");
    report
}

#[track_caller]
fn sent_on(report: &Value, what: &str) {
    assert!(
        !report["departure"]["link_down"].is_null(),
        "{what}: {report}"
    );
    // What was due meanwhile is late or lost; most left behind it.
    let sent = report["sent"]["frames"].as_u64();
    assert!(sent > Some(FRAMES / 2), "{what}: {report}");
}

#[test]
fn frames_leave_by_an_interface_that_was_made_anew() {
    for kind in ["packet", "xdp"] {
        // With other numbers than before, and with the same ones.
        for numbers in [["", ""], ["index 70", "index 71"]] {
            let Some(bench) = Bench::apart() else { return };
            let [x, y] = numbers;
            let make = || bench.ip(&format!("link add x {x} type veth peer name y {y}"));
            let up = |end: &str| bench.ip(&format!("link set {end} up"));
            make();
            up("x");
            up("y");
            let words = format!(
                "gen {kind}:x --sink {kind}:y --rate 1kpps --count {FRAMES} --no-trial --json -q"
            );
            let run = bench.start(&words);
            await_that("it sends", || {
                bench.counter(Side::Middle, "x", "tx", "packets") > 20
            });
            bench.ip("link del dev x");
            make();
            up("x");
            // The sender comes back to an interface without a carrier.
            sleep(Duration::from_millis(300));
            up("y");
            let what = format!("{words} {numbers:?}");
            sent_on(&ended(run, &what), &what);
        }
    }
}

#[test]
fn frames_leave_by_a_tap_that_was_removed() {
    let Some(bench) = Bench::apart() else { return };
    let words = format!("gen tap:host0 --rate 1kpps --count {FRAMES} --no-trial --json -q");
    let run = bench.start(&words);
    await_that("host0 is there", || bench.promiscuity("host0").is_some());
    await_that("it sends", || {
        bench.counter(Side::Middle, "host0", "rx", "packets") > 20
    });
    bench.ip("link del dev host0");
    sent_on(&ended(run, &words), &words);
}
