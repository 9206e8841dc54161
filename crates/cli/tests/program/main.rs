//! The program from outside: what it prints where, and how it ends.

mod acting;
mod bridge;
mod broken_captures;
mod by_hand;
mod capture;
mod contract;
mod control;
mod counters;
mod counts;
mod daemon;
mod daemon_pages;
mod daemon_router;
mod daemon_rules;
mod daemon_switch;
mod doctor;
mod drive;
mod drops;
mod etcd;
mod etcd_tls;
mod explain;
mod explain_stages;
mod fragments;
mod group_files;
mod group_page;
mod guards;
mod health;
mod help;
mod hostile_daemon;
mod http;
mod http_faults;
mod http_files;
mod http_metrics;
mod http_nginx;
mod http_tls;
mod interrupt;
mod laboratory;
mod layout;
mod locks;
mod nat;
mod ndr;
mod ndr_http;
mod pass;
mod rejected;
mod reload;
mod replay;
mod router;
mod rules;
#[path = "../screens/mod.rs"]
mod screens;
mod service_manager;
mod set_check;
mod sets_told;
mod sourced;
mod stateful;
mod switch;
mod tcp;
mod terminal;
mod udp;
mod usage;
mod watching;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, io::Write};

use tempfile::TempDir;

/// A folder for one test and the program run in it.
pub(crate) struct Place {
    folder: TempDir,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().expect("a folder for temporary files"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("the file was written")
    }

    /// Runs with these words, given as one string.
    pub(crate) fn run(&self, words: &str) -> Ran {
        self.run_with_input(words, b"")
    }

    pub(crate) fn run_with_input(&self, words: &str, input: &[u8]) -> Ran {
        let mut child = self.command(words).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // The program may end before it has read everything.
        let _ = stdin.write_all(input);
        drop(stdin);
        Ran::of(child.wait_with_output().expect("the program ends"))
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command
            .args(words.split_whitespace())
            .current_dir(self.folder.path())
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text")
    }

    /// Standard output as exactly one JSON object.
    pub(crate) fn json(&self) -> serde_json::Value {
        let value: serde_json::Value = match serde_json::from_slice(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("no JSON object: {error}\n{self:?}"),
        };
        assert!(value.is_object(), "{value}");
        value
    }

    /// Standard error without what every debug build says.
    pub(crate) fn complaints(&self) -> String {
        let own = self
            .stderr
            .lines()
            .filter(|line| !line.contains("THIS IS A DEBUG BUILD"));
        own.map(|line| format!("{line}\n")).collect()
    }

    /// Holds it against a row of a table: refused with this exit code and a message that has this
    /// text, or done.
    #[track_caller]
    pub(crate) fn is_refused_as(&self, refusal: Option<&str>, code: i32, row: &str) {
        let code = refusal.map_or(0, |_| code);
        assert_eq!(self.code, code, "{row}: {self:?}");
        let said = refusal.is_none_or(|refusal| self.complaints().contains(refusal));
        assert!(said, "{row}: {self:?}");
    }

    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            code,
            "{}\n{}",
            String::from_utf8_lossy(&self.stdout),
            self.stderr
        );
        self
    }
}
