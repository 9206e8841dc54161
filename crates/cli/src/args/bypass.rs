//! `linerate bypass ...`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use port::Bypass;

use super::interface_word::interface;
use crate::exit::EXIT_CODES;

/// See and take away what forwards between interfaces while no bridge runs.
///
/// A bridge between xdp: ports with bypass=on leaves a program on both interfaces when it ends,
/// however it ends: the wire stays whole, and everything passes unfiltered. The next bridge takes
/// the program over.
#[derive(Debug, Args)]
#[command(after_long_help = BYPASS_EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct BypassArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: BypassCommand,
}

/// What can be done with bypasses.
#[derive(Debug, Subcommand)]
pub(crate) enum BypassCommand {
    Show(BypassShowArgs),
    Off(BypassOffArgs),
}

/// List the interfaces of this network namespace that have a bypass, and what passed by it.
///
/// 'unfiltered' counts since the bridge that runs, or ran last, began.
#[derive(Debug, Args)]
#[command(after_long_help = show_after_long())]
pub(crate) struct BypassShowArgs {
    #[command(flatten)]
    pub(crate) place: BypassPlace,
}

/// Take the bypass of interfaces away: nothing passes any more until a bridge runs.
///
/// The program, promiscuous mode and switched-off offloads of each IFACE go back to what they were
/// before the first bridge. Refused while a bridge runs on it.
#[derive(Debug, Args)]
#[command(after_long_help = off_after_long())]
pub(crate) struct BypassOffArgs {
    /// The interfaces, both of a pair as a rule.
    #[arg(value_name = "IFACE", required = true, value_parser = interface)]
    pub(crate) interfaces: Vec<String>,
    #[command(flatten)]
    pub(crate) place: BypassPlace,
}

/// Where bypasses are, and how to tell.
#[derive(Debug, Args)]
pub(crate) struct BypassPlace {
    /// The folder that bypass= named, in a BPF file system.
    #[arg(long, value_name = "DIR", default_value = Bypass::FOLDER)]
    pub(crate) folder: PathBuf,
    /// Print one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

const BYPASS_EXAMPLES: &str = "\
Examples:
  linerate bypass show
      is there a bypass, and how much passed by it?
  linerate bypass off eth1 eth2
      leave the interfaces as they were before";

fn show_after_long() -> String {
    format!(
        "\
Examples:
  linerate bypass show
      a table
  linerate bypass show --folder /run/bpf/linerate --json
      those of bridges with bypass=/run/bpf/linerate, for programs

{EXIT_CODES}"
    )
}

fn off_after_long() -> String {
    format!(
        "\
Examples:
  linerate bypass off eth1 eth2
      both ends of a bypass
  linerate bypass off eth1 eth2 --json
      the same; what had passed, for programs

{EXIT_CODES}"
    )
}
