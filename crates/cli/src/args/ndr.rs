//! `linerate ndr`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::ArgPredicate;
use clap::{Arg, Args};
use load::client::{Expectation, Url, Wish};
use traffic::{Rate, Sizes};

use super::answer::AnswerArgs;
use super::http_load::{Expectations, HttpPoolArgs, expectations, url};
use super::{WorkerArgs, duration, simulated};
use lab::no_drop::ModelSpec;

/// Find the highest rate at which a device loses nothing, or a server is as fast as expected.
#[derive(Clone, Debug, Args)]
#[command(long_about = ABOUT, after_long_help = HELP)]
#[command(mut_args(brief))]
pub(crate) struct NdrArgs {
    /// Send by this port, as in xdp:eth1.
    #[arg(long, value_name = "PORT", required_unless_present_any = ["simulate", "http"],
        conflicts_with_all = OF_HTTP)]
    pub(crate) tx: Option<String>,
    /// Take the frames in again at this port.
    #[arg(long, value_name = "PORT", required_unless_present_any = ["simulate", "http"])]
    pub(crate) rx: Option<String>,
    /// Search a simulated device instead, in simulated time, as in capacity=1Mpps,queue=512.
    ///
    /// Keys: capacity=RATE, queue=FRAMES, noise=SHARE (of service times), loss=SHARE (at any
    /// rate), drift=SHARE (of the capacity, a second), wander=SHARE (of the capacity, from trial
    /// to trial), pause=TIME and every=TIME (random pauses), sender=RATE (what the sender can
    /// send), seed=N.
    #[arg(
        long,
        value_name = "DEVICE",
        value_parser = simulated::parse,
        conflicts_with_all = ["tx", "rx"],
        conflicts_with_all = OF_HTTP
    )]
    pub(crate) simulate: Option<ModelSpec>,
    /// Send both ways at once: what arrives is sent back the same way. The rate is that of each
    /// direction, and the loss that of the worse.
    #[arg(long)]
    pub(crate) bidirectional: bool,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) http: NdrHttpArgs,
    #[command(flatten)]
    pub(crate) search: NdrSearchArgs,
    #[command(flatten)]
    pub(crate) frames: NdrFrameArgs,
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
    /// Write one JSON object with every trial, to standard output where no file is named.
    ///
    /// On standard output it takes the place of the tables.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with curves of rate against loss and latency.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// An HTTP server instead of a device.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct NdrHttpArgs {
    /// Search the rate of requests up to which this server does as --expect says.
    #[arg(long = "http", value_name = "URL", id = "http", value_parser = url,
        conflicts_with_all = OF_FRAMES)]
    pub(crate) url: Option<Url>,
    /// What each rate is held against; a request without a sound answer is later than all others.
    #[arg(long, value_name = "LIST", default_value = "p99=100ms,errors=0.1%",
        value_parser = bounds)]
    pub(crate) expect: Expectations,
    /// Threads, each with its own connections [default: one a CPU].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) pool: HttpPoolArgs,
}

/// Options that a short help has no room for.
const LONG_ONLY: [&str; 17] = [
    "threads",
    "method",
    "header",
    "body",
    "check",
    "requests_each",
    "from",
    "timeout",
    "insecure",
    "ca",
    "tls_version",
    "no_resumption",
    "smac",
    "dmac",
    "vlan",
    "ipv6",
    "exceed",
];

fn brief(option: Arg) -> Arg {
    match LONG_ONLY.contains(&option.get_id().as_str()) {
        true => option.hide_short_help(true),
        false => option,
    }
}

/// Options that are for an HTTP server alone.
const OF_HTTP: [&str; 6] = [
    "http",
    "expect",
    "threads",
    "HttpRequestArgs",
    "HttpClientArgs",
    "HttpTlsArgs",
];

/// Options that are for frames alone.
const OF_FRAMES: [&str; 15] = [
    "tx",
    "rx",
    "simulate",
    "bidirectional",
    "AnswerArgs",
    "loss",
    "size",
    "src",
    "dst",
    "smac",
    "dmac",
    "vlan",
    "ipv6",
    "flows",
    "html",
];

/// What is searched for and how sure it has to be.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct NdrSearchArgs {
    /// Find a first figure in less than a minute a size: short trials and wide bounds.
    ///
    /// Sets --duration 250ms, --precision 2% and --confirm 3 where they are not given.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Loss ratios to find the rate of, all in one search: 0 is the no-drop rate.
    #[arg(long, value_name = "LIST", default_value = "0", value_delimiter = ',',
        value_parser = share)]
    pub(crate) loss: Vec<f64>,
    /// Duration of a full trial; shorter ones come first. RFC 2544 has 60s.
    ///
    /// With --http 2s where it is not given.
    #[arg(long, value_name = "TIME", default_value = "1s",
        default_value_ifs([
            ("quick", ArgPredicate::Equals("true".into()), Some("250ms")),
            ("http", ArgPredicate::IsPresent, Some("2s")),
        ]), value_parser = duration::parse)]
    pub(crate) duration: Duration,
    /// Distance of the bounds around the rate: the precision of the result.
    ///
    /// With --http 5% where it is not given.
    #[arg(long, value_name = "SHARE", default_value = "0.5%",
        default_value_ifs([
            ("quick", ArgPredicate::Equals("true".into()), Some("2%")),
            ("http", ArgPredicate::IsPresent, Some("5%")),
        ]), value_parser = share)]
    pub(crate) precision: f64,
    /// Judge a rate by N full trials.
    #[arg(long, value_name = "N", default_value = "5",
        default_value_if("quick", "true", "3"),
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) confirm: u32,
    /// The share of those trials that may lose more: noise that does not decide.
    #[arg(long, value_name = "SHARE", default_value = "20%", value_parser = share)]
    pub(crate) exceed: f64,
    /// Try no rate above this [default: the speed of the link, or what the sender can send].
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) max: Option<Rate>,
    /// Try no rate below this.
    ///
    /// With --http 1 where it is not given.
    #[arg(long, value_name = "RATE", default_value = "1000",
        default_value_if("http", ArgPredicate::IsPresent, "1"), value_parser = rate)]
    pub(crate) min: Rate,
    /// End after N trials of a size, settled or not.
    #[arg(long, value_name = "N", default_value_t = 400,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) trials: u32,
}

