//! Counters: the plumbing by events of the kernel, which are there without counters of the CPU.

use serde_json::Value;

use super::{Place, Ran};

/// What `dd` touches: 64 MiB at once, of 4 KiB or of huge pages.
const DD: &str = "dd if=/dev/zero of=/dev/null bs=64M count=1";

fn count(counted: &Value, event: &str) -> Option<f64> {
    counted["events"][event]["count"].as_f64()
}

/// Whether this machine lets this user count events of the kernel.
fn can_count(ran: &Ran) -> bool {
    let counted = ran.json();
    let can = count(&counted, "context_switches").is_some();
    if !can {
        eprintln!("skipped: {}", counted["missing"]);
    }
    can
}

#[test]
fn a_program_is_counted_from_its_start_to_its_end() {
    let place = Place::new();
    let ran = place.run(&format!("counters --json -- {DD}")).ended(0);
    let counted = ran.json();
    assert_eq!(counted["target"], DD);
    assert_eq!(counted["failure"], Value::Null);
    assert!(
        counted["seconds"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0)
    );
    if !can_count(&ran) {
        return;
    }
    // Its memory is touched: by 4 KiB or by 2 MiB.
    assert!(count(&counted, "minor_faults") >= Some(32.0), "{counted}");
    assert!(count(&counted, "task_clock_ns") > Some(0.0), "{counted}");
    let metric = &counted["metrics"]["page_faults"];
    assert_eq!(metric["formula"], "(minor_faults + major_faults) / seconds");
    assert!(metric["value"].as_f64() > Some(0.0) && metric["notable"].is_boolean());
    assert!(counted["interrupts"]["between_cpus"].is_u64(), "{counted}");
}

/// What a program starts is counted with it: each sleep gives its CPU away once at least.
#[test]
fn what_it_starts_is_counted_with_it() {
    let place = Place::new();
    place.write("sleeps", "for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done\n");
    let ran = place.run("counters --json -- sh sleeps").ended(0);
    if can_count(&ran) {
        let counted = ran.json();
        assert!(
            count(&counted, "context_switches") >= Some(8.0),
            "{counted}"
        );
    }
}

#[test]
fn cpus_and_processes_are_counted_for_a_time() {
    let place = Place::new();
    let pid = std::process::id();
    for words in ["--cpu 0".to_owned(), format!("--pid {pid}")] {
        let ran = place.run(&format!("counters {words} --seconds 1 --json"));
        if ran.code != 0 {
            assert!(
                ran.stderr.contains("nothing can be counted"),
                "{}",
                ran.stderr
            );
            continue;
        }
        let counted = ran.json();
        assert!(counted["seconds"].as_f64() >= Some(1.0), "{counted}");
        let known = counted["events"]
            .as_object()
            .is_some_and(|events| !events.is_empty());
        let said = counted["missing"]
            .as_array()
            .is_some_and(|missing| !missing.is_empty());
        assert!(known || said, "{counted}");
    }
}

/// What a machine without a PMU cannot count is said, and never shown as 0.
#[test]
fn what_is_missing_is_said() {
    let ran = Place::new().run("counters --json -- true").ended(0);
    let counted = ran.json();
    let said = counted["missing"].to_string();
    for (event, metric) in [
        ("cycles", "stalled"),
        ("instructions", "instructions_a_cycle"),
    ] {
        let known = count(&counted, event).is_some();
        assert!(
            known || said.contains("PMU") || said.contains(event),
            "{said}"
        );
        assert!(known || counted["metrics"][metric].is_null(), "{counted}");
    }
}

#[test]
fn a_program_that_fails_is_reported_and_ends_with_1() {
    let place = Place::new();
    place.write("fails", "exit 3\n");
    let ran = place.run("counters -- sh fails").ended(1);
    assert!(
        ran.stderr.contains("failed (exit status: 3)"),
        "{}",
        ran.stderr
    );
    assert!(ran.text().contains("sh fails, "), "{}", ran.text());
    for (words, reason) in [
        ("counters -- ./none", "'./none' cannot be started"),
        (
            "counters --pid 2147483647",
            "there is no process 2147483647",
        ),
        ("counters --pid 0", "0 is not in 1.."),
        ("counters --cpu x", "--cpu"),
        ("counters --cpu 4095", "CPU 4095 is not there"),
        ("counters --cpu 0 --pid 1", "cannot be used with"),
        ("counters --seconds 2 -- true", "cannot be used with"),
        ("counters --json", "required"),
    ] {
        let ran = place.run(words).ended(2);
        assert!(ran.stderr.contains(reason), "{words}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{words}");
    }
}

/// Standard output has the report alone: what the program prints goes to standard error.
#[test]
fn a_report_and_the_program_do_not_mix() {
    let ran = Place::new().run("counters --json -- echo printed").ended(0);
    assert!(ran.stderr.contains("printed"), "{}", ran.stderr);
    assert_eq!(ran.json()["target"], "echo printed");
}
