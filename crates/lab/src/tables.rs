//! Sets of addresses, ours and others, against the lines that memory gives.
//!
//! A lookup reads at least one line that no cache holds, so the limit of the same footprint,
//! measured in the same rounds, is what a table can be held against. Varies the design, the
//! family, the entries, the lists they are dealt over, the burst and which keys hit. Holds the
//! keys' way: 64 MB of random addresses, read in order and asked for ahead.

mod exact;
mod findings;
mod generated;
pub(crate) mod routes;
pub(crate) mod set;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::contest::{Contest, Contestant};
use crate::experiment::{LabError, Outcome, Settings};
use crate::memory::{Field, Limit};
use crate::{Chart, ChartKind};
use set::{Facts, Ours};

/// The environment's name of a file of prefixes, one a line, looked up beside the generated ones:
/// this program brings no data of its own.
const ROUTES_VARIABLE: &str = "LINERATE_ROUTES";

const MILLION: usize = 1_000_000;
const ENTRIES: [usize; 5] = [10_000, 100_000, MILLION, 6 * MILLION, 64 * MILLION];
const ENTRIES_QUICK: [usize; 1] = [6 * MILLION];
/// Keys, or frames of two keys, handed over at a time.
const BURSTS: [usize; 2] = [64, 256];

/// Long enough that a trial's noise is the machine's drift and no more.
const TRIAL: Duration = Duration::from_millis(20);

/// How much is measured.
struct Scale {
    entries: &'static [usize],
    rounds: usize,
    trial: Duration,
    seed: u64,
}

impl Scale {
    fn new(settings: &Settings<'_>) -> Self {
        let quick = settings.quick;
        Self {
            entries: if quick { &ENTRIES_QUICK } else { &ENTRIES },
            rounds: if quick { 10 } else { 15 },
            trial: TRIAL,
            seed: settings.seed,
        }
    }
}

/// A limit row for each of these sets: over its own lines where it has nothing else, else over
/// other memory of as many bytes.
pub(crate) fn limits(ours: &[Ours], seed: u64) -> Result<Vec<Contestant>, LabError> {
    let footprints: Vec<usize> = ours.iter().map(|ours| ours.facts.bytes).collect();
    let field = Field::new(&footprints, seed)?;
    let row = |ours: &Ours| {
        let over = field.over(&ours.tables, ours.facts.bytes);
        let lines = if over.is_some() { "own" } else { "alike" };
        let mut limit = Limit::within(over.as_ref().unwrap_or(&field), ours.facts.bytes);
        let facts = Facts {
            design: "limit",
            ..ours.facts.clone()
        };
        let mut variant = facts.variant(None);
        variant.push(("lines", lines.into()));
        let fields = [("method", "distance"), ("or_method", "or_distance")];
        for (method, (name, distance)) in limit.methods().into_iter().zip(fields) {
            variant.push((name, method.name().into()));
            variant.push((distance, method.distance.into()));
        }
        Contestant {
            variant,
            metric: "lines_per_second",
            measure: Box::new(move |trial| limit.measure(trial)),
        }
    };
    Ok(ours.iter().map(row).collect())
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let scale = Scale::new(settings);
    let mut outcome = Outcome {
        varies: varies(),
        charts: charts(),
        ..Outcome::default()
    };
    let routes = routes::sources(scale.seed, &mut outcome)?;
    let groups = scale.entries.len() + routes.len();
    let mut contest = Contest::new(settings, scale.rounds, groups);
    for &entries in scale.entries {
        let contestants = exact::contestants(entries, &scale, &mut outcome)?;
        contest.run(contestants, &mut outcome);
    }
    for source in routes {
        let contestants = routes::contestants(&source, &scale)?;
        contest.run(contestants, &mut outcome);
    }
    outcome.noise = Some(contest.noise());
    outcome.findings = findings::of(&outcome.rows);
    Ok(outcome)
}

