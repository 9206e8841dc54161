//! Results as one JSON object. Field names are a contract.

use lab::no_drop::{Judged, Latency, LoadLimit, Trial};
use load::client::Limit;
use serde::Serialize;

use super::device::RequestTrial;
use super::result::Results;
use crate::build;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Run<'a> {
    version: &'static str,
    commit: Option<&'static str>,
    debug_build: bool,
    date: Option<&'a str>,
    command: &'a str,
    url: String,
    expectations: Vec<&'a str>,
    connections: u32,
    trial_seconds: f64,
    trials_to_judge: u32,
    exceed_ratio: f64,
    precision: f64,
    seed: u64,
    sound: bool,
    warnings: &'a [String],
    /// Requests a second, where a rate may be quoted.
    rate: Option<u64>,
    verdict: &'static str,
    reason: Option<String>,
    lower: Option<u64>,
    upper: Option<u64>,
    bounds_apart: Option<f64>,
    noise: f64,
    /// Requests a second that ended in a closed loop.
    closed_loop_rate: f64,
    load_max: u64,
    load_limit: &'static str,
    trials_not_counted: usize,
    at_shares: Vec<Point>,
    trials: Vec<TrialLine>,
}

/// A share of the rate.
#[derive(Debug, Serialize)]
struct Point {
    percent: u64,
    rate: u64,
    met: bool,
    latency: Option<Seconds>,
}

/// Latencies of sound answers from when they were due, seconds.
#[derive(Debug, Serialize)]
struct Seconds {
    p50: f64,
    p90: f64,
    p99: f64,
    max: f64,
}

#[derive(Debug, Serialize)]
struct TrialLine {
    purpose: &'static str,
    rate: u64,
    seconds: f64,
    /// `met`, `missed`, or `spoilt` by this client, which does not count.
    judged: &'static str,
    due: u64,
    answered: u64,
    errors: u64,
    not_sent: u64,
    latency: Option<Seconds>,
    /// What held the client back.
    limits: Vec<&'static str>,
}

impl<'a> Run<'a> {
    pub(super) fn new(results: &'a Results<'_>) -> Self {
        let (finding, goal) = (&results.finding, results.goal());
        let (args, search) = (results.asked.args, &results.asked.args.search);
        let trials = finding.trials.iter().zip(&results.trials);
        let points = finding.latencies.iter();
        Self {
            version: build::VERSION,
            commit: build::commit(),
            debug_build: build::DEBUG,
            date: results.date.as_deref(),
            command: &results.command,
            url: results.url(),
            expectations: results.expected(),
            connections: args.http.pool.clients.connections,
            trial_seconds: search.duration.as_secs_f64(),
            trials_to_judge: search.confirm,
            exceed_ratio: search.exceed,
            precision: search.precision,
            seed: args.frames.seed,
            sound: finding.is_sound(),
            warnings: &results.warnings,
            rate: goal.lower.filter(|_| goal.verdict.is_sound()),
            verdict: match goal.verdict.name() {
                "sender_limited" => "client_limited",
                name => name,
            },
            reason: results.reason(),
            lower: goal.lower,
            upper: goal.upper,
            bounds_apart: goal.precision(),
            noise: goal.noise,
            closed_loop_rate: results.asked.closed.rate,
            load_max: finding.load_max.0,
            load_limit: match finding.load_max.1 {
                LoadLimit::Asked => "asked",
                LoadLimit::Sender | LoadLimit::LineRate => "client",
            },
            trials_not_counted: finding.unsent,
            at_shares: points
                .map(|point| Point {
                    percent: point.percent,
                    rate: point.load,
                    met: point.loss == 0.0,
                    latency: point.latency.map(Seconds::new),
                })
                .collect(),
            trials: trials.map(TrialLine::new).collect(),
        }
    }
}

impl Seconds {
    fn new(latency: Latency) -> Self {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        Self {
            p50: seconds(latency.p50),
            p90: seconds(latency.p90),
            p99: seconds(latency.p99),
            max: seconds(latency.max),
        }
    }
}

impl TrialLine {
    fn new((trial, seen): (&Trial, &RequestTrial)) -> Self {
        Self {
            purpose: trial.purpose.name(),
            rate: trial.plan.load,
            seconds: trial.plan.duration.as_secs_f64(),
            judged: match seen.judged {
                Judged::Met => "met",
                Judged::Missed => "missed",
                Judged::Spoilt => "spoilt",
            },
            due: seen.books.due,
            answered: seen.books.answered,
            errors: seen.books.errors_all(),
            not_sent: seen.books.not_sent,
            latency: trial.outcome.latency.map(Seconds::new),
            limits: seen
                .limits
                .iter()
                .map(|limit: &Limit| limit.name())
                .collect(),
        }
    }
}
