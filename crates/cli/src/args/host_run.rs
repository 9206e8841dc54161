//! How a host runs, whatever its transport.

use std::net::IpAddr;
use std::time::Duration;

use clap::Args;

use super::{IdleWhen, WorkerArgs, duration};

/// What all hosts have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct HostRunArgs {
    /// The station that packets for other links are given to [default: all are on this link].
    ///
    /// A server that many clients of one prefix ask should name one of them: without it, the
    /// server asks for the Ethernet address of each, at most 333 a second.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) gateway: Option<IpAddr>,
    /// End after this time, as in 10s, 2m [default: on Ctrl-C].
    #[arg(long, short, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) duration: Option<Duration>,
    /// What a worker does while no frame comes: doze (sleep for up to 4 ms) or spin.
    ///
    /// A client at a rate should spin: one that dozes sends in bunches.
    #[arg(
        long,
        value_name = "MODE",
        default_value = "doze",
        hide_possible_values = true
    )]
    pub(crate) idle: IdleWhen,
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
    /// Print the report as one JSON object on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}
