//! `linerate lab ...`.

use clap::{Args, Subcommand};

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
}

/// Name the experiments, a sentence each.
#[derive(Debug, Args)]
#[command(after_long_help = LIST_EXAMPLES)]
pub(crate) struct LabListArgs {}

/// Run one experiment.
///
/// Variants are measured in interleaved rounds in random order, so that a machine whose speed
/// drifts favours none. Every sample is kept; the table shows median and quartiles.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = RUN_EXAMPLES)]
pub(crate) struct LabRunArgs {
    /// The experiment, as 'lab list' names it.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Measure fewer variants in fewer rounds, for a first look.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seed every random choice.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object with all samples on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

const LAB_EXAMPLES: &str = "\
Examples:
  linerate lab list
      which experiments are there?
  linerate lab run stride --quick
      what does the distance of two frames in memory do?";

const LIST_EXAMPLES: &str = "\
Examples:
  linerate lab list
      name and sentence of each experiment";

const RUN_EXAMPLES: &str = "\
Examples:
  linerate lab run stride
      all variants
  linerate lab run stride --quick --json
      a first look, for programs";
