//! `linerate rules ...`, and the rules of a bridge, switch or router.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::SocketArgs;
use crate::exit::EXIT_CODES;

/// Read files of rules: what is wrong with them, and which rule decides on a packet; load them.
#[derive(Debug, Args)]
#[command(after_long_help = RULES_EXAMPLES)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct RulesArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
}

/// What can be done with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    Check(RulesCheckArgs),
    Import(RulesImportArgs),
    Load(RulesLoadArgs),
    Matches(RulesMatchesArgs),
}

/// Print what rules can match.
///
/// It is the table of the documentation, docs/rules.md.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = MATCHES_EXAMPLES)]
pub(crate) struct RulesMatchesArgs {}

/// Print the rules that 'nft -j list ruleset' has, as a file of rules.
///
/// The first chain that filters what is forwarded is taken, with the chains of its table. What has
/// no counterpart is named, stands in the text as a comment, and makes the exit code 1. Sets are
/// named and not printed: 'nft list set' prints what --set reads.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = IMPORT_EXAMPLES)]
pub(crate) struct RulesImportArgs {
    /// The JSON; '-' is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// Have the rules of FILE take the place of those of a running daemon, while frames go by.
///
/// All of them hold from one packet to the next, or nothing changes: a file with a fault is refused
/// with line and column. They hold until the daemon reloads its configuration or ends; then those
/// of 'rules' in the configuration hold again.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = load_after_long())]
pub(crate) struct RulesLoadArgs {
    /// The rules; '-' is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Print the daemon's answer as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
}

/// Say whether a file of rules is sound, which of its rules can never match, and which decides.
///
/// Sets and ports are taken as known, whatever their names. A rule is named that contradicts
/// itself, or that one earlier rule leaves nothing for; what several earlier rules match together
/// is not seen.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = check_after_long())]
pub(crate) struct RulesCheckArgs {
    /// The rules; '-' is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Say which rules match this packet and which decides; may be given several times.
    ///
    /// A packet is described by matches: 'ip saddr 192.0.2.1 tcp dport 22 ct state new'. '@SET' for
    /// an address is one in that set. What is not said, the packet does not have.
    #[arg(long, value_name = "PACKET")]
    pub(crate) test: Vec<String>,
    /// Print the rules in their canonical form, and nothing else.
    #[arg(long, conflicts_with_all = ["test", "json"])]
    pub(crate) print: bool,
    /// Print one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

const RULES_EXAMPLES: &str = "\
Examples:
  linerate rules check rules.txt --test 'ip saddr 192.0.2.1 tcp dport 22'
      does this packet pass, and by which rule?
  linerate rules matches
      what can a rule look at?
  linerate rules load rules.txt
      have a running daemon go by these rules";

const MATCHES_EXAMPLES: &str = "\
Examples:
  linerate rules matches
      what can a rule look at?";

const IMPORT_EXAMPLES: &str = "\
Examples:
  nft -j list ruleset | linerate rules import - > rules.txt
      the rules of the kernel, as far as they have a counterpart";

fn load_after_long() -> String {
    format!(
        "\
Examples:
  linerate rules load rules.txt
      try other rules; 'linerate reload' brings back those of the configuration
  linerate rules load rules.txt --json
      the same for a script; rules that are not sound are refused, and the old ones stay

{EXIT_CODES}"
    )
}

fn check_after_long() -> String {
    format!(
        "\
Examples:
  linerate rules check rules.txt
      is anything wrong with these rules?
  linerate rules check rules.txt --test 'ip saddr 192.0.2.1 tcp dport 22'
      does this packet pass, and by which rule? Exit code 1 if one does not
  linerate rules check rules.txt --print
      the same rules as linerate writes them

{EXIT_CODES}"
    )
}
