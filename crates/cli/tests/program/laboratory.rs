//! The laboratory: experiments, their files, and one run against another.

use serde_json::{Value, json};

use super::{Place, Ran};

/// The shortest experiment there is.
const RUN: &str = "lab run stride --quick";

#[test]
fn experiments_have_names_and_sentences() {
    let ran = Place::new().run("lab list").ended(0);
    assert!(ran.text().contains("\n  stride"), "{}", ran.text());
    assert!(
        ran.text()
            .lines()
            .skip(1)
            .all(|line| line.trim().contains("  "))
    );
}

#[test]
fn a_run_is_a_table() {
    let ran = Place::new().run(RUN).ended(0);
    for part in [
        "stride: ",
        "quartiles",
        "ratio to first",
        "Machine and run",
        "Null run",
    ] {
        assert!(ran.text().contains(part), "no '{part}' in\n{}", ran.text());
    }
    assert!(ran.text().lines().all(|line| line.chars().count() <= 110));
}

#[track_caller]
fn check_contract(run: &Value) {
    assert_eq!(run["experiment"], "stride");
    assert_eq!(run["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&run["seed"], &run["quick"]), (&json!(7), &json!(true)));
    assert!(run["machine"]["cpu"].is_string() && run["machine"]["kernel"].is_string());
    assert!(run["machine"]["cpus"].is_u64());
    assert!(run["noise"]["share"].is_number());
    let rows = run["rows"].as_array().expect("a list");
    assert!(!rows.is_empty());
    for row in rows {
        assert!(row["variant"].is_object() && row["metric"].is_string());
        let number = |name: &str| row[name].as_f64().expect("a number");
        assert!(number("low") <= number("median") && number("median") <= number("high"));
        assert!(row["samples"].as_array().expect("a list").len() >= 10);
    }
}

#[test]
fn json_goes_where_it_is_asked_for() {
    let place = Place::new();
    for words in ["--json", "--json -"] {
        let ran = place.run(&format!("{RUN} --seed 7 {words}")).ended(0);
        check_contract(&ran.json());
    }
    let ran = place
        .run(&format!("{RUN} --seed 7 --json run.json --html run.html"))
        .ended(0);
    assert!(
        ran.text().contains("quartiles"),
        "the table is still printed"
    );
    check_contract(&serde_json::from_slice(&place.read("run.json")).expect("JSON"));
    let page = String::from_utf8(place.read("run.html")).expect("text");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && page.ends_with("\n"));
    let page = place.run(&format!("{RUN} --html -")).ended(0);
    assert!(page.text().starts_with("<!DOCTYPE html>"));
}

#[test]
fn what_cannot_be_written_is_refused_before_the_run() {
    let place = Place::new();
    for (words, part) in [
        (
            "--json absent/run.json",
            "'absent/run.json' cannot be written",
        ),
        ("--html .", "is a folder"),
        ("--json --html -", "same place"),
        ("--json a --html ./a", "same place"),
    ] {
        let ran = place.run(&format!("{RUN} {words}")).ended(2);
        assert!(
            ran.stdout.is_empty() && ran.complaints().contains(part),
            "{}",
            ran.stderr
        );
        assert_eq!(
            ran.complaints().lines().count(),
            1,
            "one sentence: {}",
            ran.stderr
        );
    }
    assert!(!place.path("a").exists());
}

/// A run of two rows whose samples lie around these medians.
fn recorded(rate: f64, cost: f64) -> Value {
    let samples = |middle: f64| -> Vec<f64> {
        (0..12)
            .map(|place| middle * (0.989 + 0.002 * f64::from(place)))
            .collect()
    };
    let row = |metric: &str, design: &str, middle: f64| {
        json!({
            "variant": { "design": design, "entries": 6_000_000, "bytes": 20_000_000 },
            "metric": metric,
            "median": middle, "low": middle, "high": middle,
            "samples": samples(middle),
        })
    };
    json!({
        "experiment": "table",
        "version": "0.1.0",
        "machine": { "cpu": "A CPU", "kernel": "6.1.0", "cpus": 2 },
        "seed": 1,
        "noise": { "share": 0.02, "ratios": [] },
        "rows": [
            row("lookups_per_second", "ours", rate),
            row("ns_per_lookup", "list", cost),
        ],
    })
}

fn compare(place: &Place, base: &Value, new: &Value, options: &str) -> Ran {
    place.write("a.json", base.to_string());
    place.write("b.json", new.to_string());
    place.run(&format!("lab compare a.json b.json {options}"))
}

#[test]
fn verdicts_and_exit_codes() {
    let place = Place::new();
    let base = recorded(100e6, 50.0);
    let verdict = |new: &Value, code: i32| {
        let ran = compare(&place, &base, new, "--json").ended(code);
        assert_eq!(ran.stderr, "", "no warning");
        let rows = ran.json()["rows"].clone();
        [0, 1].map(|row| rows[row]["verdict"].as_str().expect("text").to_owned())
    };
    assert_eq!(verdict(&base, 0), ["no_difference", "no_difference"]);
    assert_eq!(
        verdict(&recorded(101e6, 50.5), 0),
        ["no_difference", "no_difference"]
    );
    assert_eq!(verdict(&recorded(120e6, 40.0), 0), ["faster", "faster"]);
    assert_eq!(verdict(&recorded(120e6, 60.0), 1), ["faster", "slower"]);
    assert_eq!(
        verdict(&recorded(80e6, 50.0), 1),
        ["slower", "no_difference"]
    );
    // A count may be 0, and what is left of a difference less.
    let mut none = base.clone();
    for sample in [0.0, -1.0] {
        none["rows"][1]["samples"][3] = json!(sample);
        assert_eq!(verdict(&none, 0), ["no_difference", "not_judged"]);
    }
    let ran = compare(&place, &base, &recorded(80e6, 50.0), "").ended(1);
    for part in [
        "slower",
        "0.800",
        "M lookups/s",
        "2 rows: 1 slower, 1 no difference.",
    ] {
        assert!(ran.text().contains(part), "no '{part}' in\n{}", ran.text());
    }
}

#[test]
fn rows_that_only_one_run_has_are_listed() {
    let place = Place::new();
    let (base, mut new) = (recorded(1e8, 50.0), recorded(1e8, 50.0));
    new["rows"][1]["variant"]["design"] = json!("array");
    let ran = compare(&place, &base, &new, "").ended(0);
    for (run, design) in [("A", "list"), ("B", "array")] {
        let line = ran
            .text()
            .lines()
            .find(|line| line.contains(&format!("only in {run}: ")));
        let line = line.expect("a line");
        assert!(
            line.contains("ns_per_lookup of ") && line.contains(design),
            "{line}"
        );
    }
    let json = compare(&place, &base, &new, "--json").ended(0).json();
    assert_eq!(json["only_in_a"][0]["variant"]["design"], "list");
}

#[test]
fn what_makes_a_comparison_doubtful_is_said() {
    let place = Place::new();
    let base = recorded(1e8, 50.0);
    let mut new = base.clone();
    new["machine"]["cpu"] = json!("another\u{1b}[2J");
    new["seed"] = json!(2);
    new["debug_build"] = json!(true);
    new["rows"][0]["variant"]["bytes"] = json!(24_000_000);
    let mut base = base;
    for run in [&mut base, &mut new] {
        run["rows"][0]["variant"]["a\u{1b}[2J"] = json!("b\u{1b}[2J");
    }
    let ran = compare(&place, &base, &new, "").ended(0);
    for part in [
        "machines differ",
        "seeds differ",
        "debug build",
        "footprints differ",
    ] {
        assert!(ran.stderr.contains(part), "no '{part}' in\n{}", ran.stderr);
    }
    assert!(
        !ran.stderr.contains('\u{1b}') && !ran.text().contains('\u{1b}'),
        "no control character is printed"
    );
    assert!(ran.text().contains("2 rows"), "matched all the same");
}

#[test]
fn a_machine_that_was_slower_throughout_is_taken_out_on_demand() {
    let place = Place::new();
    let third = |mut run: Value| {
        let mut row = run["rows"][0].clone();
        row["variant"]["design"] = json!("third");
        run["rows"].as_array_mut().expect("a list").push(row);
        run
    };
    let (base, new) = (
        third(recorded(100e6, 50.0)),
        third(recorded(70e6, 50.0 / 0.7)),
    );
    let plain = compare(&place, &base, &new, "").ended(1);
    assert!(plain.stderr.contains("--relative"), "{}", plain.stderr);
    let relative = compare(&place, &base, &new, "--relative").ended(0);
    assert!(
        relative.text().contains("3 rows: 3 no difference"),
        "{}",
        relative.text()
    );
    assert_eq!(relative.stderr, "");
}

/// Two runs of A's program, 100 and 90 million: 85 is no difference then, and 70 is one.
#[test]
fn what_runs_of_one_program_differ_by_counts_twice() {
    let place = Place::new();
    let base = recorded(100e6, 50.0);
    let alone = compare(&place, &base, &recorded(85e6, 50.0), "").ended(1);
    assert!(alone.text().contains("--null"), "{}", alone.text());
    place.write("again.json", recorded(90e6, 50.0).to_string());
    let null = "--null again.json";
    let ran = compare(&place, &base, &recorded(85e6, 50.0), null).ended(0);
    let noisy = "which is 11.1 %";
    assert!(ran.text().contains(noisy), "{}", ran.text());
    assert!(!ran.text().contains("--null"), "{}", ran.text());
    let json = compare(
        &place,
        &base,
        &recorded(70e6, 50.0),
        &format!("{null} --json"),
    );
    let json = json.ended(1).json();
    let between = json["between_runs"].as_f64().expect("a share");
    assert!((between - 1.0 / 9.0).abs() < 1e-6, "{between}");
    let rows = &json["rows"];
    assert_eq!(
        [&rows[0]["verdict"], &rows[1]["verdict"]],
        ["slower", "no_difference"]
    );
    // As much slower as it may be faster: with a noise above 100 % too.
    place.write("again.json", recorded(190e6, 50.0).to_string());
    for (rate, verdict, code) in [
        (300e6, "faster", 0),
        (270e6, "no_difference", 0),
        (30e6, "slower", 1),
        (37e6, "no_difference", 0),
    ] {
        let ran = compare(
            &place,
            &base,
            &recorded(rate, 50.0),
            &format!("{null} --json"),
        );
        assert_eq!(
            ran.ended(code).json()["rows"][0]["verdict"],
            verdict,
            "{rate}"
        );
    }
    let mut other = recorded(90e6, 50.0);
    other["experiment"] = json!("memory");
    place.write("again.json", other.to_string());
    let ran = compare(&place, &base, &base, null).ended(2);
    assert!(
        ran.stderr.contains("'again.json' of 'memory'"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_null_run_that_is_none_is_refused_or_named() {
    let place = Place::new();
    let (base, new) = (recorded(100e6, 50.0), recorded(80e6, 50.0));
    let again = recorded(90e6, 50.0);
    place.write("again.json", again.to_string());
    place.write("twice.json", again.to_string());
    let mut strange = again.clone();
    strange["rows"] = json!([]);
    place.write("none.json", strange.to_string());
    for (options, part) in [
        ("--null a.json", "the samples of A"),
        ("--null b.json", "the samples of B"),
        (
            "--null again.json --null twice.json",
            "the samples of 'again.json'",
        ),
        ("--null none.json", "has no row of A"),
    ] {
        let ran = compare(&place, &base, &new, options).ended(2);
        assert!(ran.complaints().contains(part), "{}", ran.stderr);
    }
    let mut strange = recorded(95e6, 50.0);
    strange["machine"]["cpu"] = json!("another");
    strange["commit"] = json!("deadbeef");
    place.write("again.json", strange.to_string());
    let ran = compare(&place, &base, &new, "--null again.json").ended(1);
    for part in ["'again.json' on another", "no run of A's program"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}

/// Six rounds are enough for one row, and not for all of a table together.
#[test]
fn rows_with_too_few_rounds_are_counted() {
    let place = Place::new();
    let short = |rate: f64| {
        let mut run = recorded(rate, 50.0);
        let row = run["rows"][0].clone();
        let rows = (0..40).map(|entries| {
            let mut row = row.clone();
            row["variant"]["entries"] = json!(entries);
            row["samples"].as_array_mut().expect("a list").truncate(6);
            row
        });
        run["rows"] = rows.collect();
        run
    };
    // A script must not take that for "none is slower".
    let ran = compare(&place, &short(1e8), &short(1e6), "").ended(2);
    for part in ["40 of 40 rows have too few samples", "no row got a verdict"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    assert!(!ran.stdout.is_empty());
}

#[test]
fn what_spoiled_a_run_is_said_again() {
    let place = Place::new();
    let (base, mut new) = (recorded(1e8, 50.0), recorded(1e8, 50.0));
    let said: Vec<String> = (0..9)
        .map(|place| format!("reason {place}\u{1b}[2J"))
        .collect();
    new["warnings"] = json!(said);
    let ran = compare(&place, &base, &new, "").ended(0);
    for part in ["B was spoiled: reason 5", "3 more warnings"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let silent = ["A was spoiled", "reason 6", "\u{1b}"];
    assert!(silent.iter().all(|part| !ran.stderr.contains(part)));
}

#[track_caller]
fn refused(base: &[u8], new: &[u8], parts: &[&str]) {
    let place = Place::new();
    place.write("a.json", base);
    place.write("b.json", new);
    let ran = place.run("lab compare a.json b.json").ended(2);
    assert!(ran.stdout.is_empty());
    for part in parts {
        assert!(ran.stderr.contains(part), "no '{part}' in\n{}", ran.stderr);
    }
    assert_eq!(
        ran.stderr.lines().count(),
        1,
        "one sentence: {}",
        ran.stderr
    );
}

#[test]
fn runs_that_cannot_be_compared_are_refused() {
    let good = recorded(1e8, 50.0);
    let text = good.to_string();
    let changed = |change: fn(&mut Value)| {
        let mut run = good.clone();
        change(&mut run);
        run.to_string()
    };
    let cases: [(String, &[&str]); 12] = [
        (
            changed(|run| run["experiment"] = json!("memory")),
            &["'table'", "'memory'"],
        ),
        (
            changed(|run| run["quick"] = json!(true)),
            &["B was made with --quick"],
        ),
        (
            changed(|run| run["rows"] = json!([])),
            &["no row in common"],
        ),
        (String::new(), &["b.json", "no run"]),
        ("[".repeat(100_000), &["b.json", "no run"]),
        ("{}".to_owned(), &["b.json", "experiment"]),
        (text.replace("[", "[\"\u{1b}\","), &["b.json", "no run"]),
        (
            changed(|run| run["rows"][0]["samples"] = json!([])),
            &["row 1", "samples"],
        ),
        (
            changed(|run| run["rows"][0]["samples"][3] = json!(-1e-300)),
            &["row 1", "-1"],
        ),
        (
            changed(|run| run["rows"][0]["samples"][3] = json!(1e300)),
            &["row 1", "no measurement"],
        ),
        (
            changed(|run| run["rows"][1] = run["rows"][0].clone()),
            &["two rows, 1 and 2, "],
        ),
        (changed(|run| run["noise"]["share"] = json!(-1)), &["share"]),
    ];
    for (new, parts) in cases {
        refused(text.as_bytes(), new.as_bytes(), parts);
    }
    refused(text.as_bytes(), b"\xff\xfe", &["b.json"]);
    let place = Place::new();
    let ran = place.run("lab compare absent.json absent.json").ended(2);
    assert!(
        ran.stderr.contains("'absent.json' cannot be read"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_run_compared_with_itself_does_not_differ() {
    let place = Place::new();
    place.run(&format!("{RUN} --json run.json")).ended(0);
    let ran = place.run("lab compare run.json run.json").ended(0);
    assert!(!ran.text().contains("slower"), "{}", ran.text());
}
