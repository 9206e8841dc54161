//! `linerate health` and `linerate drain`.

use clap::Args;

use super::SocketArgs;
use crate::exit::EXIT_CODES;

/// Say whether traffic may be sent to a running daemon: exit code 0 if so, 1 if not.
///
/// A daemon is healthy when its workers go round, its ports are up (but for those with 'required =
/// false') and its required sets are current: read, and confirmed within their 'max_age'. It is
/// ready when it is healthy and does not drain. Each reason against it is a sentence. The same is
/// served over HTTP beside the metrics, at /healthz and /readyz.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = health_after())]
pub(crate) struct HealthArgs {
    /// Ask whether the daemon is healthy: one that drains is.
    #[arg(long)]
    pub(crate) live: bool,
    /// Print the daemon's answer as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
}

/// Make a running daemon not ready, so that health checks take it out of its group.
///
/// The daemon goes on forwarding: routers and balancers need time to send traffic elsewhere. Stop
/// it when none comes any more. The drain lasts until --off or the end of the daemon, and stands in
/// its log, its metrics and its health.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = drain_after())]
pub(crate) struct DrainArgs {
    /// End the drain: the daemon is ready again if it is healthy.
    #[arg(long)]
    pub(crate) off: bool,
    /// Print the daemon's answer as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) daemon: SocketArgs,
}

fn health_after() -> String {
    format!(
        "\
Examples:
  linerate health
      is this daemon ready for traffic, and why not?
  linerate health --quiet || withdraw-routes
      for scripts: no sentences, only the exit code
  linerate health --live --json
      does it work, whether it drains or not?

{EXIT_CODES}"
    )
}

fn drain_after() -> String {
    format!(
        "\
Examples:
  linerate drain
      withdraw first; stop the daemon when no traffic comes any more
  linerate drain --off
      take traffic again

{EXIT_CODES}"
    )
}
