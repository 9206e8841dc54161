//! `lab run veth`: it runs, and nothing of it is left, however it ends.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::await_that;

/// Trials too short to say anything, and enough to go through all of them. On a machine where other
/// tests run, some trial of a few milliseconds sees no frame.
fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .args(["lab", "run", "veth", "--quick", "--json", "-"])
        .env("LINERATE_VETH_TRIAL_MS", "20")
        .env("LINERATE_VETH_ROUNDS", "3")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Names of the interfaces here that the experiment could have made.
fn interfaces() -> Vec<String> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").expect("a list of interfaces");
    let names = text.lines().filter_map(|line| line.split_once(':'));
    let names = names.map(|(name, _)| name.trim().to_owned());
    names.filter(|name| name.starts_with("lr")).collect()
}

/// The child that holds the namespace.
fn keeper(parent: u32) -> Option<u32> {
    let entries = fs::read_dir("/proc").ok()?;
    entries.flatten().find_map(|entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (name, rest) = stat.rsplit_once(')')?;
        let of = rest.split_whitespace().nth(1)?.parse::<u32>().ok()?;
        (of == parent && name.ends_with("(sh")).then_some(process)
    })
}

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        println!("skipped: the experiment makes interfaces, which needs root");
    }
    root
}

#[test]
fn every_path_that_there_is_has_its_rows() {
    if !is_root() {
        return;
    }
    let before = interfaces();
    let output = command().output().expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(interfaces(), before);
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let skipped = run["skipped"].to_string();
    let rows = run["rows"].as_array().expect("rows");
    if rows.is_empty() {
        return println!("skipped: {skipped}");
    }
    for path in [
        "generator_only",
        "kernel_bridge",
        "nft",
        "packet",
        "xdp",
        "switch_packet",
        "switch_xdp",
        "open_vswitch",
    ] {
        let has = |metric: &str| {
            let of = |row: &&Value| row["variant"]["path"] == path && row["metric"] == metric;
            rows.iter().find(of)
        };
        match (has("frames_per_second"), has("ns_per_frame")) {
            (Some(rate), Some(_)) => {
                let samples = rate["samples"].as_array().expect("samples");
                let some = samples.iter().any(|rate| rate.as_f64() > Some(0.0));
                assert!(some, "nothing passed {path}: {rate}");
            }
            _ => assert!(skipped.contains(path), "{path} is missing without a reason"),
        }
    }
}

#[test]
fn nothing_is_left_of_an_interrupted_run() {
    if !is_root() {
        return;
    }
    let before = interfaces();
    for signal in [Signal::INT, Signal::KILL] {
        if signal == Signal::INT && is_interrupt_ignored() {
            println!("skipped: what started the tests has interrupts ignored, as `nohup` has");
            continue;
        }
        let said = scratch(signal);
        let mut child = command();
        let file = File::create(&said).expect("a file");
        let mut child = child
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .expect("the program runs");
        let id = child.id();
        // Numbers of processes come again, and other tests kill programs.
        let of_another = records(id);
        let kept = || {
            let mut names = records(id);
            names.retain(|name| !of_another.contains(name));
            names
        };
        let Some(keeper) = namespace_of(&mut child) else {
            return println!("skipped: no network namespace can be made here");
        };
        let ended = |child: &mut Child| child.try_wait().expect("its state");
        let mut early = None;
        await_that("the run changes an interface", || {
            early = ended(&mut child);
            early.is_some() || !kept().is_empty()
        });
        let text = fs::read_to_string(&said).expect("a file");
        assert_eq!(early, None, "the run ended by itself: {text}");
        let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        kill_process(process.expect("a process"), signal).expect("a signal");
        child.wait().expect("its end");
        await_that("the namespace ends with the run", || {
            !fs::exists(format!("/proc/{keeper}")).expect("/proc")
        });
        assert_eq!(interfaces(), before);
        let left = kept();
        assert_eq!(left, [""; 0], "what cannot be put back");
        fs::remove_file(said).expect("a file");
    }
}

/// Where a run that is interrupted so says why it ended.
fn scratch(signal: Signal) -> PathBuf {
    let name = format!("lab-veth-{}-{}", std::process::id(), signal.as_raw());
    std::env::temp_dir().join(name)
}

/// Names of what a process wrote down of interfaces, to be put back if it is killed.
fn records(process: u32) -> Vec<String> {
    let entries = fs::read_dir("/run/linerate-0").into_iter().flatten();
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.split('-').nth(2) == Some(&process.to_string()))
        .collect()
}

/// Whether programs start with Ctrl-C ignored, as those do that a shell runs in its background.
fn is_interrupt_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 << (Signal::INT.as_raw() - 1) != 0)
}

/// Waits for the child that holds the namespace; none if the program ends without one.
fn namespace_of(child: &mut Child) -> Option<u32> {
    let mut found = None;
    await_that("the run makes its namespace", || {
        found = keeper(child.id());
        found.is_some() || child.try_wait().expect("its state").is_some()
    });
    found
}
