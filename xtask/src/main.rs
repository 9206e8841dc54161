//! `cargo run -p xtask -- tidy | licences | lines`: exit code 0 when nothing was found, 1 when
//! something was, 2 when the task could not run.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use xtask::finding::Finding;
use xtask::{licences, lines, repository_root, tidy};

const USAGE: &str = "usage: cargo run -p xtask -- TASK

tasks:
  tidy      check the rules of the repository (see ARCHITECTURE.md)
  licences  check that every crate we build on has a permissive licence
  lines     count the lines of product code: crates/*/src without tests, comments and blank lines";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let outcome = match task.as_deref() {
        Some("tidy") => tidy::run(&repository_root()),
        Some("lines") => lines::run(&repository_root()),
        Some("licences") => licences::run(&repository_root()),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(findings) => report(&findings),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn report(findings: &[Finding]) -> ExitCode {
    for finding in findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() {
        println!("nothing to complain about");
        return ExitCode::SUCCESS;
    }
    eprintln!("{} findings", findings.len());
    ExitCode::from(1)
}
