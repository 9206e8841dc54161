//! `linerate locks ...`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};

use crate::exit::EXIT_CODES;

/// Show who waits for which lock, in the kernel and in programs.
///
/// Records each wait of a program, or of the whole machine, by the kernel's tracepoints: locks of
/// the kernel by contention, locks of programs by threads that sleep in futex(2). It needs root (or
/// CAP_PERFMON and a readable tracefs). What recording costs is measured first and printed. A
/// program prints to standard error, and the report goes to standard output.
#[derive(Debug, Args)]
#[command(after_long_help = examples(), arg_required_else_help = true)]
#[command(group(ArgGroup::new("what").required(true).args(["command", "seconds"])))]
#[command(override_usage = "linerate locks [OPTIONS] <--seconds <N>|-- <COMMAND>...>")]
pub(crate) struct LocksArgs {
    /// The program and its arguments, behind '--'.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Watch the whole machine for so many seconds, or until Ctrl-C.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
    /// Sort by wait_total, wait_max, wait_avg, cnt_lock or name.
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = "wait_total",
        hide_possible_values = true
    )]
    pub(crate) sort: LockColumn,
    /// Print so many rows; JSON has all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: u16,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl LocksArgs {
    /// For how long the whole machine is watched; none where a program is.
    pub(crate) fn wanted(&self) -> Option<Duration> {
        let seconds = self.seconds?;
        Some(Duration::from_secs(seconds.into()))
    }
}

/// The columns that have figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum LockColumn {
    WaitTotal,
    WaitMax,
    WaitAvg,
    CntLock,
    Name,
}

fn examples() -> String {
    format!(
        "\
Examples:
  linerate locks -- ./benchmark
      which locks does this program wait for, and for how long?
  linerate locks --seconds 10 --sort wait_max
      the longest waits on this machine
  linerate locks --seconds 10 --json
      all rows, for programs

{EXIT_CODES}"
    )
}
