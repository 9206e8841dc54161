//! A daemon between kernel interfaces: what is added by the command line is blocked, it runs as a
//! user with three capabilities, and opens an interface again that went away.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, RIGHT_ADDRESS, Side, await_that};
use crate::running::Running;

/// `CAP_NET_ADMIN`, `CAP_NET_RAW` and `CAP_BPF` by their numbers.
const THREE: u64 = 1 << 12 | 1 << 13 | 1 << 39;

/// Nobody's number, on Debian and elsewhere.
const NOBODY: &str = "nobody";

/// A daemon in the middle, and its folder.
pub(crate) struct Daemon<'b> {
    bench: &'b Bench,
    folder: TempDir,
    running: Running,
}

impl<'b> Daemon<'b> {
    #[track_caller]
    pub(crate) fn start(bench: &'b Bench, driver: &str, more: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        // Somebody else must be able to pass through it.
        let passable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.path(), passable).expect("its mode");
        // What AF_XDP locks, twice while an interface returns, must fit into 8 MiB, where root may
        // not raise the limit either.
        let pool = if more.contains("[[port]]") { 1344 } else { 832 };
        let ring = if driver == "xdp" { ",ring=64" } else { "" };
        let text = format!(
            "[[port]]\nspec = '{driver}:a{ring}'\n[[port]]\nspec = '{driver}:b{ring}'\n\
             [memory]\npool = {pool}\nstride = 1792\n[[set]]\nname = 'hand'\naction = 'block'\n\
             [control]\nsocket = 'run/ctl.sock'\n[state]\ndir = 'state'\n{more}"
        );
        let config = folder.path().join("bridge.toml");
        fs::write(&config, text).expect("a configuration");
        let words = format!("run --json {}", config.display());
        let mut daemon = Self {
            running: bench.start(&words),
            bench,
            folder,
        };
        await_that("frames cross", || {
            daemon.running.must_run();
            daemon.pings()
        });
        daemon
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("run/ctl.sock")
    }

    pub(crate) fn pings(&self) -> bool {
        let words = format!("ping -c 1 -W 1 {RIGHT_ADDRESS}");
        self.bench.succeeds(Side::Left, &words)
    }

    /// Asks by the command line; a Unix socket knows no network namespace.
    #[track_caller]
    pub(crate) fn must(&self, words: &str) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(words.split_whitespace())
            .arg("--socket")
            .arg(self.socket())
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{words}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The daemon's process: that of `ip netns exec`, which became it.
    fn proc(&self) -> PathBuf {
        Path::new("/proc").join(self.running.id().to_string())
    }

    #[track_caller]
    pub(crate) fn stop(self) -> Value {
        self.stop_and_say().0
    }

    /// The same, with what it said in its log.
    #[track_caller]
    pub(crate) fn stop_and_say(self) -> (Value, String) {
        self.running.signal(Signal::TERM);
        self.running.reported()
    }
}

fn blocks_what_is_added(driver: &str) {
    let Some(bench) = Bench::new() else { return };
    let daemon = Daemon::start(&bench, driver, "");
    daemon.must(&format!("set add hand {RIGHT_ADDRESS} --timeout 1h"));
    assert!(!daemon.pings(), "a blocked address answers");
    let told = daemon.must(&format!("set test {RIGHT_ADDRESS} --json"));
    assert!(told.contains("hand"), "{told}");
    daemon.must(&format!("set del hand {RIGHT_ADDRESS}"));
    assert!(daemon.pings(), "an address that was let go does not answer");
    let report = daemon.stop();
    assert!(report["sets"][0]["hits_dst"].as_u64() > Some(0), "{report}");
}

#[test]
fn what_is_added_is_blocked_on_xdp() {
    blocks_what_is_added("xdp");
}

#[test]
fn what_is_added_is_blocked_on_packet() {
    blocks_what_is_added("packet");
}

/// A field of `/proc/PID/task/TID/status`.
fn field(status: &str, name: &str) -> String {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_default().trim().to_owned()
}

/// Every thread is nobody's, with three capabilities and no way to others.
#[track_caller]
fn must_be_bounded(daemon: &Daemon<'_>) {
    let expected = fs::read_to_string("/etc/passwd").expect("users");
    let line = expected.lines().find(|line| line.starts_with("nobody:"));
    let uid = line
        .and_then(|line| line.split(':').nth(2))
        .expect("nobody");
    let mut threads = 0;
    for task in fs::read_dir(daemon.proc().join("task")).expect("threads") {
        let path = task.expect("a thread").path().join("status");
        let Ok(status) = fs::read_to_string(&path) else {
            continue;
        };
        let name = field(&status, "Name:");
        let uids = field(&status, "Uid:");
        assert!(
            uids.split_whitespace().all(|id| id == uid),
            "{name}: {uids}"
        );
        for set in ["CapPrm:", "CapEff:", "CapBnd:"] {
            let held = u64::from_str_radix(&field(&status, set), 16).expect("capabilities");
            assert_eq!(held, THREE, "{name}: {set} {held:x}");
        }
        assert_eq!(field(&status, "NoNewPrivs:"), "1", "{name}");
        threads += 1;
    }
    assert!(threads >= 4, "{threads} threads");
}

fn runs_as_nobody(driver: &str) {
    let Some(bench) = Bench::new() else { return };
    let user = format!("[user]\nname = '{NOBODY}'\n");
    let mut daemon = Daemon::start(&bench, driver, &user);
    must_be_bounded(&daemon);
    bench.ip("link del dev a");
    bench.ip("link del dev b");
    await_that("the port is gone", || {
        daemon.must("show ports --json").contains("gone")
    });
    bench.join(1);
    await_that("frames cross again", || {
        daemon.running.must_run();
        daemon.pings()
    });
    must_be_bounded(&daemon);
    daemon.must(&format!("set add hand {RIGHT_ADDRESS}"));
    assert!(!daemon.pings());
    daemon.stop();
}

#[test]
fn a_user_with_three_capabilities_opens_a_returning_interface_on_xdp() {
    runs_as_nobody("xdp");
}

#[test]
fn a_user_with_three_capabilities_opens_a_returning_interface_on_packet() {
    runs_as_nobody("packet");
}
