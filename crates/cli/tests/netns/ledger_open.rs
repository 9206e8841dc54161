//! A ledger that does not close is a check that failed: each command that draws one ends with 1.

use serde_json::Value;

use crate::bench::Side;
use crate::ledger_drive::wire;

/// To a station that nobody is, of the ethertype for experiments.
const STRANGE: &str = "024c5200000902530000000988b5";

/// A stranger that no tap sees sends by the interface that a command sends by, so that more frames
/// leave it than anybody has a name for. It sends until the command has ended, however slowly that
/// began.
#[track_caller]
fn with_a_stranger(words: &str) -> Option<Value> {
    let bench = wire()?;
    let frame = format!("{STRANGE}{}", "00".repeat(46));
    let running = bench.linerate(Side::Middle, words);
    let stranger = bench.role(Side::Middle, &format!("send-past c {frame}"));
    let (code, report, said) = running.ended();
    drop(stranger);
    let report: Value = serde_json::from_str(&report).expect("a JSON report");
    let ledger = report
        .pointer("/ledger")
        .or(report.pointer("/sizes/0/ledger"));
    assert_eq!(code, 1, "{words}: {ledger:?}{said}");
    let told = said.contains("the ledger") && said.contains("not close");
    assert!(told && said.contains("no name"), "{words}: {said}");
    Some(report)
}

#[test]
fn gen_says_so() {
    let words =
        "gen xdp:c --sink xdp:d --rate 2kpps --duration 1500ms --json --no-trial --drain 100ms";
    let Some(report) = with_a_stranger(words) else {
        return;
    };
    assert_eq!(report["ledger"]["closes"], false, "{report}");
    assert_eq!(report["arrived"]["lost"], 0, "{report}");
    assert_eq!(report["balanced"], true, "{report}");
}

#[test]
fn a_bridge_says_so() {
    let words = "bridge xdp:c xdp:d --duration 1500ms --json";
    let Some(report) = with_a_stranger(words) else {
        return;
    };
    assert_eq!(report["ledger"]["closes"], false, "{report}");
    assert_eq!(report["balanced"], true, "{report}");
}

#[test]
fn ndr_says_so() {
    let words = "ndr --tx xdp:c --rx xdp:d --max 2kpps --duration 500ms --confirm 1 --exceed 0 \
                 --json";
    let Some(report) = with_a_stranger(words) else {
        return;
    };
    let size = &report["sizes"][0];
    assert_eq!(size["ledger"]["closes"], false, "{report}");
    let trials = size["trials"].as_array().expect("a list");
    assert!(
        trials.iter().any(|trial| trial["ledger_closes"] == false),
        "{report}"
    );
}
