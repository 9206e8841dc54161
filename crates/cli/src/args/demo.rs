//! `linerate demo`.

use clap::Args;

use super::{WorkerArgs, count};
use crate::exit::EXIT_CODES;

/// Show what this machine does: bridge generated frames and look every address up in a large set.
///
/// Builds a set of 6,000,000 random IPv4 addresses, generates 64-byte frames with random
/// addresses, a tenth of them with an address of the set, and bridges them for ten seconds on one
/// worker. Needs no arguments, no privileges and no NIC, and takes less than 30 seconds.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after_long())]
pub(crate) struct DemoArgs {
    /// Bridge for N seconds.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = seconds())]
    pub(crate) seconds: u64,
    /// Put N addresses into the set, as in 6000000 or 6M [default: 6M, less if memory is short].
    #[arg(long, value_name = "N", value_parser = entries)]
    pub(crate) entries: Option<u64>,
    /// Seed the addresses and the traffic; the same seed gives the same frames.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the report as one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what would run here, and run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
}

fn seconds() -> impl clap::builder::TypedValueParser<Value = u64> {
    clap::value_parser!(u64).range(1..=86_400)
}

/// The most addresses a demo set may have: an eighth of the IPv4 space.
const ENTRIES_MAX: u64 = 1 << 29;

fn entries(text: &str) -> Result<u64, String> {
    match count::parse(text)? {
        entries if entries > ENTRIES_MAX => Err(format!(
            "at most {ENTRIES_MAX} addresses fit into a demo set"
        )),
        entries => Ok(entries),
    }
}

fn after_long() -> String {
    format!(
        "\
Examples:
  linerate demo
      the whole of it
  linerate demo --entries 100k --seconds 3
      a set that fits the CPU's caches
  linerate demo --workers 2
      two workers, each with its own CPU, frames and counters
  linerate demo --json > demo.json
      the report for programs, the live lines for you

{EXIT_CODES}"
    )
}
