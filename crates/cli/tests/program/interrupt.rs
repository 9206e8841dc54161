//! Ctrl-C and its like, from outside: one wish is one wish however many signals tell it, and a
//! later one ends what does not end.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::daemon::{Daemon, config};
use crate::{Place, Ran};

fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process"), Signal::INT).expect("a signal");
}

/// timeout(1) signals its child, and then the group that the child is in.
#[test]
fn signals_side_by_side_are_one() {
    let place = Place::new();
    for pause in [0, 1, 10] {
        let child = place.command("bridge gen: null: --json").spawn();
        let child = child.expect("it starts");
        sleep(Duration::from_secs(1));
        interrupt(&child);
        sleep(Duration::from_millis(pause));
        interrupt(&child);
        let ran = Ran::of(child.wait_with_output().expect("it ends")).ended(0);
        assert_eq!(ran.json()["ended_by"], "asked", "{pause} ms apart");
    }
}

/// A run that was to have an end, and that somebody ended before, has no result.
#[test]
fn a_run_that_is_interrupted_before_its_end_has_no_result() {
    let place = Place::new();
    for (size, code, told) in [
        ("--count 100000", 1, "of 100,000 frames"),
        ("--duration 60s", 1, "interrupted after"),
        ("", 0, ""),
    ] {
        let words = format!("gen null: --rate 100pps --no-trial --json -q {size}");
        let child = place.command(&words).spawn().expect("it starts");
        sleep(Duration::from_secs(1));
        interrupt(&child);
        let ran = Ran::of(child.wait_with_output().expect("it ends"));
        let said = ran.json();
        let no_result = said["no_result"].as_str().unwrap_or_default();
        assert_eq!(said["ended_by"], "asked", "{said}");
        // Without an end that was asked for, only a rate that a busy machine missed is told of.
        if code == 1 {
            assert!(no_result.contains(told), "{size}: {said}");
            ran.ended(1);
        } else {
            assert!(!no_result.contains("interrupted"), "{size}: {said}");
        }
    }
}

/// An experiment has no part that could be shown: whichever signal ends it, there is no result.
#[test]
fn an_experiment_that_is_interrupted_has_no_result() {
    let place = Place::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let words = "lab run stride --json run.json";
        let child = place.command(words).spawn().expect("it starts");
        sleep(Duration::from_secs(1));
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), signal).expect("a signal");
        let ran = Ran::of(child.wait_with_output().expect("it ends")).ended(1);
        assert!(ran.complaints().contains("interrupted"), "{}", ran.stderr);
        assert!(!place.path("run.json").exists(), "{signal:?}");
    }
}

/// Who waits for a daemon that was stopped looks for no signal for half a minute.
#[test]
fn a_later_signal_ends_what_does_not_end() {
    let place = Place::new();
    place.write("a.toml", config(""));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let words = "show ports --watch --json --socket ctl.sock";
    let waiting = place.command(words).stdout(Stdio::null()).spawn();
    let mut waiting = waiting.expect("it starts");
    sleep(Duration::from_secs(1));
    daemon.signal(Signal::STOP);
    sleep(Duration::from_secs(2));
    interrupt(&waiting);
    sleep(Duration::from_secs(1));
    let before = waiting.try_wait().expect("its state");
    interrupt(&waiting);
    let code = waiting.wait().expect("it ends").code();
    daemon.signal(Signal::CONT);
    assert_eq!((before, code), (None, Some(1)));
    daemon.stop();
}
