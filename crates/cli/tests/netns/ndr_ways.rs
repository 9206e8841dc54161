//! `linerate ndr` both ways at once, and with many trials a rate, over kernel interfaces.

use serde_json::Value;

use crate::bench::{Bench, Side, missing};

/// Frames a second that the slower way lets through.
const SLOW: f64 = 3_000.0;
const PRECISION: f64 = 0.05;
/// A token bucket of 40 frames and a queue of 40, of trials of a second.
const CARRIED: f64 = 80.0 / SLOW;

/// Two pairs, joined by a bridge of the kernel, shaped both ways: there twice as fast as back.
fn shaped_both_ways() -> Option<Bench> {
    let bench = Bench::apart()?;
    if let Some(tool) = missing(&["tc"]) {
        println!("skipped: `{tool}` is not installed");
        return None;
    }
    let shaper = |end: &str, rate: f64| {
        let bits = rate as u64 * 60 * 8;
        format!("tc qdisc add dev {end} root tbf rate {bits}bit burst 2400 limit 2400")
    };
    let steps = [
        "ip link add name w0 type veth peer name w1".to_owned(),
        "ip link add name w2 type veth peer name w3".to_owned(),
        "ip link add name br0 type bridge".to_owned(),
        "ip link set w1 master br0".to_owned(),
        "ip link set w2 master br0".to_owned(),
        shaper("w2", 2.0 * SLOW),
        shaper("w1", SLOW),
    ];
    for step in &steps {
        if !bench.succeeds(Side::Middle, step) {
            println!("skipped: `{step}` is not possible here");
            return None;
        }
    }
    for end in ["w0", "w1", "w2", "w3", "br0"] {
        bench.succeeds(Side::Middle, &format!("ethtool -K {end} tx off gso off"));
        bench.expect(Side::Middle, &format!("ip link set {end} up"));
    }
    Some(bench)
}

fn run(bench: &Bench, words: &str) -> (Option<i32>, Value) {
    let ran = bench.run(&format!("ndr {words} --json -q"));
    let said: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&ran.stderr));
    });
    (ran.status.code(), said)
}

/// Both ways at once: the rate is that of the slower way, and every trial has two directions.
#[track_caller]
fn both_ways(ports: &str) {
    let Some(bench) = shaped_both_ways() else {
        return;
    };
    let words = format!(
        "{ports} --bidirectional --duration 1s --confirm 3 --exceed 40% --precision {PRECISION} \
         --max 8kpps --min 300 --trials 60 --smac 02:4c:52:00:00:01 --dmac 02:4c:52:00:00:02"
    );
    let (code, said) = run(&bench, &words);
    let size = &said["sizes"][0];
    let goal = &size["goals"][0];
    println!("{goal}: {} noise {}", size["reason"], size["noise"]);
    assert_eq!(said["bidirectional"], true);
    for trial in size["trials"].as_array().expect("a list") {
        assert_eq!(trial["ledger_closes"], true, "{trial}");
        let ways = trial["directions"].as_array().expect("a list");
        let count = |way: usize, what: &str| ways[way][what].as_u64().expect("a count");
        assert_eq!(ways.len(), 2, "{trial}");
        // What arrives there is sent back.
        assert_eq!(count(1, "sent"), count(0, "received"), "{trial}");
        let lost_back = count(1, "sent") - count(1, "received");
        let is_above = trial["load_pps"].as_f64() > Some(1.5 * SLOW);
        // Of those that went back the narrow way lets through no more than it can.
        if is_above && trial["sent_as_planned"] == true {
            assert!(lost_back > 0, "the way back is the narrow one: {trial}");
        }
    }
    match goal["rate_pps"].as_f64() {
        Some(rate) => {
            assert_eq!(code, Some(0));
            assert!(rate <= SLOW * (1.0 + CARRIED + PRECISION), "{size}");
        }
        None => {
            assert_eq!(code, Some(1));
            let told = size["reason"].is_string() || goal["verdict"] == "never_met";
            assert!(told && size["noise"].is_number(), "{size}");
        }
    }
}

#[test]
fn both_ways_over_packet_ports() {
    both_ways("--tx packet:w0 --rx packet:w3");
}

#[test]
fn both_ways_over_xdp_ports() {
    both_ways("--tx xdp:w0 --rx xdp:w3");
}

/// Twenty trials a rate: as many full ones stand behind a bound that was found.
#[test]
fn many_trials_judge_a_rate() {
    let Some(bench) = shaped_both_ways() else {
        return;
    };
    let words = "--tx packet:w0 --rx packet:w3 --confirm 20 --duration 100ms --precision 20% \
                 --max 12kpps --min 300 --smac 02:4c:52:00:00:01 --dmac 02:4c:52:00:00:02";
    let (_, said) = run(&bench, words);
    assert_eq!(said["trials_to_judge"], 20);
    let size = &said["sizes"][0];
    let goal = &size["goals"][0];
    println!("{goal}: {} noise {}", size["reason"], size["noise"]);
    let trials = size["trials"].as_array().expect("a list");
    let full = |trial: &&Value| trial["sent_as_planned"] == true && trial["seconds"] == 0.1;
    let Some(rate) = goal["rate_pps"].as_u64() else {
        assert!(size["reason"].is_string(), "{size}");
        return;
    };
    let at_rate = trials
        .iter()
        .filter(full)
        .filter(|trial| trial["load_pps"] == rate);
    let (good, bad): (Vec<&Value>, Vec<&Value>) =
        at_rate.partition(|trial| trial["loss_ratio"] == 0.0);
    // Of twenty a fifth may lose: sixteen good ones settle it.
    assert!(good.len() >= 16, "{size}");
    assert!(bad.len() * 4 <= good.len(), "{size}");
}
