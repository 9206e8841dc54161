//! What a route lookup costs a router by its locks, with few routes or a full table, one flow or
//! many; and the FIB of workers against a plain table of routes.
//!
//! In 2012 many flows were slower than one: RSS gave them to several CPUs, which all took the lock
//! of one route, and splitting that route helped. Here one flow is one thread's, many are dealt
//! over all threads, and each prefix is a route with lines of its own.

mod findings;
mod load;
mod lookups;
mod scheme;
#[cfg(test)]
mod tests;
mod traffic;

use std::time::Duration;

use engine::allowed_cpus;
use frame::CpuId;

use crate::contest::Contest;
use crate::experiment::{LabError, Outcome, Published, Row, Settings};
use crate::tables::routes::{Source, sources};
use crate::{Chart, ChartKind, Samples, interleave};
use load::Load;
use scheme::{Scheme, Shared};
use traffic::{DESTINATIONS, Table};

/// Equal parts of 10.0.0.0/8, as routes.
const PARTS: [u32; 4] = [1, 4, 16, 64];

/// How much is measured.
struct Scale {
    rounds: usize,
    trial: Duration,
    /// Destinations of many flows.
    destinations: usize,
    /// Packets that a thread goes through again and again.
    packets: usize,
    /// Keys of the lookups.
    keys: usize,
    seed: u64,
}

impl Scale {
    fn new(settings: &Settings<'_>) -> Self {
        Self {
            rounds: if settings.quick { 10 } else { 21 },
            trial: Duration::from_millis(if settings.quick { 10 } else { 20 }),
            destinations: DESTINATIONS,
            packets: 1 << 20,
            // 64 MB, which no cache holds.
            keys: 1 << 24,
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
    let mut sources = sources(scale.seed, &mut outcome)?;
    // The file where one is named.
    let source = sources.pop();
    let source = source.ok_or_else(|| LabError("there is no table of routes".to_owned()))?;
    forward(settings, &scale, &source, &mut outcome)?;
    let mut contest = Contest::new(settings, scale.rounds, 1);
    contest.run(lookups::contestants(&source, &scale)?, &mut outcome);
    outcome.published = published(&outcome.rows);
    outcome.findings = findings::sentences(&outcome.rows);
    Ok(outcome)
}

/// Next hops by every scheme, with every table and load.
fn forward(
    settings: &mut Settings<'_>,
    scale: &Scale,
    source: &Source,
    outcome: &mut Outcome,
) -> Result<(), LabError> {
    let bench = Bench::new(source, scale)?;
    let variants = bench.variants();
    let measured = interleave(settings, variants.len(), scale.rounds, |index, _| {
        bench.rate(variants[index], scale.trial)
    });
    let rows = variants.iter().zip(measured.samples);
    outcome.rows = rows
        .map(|(&variant, samples)| bench.row(variant, samples))
        .collect();
    outcome.noise = Some(measured.noise);
    if bench.cpus.len() < 2 {
        let text = "many flows on several threads: this process may run on one CPU";
        outcome.skipped.push(text.to_owned());
    }
    Ok(())
}

/// A row to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    /// Indices of the bench.
    group: usize,
    load: usize,
    scheme: Scheme,
}

/// One table with the loads that go by it.
struct Group {
    shared: Shared,
    routes: usize,
    loads: Vec<Load>,
}

/// What all trials share.
struct Bench {
    cpus: Vec<CpuId>,
    groups: Vec<Group>,
}

impl Group {
    /// One flow, and many on one thread and on all.
    fn new(table: &Table, most_threads: usize, scale: &Scale) -> Result<Self, LabError> {
        let many = table.destinations(scale.destinations, scale.seed);
        let one = &many[..1];
        let load = |flows, threads| Load::new(flows, threads, scale.packets, scale.seed);
        let mut loads = vec![load(one, 1)?, load(&many, 1)?];
        if most_threads > 1 {
            loads.push(load(&many, most_threads)?);
        }
        Ok(Self {
            shared: Shared::new(&table.fib, table.prefixes.len(), most_threads),
            routes: table.prefixes.len(),
            loads,
        })
    }
}

impl Bench {
    fn new(source: &Source, scale: &Scale) -> Result<Self, LabError> {
        let cpus = allowed_cpus();
        let whole = Table::whole(&source.entries)?;
        let tables = PARTS.into_iter().map(Table::split);
        let groups = tables.chain([Ok(whole)]);
        let groups = groups.map(|table| Group::new(&table?, cpus.len(), scale));
        Ok(Self {
            groups: groups.collect::<Result<_, _>>()?,
            cpus,
        })
    }

