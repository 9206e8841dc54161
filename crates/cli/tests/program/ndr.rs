//! `linerate ndr` on simulated devices: what it finds, what it refuses, and its files.

use serde_json::Value;

use super::{Place, Ran};

const STEADY: &str = "ndr --simulate capacity=100kpps,queue=64,noise=0.3";
const FALLING: &str = "ndr --simulate capacity=100kpps,queue=64,drift=-0.2%";

#[track_caller]
fn check_goal(goal: &Value, expected: f64) {
    assert_eq!(goal["verdict"], "found", "{goal}");
    let rate = goal["rate_pps"].as_f64().expect("a rate");
    assert!((rate / expected - 1.0).abs() <= 0.01, "{goal}");
    let upper = goal["upper_pps"].as_f64().expect("an upper bound");
    assert!(rate < upper && goal["precision"].as_f64().expect("a share") <= 0.005);
    assert!(goal["noise"].is_number() && goal["conditional_throughput_pps"].is_number());
}

#[test]
fn a_capacity_is_found_for_every_size_and_loss() {
    let words = format!("{STEADY} --loss 0,5% --size 64,imix --json");
    let run = Place::new().run(&words).ended(0).json();
    assert_eq!(
        (&run["simulated"], &run["sound"]),
        (&true.into(), &true.into())
    );
    assert_eq!(run["trials_to_judge"], 5);
    let sizes = run["sizes"].as_array().expect("a list");
    assert_eq!(sizes.len(), 2);
    for size in sizes {
        check_goal(&size["goals"][0], 100_000.0);
        check_goal(&size["goals"][1], 100_000.0 / 0.95);
        assert!(
            size["reason"].is_null() && size["line_rate_pps"].is_null(),
            "{size}"
        );
        let points = size["latencies"].as_array().expect("a list");
        let shares: Vec<&Value> = points.iter().map(|point| &point["percent"]).collect();
        assert_eq!(shares, [10, 50, 90, 100]);
        assert!(points.iter().all(|point| point["p99_ns"].is_u64()));
        for trial in size["trials"].as_array().expect("a list") {
            let way = &trial["directions"][0];
            assert!(way["sent"].as_u64() >= way["received"].as_u64(), "{trial}");
            assert!(trial["purpose"].is_string() && trial["loss_ratio"].is_number());
            assert_eq!(trial["sent_as_planned"], true);
        }
    }
    let bits = sizes[1]["goals"][0]["rate_l1_bps"]
        .as_f64()
        .expect("a number");
    let rate = sizes[1]["goals"][0]["rate_pps"].as_f64().expect("a number");
    assert!((bits / rate - (353.833 + 20.0) * 8.0).abs() < 1.0, "{bits}");
}

#[test]
fn what_is_printed_fits_and_what_is_refused_says_why() {
    let place = Place::new();
    let found = place.run(STEADY).ended(0);
    assert!(found.text().contains("verdict") && found.text().contains("found"));
    assert!(found.text().lines().all(|line| line.chars().count() <= 110));
    assert!(found.complaints().is_empty(), "{}", found.stderr);
    let refused = place.run(FALLING).ended(1);
    assert!(refused.text().contains("NOT STABLE"), "{}", refused.text());
    assert!(refused.text().contains("no rate is claimed"));
    assert!(refused.stderr.contains("contradict each other over"));
    let json = place.run(&format!("{FALLING} --json -q")).ended(1).json();
    let goal = &json["sizes"][0]["goals"][0];
    assert_eq!(
        (&goal["verdict"], &json["sound"]),
        (&"unstable".into(), &false.into())
    );
    assert!(
        goal["rate_pps"].is_null() && goal["lower_pps"].is_u64(),
        "{goal}"
    );
    assert!(json["sizes"][0]["noise"].as_f64().expect("a share") > 0.005);
}

#[test]
fn a_sender_that_is_the_limit_is_named() {
    let words = format!("{STEADY},sender=50kpps --json -q");
    let json = Place::new().run(&words).ended(0).json();
    assert_eq!(json["sizes"][0]["goals"][0]["verdict"], "sender_limited");
    assert_eq!(json["sizes"][0]["load_limit"], "sender");
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("the sender was the limit"), "{warnings}");
}

#[test]
fn a_page_with_curves() {
    let place = Place::new();
    place.run(&format!("{STEADY} --html ndr.html -q")).ended(0);
    let page = String::from_utf8(place.read("ndr.html")).expect("text");
    for part in [
        "<!DOCTYPE html>",
        "Loss around the rate",
        "Latency",
        "<svg",
        "linerate ndr --simulate",
        "RFC 9971",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script"));
}

#[test]
fn what_cannot_be_searched_is_refused_before_anything_is_opened() {
    let place = Place::new();
    let refused = |words: &str| -> Ran { place.run(words).ended(2) };
    assert!(refused("ndr").stderr.contains("--tx"));
    assert!(
        refused("ndr --tx null: --rx null: --loss 100%")
            .stderr
            .contains("0.5%")
    );
    assert!(
        refused("ndr --simulate speed=1")
            .stderr
            .contains("capacity")
    );
    let narrow = refused(&format!("{STEADY} --precision 0"));
    assert!(narrow.stderr.contains("precision"), "{}", narrow.stderr);
    let same = refused(&format!("{STEADY} --json x --html x"));
    assert!(same.stderr.contains("two files"), "{}", same.stderr);
    let sink = refused("ndr --tx null: --rx null:");
    assert!(
        sink.stderr.contains("no frames come from null:"),
        "{}",
        sink.stderr
    );
}
