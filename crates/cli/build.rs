//! Tells the program which commit it was built from, where git knows.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // `-dirty` depends on every source file of the program.
    println!("cargo::rerun-if-changed=..");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&[
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ]);
    println!(
        "cargo::rustc-env=LINERATE_COMMIT={}",
        commit.unwrap_or_default()
    );
}

/// What git prints; none where there is no git or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
