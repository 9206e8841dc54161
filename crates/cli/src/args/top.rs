//! `linerate top`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use daemon::rpc::SOCKET_DEFAULT;

use crate::exit::EXIT_CODES;

/// Show a running daemon on one screen: ports, workers, drops by reason, hits of sets, and the last
/// five minutes as sparklines.
///
/// Everything comes over the daemon's control socket. When the daemon goes away the screen says so,
/// keeps what it last saw, and goes on when a daemon answers again. Rates are frames a second;
/// bit/s are of frames without FCS (L2). A worker's ns/frame is its busy time by frames received.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = after_long())]
pub(crate) struct TopArgs {
    /// The daemon's control socket.
    #[arg(long, value_name = "PATH", default_value = SOCKET_DEFAULT)]
    pub(crate) socket: PathBuf,
    /// Time between two looks, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub(crate) interval: Duration,
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = super::duration::parse(text)?;
    let allowed = Duration::from_millis(100)..=Duration::from_secs(3600);
    if allowed.contains(&interval) {
        return Ok(interval);
    }
    Err("from 100ms to 1h".to_owned())
}

fn after_long() -> String {
    format!(
        "\
Keys:
  q quit, p pause, s sort, left and right choose a table, up and down scroll it, ? help

Examples:
  linerate top
      the daemon of this machine
  linerate top --socket /run/linerate/lab.sock --interval 500ms
      another one, twice a second

{EXIT_CODES}"
    )
}
