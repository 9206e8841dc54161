//! `linerate top`.

use std::time::Duration;

use clap::Args;

use super::SocketArgs;
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
    /// Time between two looks, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = super::socket::interval)]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
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
