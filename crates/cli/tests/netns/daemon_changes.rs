//! A daemon between veth pairs under all the load a sender makes, while entries come and go: no
//! frame arrives from an address while it is blocked, and those of others do.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use port::pcap::{CapturePath, CaptureReader, Step};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, Side, await_that};

/// Each has a network of its own: 16.0.0.0/8 and those that follow.
const ROUNDS: u8 = 4;
const FIRST: u8 = 16;
/// More frames than wait anywhere between the daemon's verdict and the receiver's clock.
const UNDER_WAY: u64 = 8_000;

/// From when to when, nanoseconds since 1970.
type Time = std::ops::RangeInclusive<u64>;

/// When frames of a network could not arrive, and when they could.
struct Round {
    upper: u8,
    blocked: Time,
    open: Time,
}

#[test]
fn what_is_blocked_does_not_arrive_on_xdp() {
    arrives_as_the_sets_say("xdp");
}

#[test]
fn what_is_blocked_does_not_arrive_on_packet() {
    arrives_as_the_sets_say("packet");
}

fn arrives_as_the_sets_say(driver: &str) {
    let Some(bench) = Bench::new() else { return };
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("always.txt"), "128.0.0.0/3\n").expect("a list");
    fs::write(path("a.toml"), config(driver)).expect("a configuration");
    let daemon = bench.start(&format!("run --json {}", path("a.toml").display()));
    let control = Control(&path("ctl.sock"));
    await_that("it forwards", || control.sent().is_some());
    let out = path("out.pcap");
    let receiver = format!("bridge packet:r pcap:out={} --json", out.display());
    let receiver = bench.linerate(Side::Right, &receiver);
    await_that("it receives", || out.exists());
    let sender = bench.linerate(Side::Left, "bridge gen:size=64 packet:l --json");
    control.await_sent();
    let rounds: Vec<Round> = (FIRST..FIRST + ROUNDS)
        .map(|upper| control.round(upper))
        .collect();
    sender.kill();
    receiver.stop();
    daemon.signal(Signal::TERM);
    let (report, _) = daemon.reported();
    assert_eq!(report["balanced"], true, "{report}");
    let seen = arrivals(&out, &rounds);
    println!("{driver}: {seen:?} frames of each network while it was open");
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}: {report}");
}

fn config(driver: &str) -> String {
    format!(
        "[[port]]\nspec = '{driver}:a'\n[[port]]\nname = 'b'\nspec = '{driver}:b'\n\
         [[set]]\nname = 'hand'\naction = 'block'\nsides = 'source'\n\
         [[set]]\nname = 'always'\naction = 'block'\nsides = 'source'\n\
         source = 'always.txt'\nallow_private = true\n\
         [control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n"
    )
}

/// The daemon by its socket, which knows no network namespace.
struct Control<'p>(&'p Path);

impl Control<'_> {
    fn ask(&self, words: &str) -> Option<String> {
        let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(words.split_whitespace())
            .arg("--socket")
            .arg(self.0)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(text)
    }

    /// Frames that left for the receiver.
    fn sent(&self) -> Option<u64> {
        let shown: Value = serde_json::from_str(&self.ask("show ports --json")?).ok()?;
        shown["ports"][1]["out_frames"].as_u64()
    }

    /// What was judged before this has arrived after it.
    fn await_sent(&self) {
        let before = self.sent().unwrap_or(0);
        await_that("frames leave", || self.sent() > Some(before + UNDER_WAY));
    }

    fn look(&self) -> Time {
        self.await_sent();
        let begun = now();
        self.await_sent();
        begun..=now()
    }

    fn round(&self, upper: u8) -> Round {
        let must = |words: String| self.ask(&words).expect("a change");
        must(format!("set add hand {upper}.0.0.0/8"));
        let blocked = self.look();
        must(format!("set del hand {upper}.0.0.0/8"));
        let open = self.look();
        Round {
            upper,
            blocked,
            open,
        }
    }
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("a clock").as_nanos() as u64
}

/// Frames of each round's network that arrived while it was open; those that arrived while they
/// were blocked must not be.
fn arrivals(capture: &Path, rounds: &[Round]) -> Vec<u64> {
    let reader = CaptureReader::open(&CapturePath::File(capture.to_owned()));
    let mut reader = reader.expect("a capture");
    let mut seen = vec![0; rounds.len()];
    while let Step::Record(record) = reader.next() {
        // IPv4, which is all that the sender makes; the hosts themselves say other things, too.
        if record.bytes[12..14] != [8, 0] {
            continue;
        }
        let upper = record.bytes[26];
        assert!(!(128..160).contains(&upper), "{:02x?}", record.bytes);
        for (round, seen) in rounds.iter().zip(&mut seen) {
            if round.upper == upper {
                let blocked = round.blocked.contains(&record.time_ns);
                assert!(!blocked, "{upper}.0.0.0/8 at {}", record.time_ns);
                *seen += u64::from(round.open.contains(&record.time_ns));
            }
        }
    }
    seen
}
