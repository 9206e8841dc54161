//! The socket driven by Python's standard library, as the protocol's document says.

use crate::Place;
use std::process::Command;

#[test]
fn python_adds_tests_loads_watches_and_saves() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: there is no python3 here");
        return;
    }
    let place = Place::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rpc/drive.py");
    let ran = Command::new("python3")
        .arg(script)
        .arg(place.socket())
        .output();
    let ran = ran.expect("python3 starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "all is well\n");
}
