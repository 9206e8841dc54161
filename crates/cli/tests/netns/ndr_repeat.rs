//! `linerate ndr` over a pair of veth with nothing between, again and again. There the sender is
//! the limit, on a machine that may be shared: what is claimed comes out again within its
//! precision, or it is said how much the machine moves.
//!
//! `LINERATE_NDR_RUNS` says how often; ten or more are held against each other.

use serde_json::Value;

use crate::bench::{Bench, Side};
use crate::ledger_drive::wire;

const PRECISION: f64 = 0.05;
/// Runs that are held against each other, and the share of them that must agree.
const COMPARED: usize = 10;
const AGREE: f64 = 0.8;

/// What one run says.
#[derive(Debug)]
struct Said {
    verdict: String,
    rate: Option<f64>,
    noise: f64,
    reason: Option<String>,
}

fn run(bench: &Bench) -> Said {
    let words = format!(
        "ndr --tx xdp:c --rx xdp:d --duration 200ms --precision {PRECISION} --trials 150 --json -q"
    );
    let (code, report, said) = bench.linerate(Side::Middle, &words).ended();
    let report: Value = serde_json::from_str(&report).unwrap_or_else(|error| {
        panic!("{error}: {said}");
    });
    let size = &report["sizes"][0];
    let goal = &size["goals"][0];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let found = Said {
        verdict: text(&goal["verdict"]).expect("a verdict"),
        rate: goal["rate_pps"].as_f64(),
        noise: size["noise"].as_f64().expect("a share"),
        reason: text(&size["reason"]),
    };
    println!(
        "{found:?} {} trials",
        size["trials"].as_array().map_or(0, Vec::len)
    );
    assert_eq!(size["ledger"]["closes"], true, "{}", size["ledger"]);
    // A rate, or a reason why there is none.
    assert_eq!(code == 0, found.rate.is_some(), "{found:?}");
    let sound = ["found", "sender_limited"].contains(&&found.verdict[..]);
    assert_eq!(sound, found.rate.is_some(), "{found:?}");
    assert!(found.rate.is_some() || found.reason.is_some(), "{size}");
    found
}

/// The median rate of a run and the two before and behind it. What the sender can do drifts: over
/// ten runs from 700,000 to 834,000 frames a second, which no run can tell.
fn median_around(all: &[Said], at: usize) -> f64 {
    let around = &all[at.saturating_sub(2)..all.len().min(at + 3)];
    let mut rates: Vec<f64> = around.iter().filter_map(|said| said.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Whether a run agrees with those around it, or told how far it may be from them.
fn agrees(said: &Said, median: f64) -> bool {
    match said.rate {
        Some(rate) => (rate / median - 1.0).abs() <= PRECISION.max(said.noise),
        None => said.noise > 0.0,
    }
}

#[test]
fn over_a_bare_pair_a_rate_comes_out_again_or_the_noise_is_told() {
    let Some(bench) = wire() else { return };
    let runs = std::env::var("LINERATE_NDR_RUNS").ok();
    let runs = runs.and_then(|runs| runs.parse().ok()).unwrap_or(1);
    let all: Vec<Said> = (0..runs).map(|_| run(&bench)).collect();
    let agreeing = (0..all.len()).filter(|&at| agrees(&all[at], median_around(&all, at)));
    let agreeing = agreeing.count();
    println!("{agreeing} of {runs} agree with those around them or tell the noise");
    if runs >= COMPARED {
        assert!(agreeing as f64 >= AGREE * runs as f64, "{all:?}");
    }
}
