//! What a TCP query costs a worker that is client and server, and what memory a connection takes,
//! by how many connections there are.

mod ends;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use engine::{Engine, Plan, allowed_cpus};
use frame::PortId;
use port::{OpenContext, PortSpec};

use crate::contest::{plain_plan, refused};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::paired::{paired, with_interval};
use crate::trial::try_interleave;
use crate::{Chart, ChartKind, Samples};
use ends::{Ends, Goal, Shape};

const ROUNDS_QUICK: usize = 3;
const ROUNDS: usize = 15;
/// Connections that live at a time, of a row each.
const LIVE: [usize; 3] = [100, 10_000, 100_000];
/// Queries before those that count, beside one of each connection, and those.
const WARM: u64 = 50_000;
const COUNTED: u64 = 200_000;
/// Connections whose memory is the part that does not grow.
const FEW: usize = 100;
/// Nobody waits longer for a trial.
const PATIENCE: Duration = Duration::from_secs(300);
const QUERIES: &str = "queries_per_second";
const BYTES: &str = "bytes_per_connection";

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    // Memory first: what trials leave behind would be used again. The first run of all has what
    // every later one finds in place.
    growth_of(FEW)?;
    let few = growth_of(FEW)?;
    let bytes = LIVE[1..]
        .iter()
        .map(|&live| Ok(growth_of(live)?.saturating_sub(few) as f64 / (2 * (live - FEW)) as f64));
    let bytes = bytes.collect::<Result<Vec<f64>, LabError>>()?;
    let rounds = if settings.quick { ROUNDS_QUICK } else { ROUNDS };
    let measured = try_interleave(settings, LIVE.len(), rounds, |variant, _| {
        rate_of(LIVE[variant], [WARM, COUNTED])
    })?;
    let rates = LIVE.iter().zip(measured.samples);
    let mut rows: Vec<Row> = rates
        .map(|(&live, samples)| row(live, QUERIES, samples))
        .collect();
    for (&live, bytes) in LIVE[1..].iter().zip(bytes) {
        let mut samples = Samples::default();
        samples.push(bytes);
        rows.push(row(live, BYTES, samples));
    }
    Ok(Outcome {
        findings: findings(&rows),
        varies: varies(),
        charts: vec![chart()],
        rows,
        noise: Some(measured.noise),
        ..Outcome::default()
    })
}

fn row(live: usize, metric: &'static str, samples: Samples) -> Row {
    Row {
        variant: vec![("connections", (live as u64).into())],
        metric,
        samples,
    }
}

/// Queries in a second of the worker's CPU time, with so many connections at a time.
fn rate_of(live: usize, [warm, counted]: [u64; 2]) -> Result<f64, LabError> {
    let first = warm + live as u64;
    let goal = Arc::new(Goal::new(first, first + counted));
    let ends = Ends::new(live, Shape::Query, &goal).map_err(refused)?;
    watch(ends, || goal.is_reached())?;
    Ok(counted as f64 * 1e9 / goal.nanos() as f64)
}

/// Bytes that this process has more once so many connections stand at both ends.
fn growth_of(live: usize) -> Result<u64, LabError> {
    let goal = Arc::new(Goal::new(0, u64::MAX));
    let ends = Ends::new(live, Shape::Idle, &goal).map_err(refused)?;
    let before = resident_bytes()?;
    let mut after = None;
    watch(ends, || {
        if goal.established() < 2 * live as u64 {
            return false;
        }
        after = resident_bytes().ok();
        true
    })?;
    let after = after.ok_or_else(|| LabError("the memory in use cannot be read".to_owned()))?;
    Ok(after.saturating_sub(before))
}

/// Runs both ends until something is so.
fn watch(ends: Ends, mut is_done: impl FnMut() -> bool) -> Result<(), LabError> {
    let running = Engine::start_nodes(plan()?, vec![ends]).map_err(refused)?;
    let until = Instant::now() + PATIENCE;
    while !is_done() {
        if running.is_finished() || Instant::now() > until {
            running.stop();
            let report = running.join().map_err(refused)?;
            let seconds = PATIENCE.as_secs();
            return Err(LabError(format!(
                "a trial was not done after {seconds} s: {:?}",
                report.node
            )));
        }
        thread::sleep(Duration::from_millis(1));
    }
    running.stop();
    let report = running.join().map_err(refused)?;
    match report.balanced {
        true => Ok(()),
        false => Err(LabError(format!(
            "the books do not balance: {:?}",
            report.accounting
        ))),
    }
}

/// Both ends of a ring at one worker.
fn plan() -> Result<Plan, LabError> {
    let spec = PortSpec::parse("ring:tcp,capacity=2048").map_err(refused)?;
    let context = OpenContext::default();
    let ports = [0, 1].map(|id| port::open(&spec, PortId(id), &context).map_err(refused));
    let ports = ports.into_iter().collect::<Result<_, _>>()?;
    plain_plan(ports, allowed_cpus().into_iter().take(1).collect())
}

/// What this process has of the machine's memory.
fn resident_bytes() -> Result<u64, LabError> {
    let text = std::fs::read_to_string("/proc/self/status").map_err(refused)?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes
        .map(|kilobytes| kilobytes * 1024)
        .ok_or_else(|| LabError("/proc/self/status does not name the memory in use".to_owned()))
}

fn of<'a>(rows: &'a [Row], metric: &str, live: usize) -> Option<&'a Samples> {
    let found = rows
        .iter()
        .find(|row| row.metric == metric && row.number("connections") == Some(live as u64));
    found.map(|row| &row.samples)
}

fn findings(rows: &[Row]) -> Vec<String> {
    let [few, _, most] = LIVE;
    let mut findings = Vec::new();
    if let (Some(fast), Some(slow)) = (of(rows, QUERIES, few), of(rows, QUERIES, most)) {
        let ratio = paired(fast, slow, |fast, slow| fast / slow);
        findings.push(format!(
            "one worker that is client and server does {:.0} queries a second with {few} \
             connections and {:.0} with {most} (asked for: at least 400,000 with either), {} times \
             fewer (asked for: at most 2)",
            fast.median(),
            slow.median(),
            with_interval(&ratio, 2)
        ));
    }
    if let Some(bytes) = of(rows, BYTES, most) {
        findings.push(format!(
            "an established connection without data in flight takes {:.0} bytes at each end, \
             tables and timers included (asked for: at most 512)",
            bytes.median()
        ));
    }
    findings
}

fn varies() -> Vec<String> {
    [
        "how many connections there are at a time: where a query ends, the next begins",
        "held: one worker that spins and has both ends of a memory ring, each a host; queries of \
         92 and 206 bytes, from 65,534 addresses, closed first by the server; checksums, \
         timestamps, SACK and window scale on every connection; a sample is what the client got \
         done in a second of the worker's CPU time",
        "memory is what the process grows by while connections are begun that stay idle, without \
         that of 100 connections, by connection and end",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn chart() -> Chart {
    Chart {
        title: "Queries a second".to_owned(),
        caption: "One worker is client and server.".to_owned(),
        kind: ChartKind::Bars,
        metric: QUERIES,
        beside: None,
        x: "connections",
        series: Vec::new(),
        only: Vec::new(),
    }
}
