//! `linerate ndr` over kernel interfaces, with a shaper of known rate between them: what it
//! claims is true, and what it cannot know it does not claim.

use serde_json::Value;

use crate::bench::{Bench, Side, missing};

/// Frames a second that the shaper lets through: as many as a debug build on a busy machine can
/// send twice over.
const SHAPED: f64 = 4_000.0;
/// The precision that is asked for.
const PRECISION: f64 = 0.05;
/// What a token bucket of 40 frames and a queue of 40 add to a trial of a second.
const CARRIED: f64 = 80.0 / SHAPED;

/// Two pairs, joined by a bridge of the kernel, whose way out to `w3` is shaped.
fn shaped() -> Option<Bench> {
    let bench = Bench::apart()?;
    if let Some(tool) = missing(&["tc"]) {
        println!("skipped: `{tool}` is not installed");
        return None;
    }
    // A frame of 64 bytes has 60 in memory, which is what a shaper counts.
    let rate = SHAPED as u64 * 60 * 8;
    let steps = [
        "ip link add name w0 type veth peer name w1".to_owned(),
        "ip link add name w2 type veth peer name w3".to_owned(),
        "ip link add name br0 type bridge".to_owned(),
        "ip link set w1 master br0".to_owned(),
        "ip link set w2 master br0".to_owned(),
        format!("tc qdisc add dev w2 root tbf rate {rate}bit burst 2400 limit 2400"),
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

/// Whatever the machine does meanwhile, a rate that is claimed is right, and one that is not is
/// refused with a reason that gives the noise.
fn holds(ports: &str) {
    let Some(bench) = shaped() else { return };
    let words = format!(
        "ndr {ports} --duration 1s --confirm 3 --exceed 40% --precision {PRECISION} --max 9kpps \
         --min 500 --trials 60 --dmac 02:4c:52:00:00:02 --json -q"
    );
    let ran = bench.run(&words);
    let said: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&ran.stderr));
    });
    let size = &said["sizes"][0];
    let goal = &size["goals"][0];
    println!("{goal}: {} noise {}", size["reason"], size["noise"]);
    for trial in size["trials"].as_array().expect("a list") {
        let way = &trial["directions"][0];
        assert!(way["received"].as_u64() <= way["sent"].as_u64(), "{trial}");
    }
    must_be_accounted_for(size);
    match goal["rate_pps"].as_f64() {
        // Noise only ever makes a rate smaller; it is never above what the shaper lets through.
        Some(rate) => {
            assert_eq!(ran.status.code(), Some(0));
            assert!(rate <= SHAPED * (1.0 + CARRIED + PRECISION), "{size}");
            assert!(goal["noise"].is_number());
        }
        None => {
            assert_eq!(ran.status.code(), Some(1));
            assert!(
                size["reason"].is_string() || goal["verdict"] == "never_met",
                "{size}"
            );
            assert!(size["noise"].is_number(), "{size}");
        }
    }
}

/// Every frame of every trial has a name, and the ledger is the sum of those that count.
#[track_caller]
fn must_be_accounted_for(size: &Value) {
    let trials = size["trials"].as_array().expect("a list");
    for trial in trials {
        assert_eq!(trial["ledger_closes"], true, "{trial}");
    }
    let planned = |trial: &&Value| trial["sent_as_planned"] == true;
    let sent = |trial: &Value| trial["directions"][0]["sent"].as_u64().expect("a count");
    let sent: u64 = trials.iter().filter(planned).map(sent).sum();
    let ledger = &size["ledger"];
    assert_eq!(ledger["closes"], true, "{ledger}");
    let places = ledger["places"].as_array().expect("a list");
    let sender = places.iter().find(|place| !place["offered"].is_null());
    let sender = sender.expect("the port that sends");
    assert_eq!(sender["sent_by_us"], sent, "{ledger}");
    assert_eq!(sender["left_interface"], sent, "{ledger}");
}

#[test]
fn over_packet_ports_a_rate_that_is_claimed_is_true() {
    holds("--tx packet:w0 --rx packet:w3");
}

#[test]
fn over_xdp_ports_a_rate_that_is_claimed_is_true() {
    holds("--tx xdp:w0 --rx xdp:w3");
}