fn varies() -> Vec<String> {
    [
        "Varied: the design; entries; IPv4 and IPv6; one list or entries dealt over 16; bursts of \
         64 and 256; keys that all hit, that all miss, and pairs. A pair is a frame's source and \
         destination, each in the set or not as a coin falls, handed over side by side in one \
         column of two keys a frame, as the classifier does: a burst of 64 is then 128 keys.",
        "Held: keys are 64 MB of random addresses, which no cache holds, read in order and asked \
         for ahead in software. 'limit' is the most random lines a second that memory gives for \
         the same bytes, by the best of its methods at distances up to 64, in the same rounds: the \
         row names the two best, and each sample is the better of both. It reads the lines of \
         the very set where these are all that lookups read ('own'), else zeros elsewhere \
         ('alike').",
        "Sets of up to 64 MiB, and the bytes of their limits, are there five times, and each round \
         takes the next: how much of one the third-level cache keeps depends on where it lies. \
         The other designs are there once. A sample is the better of two halves of a trial, as \
         a limit's is of two methods.",
        "'array' is the published table with as many heads as the row says, one address at a time \
         (burst 1) and in batches of 32 with heads and arrays prefetched; 'list' has a heap node \
         an address; 'bucket16', 'map8' and 'bitmap' roll 48 lines ahead within bursts of 256. \
         'bytes' is all that a lookup can touch.",
        &format!("Lines are compared by {} here.", table::Level::best()),
        "Networks are a whole routing table dealt over 16 lists by a hash, generated with the \
         lengths and the crowding of the real one, or read from the file that LINERATE_ROUTES \
         names. 'uniform' keys are any address (of 2000::/3 in IPv6), 'from_table' keys lie within \
         a network of the table, drawn first.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Ours, the lines that memory gives for as many bytes, and the published table.
fn against_limit() -> Chart {
    Chart {
        title: "6 million IPv4 addresses against the limit".to_owned(),
        caption:
            "Lookups a second of keys that hit. 'limit' is the most random lines a second that \
             caches and memory give for the bytes of our set of one list, with up to 64 on their \
             way. 'array' is the published table, one at a time (burst 1) and in batches of 32 \
             with heads and arrays prefetched."
                .to_owned(),
        kind: ChartKind::Bars,
        metric: "lookups_per_second",
        beside: Some("lines_per_second"),
        x: "design",
        series: vec!["heads", "burst"],
        only: vec![
            ("family", 4u64.into()),
            ("kind", "addresses".into()),
            ("entries", (6 * MILLION).into()),
            ("lists", 1u64.into()),
            ("stream", "hit".into()),
        ],
    }
}

fn charts() -> Vec<Chart> {
    let bars = |stream: &'static str, metric| Chart {
        title: format!("6 million IPv4 addresses, {stream}"),
        caption: "Every design, in the bursts and with the heads that the colours say; 'pair' \
                  counts frames of two lookups."
            .to_owned(),
        kind: ChartKind::Bars,
        metric,
        beside: None,
        x: "design",
        series: vec!["lists", "heads", "burst"],
        only: vec![
            ("family", 4u64.into()),
            ("entries", (6 * MILLION).into()),
            ("stream", stream.into()),
        ],
    };
    let lines = Chart {
        title: "Entries".to_owned(),
        caption: "Keys that miss, by the number of IPv4 addresses: a design falls where its bytes \
                  leave a cache."
            .to_owned(),
        kind: ChartKind::Lines,
        metric: "lookups_per_second",
        beside: None,
        x: "entries",
        series: vec!["design", "heads", "burst"],
        only: vec![
            ("family", 4u64.into()),
            ("lists", 1u64.into()),
            ("stream", "miss".into()),
        ],
    };
    let networks = Chart {
        title: "A routing table over 16 lists".to_owned(),
        caption: "Frames a second whose two addresses are looked up among networks.".to_owned(),
        kind: ChartKind::Bars,
        metric: "pairs_per_second",
        beside: None,
        x: "stream",
        series: vec!["source", "family", "burst"],
        only: vec![("kind", "networks".into())],
    };
    vec![
        against_limit(),
        bars("miss", "lookups_per_second"),
        bars("pair", "pairs_per_second"),
        lines,
        networks,
    ]
}
