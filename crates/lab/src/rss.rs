//! Receive-side scaling: how evenly flows spread, what Zipf leaves uneven and moving buckets mends,
//! what a hash costs, and what more workers bring.

mod cost;
mod spread;
#[cfg(test)]
mod tests;
mod workers;

use std::time::Duration;

use crate::contest::{Contest, Contestant, ratio};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::{Chart, ChartKind, Samples};
use spread::{EXPONENTS, KEYS, TRAFFIC};

/// How much is measured.
pub(super) struct Scale {
    rounds: usize,
    trial: Duration,
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let scale = Scale {
        rounds: if settings.quick { 10 } else { 30 },
        trial: Duration::from_millis(20),
    };
    let mut outcome = Outcome {
        varies: varies(),
        charts: charts(),
        ..Outcome::default()
    };
    let cpus = engine::allowed_cpus();
    let pairs = workers::pairs(&cpus);
    let mut contest = Contest::new(settings, scale.rounds, 4);
    contest.run(spread::contestants(), &mut outcome);
    contest.run(spread::skewed(), &mut outcome);
    contest.run(cost::contestants(&scale), &mut outcome);
    contest.run(
        workers::contestants(&cpus, pairs.as_ref(), &scale),
        &mut outcome,
    );
    outcome.noise = Some(contest.noise());
    add_linear(&mut outcome.rows);
    if pairs.is_none() {
        let why = "two workers on the threads of one core: no two CPUs that may be used share one";
        outcome.skipped.push(why.to_owned());
    }
    outcome.findings = findings(&outcome.rows);
    Ok(outcome)
}

/// The rate of one worker times their number, round by round, beside what was measured.
fn add_linear(rows: &mut Vec<Row>) {
    let alone = rows.iter().find(|row| of_workers(row, "apart", 1)).cloned();
    let Some(alone) = alone else { return };
    let measured: Vec<u64> = rows
        .iter()
        .filter(|row| row.is("workers on", "apart"))
        .filter_map(|row| row.number("workers"))
        .collect();
    for workers in measured {
        let mut samples = Samples::default();
        for sample in alone.samples.all() {
            samples.push(sample * workers as f64);
        }
        rows.push(Row {
            variant: workers::variant("linear", workers),
            metric: alone.metric,
            samples,
        });
    }
}

fn of_workers(row: &Row, on: &'static str, workers: u64) -> bool {
    row.is("workers on", on) && row.is("workers", workers)
}

fn varies() -> Vec<String> {
    [
        "Varied: the key (Microsoft's, the symmetric one, one drawn at random for each sample) and \
         the kind of traffic; the exponent of Zipf's law by which flows have their rates; the way \
         a hash is computed; the number of workers, and where CPUs share a core, two workers on \
         one core and on two.",
        "Held: 4,096 flows over 128 buckets; 10,000 flows of Zipf's law over two workers, before \
         and after buckets are moved, loads known; IPv4 four-tuples in bursts of 64 whose columns \
         the second-level cache holds; a worker hashes, asks for the owner and counts the bucket, \
         sharing nothing but the indirection table. 'max_to_mean' is the fullest bucket, or the \
         busiest worker, over the mean; 'chi_square_per_bucket' is about 1 where flows spread at \
         random and 0 where they spread evenly.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn charts() -> Vec<Chart> {
    vec![Chart {
        title: "Rate by number of workers".to_owned(),
        caption: "Frames placed a second, and the rate of one worker times their number."
            .to_owned(),
        kind: ChartKind::Lines,
        metric: "frames_per_second",
        beside: None,
        x: "workers",
        series: vec!["workers on"],
        only: Vec::new(),
    }]
}

fn findings(rows: &[Row]) -> Vec<String> {
    let mut findings = spread_findings(rows);
    findings.extend(skew_findings(rows));
    findings.extend(cost_findings(rows));
    findings.extend(worker_findings(rows));
    findings
}

fn spread_findings(rows: &[Row]) -> Vec<String> {
    let of = |traffic: &'static str, key: &'static str| {
        let mut mine = rows.iter().filter(|row| row.is("traffic", traffic));
        let row = mine.find(|row| row.is("key", key) && row.metric == "max_to_mean")?;
        Some(format!("{key} {:.2}", row.samples.median()))
    };
    let said = TRAFFIC.into_iter().map(|(traffic, _)| {
        let keys = KEYS.into_iter().filter_map(|key| of(traffic, key));
        let keys: Vec<String> = keys.collect();
        format!(
            "{traffic}: fullest of 128 buckets over the mean: {}",
            keys.join(", ")
        )
    });
    said.collect()
}

fn skew_findings(rows: &[Row]) -> Vec<String> {
    let of = |exponent: &'static str, placement: &'static str| {
        let mut mine = rows.iter().filter(|row| row.is("zipf", exponent));
        mine.find(|row| row.is("placement", placement))
    };
    let said = EXPONENTS.into_iter().filter_map(|(exponent, _)| {
        let (dealt, moved) = (of(exponent, "dealt")?, of(exponent, "balanced")?);
        let moves = of(exponent, "buckets moved")?;
        Some(format!(
            "Zipf {exponent}: the busier of two workers has {:.2} of the mean, and {:.2} after \
             {:.0} buckets moved",
            dealt.samples.median(),
            moved.samples.median(),
            moves.samples.median(),
        ))
    });
    said.collect()
}

fn cost_findings(rows: &[Row]) -> Vec<String> {
    let of = |way: &'static str| rows.iter().find(|row| row.is("hash", way));
    let Some(plain) = of("plain loop") else {
        return Vec::new();
    };
    let others = cost::WAYS.into_iter().filter_map(of);
    let said = others.map(|row| {
        let way = row
            .value("hash")
            .map(ToString::to_string)
            .unwrap_or_default();
        format!(
            "{way}: {:.2} ns a hash, {:.2} times the rate of the plain loop",
            row.samples.median(),
            ratio(plain, row),
        )
    });
    said.collect()
}

fn worker_findings(rows: &[Row]) -> Vec<String> {
    let of = |on, workers| rows.iter().find(|row| of_workers(row, on, workers));
    let mut findings = Vec::new();
    let counts = rows.iter().filter(|row| row.is("workers on", "linear"));
    for workers in counts.filter_map(|row| row.number("workers")) {
        if let (Some(row), Some(linear)) = (of("apart", workers), of("linear", workers))
            && workers > 1
        {
            findings.push(format!(
                "{workers} workers place {:.1} million frames a second, {:.2} of {workers} times \
                 one",
                row.samples.median() / 1e6,
                ratio(row, linear),
            ));
        }
    }
    if let (Some(same), Some(apart)) = (of("one core", 2), of("apart", 2)) {
        findings.push(format!(
            "two workers on the threads of one core have {:.2} of the rate of two cores",
            ratio(same, apart)
        ));
    }
    findings
}

fn contestant(
    variant: Vec<(&'static str, crate::Value)>,
    metric: &'static str,
    measure: impl FnMut(&crate::Trial) -> f64 + 'static,
) -> Contestant {
    Contestant {
        variant,
        metric,
        measure: Box::new(measure),
    }
}
