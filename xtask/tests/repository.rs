//! The repository keeps its own rules: `cargo test` fails where `xtask tidy` would.

use xtask::{repository_root, tidy};

#[test]
fn the_repository_is_tidy() {
    let findings = tidy::run(&repository_root()).expect("the evidence can be gathered");
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        findings.is_empty(),
        "{} findings\n{}",
        findings.len(),
        lines.join("\n")
    );
}
