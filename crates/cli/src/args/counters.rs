//! `linerate counters ...`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::CpuList;
use crate::exit::EXIT_CODES;

/// Count what a program, a process or CPUs wait for.
///
/// Counts events of the kernel (context switches, migrations, page faults, interrupts) on any
/// machine, and events of the CPU (cycles, stalls, cache misses, TLB, aliases) where it has
/// counters that this user may have. Says what each figure means, and what is missing and why. A
/// program prints to standard error, and the report goes to standard output.
#[derive(Debug, Args)]
#[command(after_long_help = examples(), arg_required_else_help = true)]
#[command(group(ArgGroup::new("what").required(true).args(["command", "pid", "cpu"])))]
#[command(
    override_usage = "linerate counters [OPTIONS] <--pid <PID>|--cpu <LIST>|-- <COMMAND>...>"
)]
pub(crate) struct CountersArgs {
    /// The program and its arguments, behind '--'; it is counted from its start to its end.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Count a process that runs, with all its threads.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) pid: Option<i32>,
    /// Count everything on these CPUs, as in 0,2-3.
    #[arg(long, value_name = "LIST")]
    pub(crate) cpu: Option<CpuList>,
    /// Count a process or CPUs for so many seconds, or until Ctrl-C.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        conflicts_with = "command",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    seconds: u32,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl CountersArgs {
    /// For how long a process or CPUs are counted.
    pub(crate) fn wanted(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }
}

fn examples() -> String {
    format!(
        "\
Examples:
  linerate counters -- ./benchmark
      what does this program wait for?
  linerate counters --pid 1234 --seconds 10
      what does this process wait for?
  linerate counters --cpu 2-3 --json
      events on the CPUs of two workers, for programs

{EXIT_CODES}"
    )
}
