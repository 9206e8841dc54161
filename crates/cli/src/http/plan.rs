//! What the command line means: pools of clients.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use load::client::{
    Arrivals, Asked, Load, PROFILE_BYTES_MAX, Pace, PoolSpec, Rates, RequestSpec, RunSpec,
    Template, Url, read_profile, read_replay,
};
use load::http::BodyCheck;
use load::tls::{ClientTls, ClientTlsOptions};

use super::threads;
use crate::args::{ArrivalKind, CheckWhen, HttpLoadArgs, HttpPaceArgs, HttpPoolArgs, HttpTlsArgs};
use crate::error::Error;

/// How long a run lasts that does not end by itself.
const DURATION: Duration = Duration::from_secs(10);

/// The run that is asked for.
pub(super) fn spec(args: &HttpLoadArgs) -> Result<RunSpec, Error> {
    let pools = match (&args.url, &args.profile) {
        (Some(url), _) => vec![pool(args, url)?],
        (None, Some(file)) => profile(file, args.pace.duration.unwrap_or(DURATION))?,
        (None, None) => return Err(Error::refused("there is no URL and no --profile: give one")),
    };
    let connections = pools.iter().map(|pool| pool.connections as usize).max();
    Ok(RunSpec {
        threads: threads(args.verdict.threads).min(connections.unwrap_or(1)),
        seed: args.verdict.seed,
        pools,
    })
}

/// The pools of a file.
fn profile(file: &Path, duration: Duration) -> Result<Vec<PoolSpec>, Error> {
    let refuse = |why: &dyn Display| Error::refused(format!("{}: {why}", file.display()));
    let unread = |error| refuse(&format_args!("{error}: name a profile, which is TOML"));
    let opened = File::open(file).map_err(unread)?;
    let mut text = String::new();
    let most = PROFILE_BYTES_MAX as u64 + 1;
    opened
        .take(most)
        .read_to_string(&mut text)
        .map_err(unread)?;
    if text.len() > PROFILE_BYTES_MAX {
        return Err(refuse(
            &"a profile has at most 1 MiB: is it the right file?",
        ));
    }
    let parse_duration = daemon::config::parse_duration;
    let asked = Asked {
        duration,
        parse_duration,
    };
    read_profile(&text, &asked).map_err(|error| refuse(&error))
}

/// The one pool of a URL.
fn pool(args: &HttpLoadArgs, url: &Url) -> Result<PoolSpec, Error> {
    let load = load_of(&args.pace)?;
    let pace_ends = load.arrivals().and_then(|one| one.pace.duration());
    Ok(PoolSpec {
        stop: args.pace.duration.or(pace_ends).unwrap_or(DURATION),
        load,
        count: args.pace.requests,
        ..clients(&args.pool, url)?
    })
}

/// The clients of a URL, in a closed loop.
pub(crate) fn clients(args: &HttpPoolArgs, url: &Url) -> Result<PoolSpec, Error> {
    let address = url.resolve().map_err(Error::refused)?;
    if args
        .clients
        .from
        .is_some_and(|sources| !sources.fit(address))
    {
        return Err(Error::refused(format!(
            "--from: {address} is of the other family: take addresses of its family"
        )));
    }
    Ok(PoolSpec {
        name: "clients".to_owned(),
        address,
        host: url.host.clone(),
        tls: tls(&args.tls, url)?,
        requests: vec![RequestSpec {
            method: args.request.method.clone(),
            path: Template::parse(&url.path).map_err(Error::refused)?,
            headers: args.request.header.clone(),
            body_bytes: args.request.body.unwrap_or(0),
            weight: 1,
        }],
        connections: args.clients.connections,
        load: Load::Closed,
        requests_each: args.clients.requests_each,
        think: Duration::ZERO,
        read_rate: None,
        write_rate: None,
        abort_after: None,
        sources: args.clients.from,
        start: Duration::ZERO,
        stop: DURATION,
        count: None,
        timeout: args.clients.timeout,
        check: match args.request.check {
            CheckWhen::Announced => BodyCheck::Announced,
            CheckWhen::Always => BodyCheck::Always,
            CheckWhen::Never => BodyCheck::Never,
        },
    })
}

fn tls(args: &HttpTlsArgs, url: &Url) -> Result<Option<ClientTls>, Error> {
    let options = ClientTlsOptions {
        insecure: args.insecure,
        ca: args.ca.clone(),
        version: args.tls_version,
        no_resumption: args.no_resumption,
    };
    match url.is_https {
        true => ClientTls::new(url.server_name(), &options)
            .map(Some)
            .map_err(Error::refused),
        false if options == ClientTlsOptions::default() => Ok(None),
        false => Err(Error::refused(
            "--insecure, --ca, --tls-version and --no-resumption are for TLS: write https://",
        )),
    }
}

fn load_of(args: &HttpPaceArgs) -> Result<Load, Error> {
    let pace = match (&args.rate, &args.replay) {
        (None, None) if args.closed => {
            return Err(Error::refused(
                "--closed is for --rate or --replay: give one",
            ));
        }
        (None, None) => return Ok(Load::Closed),
        (None, Some(file)) => read_replay(file).map_err(Error::refused)?,
        (Some(rates), _) => Pace::Rates(ramped(rates, args.ramp)?),
    };
    let arrivals = Arrivals {
        pace,
        is_random: args.arrivals == ArrivalKind::Poisson,
    };
    Ok(match args.closed {
        true => Load::Paced(arrivals),
        false => Load::Open(arrivals),
    })
}

fn ramped(rates: &Rates, ramp: Option<Duration>) -> Result<Rates, Error> {
    match (ramp, rates.only()) {
        (None, _) => Ok(rates.clone()),
        (Some(over), Some(rate)) => Ok(Rates::ramp(rate, over)),
        (Some(_), None) => Err(Error::refused(
            "--ramp is for one rate: write a ramp among steps as in --rate 0-1000:10s,1000",
        )),
    }
}