/// What frames are made.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Frames")]
pub(crate) struct NdrFrameArgs {
    /// Sizes with FCS, a search each: 64, 64-1518, imix, or by weight as in 64:7+1518:1.
    #[arg(long, value_name = "LIST", default_value = "64", value_delimiter = ',',
        value_parser = size)]
    pub(crate) size: Vec<Sizes>,
    /// Source addresses: random, 10.0.0.1, 10.0.0.1-10.0.0.9 or 10.0.0.0/8 [default: random].
    #[arg(long, value_name = "ADDRESSES")]
    pub(crate) src: Option<String>,
    /// Destination addresses, the same.
    #[arg(long, value_name = "ADDRESSES")]
    pub(crate) dst: Option<String>,
    /// Source MACs: random or 02:00:00:00:00:01.
    #[arg(long, value_name = "MACS")]
    pub(crate) smac: Option<String>,
    /// Destination MACs, the same.
    #[arg(long, value_name = "MACS")]
    pub(crate) dmac: Option<String>,
    /// VLAN tags: 5, 1-4094 or random; two as in 10.20 [default: none].
    #[arg(long, value_name = "IDS")]
    pub(crate) vlan: Option<String>,
    /// The share of frames that is IPv6, as in 0.5 or 50% [default: 0].
    #[arg(long, value_name = "SHARE")]
    pub(crate) ipv6: Option<String>,
    /// N flows, each with addresses and ports of its own; random makes every frame one
    /// [default: random].
    #[arg(long, value_name = "N")]
    pub(crate) flows: Option<String>,
    /// Seed the frames; the same seed makes the same frames.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// `0.5%` or `0.005`, at least 0 and below 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let share = number.parse::<f64>().ok().filter(|_| plain);
    let share = share.map(|share| share / scale);
    share
        .filter(|share| (0.0..1.0).contains(share))
        .ok_or_else(|| "write a share as 0.5% or 0.005, below 100%".to_owned())
}

pub(super) fn rate(text: &str) -> Result<Rate, String> {
    match Rate::parse(text) {
        Ok(Rate::Unlimited) => Err("write a rate, as in 1Mpps or 10Gbps".to_owned()),
        Ok(rate) => Ok(rate),
        Err(error) => Err(error.to_string()),
    }
}

/// Expectations without a rate, which is what is searched.
fn bounds(text: &str) -> Result<Expectations, String> {
    let all = expectations(text)?;
    let is_rate = |one: &Expectation| matches!(one.wish, Wish::Rate(_));
    match all.0.iter().any(is_rate) {
        true => Err("the rate is what is searched: write p99=50ms,errors=0.1%".to_owned()),
        false => Ok(all),
    }
}

fn size(text: &str) -> Result<Sizes, String> {
    Sizes::parse(text).map_err(|error| error.to_string())
}

const ABOUT: &str = "\
Find the highest rate at which a device loses nothing, and the highest at which it loses little.

Frames go out by --tx, through whatever lies between, and in again by --rx. The search is that of \
RFC 9971 (MLRsearch) and its first rate the throughput of RFC 2544: short trials first, full ones \
around the rate, both bounds tried once more in turns. A rate that could not be sent is never \
called the device's. A device, or a machine, that does not hold still gets no rate but a reason, \
and the noise that was seen.

With --http the device is a server, a trial is an open loop of requests, and a rate is kept where \
--expect holds. A trial that the client itself was too late or too busy for says nothing.";

const HELP: &str = "\
Examples:
  linerate ndr --simulate capacity=1Mpps,queue=512,noise=0.3
      a search without any hardware, in a moment
  linerate ndr --tx xdp:eth1 --rx xdp:eth2
      how many frames of 64 bytes a second pass without loss?
  linerate ndr --tx xdp:eth1 --rx xdp:eth2 --loss 0,0.5% --size 64,imix,1518 --html ndr.html
      two rates for each of three sizes, and their curves
  linerate ndr --tx xdp:eth1 --rx xdp:eth2 --duration 60s --confirm 1 --exceed 0
      by the letter of RFC 2544: one trial of 60 s a rate, and a single lost frame decides
  linerate ndr --http http://127.0.0.1:8080/ -c 100 --expect p99=50ms,errors=0.1% --duration 5s
      at how many requests a second are 99 of 100 answered within 50 ms?

Exit codes:
  0  every rate was found, or shown to lie above the link or the sender
  1  it ran, and gives no rate for some goal: the device is not stable, never meets the goal, or
     the search ended early; the server answered no request; the ledger of a trial does not
     close; or a result could not be written
  2  it did not run: wrong usage, or a port could not be opened";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        for (text, expected) in [("0", 0.0), ("0.5%", 0.005), ("0.005", 0.005), ("20 %", 0.2)] {
            assert_eq!(share(text), Ok(expected), "{text}");
        }
        for text in ["", "%", "1", "100%", "-1%", "nan", "1e-3", "five"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_search_needs_a_rate() {
        assert!(rate("max").is_err());
        assert_eq!(rate("1Mpps"), Ok(Rate::Frames(1_000_000)));
    }
}
