//! Trials of few queries, and sentences of made-up rows.

use super::*;

#[test]
fn queries_are_done_with_few_connections_and_with_more() {
    for live in [3, 500] {
        let rate = rate_of(live, [500, 2000]).expect("a trial");
        assert!(rate > 0.0, "{live}");
    }
}

#[test]
fn connections_stay_at_both_ends() {
    for live in [10, 3000] {
        growth_of(live).expect("a trial");
    }
}

#[test]
fn findings_have_their_rows() {
    let mut rows = Vec::new();
    for (at, &live) in LIVE.iter().enumerate() {
        let mut samples = Samples::default();
        samples.push(1000.0 / (at as f64 + 1.0));
        rows.push(row(live, QUERIES, samples.clone()));
        rows.push(row(live, BYTES, samples));
    }
    let findings = findings(&rows);
    assert_eq!(findings.len(), 2);
    assert!(
        findings.iter().all(|sentence| !sentence.contains("NaN")),
        "{findings:?}"
    );
}
