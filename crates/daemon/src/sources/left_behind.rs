//! Processes that a command started and that left its process group: those of a session of their
//! own, as daemons are. They are known by a mark in their environment, which they inherit.

use std::fs::{self, File};
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The variable that holds the mark.
pub(crate) const VARIABLE: &str = "LINERATE_RUN";

/// The kernel gives programs no more arguments and environment than this many bytes by default.
const ENVIRONMENT_MAX: u64 = 2 << 20;

/// How often all processes are looked through: one that is found may have started another just
/// before.
const PASSES: usize = 4;

/// What the processes of one run of a command have in common.
#[derive(Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// One that no other run has.
    pub(crate) fn new() -> Self {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = now.unwrap_or_default().as_nanos();
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{nanos}-{run}", std::process::id()))
    }

    /// The value of [`VARIABLE`].
    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// Kills every process that has the mark, as far as this user may. Those that cleared their
    /// environment are not found.
    pub(crate) fn kill_all(&self) {
        for _ in 0..PASSES {
            if self.kill_found() == 0 {
                return;
            }
        }
    }

    fn kill_found(&self) -> usize {
        let Ok(processes) = fs::read_dir("/proc") else {
            return 0;
        };
        let numbers = processes.flatten().filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Pid::from_raw(number)
        });
        numbers.filter(|&pid| self.kill(pid)).count()
    }

    /// Kills it if it has the mark and lives. Held by a file of its own before it is looked at, so
    /// that no other process can have its number meanwhile.
    fn kill(&self, pid: Pid) -> bool {
        let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else {
            return false;
        };
        self.is_in(pid) && pidfd_send_signal(held, Signal::KILL).is_ok()
    }

    fn is_in(&self, pid: Pid) -> bool {
        // Empty for one that has ended and was not waited for.
        let mut environment = Vec::new();
        let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
        let read = File::open(path)
            .and_then(|file| file.take(ENVIRONMENT_MAX).read_to_end(&mut environment));
        let is_mark = |entry: &[u8]| {
            let value = entry.strip_prefix(VARIABLE.as_bytes());
            value.and_then(|value| value.strip_prefix(b"=")) == Some(self.0.as_bytes())
        };
        read.is_ok() && environment.split(|&byte| byte == 0).any(is_mark)
    }
}
