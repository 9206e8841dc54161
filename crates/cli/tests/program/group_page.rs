//! The walk through a group on one machine in `docs/group.md`, as it stands there.

use std::process::Command;

use rustix::process::geteuid;

use crate::Place;
use crate::etcd::is_here;

const PAGE: &str = include_str!("../../../../docs/group.md");

/// The section that is run.
const SECTION: &str = "## Try it on one machine\n";

/// The blocks of a language in the section.
fn blocks(language: &str) -> Vec<&'static str> {
    let section = PAGE.split(SECTION).nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let open = format!("```{language}\n");
    let blocks = section.split(open.as_str()).skip(1);
    blocks
        .filter_map(|block| block.split("```").next())
        .collect()
}

/// A network of its own, since the page has fixed ports, and processes that end with the shell.
const BEFORE: &str = "set -eu\nip link set lo up\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n";

#[test]
fn one_machine_becomes_four_as_the_page_says() {
    if !geteuid().is_root() {
        eprintln!("skipped: a network of its own needs root");
        return;
    }
    for program in ["etcd", "curl", "unshare", "ip"] {
        if !is_here(program) {
            eprintln!("skipped: no {program} here");
            return;
        }
    }
    let place = Place::new();
    let configs = blocks("toml");
    assert_eq!(configs.len(), 1);
    place.write("box.toml", configs[0]);
    let script: String = blocks("sh").concat();
    place.write("walk.sh", format!("{BEFORE}{script}"));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_linerate"));
    let folder = program.parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let ran = Command::new("unshare")
        .args(["-n", "timeout", "120", "bash", "walk.sh"])
        .current_dir(place.path("walk.sh").parent().expect("a folder"))
        .env("PATH", format!("{folder}:{path}"))
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{:?}\n{text}\n{said}", ran.status);
    assert!(text.contains("2 keys put, 0 deleted"), "{text}");
    assert_eq!(
        text.matches("203.0.113.9: in 'bad'").count(),
        4,
        "one change reaches all four: {text}"
    );
    let drained = "the daemon drains: 'linerate drain --off' ends that\n";
    assert!(
        text.ends_with(&format!("{drained}{drained}ok\nok\n")),
        "{text}"
    );
}
