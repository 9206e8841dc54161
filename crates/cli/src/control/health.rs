//! `linerate health` and `linerate drain`.

use daemon::rpc::answers::{DrainParams, Health, NoParams};

use super::{connect, failed, tell};
use crate::args::{DrainArgs, HealthArgs};
use crate::error::Outcome;
use crate::exit::ExitCode;
use crate::output::Output;

/// Says whether traffic may be sent to the daemon.
pub(crate) fn health(args: &HealthArgs, output: Output) -> Outcome {
    let mut client = connect(&args.daemon)?;
    let health: Health = client
        .call("health", &NoParams::default())
        .map_err(failed)?;
    let (is_well, told) = match args.live {
        true => (health.healthy, health.without_drain()),
        false => (health.ready, health),
    };
    if args.json || output.manners.shows_progress() {
        tell(args.json, &told, &told.text(), output)?;
    }
    Ok(match is_well {
        true => ExitCode::Done,
        false => ExitCode::CheckFailed,
    })
}

/// Begins to drain, or ends that.
pub(crate) fn drain(args: &DrainArgs, output: Output) -> Outcome {
    let mut client = connect(&args.daemon)?;
    let params = DrainParams { on: !args.off };
    let health: Health = client.call("drain", &params).map_err(failed)?;
    tell(args.json, &health, &health.text(), output)
}