    fn variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        for (group, one) in self.groups.iter().enumerate() {
            for load in 0..one.loads.len() {
                variants.extend(Scheme::EVERY.map(|scheme| Variant {
                    group,
                    load,
                    scheme,
                }));
            }
        }
        variants
    }

    /// Packets a second, the sum over the threads of the load.
    fn rate(&self, variant: Variant, wanted: Duration) -> f64 {
        let group = &self.groups[variant.group];
        let with = (&group.shared, variant.scheme);
        group.loads[variant.load].rate(with, &self.cpus, wanted)
    }

    fn row(&self, variant: Variant, samples: Samples) -> Row {
        let group = &self.groups[variant.group];
        let load = &group.loads[variant.load];
        Row {
            variant: vec![
                ("routes", group.routes.into()),
                ("flows", load.flows.into()),
                ("threads", load.threads().into()),
                // Last: a table that is too wide for a screen has a part for each of the others.
                ("scheme", variant.scheme.name().into()),
            ],
            metric: "packets_per_second",
            samples,
        }
    }
}

/// The figures of 2012 beside many flows by one route on all threads: the first is that without a
/// lock.
fn published(rows: &[Row]) -> Vec<Published> {
    let figures = [
        (Scheme::None, 1.8),
        (Scheme::FlowCache, 1.7),
        (Scheme::ReadMostly, 1.7),
    ];
    let found = figures.into_iter().filter_map(|(scheme, figure)| {
        Some(Published {
            row: findings::many(rows, scheme, 1)?,
            figure,
            unit: "Mpps",
            ratio: figure / 1.8,
        })
    });
    found.collect()
}

fn varies() -> Vec<String> {
    vec![
        format!(
            "Varied: routes, which are 10.0.0.0/8 in 1, 4, 16, 64 equal parts, and a full table; \
             one flow, which is one thread's as with RSS, and {DESTINATIONS} flows by their \
             destinations on one thread and dealt over all; how a thread comes from a destination \
             to the next hop."
        ),
        "Held: one table, the FIB of workers; nobody changes it. All schemes look up one packet \
         at a time, but for 'ours', which has bursts. Each prefix is a route with 128 \
         bytes of its own, \
         which hold its next hop, a mutex and a counter."
            .to_owned(),
        "'mutex_twice' locks the route to hold it, and once more to release it; 'rwlock' and \
         'read_mostly' lock the table, the latter with a slot for each reader; 'counter' adds to a \
         counter of the route; 'flow_cache' is a thread's own cache by destination before the \
         table, with as many slots as there are flows."
            .to_owned(),
        "Lookups: the FIB of workers and DIR-24-8 (64 MiB of 32-bit entries and blocks for longer \
         prefixes, a burst prefetched) over the full table, whose routes have 64 next hops. \
         'uniform' and 'zipf' (exponent 1) keys are of as many destinations as above, 'from_table' \
         keys are any address of prefixes that are drawn. 'limit' is the most random lines a \
         second that memory gives for the same bytes."
            .to_owned(),
        "'bytes_per_prefix' is what lookups may touch, with 64 next hops and with one for each \
         prefix."
            .to_owned(),
    ]
}

fn charts() -> Vec<Chart> {
    let many = Chart {
        title: "Packets a second by the number of routes".to_owned(),
        caption: "Of all threads together. What locks the route falls where threads are many and \
                  routes are few."
            .to_owned(),
        kind: ChartKind::Lines,
        metric: "packets_per_second",
        beside: None,
        x: "routes",
        series: vec!["scheme", "flows", "threads"],
        only: Vec::new(),
    };
    let lookups = Chart {
        title: "Lookups in a full table".to_owned(),
        caption: "The FIB of workers, DIR-24-8, and the lines that memory gives for their bytes."
            .to_owned(),
        kind: ChartKind::Bars,
        metric: "lookups_per_second",
        beside: Some("lines_per_second"),
        x: "design",
        series: vec!["stream"],
        only: Vec::new(),
    };
    vec![many, lookups]
}
