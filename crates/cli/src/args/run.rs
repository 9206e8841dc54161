//! `linerate run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::duration;
use crate::exit::EXIT_CODES;

/// Run a bridge for months, as a configuration says: sets change while frames go by.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after_long())]
pub(crate) struct DaemonArgs {
    /// The configuration, in TOML.
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Check the configuration, print it with every default written out, and start nothing.
    ///
    /// Touches no port, no list and no server. What is printed is a configuration itself.
    #[arg(long)]
    pub(crate) check: bool,
    /// With --check: read the lists that are files, and say of each whether it would be taken.
    ///
    /// All refusals are told at once, and the exit code is 1 if there is one. Lists of servers and
    /// commands are not read.
    #[arg(long, requires = "check")]
    pub(crate) lists: bool,
    /// End after this time, as in 10s or 2h, for a trial.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    /// Take what is readable of a state that is damaged, and say what is not.
    ///
    /// Without it a start is refused when something in the middle is damaged. The damaged files
    /// are kept under another name.
    #[arg(long)]
    pub(crate) recover: bool,
    /// Print the report as one JSON object on standard output; all else goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

fn after_long() -> String {
    format!(
        "\
SIGTERM and Ctrl-C end it with a report, SIGHUP reads the configuration again.

Examples:
  linerate run --check /etc/linerate/bridge.toml
      is this configuration right, and what does it mean here?
  linerate run --check --lists /etc/linerate/bridge.toml
      are its lists right, too?
  linerate run /etc/linerate/bridge.toml
      until it is told to end

{EXIT_CODES}"
    )
}
