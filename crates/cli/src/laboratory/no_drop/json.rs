//! Results as JSON: a contract, described in the guide; names may be added.

use lab::no_drop::{GoalFinding, LatencyPoint, LoadLimit, Trial};
use serde::Serialize;

use super::result::{Results, SizeResult};
use crate::build;
use crate::report::ledger::LedgerJson;

/// A run of `linerate ndr`.
#[derive(Debug, Serialize)]
pub(super) struct Run<'a> {
    version: &'static str,
    commit: Option<&'static str>,
    debug_build: bool,
    date: Option<&'a str>,
    command: &'a str,
    device: &'a str,
    simulated: bool,
    bidirectional: bool,
    trial_seconds: f64,
    trials_to_judge: u32,
    exceed_ratio: f64,
    precision: f64,
    seed: u64,
    sound: bool,
    warnings: Vec<String>,
    sizes: Vec<Size<'a>>,
}

#[derive(Debug, Serialize)]
struct Size<'a> {
    size: &'a str,
    mean_bytes: f64,
    line_rate_pps: Option<f64>,
    load_max_pps: u64,
    load_limit: &'static str,
    seconds: f64,
    reason: Option<String>,
    noise: f64,
    drift: Option<f64>,
    held: Option<f64>,
    trials_not_sent: usize,
    /// How much the sender's own limit moved.
    sender_noise: f64,
    goals: Vec<Goal>,
    latencies: Vec<Latency>,
    /// Of the trials that count, as one; null where nobody counts.
    ledger: Option<LedgerJson>,
    trials: Vec<TrialLine>,
}

#[derive(Debug, Serialize)]
struct Goal {
    loss_ratio: f64,
    verdict: &'static str,
    /// The rate, where one may be quoted.
    rate_pps: Option<u64>,
    rate_l1_bps: Option<f64>,
    line_share: Option<f64>,
    conditional_throughput_pps: Option<f64>,
    lower_pps: Option<u64>,
    upper_pps: Option<u64>,
    precision: Option<f64>,
    noise: f64,
}

#[derive(Debug, Serialize)]
struct Latency {
    percent: u64,
    load_pps: u64,
    loss_ratio: f64,
    #[serde(flatten)]
    figures: LatencyFigures,
}

#[derive(Debug, Serialize)]
struct LatencyFigures {
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

#[derive(Debug, Serialize)]
struct TrialLine {
    purpose: &'static str,
    load_pps: u64,
    seconds: f64,
    sending_seconds: f64,
    offered_pps: f64,
    sent_as_planned: bool,
    loss_ratio: f64,
    directions: Vec<Way>,
    losses: Vec<Named>,
    /// Whether every difference has a name; null where nobody counts.
    ledger_closes: Option<bool>,
    #[serde(flatten)]
    latency: LatencyFigures,
}

#[derive(Debug, Serialize)]
struct Way {
    sent: u64,
    received: u64,
}

#[derive(Debug, Serialize)]
struct Named {
    name: String,
    frames: u64,
}

impl<'a> Run<'a> {
    pub(super) fn new(results: &'a Results) -> Self {
        Self {
            version: build::VERSION,
            commit: build::commit(),
            debug_build: build::DEBUG,
            date: results.date.as_deref(),
            command: &results.command,
            device: &results.device,
            simulated: results.simulated,
            bidirectional: results.bidirectional,
            trial_seconds: results.duration,
            trials_to_judge: results.confirm,
            exceed_ratio: results.exceed,
            precision: results.precision,
            seed: results.seed,
            sound: results.is_sound(results.sizes.len()),
            warnings: results.all_warnings(),
            sizes: results.sizes.iter().map(Size::new).collect(),
        }
    }
}

impl<'a> Size<'a> {
    fn new(size: &'a SizeResult) -> Self {
        let finding = &size.finding;
        let (load_max_pps, limit) = finding.load_max;
        Self {
            size: &size.size,
            mean_bytes: size.size_mean,
            line_rate_pps: size.line,
            load_max_pps,
            load_limit: match limit {
                LoadLimit::LineRate => "line_rate",
                LoadLimit::Sender => "sender",
                LoadLimit::Asked => "asked",
            },
            seconds: size.seconds,
            reason: finding.reason.map(|reason| reason.to_string()),
            noise: finding.noise(),
            drift: finding.drift,
            held: finding.held,
            trials_not_sent: finding.unsent,
            sender_noise: finding.sender_noise,
            goals: finding
                .goals
                .iter()
                .map(|goal| Goal::new(size, goal))
                .collect(),
            latencies: finding.latencies.iter().map(Latency::new).collect(),
            ledger: finding.ledger().as_ref().map(LedgerJson::of),
            trials: finding.trials.iter().map(TrialLine::new).collect(),
        }
    }
}

impl Goal {
    fn new(size: &SizeResult, goal: &GoalFinding) -> Self {
        let rate = goal.lower.filter(|_| goal.verdict.is_sound());
        let share = |(rate, line): (u64, f64)| rate as f64 / line;
        Self {
            loss_ratio: goal.goal.loss,
            verdict: goal.verdict.name(),
            rate_pps: rate,
            rate_l1_bps: rate.map(|rate| size.l1_bits(rate as f64)),
            line_share: rate.zip(size.line).map(share),
            conditional_throughput_pps: rate.and(goal.conditional_throughput),
            lower_pps: goal.lower,
            upper_pps: goal.upper,
            precision: goal.precision(),
            noise: goal.noise,
        }
    }
}

impl LatencyFigures {
    fn new(latency: Option<lab::no_drop::Latency>) -> Self {
        Self {
            p50_ns: latency.map(|latency| latency.p50),
            p90_ns: latency.map(|latency| latency.p90),
            p99_ns: latency.map(|latency| latency.p99),
            max_ns: latency.map(|latency| latency.max),
        }
    }
}

impl Latency {
    fn new(point: &LatencyPoint) -> Self {
        Self {
            percent: point.percent,
            load_pps: point.load,
            loss_ratio: point.loss,
            figures: LatencyFigures::new(point.latency),
        }
    }
}

impl TrialLine {
    fn new(trial: &Trial) -> Self {
        let outcome = &trial.outcome;
        let ways = outcome.directions.iter();
        let losses = outcome.losses.iter();
        Self {
            purpose: trial.purpose.name(),
            load_pps: trial.plan.load,
            seconds: trial.plan.duration.as_secs_f64(),
            sending_seconds: outcome.sending.as_secs_f64(),
            offered_pps: outcome.offered(&trial.plan),
            sent_as_planned: trial.verified,
            loss_ratio: outcome.loss(),
            directions: ways
                .map(|way| Way {
                    sent: way.sent,
                    received: way.received,
                })
                .collect(),
            losses: losses
                .map(|(name, frames)| Named {
                    name: name.clone(),
                    frames: *frames,
                })
                .collect(),
            ledger_closes: outcome.ledger.as_ref().map(engine::Ledger::closes),
            latency: LatencyFigures::new(outcome.latency),
        }
    }
}
