//! What users and machines do that nobody asked for: odd ports, interfaces that others have, that
//! move, signals at bad moments, limits.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use crate::bench::{Bench, RIGHT_ADDRESS, Side, await_that};
use crate::drivers::{Driver, PACKET, XDP, on_each_driver};
use crate::random::{Random, seed};
use crate::running::Running;
use crate::traffic::{Ends, ping_between};

on_each_driver!(
    kills_at_any_moment_of_the_start_leave_nothing,
    signals_at_bad_moments_do_no_harm,
    an_interface_that_moves_away_and_back_is_taken_up_again,
    a_bridge_without_its_namespace_name_goes_on,
);

#[test]
fn odd_names_are_refused_before_anything_is_opened() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link property add dev a altname also");
    for driver in ["xdp", "packet", "tap"] {
        let long = match driver {
            "tap" => "sixteen-bytes-16".to_owned(),
            _ => "x".repeat(128),
        };
        for name in ["", ".", "..", "a:1", "a/b", "%d", "t%d", &long] {
            let said = bench.refusal(&format!("bridge {driver}:{name} null:"));
            let expected = ["is no name of a network interface", "it names no"];
            let named = expected.iter().any(|part| said.contains(part));
            assert!(named, "{driver}:{name}: {said}");
        }
    }
}

/// By any name and any two drivers.
#[test]
fn one_interface_is_not_both_ends() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link property add dev a altname also");
    bench.ip("tuntap add dev host0 mode tap");
    let pairs = [
        "packet:a packet:a",
        "packet:a packet:also",
        "xdp:a packet:a",
        "packet:a xdp:a",
        "tap:host0 packet:host0",
        "packet:host0 tap:host0",
    ];
    for pair in pairs {
        let said = bench.refusal(&format!("bridge {pair}"));
        assert!(said.contains("is there twice"), "{pair}: {said}");
        assert_eq!(bench.promiscuity("a"), Some(0), "{pair}");
        assert!(!bench.has_program("a"), "{pair}");
    }
}

#[test]
fn an_interface_that_a_kernel_bridge_has_is_named() {
    for driver in [XDP, PACKET] {
        let Some(bench) = Bench::new() else { return };
        if !bench.succeeds(Side::Middle, "ip link add name br0 type bridge") {
            println!("skipped: this kernel has no bridge");
            return;
        }
        bench.ip("link set dev a master br0");
        let words = format!("bridge --json --duration 200ms {driver}");
        let (_, said) = bench.start(&words).reported();
        assert!(said.contains("ip link set dev a nomaster"), "{said}");
        bench.ip("link set dev a nomaster");
        let (_, said) = bench.start(&words).reported();
        assert!(!said.contains("nomaster"), "{said}");
    }
}

fn kills_at_any_moment_of_the_start_leave_nothing(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let mut random = Random::new(seed());
    for round in 0..8 {
        let running = bench.start(&format!("bridge {driver}"));
        sleep(Duration::from_micros(random.draw() % 90_000));
        running.kill();
        await_that(&format!("nothing is left, round {round}"), || {
            let clean = |port| bench.promiscuity(port) == Some(0) && !bench.has_program(port);
            clean("a") && clean("b")
        });
    }
    let bridge = driver.bridge(&bench, "");
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    bridge.stop();
}

/// Stopped and continued, it goes on; asked to end while it is stopped or under a flood, it ends
/// with a report whose books balance.
fn signals_at_bad_moments_do_no_harm(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let bridge = driver.bridge(&bench, "");
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    let flood = bench.linerate(Side::Left, "bridge gen:seed=1 packet:l --json");
    for _ in 0..2 {
        bridge.signal(Signal::STOP);
        sleep(Duration::from_millis(100));
        bridge.signal(Signal::CONT);
        sleep(Duration::from_millis(50));
    }
    flood.kill();
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    let flood = bench.linerate(Side::Left, "bridge gen:seed=2 packet:l --json");
    bridge.signal(Signal::STOP);
    bridge.signal(Signal::TERM);
    sleep(Duration::from_millis(50));
    bridge.signal(Signal::CONT);
    let (report, _) = bridge.reported();
    flood.kill();
    assert!(report["frames"]["rx"].as_u64() > Some(0), "{report}");
}

/// Whether this process was started so: no shell of its own changes that.
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 != 0)
}

#[test]
fn nohup_outlives_its_terminal() {
    let Some(bench) = Bench::new() else { return };
    for ignored in [true, false] {
        if !ignored && hangups_are_ignored() {
            return println!("skipped: these tests run under nohup, and so does what they start");
        }
        let mut command = bench.command(Side::Middle, "sh");
        let trap = if ignored { "trap '' HUP;" } else { "" };
        let program = env!("CARGO_BIN_EXE_linerate");
        let line = format!("{trap} exec {program} bridge --json packet:a packet:b");
        let mut running = Running::start(command.args(["-c", &line]));
        await_that("the bridge runs", || bench.promiscuity("b") > Some(0));
        running.signal(Signal::HUP);
        if ignored {
            ping_between(&bench, Ends::across(RIGHT_ADDRESS));
            running.must_run();
            running.stop();
        } else {
            running.reported();
        }
    }
}

fn an_interface_that_moves_away_and_back_is_taken_up_again(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let bridge = driver.bridge(&bench, "");
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    // Its number is taken there, so that it comes back with another one.
    let (middle, right) = (bench.name(Side::Middle), bench.name(Side::Right));
    bench.ip(&format!("link set dev a netns {right}"));
    await_that("it is missed", || {
        !bench.succeeds(Side::Left, "ping -c 1 -W 0.1 10.201.0.2")
    });
    sleep(Duration::from_millis(300));
    bench.expect(Side::Right, &format!("ip link set dev a netns {middle}"));
    bench.ip("link set dev a up");
    await_that("it is taken up again", || bench.promiscuity("a") > Some(0));
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    bridge.stop();
    await_that("left as found", || {
        bench.promiscuity("a") == Some(0) && !bench.has_program("a")
    });
}

/// `ip netns del` takes the name away; the namespace lives as long as who is in it.
fn a_bridge_without_its_namespace_name_goes_on(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let bridge = driver.bridge(&bench, "");
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    bench.forget(Side::Middle);
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    bridge.stop();
}

/// A full disk, few open files: an error and an exit code, and nothing left behind.
#[test]
fn limits_give_errors() {
    let Some(bench) = Bench::new() else { return };
    let program = env!("CARGO_BIN_EXE_linerate");
    for driver in ["xdp", "packet"] {
        for files in (4..24).step_by(3) {
            let words = format!("bridge --json --duration 50ms {driver}:a {driver}:b");
            let mut command = bench.command(Side::Middle, "sh");
            let line = format!("ulimit -n {files}; exec {program} {words}");
            let (code, _, said) = Running::start(command.args(["-c", &line])).ended();
            assert!(
                [0, 2].contains(&code),
                "{driver}, {files} files: {code}: {said}"
            );
            let named = code == 0 || said.contains("Too many open files");
            assert!(named || files < 6, "{driver}, {files} files: {said}");
        }
        let mut command = bench.command(Side::Middle, "sh");
        let line =
            format!("exec {program} bridge --duration 50ms --json {driver}:a null: >/dev/full");
        let (code, _, said) = Running::start(command.args(["-c", &line])).ended();
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("No space left"), "{said}");
        assert_eq!(bench.promiscuity("a"), Some(0));
        assert!(!bench.has_program("a"));
    }
}
