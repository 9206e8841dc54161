//! `gen` and `sink` on `tap:` ports: the host's own stack is at the other end.

use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{Bench, Side, await_that, must_end_well};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What the generator sends, the host receives; and what the host answers comes back.
#[test]
fn a_generator_sends_to_the_host() {
    let Some(bench) = Bench::apart() else { return };
    let generator = bench.start("gen tap:host0 --rate 2kpps --no-trial --json");
    await_that("host0 is there", || {
        bench.succeeds(Side::Middle, "ip link set dev host0 up")
    });
    let captured = bench.role_says(Side::Middle, "longest host0 50");
    assert!(
        captured.ends_with("\n60\n"),
        "frames of 64 bytes with FCS: {captured}"
    );
    generator.signal(Signal::INT);
    let (code, report, said) = generator.ended();
    let report = json(&report);
    must_end_well(code, &report);
    assert!(
        report["sent"]["frames"].as_u64() > Some(50),
        "{said}{report}"
    );
    await_that("host0 goes", || bench.promiscuity("host0").is_none());
}

/// Frames that a program on the host sends by the interface come to the sink, each once.
#[test]
fn a_sink_takes_what_the_host_sends() {
    let Some(bench) = Bench::apart() else { return };
    let sink = bench.start("sink tap:host0 --json");
    await_that("host0 is there", || {
        let words = "ip link set dev host0 up";
        bench.succeeds(Side::Middle, words)
    });
    let words = "gen packet:host0 --count 500 --rate 2kpps --no-trial --json";
    let (code, sent, said) = bench.start(words).ended();
    must_end_well(code, &json(&sent));
    assert!(!said.contains("panicked"), "{said}");
    let (report, said) = sink.stop_and_say();
    let arrived = &report["arrived"];
    assert_eq!(
        (&arrived["frames"], &arrived["lost"]),
        (&500.into(), &0.into()),
        "{report}{said}"
    );
    assert_eq!(
        (&arrived["duplicated"], &arrived["corrupted"]),
        (&0.into(), &0.into())
    );
    assert_eq!(report["ledger"]["closes"], true, "{report}");
}
