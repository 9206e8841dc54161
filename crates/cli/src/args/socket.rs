//! Options of the commands that speak to a daemon.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Which daemon.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Daemon")]
pub(crate) struct SocketArgs {
    /// The daemon's control socket [default: $LINERATE_SOCKET, or /run/linerate/control.sock].
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
}

/// How facts are told.
#[derive(Clone, Debug, Args)]
pub(crate) struct FactArgs {
    /// Print one JSON object on standard output; with --watch one a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show it again and again, until Ctrl-C.
    #[arg(long)]
    pub(crate) watch: bool,
    /// Time between two looks of --watch, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
}

/// Time between two looks.
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    let interval = super::duration::parse(text)?;
    if daemon::rpc::WATCH_EVERY.contains(&interval) {
        return Ok(interval);
    }
    Err("from 100ms to 1h".to_owned())
}
