//! Flows: what it costs to find one, to begin and end them, and to end them by a walk.
//!
//! Varies how many there are and what is done. Holds flows of random IPv4 addresses in 128
//! RSS buckets, packets in bursts of 64, and a clock that gives ten million packets a second,
//! whatever this machine does, so that timeouts mean the same everywhere.

mod path;
mod population;
#[cfg(test)]
mod tests;
mod walk;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use frame::Nanos;
use table::flows::{FlowLimits, FlowTable, LOCATE_MAX, Tick, WhenFull};

use crate::contest::{Contest, Contestant, rate, refused};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::memory::{Field, Limit};
use crate::shuffle::Seeded;
use crate::{Chart, ChartKind};
use path::{Columns, Frames, IDLE_SECONDS, Path, Tracked};
use population::{BUCKETS, Ends, Population};
use walk::Walked;

const LIVE: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
const LIVE_QUICK: [u64; 2] = [10_000, 1_000_000];
/// Entries that a walk is tried with; more would take minutes.
const WALKED: [u64; 2] = [10_000, 100_000];
/// Of the path: flows that packets come for, and packets to a new one, at ten million a
/// second 100,000 of them.
const PATH_LIVE: u64 = 1_000_000;
const PACKETS_PER_NEW: u64 = 100;

/// How much is measured.
struct Scale {
    live: &'static [u64],
    rounds: usize,
    trial: Duration,
    seed: u64,
}

impl Scale {
    fn new(settings: &Settings<'_>) -> Self {
        let quick = settings.quick;
        Self {
            live: if quick { &LIVE_QUICK } else { &LIVE },
            rounds: if quick { 10 } else { 15 },
            trial: Duration::from_millis(20),
            seed: settings.seed,
        }
    }
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let scale = Scale::new(settings);
    let mut outcome = Outcome {
        varies: varies(),
        charts: charts(),
        ..Outcome::default()
    };
    let mut contest = Contest::new(settings, scale.rounds, scale.live.len() + 2);
    for &live in scale.live {
        contest.run(found(live, &scale)?, &mut outcome);
    }
    contest.run(on_the_way(&scale)?, &mut outcome);
    contest.run(ended(&scale)?, &mut outcome);
    outcome.noise = Some(contest.noise());
    outcome.findings = findings(&outcome.rows);
    Ok(outcome)
}

/// A table with room for so many, a quarter more in each bucket: random ones are uneven.
fn table_for(live: u64) -> Result<FlowTable<u32>, LabError> {
    let each = live / u64::from(BUCKETS);
    let limits = FlowLimits {
        buckets: BUCKETS,
        per_bucket: (each + each / 4 + 64) as u32,
        full: WhenFull::Evict,
    };
    FlowTable::new(limits).map_err(refused)
}

fn row(operation: &'static str, live: u64) -> Vec<(&'static str, crate::Value)> {
    vec![("operation", operation.into()), ("flows", live.into())]
}

/// Packets of known flows, and new ones only; and the limit of the table's footprint.
fn found(live: u64, scale: &Scale) -> Result<Vec<Contestant>, LabError> {
    let mut known = Tracked::new(table_for(live)?);
    for first in (0..live).step_by(LOCATE_MAX) {
        let last = (first + LOCATE_MAX as u64).min(live);
        let mut columns = Columns::EMPTY;
        for (at, number) in (first..last).enumerate() {
            columns.set(at, Ends::of(number));
        }
        known.burst(&columns, (last - first) as usize);
    }
    let bytes = known.table.bytes();
    let field = Field::new(&[bytes], scale.seed)?;
    let mut limit = Limit::within(&field, bytes);
    let mut begun = Tracked::new(table_for(live)?);
    let (wanted, warm) = (scale.trial, live as usize);
    let mut of_known = Population::new(live, 0, scale.seed);
    let mut of_new = Population::new(live, 1, scale.seed);
    let mut limit_row = row("limit", live);
    limit_row.push(("bytes", bytes.into()));
    let contestant = |operation, metric, measure| Contestant {
        variant: row(operation, live),
        metric,
        measure,
    };
    Ok(vec![
        contestant(
            "find",
            "flows_per_second",
            Box::new(move |_| {
                rate(wanted, warm, |count| {
                    drive(&mut known, &mut of_known, count);
                })
            }),
        ),
        contestant(
            "begin and end",
            "flows_per_second",
            Box::new(move |_| rate(wanted, warm, |count| drive(&mut begun, &mut of_new, count))),
        ),
        Contestant {
            variant: limit_row,
            metric: "lines_per_second",
            measure: Box::new(move |trial| limit.measure(trial)),
        },
    ])
}

