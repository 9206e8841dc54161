//! `linerate layout ...`.

use std::ffi::OsString;

use clap::{Args, Subcommand, ValueEnum};
use lab::layout::Pattern;
use lab::layout::addresses::Stream;

use crate::exit::EXIT_CODES;

/// Find out whether memory layout decides how fast a program is, and which blocks do.
///
/// Runs the program again and again, with its large blocks and its stack at other addresses, in
/// interleaved rounds with a null run among them. If layout matters, it says by how much, finds the
/// smallest set of blocks that makes the difference, says why, and tries a remedy. It needs no
/// privileges and no hardware counters; the program must be dynamically linked, and its work should
/// take between 10 ms and a few seconds. Standard input of the program is empty.
#[derive(Debug, Args)]
#[command(after_long_help = layout_examples())]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(subcommand_negates_reqs = true)]
#[command(override_usage = "linerate layout [OPTIONS] -- <COMMAND>...")]
pub(crate) struct LayoutArgs {
    /// What to do without running a program.
    #[command(subcommand)]
    pub(crate) command: Option<LayoutCommand>,
    /// How to run one.
    #[command(flatten)]
    pub(crate) run: LayoutRunArgs,
}

/// What can be done about layout.
#[derive(Debug, Subcommand)]
pub(crate) enum LayoutCommand {
    Check(LayoutCheckArgs),
}

/// How a program is run.
#[derive(Clone, Debug, Args)]
pub(crate) struct LayoutRunArgs {
    /// The program and its arguments, behind '--'.
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(crate) command: Vec<OsString>,
    /// Move blocks from this size on.
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = size)]
    pub(crate) from: u64,
    /// Measure a number that the program prints, as in 'MFLOPS: ([0-9.]+)', in place of CPU time.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) metric: Option<Pattern>,
    /// Which numbers are better: higher or lower.
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "higher",
        requires = "metric",
        hide_possible_values = true
    )]
    pub(crate) better: BetterWhich,
    /// Rounds that decide; a third of them choose what is decided on.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 12,
        value_parser = clap::value_parser!(u8).range(6..)
    )]
    pub(crate) rounds: u8,
    /// Move nothing but blocks, or nothing but the stack.
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) only: Option<LayoutOnly>,
    /// Seed the order of the runs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which figures are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BetterWhich {
    Higher,
    Lower,
}

/// What is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutOnly {
    Blocks,
    Stack,
}

/// Compute what caches make of objects at a fixed distance: sets, ways and aliases.
///
/// No program runs. Sets are computed from the addresses as given, as L1 caches do it. L2 and L3
/// caches use physical addresses, so their sets hold within one huge page; many L3 caches hash the
/// set besides.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = check_examples())]
pub(crate) struct LayoutCheckArgs {
    /// Objects: the address of the first, the distance, how many; K, M, G and 0x may be used.
    #[arg(value_name = "BASE:STRIDE:COUNT", required = true)]
    pub(crate) streams: Vec<Stream>,
    /// Bytes that are touched of each object.
    #[arg(long, value_name = "SIZE", default_value = "64", value_parser = size)]
    pub(crate) bytes: u64,
    /// The L1 data cache as SIZE/WAYS/LINE, in place of this machine's.
    #[arg(long, value_name = "CACHE")]
    pub(crate) l1: Option<lab::Cache>,
    /// The L2 cache, in the same form.
    #[arg(long, value_name = "CACHE")]
    pub(crate) l2: Option<lab::Cache>,
    /// The L3 cache, in the same form.
    #[arg(long, value_name = "CACHE")]
    pub(crate) l3: Option<lab::Cache>,
    /// The share of the L3 cache that NICs write to (DDIO), for a row of its own.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) ddio: Option<u64>,
    /// Print one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A size that is not 0.
fn size(text: &str) -> Result<u64, String> {
    let size = lab::size(text).filter(|&size| size > 0);
    size.ok_or_else(|| format!("'{text}' is no size: write 64, 4K or 2M"))
}

fn layout_examples() -> String {
    format!(
        "\
Examples:
  linerate layout -- ./benchmark --size 512
      does layout decide how much CPU time this program takes?
  linerate layout --metric 'MFLOPS:\\s*([0-9.]+)' -- ./himeno S
      the same for a number that it prints
  linerate layout --only stack -- ./benchmark
      does the size of the environment decide?
  linerate layout check 0:2048:512
      512 frames at a distance of 2048 bytes: how many headers can the L1 cache keep?

{EXIT_CODES}"
    )
}

fn check_examples() -> String {
    format!(
        "\
Examples:
  linerate layout check 0:2048:512
      512 frames at a distance of 2048 bytes: how many headers can the L1 cache keep?
  linerate layout check 0:2112:512
      the same with one more line between frames
  linerate layout check 0x7f5c00000010:1M:14 --l1 32K/8/64
      14 arrays of 1 MiB each, in an L1 cache of 32 KiB, 8 ways and lines of 64 bytes
  linerate layout check 0:2K:32768 --bytes 2K --ddio 2M
      do 32768 whole frames fit into what NICs may use of the L3 cache?

{EXIT_CODES}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_not_zero() {
        assert_eq!(size("4K"), Ok(4096));
        for text in ["0", "", "x", "-1"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
