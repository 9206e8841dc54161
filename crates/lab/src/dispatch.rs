//! What it costs to give a frame to the worker that owns its flow: a bridge whose workers receive
//! flows at random, by policy and burst.

mod ports;

use engine::{DEFAULT_RING_LIMIT, DispatchPolicy, Engine, RunReport};
use frame::CpuId;

use crate::contest::{plain_plan, refused, two_cpus};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::source_port::null_sink;
use crate::trial::try_interleave;
use crate::{Chart, ChartKind, contest};
use ports::flow_port;

const ROUNDS_QUICK: usize = 7;
const ROUNDS: usize = 21;
/// Frames of a trial by each worker: some 10 ms.
const FRAMES: u64 = 200_000;
const BURSTS: [usize; 5] = [1, 4, 16, 64, 256];
const METRIC: &str = "ns_per_frame";

/// A row to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    policy: DispatchPolicy,
    burst: usize,
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let cpus = match two_cpus() {
        Ok(cpus) => cpus,
        Err(skipped) => return Ok(*skipped),
    };
    let cpus = &cpus;
    let variants = variants();
    let rounds = if settings.quick { ROUNDS_QUICK } else { ROUNDS };
    let measured = try_interleave(settings, variants.len(), rounds, |variant, trial| {
        let report = trial_of(variants[variant], cpus, trial.seed)?;
        // Both workers are at it all the time: twice the time is what a frame costs.
        Ok(report.seconds * 1e9 * cpus.len() as f64 / report.accounting.rx as f64)
    })?;
    let rows: Vec<Row> = variants
        .iter()
        .zip(measured.samples)
        .map(|(variant, samples)| Row {
            variant: vec![
                ("policy", variant.policy.name().into()),
                ("burst", variant.burst.into()),
            ],
            metric: METRIC,
            samples,
        })
        .collect();
    Ok(Outcome {
        findings: findings(&rows),
        varies: varies(),
        charts: vec![chart()],
        rows,
        noise: Some(measured.noise),
        ..Outcome::default()
    })
}

fn variants() -> Vec<Variant> {
    let bursts = BURSTS.into_iter();
    let all = bursts.flat_map(|burst| {
        let policies = DispatchPolicy::ALL.into_iter();
        policies.map(move |policy| Variant { policy, burst })
    });
    all.collect()
}

/// One run of a bridge, from the first frame to the last.
fn trial_of(variant: Variant, cpus: &[CpuId], seed: u64) -> Result<RunReport, LabError> {
    let ports = vec![flow_port(cpus.len(), FRAMES, seed), null_sink()?];
    let mut plan = plain_plan(ports, cpus.to_vec())?;
    plan.burst = variant.burst;
    plan.dispatch.policy = Some(variant.policy);
    let report = Engine::start(plan).map_err(refused)?;
    let report = report.join().map_err(refused)?;
    match report.balanced && report.accounting.dropped_total() == 0 {
        true => Ok(report),
        false => Err(LabError(format!(
            "a trial lost frames: {:?}",
            report.accounting
        ))),
    }
}

fn find(rows: &[Row], policy: DispatchPolicy, burst: usize) -> Option<&Row> {
    let mut rows = rows.iter();
    rows.find(|row| row.is("policy", policy.name()) && row.is("burst", burst))
}

/// What a hop costs more than none, round by round: under hybrid half the frames hop.
fn findings(rows: &[Row]) -> Vec<String> {
    let sentence = |burst: usize| {
        let direct = find(rows, DispatchPolicy::Direct, burst)?;
        let hybrid = find(rows, DispatchPolicy::Hybrid, burst)?;
        let deferred = find(rows, DispatchPolicy::Deferred, burst)?;
        let none = direct.samples.median();
        Some(format!(
            "bursts of {burst}: {none:.0} ns a frame without a hop; hybrid {:.2} times and \
             deferred {:.2} times that: {:.0} ns a frame more where half of them hop, {:.0} where \
             all are queued",
            contest::ratio(hybrid, direct),
            contest::ratio(deferred, direct),
            none * (contest::ratio(hybrid, direct) - 1.0),
            none * (contest::ratio(deferred, direct) - 1.0),
        ))
    };
    BURSTS.into_iter().filter_map(sentence).collect()
}

fn varies() -> Vec<String> {
    vec![
        "who decides on a frame (direct: the worker that received it, no hop; hybrid: the owner \
         of its flow, over a ring if that is the other worker; deferred: always by way of a ring, \
         half of them the worker's own), and how many frames are received at a time"
            .to_owned(),
        format!(
            "held: two workers that spin, on the first two CPUs allowed, 256 flows of which each \
             comes by one queue drawn at random, frames of 64 bytes with FCS, rings of \
             {DEFAULT_RING_LIMIT} frames, an empty policy, a sink that keeps nothing; a sample is \
             the time of both workers by frame, source and sink in it"
        ),
        "the two CPUs may be two threads of one core (the machine's page says how many cores it \
         has): then workers share its caches and a hop is cheaper, and its time and a hop is \
         dearer, than between cores"
            .to_owned(),
    ]
}

fn chart() -> Chart {
    Chart {
        title: "Time of a worker by frame".to_owned(),
        caption: "A hop's cost is what hybrid and deferred have more than direct: bursts share \
                  the two cache lines that a ring's ends pass to and fro."
            .to_owned(),
        kind: ChartKind::Bars,
        metric: METRIC,
        beside: None,
        x: "burst",
        series: vec!["policy"],
        only: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_and_burst_is_measured_and_none_loses_a_frame() {
        let cpus: Vec<CpuId> = engine::allowed_cpus().into_iter().cycle().take(2).collect();
        for variant in variants().into_iter().filter(|variant| variant.burst == 64) {
            let report = trial_of(variant, &cpus, 5).expect("a trial");
            assert_eq!(report.accounting.tx, 2 * FRAMES, "{variant:?}");
            let hops = report.accounting.handed_off;
            assert_eq!(hops > 0, variant.policy != DispatchPolicy::Direct);
        }
        assert_eq!(variants().len(), BURSTS.len() * 3);
    }
}