fn drive(tracked: &mut Tracked, population: &mut Population, count: usize) {
    let mut columns = Columns::EMPTY;
    for _ in 0..count / LOCATE_MAX {
        for at in 0..LOCATE_MAX {
            columns.set(at, Ends::of(population.next()));
        }
        tracked.burst(&columns, LOCATE_MAX);
    }
}

/// The path of frames without a table and with one in which flows come and go.
fn on_the_way(scale: &Scale) -> Result<Vec<Contestant>, LabError> {
    let frames = Rc::new(RefCell::new(Frames::new(scale.seed)));
    // Alive are those that packets come for and those that go on waiting for one.
    let waiting = 10_000_000 / PACKETS_PER_NEW * u64::from(IDLE_SECONDS + 1);
    let tracked = Tracked::new(table_for(PATH_LIVE + waiting)?);
    let bytes = tracked.table.bytes();
    let field = Field::new(&[bytes], scale.seed)?;
    let mut limit = Limit::within(&field, bytes);
    let mut limit_row = row("limit of the path's table", PATH_LIVE);
    limit_row.push(("bytes", bytes.into()));
    let mut contestants = vec![Contestant {
        variant: limit_row,
        metric: "lines_per_second",
        measure: Box::new(move |trial| limit.measure(trial)),
    }];
    for (operation, table) in [("path alone", None), ("path with flows", Some(tracked))] {
        let mut path = Path {
            frames: Rc::clone(&frames),
            population: Population::new(PATH_LIVE, PACKETS_PER_NEW, scale.seed),
            table,
        };
        let mut warm = path.table.is_some();
        let wanted = scale.trial;
        contestants.push(Contestant {
            variant: row(operation, PATH_LIVE),
            metric: "ns_per_frame",
            measure: Box::new(move |_| {
                if std::mem::take(&mut warm) {
                    path.warm(WARM);
                }
                path.measure(wanted)
            }),
        });
    }
    Ok(contestants)
}

/// How long the path with flows runs before its first trial, by the clock of its table: all that
/// packets come for are there, and flows have ended for longer than they wait.
const WARM: Nanos = Nanos(5_000_000_000);

/// Flows that end one after the other, by the wheel and by a walk.
fn ended(scale: &Scale) -> Result<Vec<Contestant>, LabError> {
    let mut contestants = Vec::new();
    for live in WALKED {
        let seed = scale.seed;
        contestants.push(Contestant {
            variant: row("end by a walk", live),
            metric: "ns_per_flow",
            measure: Box::new(move |trial| walked(live, seed ^ trial.seed)),
        });
        let mut table = table_for(live)?;
        let mut now = 1;
        contestants.push(Contestant {
            variant: row("end by the wheel", live),
            metric: "ns_per_flow",
            measure: Box::new(move |_| wheeled(&mut table, live, &mut now)),
        });
    }
    Ok(contestants)
}

/// Ends all, in a random order, but only the first thousand of them are timed: the walk is as long
/// as what is left of the bitmap, so these are no worse than the mean of the first half.
fn walked(live: u64, seed: u64) -> f64 {
    const TIMED: u32 = 1000;
    let mut ends: Vec<u32> = (0..live as u32).collect();
    Seeded::new(seed).shuffle(&mut ends);
    let mut walked = Walked::new(&ends);
    let begun = Instant::now();
    for now in 0..TIMED {
        walked.expire_one(now);
    }
    begun.elapsed().as_nanos() as f64 / f64::from(TIMED)
}

