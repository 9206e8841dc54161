//! Locks: a program that waits for one futex for a time that it measures itself.

use std::process::{Command, Stdio};

use rustix::process::geteuid;
use serde_json::Value;

use super::{Place, Ran};

/// What the shell ends with where it cannot make its mounts.
const SKIP: i32 = 77;

/// Runs `linerate` with tracefs in a folder of its own; none where this user or kernel cannot.
fn watched(place: &Place, words: &str) -> Option<Ran> {
    if !geteuid().is_root() {
        eprintln!("skipped: not root");
        return None;
    }
    std::fs::create_dir_all(place.path("traced")).expect("a folder");
    let ran = within(place, "mount -t tracefs none traced", words);
    let lacks = ["has neither", "may not record", "unshare: "];
    let lacking = lacks.iter().any(|lack| ran.stderr.contains(lack));
    if ran.code == SKIP || ran.code == 2 && lacking {
        eprintln!("skipped: {}", ran.stderr);
        return None;
    }
    Some(ran)
}

/// Runs `linerate` in mounts of its own, behind a command of the shell.
fn within(place: &Place, before: &str, words: &str) -> Ran {
    let mut command = Command::new("unshare");
    let script = format!("{before} || exit {SKIP}; exec \"$@\"");
    command.args(["-m", "--propagation", "private", "sh", "-c", &script, "sh"]);
    command
        .arg(env!("CARGO_BIN_EXE_linerate"))
        .args(words.split_whitespace());
    command.current_dir(place.path(".")).stdin(Stdio::null());
    Ran::of(command.output().expect("unshare(1) is there"))
}

fn compile(place: &Place) -> bool {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/locks/futex.c");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O1", "-pthread", "-o"])
        .arg(place.path("futex"))
        .arg(source);
    compiler
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The planted lock is the one in the memory of the program's file.
#[test]
fn a_wait_that_a_program_measures_itself_is_found() {
    let place = Place::new();
    if !compile(&place) {
        eprintln!("skipped: no C compiler");
        return;
    }
    let Some(ran) = watched(&place, "locks --json -- ./futex 4 200") else {
        return;
    };
    let ran = ran.ended(0);
    let found = ran.json();
    let own = ran.stderr.split_whitespace().nth(1).expect("a figure");
    let own_us = own.parse::<f64>().expect("a number") / 1e3;
    let rows = found["rows"].as_array().expect("rows");
    let planted = |row: &&Value| {
        row["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("futex+0x"))
    };
    let row = rows
        .iter()
        .find(planted)
        .unwrap_or_else(|| panic!("{found}"));
    // On a busy machine a waiter may come after the holder has left.
    let waits = row["cnt_lock"].as_u64().unwrap_or_default();
    assert!(
        row["source"] == "user" && (1..=4).contains(&waits),
        "{found}"
    );
    let figure = |name: &str| row[name].as_f64().expect("a figure");
    let total = figure("wait_total");
    // The call of futex(2) lies within what the program measures, and takes most of it.
    assert!(
        total <= own_us && total >= own_us / 4.0,
        "{total} of {own_us}: {found}"
    );
    assert!(
        figure("wait_max") <= total && figure("wait_avg") <= figure("wait_max"),
        "{row}"
    );
    for unknown in ["max", "total", "count", "avg", "cnt_hold"] {
        assert!(row[unknown].is_null(), "{row}");
    }
    assert_eq!(found["lost"], 0, "{found}");
    let cost = &found["own_cost"];
    assert!(cost["call_off_ns"].as_f64() > Some(0.0) && cost["call_on_ns"].as_f64() > Some(0.0));
    assert!(found["records"].as_u64() >= Some(2 * waits), "{found}");
}

#[test]
fn the_table_has_the_ten_columns_and_the_own_cost() {
    let place = Place::new();
    let Some(ran) = watched(&place, "locks --seconds 1 --sort wait_max --rows 3") else {
        return;
    };
    let ran = ran.ended(0);
    let text = ran.text();
    assert!(text.contains("own cost: a call of futex(2) took"), "{text}");
    let heading = "max wait_max total wait_total count avg wait_avg cnt_hold cnt_lock name";
    let words: Vec<&str> = text
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    assert!(
        words.join(" ") == heading || text.contains("nobody waited"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let place = Place::new();
    for (words, reason) in [
        ("locks --seconds 0", "0 is not in 1.."),
        ("locks --seconds 1 -- true", "cannot be used with"),
        ("locks --json", "required"),
        ("locks --sort count -- true", "invalid value 'count'"),
    ] {
        let ran = place.run(words).ended(2);
        assert!(ran.stderr.contains(reason), "{words}: {}", ran.stderr);
    }
    // Without tracefs: in a namespace of mounts where it hides below an empty folder.
    if !geteuid().is_root() {
        let ran = place.run("locks -- true").ended(2);
        assert!(ran.stderr.starts_with("linerate: "), "{}", ran.stderr);
        return;
    }
    let hide = "for m in $(awk '$3 == \"tracefs\" {print $2}' /proc/self/mounts); do mount -t \
                tmpfs none $m || exit 77; done";
    let ran = within(&place, hide, "locks -- true");
    if ran.code == SKIP || ran.stderr.contains("unshare: ") {
        eprintln!("skipped: {}", ran.stderr);
        return;
    }
    let ran = ran.ended(2);
    assert!(ran.stderr.contains("mount tracefs"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
}
