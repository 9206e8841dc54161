//! `linerate rss apply` and its end, by `kill -9` among others, on a NIC that `nic.c` makes of an
//! interface: no driver of network namespaces has a receive hash that could be set.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, Running, Side, await_that, missing};

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/netns/card.c");
/// Bytes of the NIC's state, as `nic.c` has it, padding included.
const STATE_BYTES: usize = 128 * 4 + 40 + 8 + 32 * 8;
const CHANGE: &str = "rss apply a --key random --queues 2 --types udp-by-addresses";

struct Nic {
    bench: Bench,
    folder: TempDir,
}

impl Nic {
    fn new() -> Option<Self> {
        let bench = Bench::apart()?;
        if let Some(tool) = missing(&["cc", "env"]) {
            println!("skipped: `{tool}` is not installed");
            return None;
        }
        bench.try_join(4).expect("veth pairs");
        let folder = TempDir::new().expect("a folder");
        let nic = Self { bench, folder };
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]);
        let made = compiler.arg(nic.path("card.so")).args([STAND_IN, "-ldl"]);
        let made = made.output().expect("cc was found");
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{said}");
        fs::write(nic.path("state"), as_found()).expect("a state");
        if nic.shown()["function"] != "toeplitz" {
            println!(
                "skipped: this program cannot be given another ioctl: it is linked statically"
            );
            return None;
        }
        Some(nic)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn state(&self) -> Vec<u8> {
        fs::read(self.path("state")).expect("a state")
    }

    fn start(&self, words: &str) -> Running {
        let mut command = self.bench.command(Side::Middle, "env");
        let preload = format!("LD_PRELOAD={}", self.path("card.so").display());
        let state = format!("CARD_STATE={}", self.path("state").display());
        command.args([&preload, &state, "CARD_INTERFACE=a"]);
        command.arg(env!("CARGO_BIN_EXE_linerate"));
        Running::start(command.args(words.split_whitespace()))
    }

    fn shown(&self) -> Value {
        let (code, text, said) = self.start("rss show a --json").ended();
        assert_eq!(code, 0, "{said}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Starts a change and waits until the NIC has all of it.
    fn changed(&self) -> Running {
        let mut running = self.start(CHANGE);
        await_that("the NIC is changed", || {
            running.must_run();
            self.shown()["types"]["udp4"] == "sd"
        });
        running
    }
}

/// Toeplitz by a key of its own, four queues, all by ports.
fn as_found() -> Vec<u8> {
    let mut state: Vec<u8> = (0..128_u32).flat_map(|at| (at % 4).to_ne_bytes()).collect();
    state.extend((1..=40).map(|byte: u8| byte.wrapping_mul(37)));
    state.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    // Addresses and ports: bits 4 to 7 of ethtool's fields.
    let fields = |kind: u64| {
        if [1, 2, 5, 6].contains(&kind) {
            0xF0
        } else {
            0_u64
        }
    };
    state.extend((0..32).flat_map(|kind| fields(kind).to_ne_bytes()));
    assert_eq!(state.len(), STATE_BYTES);
    state
}

#[test]
fn a_nic_is_as_found_after_the_end() {
    let Some(nic) = Nic::new() else { return };
    let json = format!("{CHANGE} --duration 200ms --json");
    let (code, text, said) = nic.start(&json).ended();
    assert_eq!(code, 0, "{said}");
    let page: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&page["interface"], &page["types"]["udp4"]),
        (&"a".into(), &"sd".into())
    );
    assert_eq!(nic.state(), as_found());
    let (code, said, _) = nic.start(&format!("{CHANGE} --duration 200ms")).ended();
    assert_eq!(code, 0);
    assert!(said.contains("as it was before"), "{said}");
    assert_eq!(nic.state(), as_found());
    let running = nic.changed();
    let now = nic.shown();
    let queues = now["table"].as_array().expect("a table");
    assert!(queues.iter().all(|queue| queue.as_u64() < Some(2)), "{now}");
    running.signal(rustix::process::Signal::INT);
    let (code, said, _) = running.ended();
    assert_eq!(code, 0, "{said}");
    assert_eq!(nic.state(), as_found());
}

#[test]
fn a_nic_can_be_put_back_after_kill_9() {
    let Some(nic) = Nic::new() else { return };
    nic.changed().kill();
    assert_ne!(nic.state(), as_found(), "nobody was there to put it back");
    let (code, text, said) = nic.start("restore a").ended();
    assert_eq!(code, 0, "{said}");
    let said = text + &said;
    for part in ["a process that was killed", "key, table and types"] {
        assert!(said.contains(part), "no '{part}' in\n{said}");
    }
    assert_eq!(nic.state(), as_found());
    // There is nothing left to put back: what somebody sets now stays.
    let mut state = as_found();
    state[..4].copy_from_slice(&3_u32.to_ne_bytes());
    fs::write(nic.path("state"), &state).expect("a state");
    assert_eq!(nic.start("restore a").ended().0, 0);
    assert_eq!(nic.state(), state);
}

/// Killed again and again, at whatever it does, the next one finds what was before the first.
#[test]
fn the_next_change_puts_back_the_killed_ones_first() {
    let Some(nic) = Nic::new() else { return };
    for moment in 0..20 {
        let running = nic.start(CHANGE);
        std::thread::sleep(Duration::from_millis(2) * moment);
        running.kill();
    }
    // The NIC is changed already: what this one did tells by what it says.
    let mut last = nic.start(CHANGE);
    let (mut output, mut line) = (BufReader::new(last.output()), String::new());
    output.read_line(&mut line).expect("text");
    assert!(line.contains("put back at the end"), "{line}");
    last.kill();
    let (code, text, said) = nic.start("rss apply a --queues 1 --duration 100ms").ended();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("a process that was killed"), "{text}{said}");
    assert_eq!(nic.state(), as_found());
}

/// A NIC that does not take back what it had: it is said, and remembered for later.
#[test]
fn what_is_not_put_back_is_not_forgotten() {
    let Some(nic) = Nic::new() else { return };
    let running = nic.changed();
    let changed = nic.state();
    fs::remove_file(nic.path("state")).expect("a NIC that is stuck");
    running.signal(rustix::process::Signal::INT);
    let (code, text, said) = running.ended();
    assert_eq!(code, 1, "{text}{said}");
    assert!(said.contains("run `linerate restore a`"), "{said}");
    fs::write(nic.path("state"), changed).expect("a state");
    let (code, _, said) = nic.start("restore a").ended();
    assert_eq!(code, 0, "{said}");
    assert_eq!(nic.state(), as_found());
}

/// What the NIC refuses leaves all as it was, and no record.
#[test]
fn a_queue_that_is_not_there_changes_nothing() {
    let Some(nic) = Nic::new() else { return };
    let (code, _, said) = nic.start("rss apply a --queues 9").ended();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("all is as before"), "{said}");
    assert_eq!(nic.state(), as_found());
    let (code, text, said) = nic.start("restore a").ended();
    assert_eq!(code, 0, "{said}");
    assert!(!text.contains("killed"), "{text}");
}