/// Fills the table with flows that end in some ten ticks, and ends them.
fn wheeled(table: &mut FlowTable<u32>, live: u64, now: &mut u32) -> f64 {
    for number in 0..live {
        let ends = Ends::of(number);
        let sighting = ends.sighting(ends.src ^ ends.src >> 16);
        let timeout = 1 + number as u32 % 10;
        let _ = table.insert(&sighting, timeout, Tick(*now), &mut |_| ());
    }
    let count = table.len();
    let begun = Instant::now();
    for _ in 0..10 {
        *now += 1;
        table.expire(Tick(*now), usize::MAX, &mut |_| ());
    }
    begun.elapsed().as_nanos() as f64 / count as f64
}

fn varies() -> Vec<String> {
    [
        "Varied: flows in the table; packets of known ones (find), packets that each begin \
         a flow while others end (begin and end); the path of frames, parsed and no more, \
         and with a table of a million flows of which 100,000 a second begin and as many \
         end; ending by our wheel and by the walk over a bitmap that a flow cache of 2014 had.",
        "Held: IPv4, random addresses, 128 RSS buckets by the symmetric key, bursts of 64, counts \
         of frames and bytes for both directions, a clock of 100 ns a packet, flows over \
         after 2 seconds. 'limit' is the most random lines a second that memory gives for the \
         bytes of the table, in the same rounds; a packet reads two lines, one of the index and \
         one of the records.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn charts() -> Vec<Chart> {
    vec![Chart {
        title: "Flows by how many there are".to_owned(),
        caption: "Packets a second, of known flows and of new ones.".to_owned(),
        kind: ChartKind::Lines,
        metric: "flows_per_second",
        beside: None,
        x: "flows",
        series: vec!["operation"],
        only: Vec::new(),
    }]
}

fn findings(rows: &[Row]) -> Vec<String> {
    let one = |operation: &'static str, live: u64| {
        let mine = |row: &&Row| row.is("operation", operation) && row.is("flows", live);
        rows.iter().find(mine)
    };
    let mut findings = Vec::new();
    let limits = rows.iter().filter(|row| row.is("operation", "limit"));
    for live in limits.filter_map(|row| row.number("flows")) {
        if let (Some(find), Some(begin), Some(limit)) = (
            one("find", live),
            one("begin and end", live),
            one("limit", live),
        ) {
            let share = crate::contest::ratio(find, limit) * 2.0;
            findings.push(format!(
                "{live} flows in {:.0} MB: {:.1} million packets a second find theirs, two lines \
                 each, {share:.2} of the limit; {:.1} million a second begin and end",
                limit.number("bytes").unwrap_or(0) as f64 / 1e6,
                find.samples.median() / 1e6,
                begin.samples.median() / 1e6,
            ));
        }
    }
    if let (Some(alone), Some(with), Some(limit)) = (
        one("path alone", PATH_LIVE),
        one("path with flows", PATH_LIVE),
        one("limit of the path's table", PATH_LIVE),
    ) {
        let mut added = crate::Samples::default();
        for (with, alone) in with.samples.all().iter().zip(alone.samples.all()) {
            added.push(with - alone);
        }
        findings.push(format!(
            "a million live flows, 100,000 new and as many over a second, add {:.1} ns a packet to \
             a path of {:.1} ns; two random lines of the same {:.0} MB take {:.1} ns at the limit",
            added.median(),
            alone.samples.median(),
            limit.number("bytes").unwrap_or(0) as f64 / 1e6,
            2e9 / limit.samples.median(),
        ));
    }
    for live in WALKED {
        if let (Some(walk), Some(wheel)) =
            (one("end by a walk", live), one("end by the wheel", live))
        {
            findings.push(format!(
                "{live} flows: ending one takes {:.0} ns by the wheel and {:.0} by a walk over the \
                 bitmap",
                wheel.samples.median(),
                walk.samples.median(),
            ));
        }
    }
    findings
}
