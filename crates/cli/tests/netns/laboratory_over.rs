//! `lab run NAME --tx PORT --rx PORT`: experiments over real interfaces, in short.

use serde_json::Value;

use crate::bench::Side;
use crate::ledger_drive::wire;

/// Runs it from `c` to `d`; the outcome, where there are CPUs for both sides.
fn run(words: &str) -> Option<Value> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: there is one CPU, and one must send while the other takes in");
        return None;
    }
    let bench = wire()?;
    let words = format!("lab run {words} --quick --json");
    let (code, report, said) = bench.linerate(Side::Middle, &words).ended();
    assert_eq!(code, 0, "{words}: {report}{said}");
    // What was attached is gone again.
    assert!(
        !bench.has_program("c") && !bench.has_program("d"),
        "{words}"
    );
    Some(serde_json::from_str(&report).expect("a JSON run"))
}

/// Every variant has a time a frame and a rate, of as many samples as there were rounds.
#[track_caller]
fn must_be_whole(run: &Value, variants: usize, rounds: usize) {
    let rows = run["rows"].as_array().expect("a list");
    for metric in ["ns_per_frame", "frames_per_second"] {
        let own: Vec<&Value> = rows.iter().filter(|row| row["metric"] == metric).collect();
        assert_eq!(own.len(), variants, "{metric}: {run}");
        for row in own {
            let samples = row["samples"].as_array().expect("a list");
            assert_eq!(samples.len(), rounds, "{row}");
            let positive = |sample: &Value| sample.as_f64() > Some(0.0);
            assert!(samples.iter().all(positive), "{row}");
        }
    }
}

#[test]
fn the_ladder_over_xdp_ports_says_over_what() {
    let Some(run) = run("ladder --tx xdp:c --rx xdp:d") else {
        return;
    };
    must_be_whole(&run, 8, 5);
    let findings = run["findings"].to_string();
    assert!(findings.contains("from xdp:c to xdp:d: "), "{findings}");
    assert!(findings.contains("stride 1920: "), "{findings}");
}

#[test]
fn distances_over_packet_ports() {
    let Some(run) = run("stride --tx packet:c --rx packet:d") else {
        return;
    };
    must_be_whole(&run, 5, 5);
    let findings = run["findings"].to_string();
    assert!(
        findings.contains("from packet:c to packet:d: "),
        "{findings}"
    );
}

#[test]
fn locks_over_xdp_ports() {
    let Some(run) = run("locks --tx xdp:c --rx xdp:d") else {
        return;
    };
    must_be_whole(&run, 14, 4);
}

#[test]
fn what_cannot_be_run_is_refused() {
    let Some(bench) = wire() else { return };
    let said = bench.refusal("lab run table --tx xdp:c --rx xdp:d");
    assert!(said.contains("ladder, batch, stride, locks"), "{said}");
    let said = bench.refusal("lab run ladder --tx xdp:c");
    assert!(said.contains("--rx"), "{said}");
    let said = bench.refusal("lab run stride --tx xdp:c --rx xdp:nobody");
    assert!(said.contains("nobody"), "{said}");
    // Nothing arrives where nobody sends to.
    bench.ip("link add name e type veth peer name f");
    bench.ip("link set dev e up");
    bench.ip("link set dev f up");
    let said = bench.refusal("lab run stride --quick --tx packet:c --rx packet:e");
    assert!(said.contains("no frame arrived at packet:e"), "{said}");
}
