//! What `linerate top` leaves of a terminal when a signal ends it.

use std::process::Command;

use crate::Place;

/// What a script says that runs the program on a terminal of its own; none without Python.
fn left_by(signal: &str) -> Option<String> {
    let place = Place::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/terminal.py");
    let output = Command::new("python3")
        .args([script, signal, env!("CARGO_BIN_EXE_linerate")])
        .args(["top", "--socket"])
        .arg(place.path("nobody.sock"))
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: no python3 here");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(output.status.success(), "{output:?}");
    Some(said)
}

#[test]
fn signals_leave_the_terminal_as_it_was() {
    for signal in ["SIGTERM", "SIGINT"] {
        let Some(said) = left_by(signal) else { return };
        assert_eq!(said, "restored", "{signal}");
    }
}

/// Nobody can put a terminal back after this one: the script must see it.
#[test]
fn a_terminal_that_is_not_put_back_is_seen() {
    let Some(said) = left_by("SIGKILL") else {
        return;
    };
    assert!(said.starts_with("its modes are"), "{said}");
}
