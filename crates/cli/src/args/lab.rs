//! `linerate lab ...`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::exit::EXIT_CODES;

/// Run experiments that show where the nanoseconds go.
#[derive(Debug, Args)]
#[command(after_long_help = LAB_EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct LabArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

/// What can be done in the laboratory.
#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    List(LabListArgs),
    Run(LabRunArgs),
    Compare(LabCompareArgs),
}

/// Name the experiments, a sentence each.
#[derive(Debug, Args)]
#[command(after_long_help = LIST_EXAMPLES)]
pub(crate) struct LabListArgs {}

/// Run one experiment.
///
/// Variants are measured in interleaved rounds in random order, so that a machine whose speed
/// drifts favours none. One variant is measured twice a round: a difference smaller than it has
/// from itself is shown as no difference. Every sample is kept; the table shows median and
/// quartiles.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = run_help())]
pub(crate) struct LabRunArgs {
    /// The experiment, as 'lab list' names it.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Measure fewer variants in shorter trials, for a first look.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seed every random choice.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Run over real interfaces: send by this port, as in xdp:eth1 (ladder, batch, stride, locks).
    #[arg(long, value_name = "PORT", requires = "rx")]
    pub(crate) tx: Option<String>,
    /// Take in, and measure, at this port, which is joined to the other outside of this program.
    #[arg(long, value_name = "PORT", requires = "tx")]
    pub(crate) rx: Option<String>,
    /// Write one JSON object with all samples, to standard output where no file is named.
    ///
    /// On standard output it takes the place of the table.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with charts that needs nothing but a browser.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Say of two runs of one experiment, row by row, whether the second was faster or slower.
///
/// Rows are matched by variant and metric. The ratio is that of speeds, so that above 1 means
/// faster for rates and costs alike, with an interval; those of all rows hold together in 95 % of
/// all cases. A row is faster or slower when its interval leaves 1 out and the difference is larger
/// than the noise of both runs. The two runs
/// were not interleaved, and the machine may have changed between them: only a further run of A's
/// program, given with --null, shows by how much. What makes all rows of a round slower alike
/// --relative takes out.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = compare_help())]
pub(crate) struct LabCompareArgs {
    /// The run to compare with, written by 'lab run NAME --json FILE'.
    #[arg(value_name = "A.json")]
    pub(crate) base: PathBuf,
    /// The run in question.
    #[arg(value_name = "B.json")]
    pub(crate) new: PathBuf,
    /// Another run of A's program: only what differs by more than its runs do counts (repeatable).
    #[arg(long = "null", value_name = "FILE")]
    pub(crate) nulls: Vec<PathBuf>,
    /// Divide each round by the mean of its rows, so that only their order and distances count.
    #[arg(long)]
    pub(crate) relative: bool,
    /// Show all rows, not only those that differ.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the verdicts as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

const LAB_EXAMPLES: &str = "\
Examples:
  linerate lab list
      which experiments are there?
  linerate lab run stride --quick
      what does the distance of two frames in memory do?
  linerate lab compare before.json after.json
      did a change make anything slower?";

const LIST_EXAMPLES: &str = "\
Examples:
  linerate lab list
      name and sentence of each experiment";

fn run_help() -> String {
    format!(
        "\
Examples:
  linerate lab run stride
      all variants, as a table
  linerate lab run stride --quick --html stride.html
      a first look, and a page with its charts
  linerate lab run stride --json before.json
      keep all samples, to compare another run with
  linerate lab run ladder --tx xdp:eth1 --rx xdp:eth2
      what arrives at eth2, which a cable joins to eth1, instead of frames in memory
  linerate lab run stride --quick --json
      for programs

{EXIT_CODES}"
    )
}

fn compare_help() -> String {
    format!(
        "\
Examples:
  linerate lab compare before.json after.json
      a verdict a row; exit code 1 if any is slower
  linerate lab compare before.json after.json --null before2.json
      the same by what two runs of one program differ by here; best made in turn: before, after,
      before2
  linerate lab compare before.json after.json --relative
      the same where the machine itself may have been slower on one of the two days
  linerate lab compare before.json after.json --json
      for programs

{EXIT_CODES}"
    )
}
