//! The limit that everything is held against: random 64-byte lines a second by footprint.
//!
//! A table of that size cannot answer more lookups a second than memory gives lines. Varies the
//! footprint, the pages, who asks for lines how far ahead, and the threads; beside it the latency
//! of one line after the other. Holds the key stream: 64 MB of random numbers, read in order and
//! asked for ahead in software.

mod limit;
mod walk;

use std::rc::Rc;
use std::time::Duration;

use frame::Pages;

use limit::Reader;
pub(crate) use limit::{Field, Limit, Tables};
pub(crate) use walk::Line;
use walk::{Kind, Method};

use crate::contest::{Contest, Contestant, memory_bytes};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::places::places_for;
use crate::{Chart, ChartKind};

const MIB: usize = 1 << 20;
const GB: usize = 1 << 30;
const FOOTPRINTS: [usize; 10] = [
    24 * MIB,
    32 * MIB,
    64 * MIB,
    128 * MIB,
    256 * MIB,
    512 * MIB,
    GB,
    2 * GB,
    4 * GB,
    8 * GB,
];
const FOOTPRINTS_QUICK: [usize; 4] = [24 * MIB, 32 * MIB, 128 * MIB, 512 * MIB];
const DISTANCES: [usize; 4] = [8, 16, 32, 64];
/// Measured too, but no part of the limit, which is of 64 lines: a burst of 64 keys has no more on
/// their way.
const FARTHER: [usize; 2] = [96, 128];
/// The largest footprint in small pages: beyond it nothing new is seen.
const SMALL_PAGES_MAX: usize = GB;
const TRIAL: Duration = Duration::from_millis(10);
const TRIAL_QUICK: Duration = Duration::from_millis(5);

/// How the rows name pages.
fn pages_name(pages: Option<Pages>) -> &'static str {
    match pages {
        Some(Pages::Explicit2M) => "2 MiB set aside",
        Some(Pages::Transparent) => "2 MiB transparent",
        Some(Pages::Small) => "4 KiB",
        None => "of tables",
    }
}

/// What one run measures.
struct Plan {
    large: Vec<usize>,
    small: Vec<usize>,
    threads: Vec<usize>,
    trial: Duration,
}

impl Plan {
    fn new(quick: bool, outcome: &mut Outcome) -> Self {
        let all: &[usize] = if quick {
            &FOOTPRINTS_QUICK
        } else {
            &FOOTPRINTS
        };
        let room = memory_bytes() as usize;
        let taken = |bytes: usize| places_for(bytes) * bytes;
        let fits = |bytes: &usize| taken(*bytes) <= room;
        let large: Vec<usize> = all.iter().copied().filter(fits).collect();
        let largest = large.iter().map(|&bytes| taken(bytes)).max().unwrap_or(0);
        let small_max = SMALL_PAGES_MAX.min(room - largest.min(room));
        let small = all.iter().copied();
        let small = small.filter(|&bytes| taken(bytes) <= small_max);
        let left_out: Vec<String> = all
            .iter()
            .filter(|bytes| !fits(bytes))
            .map(mebibytes)
            .collect();
        if !left_out.is_empty() {
            outcome.skipped.push(format!(
                "footprints of {}: more than a quarter of the memory that is free",
                left_out.join(", ")
            ));
        }
        let cpus = engine::Machine::read().cpus;
        if cpus < 2 {
            let skipped = "all CPUs at a time: this process may use one only";
            outcome.skipped.push(skipped.to_owned());
        }
        Self {
            small: small.collect(),
            large,
            threads: if cpus < 2 { vec![1] } else { vec![1, cpus] },
            trial: if quick { TRIAL_QUICK } else { TRIAL },
        }
    }

    /// All variants of one kind of pages.
    fn contestants(&self, field: &Rc<Field>, footprints: &[usize]) -> Vec<Contestant> {
        let pages = pages_name(field.pages());
        let mut contestants = Vec::new();
        for &bytes in footprints {
            for &threads in &self.threads {
                let levels = [false, true].into_iter();
                let farther = levels.flat_map(|far| {
                    FARTHER.map(|distance| Method {
                        kind: Kind::Rolling,
                        distance,
                        far,
                    })
                });
                for method in Method::all(&DISTANCES).into_iter().chain(farther) {
                    let reader = Reader::new(field, bytes, threads, method);
                    contestants.push(throughput(reader, pages, self.trial));
                }
            }
            let reader = Reader::new(field, bytes, 1, Method::CHAIN);
            contestants.push(latency(reader, pages, self.trial));
        }
        contestants
    }
}

fn mebibytes(bytes: &usize) -> String {
    format!("{} MiB", bytes / MIB)
}

fn variant(reader: &Reader, pages: &'static str) -> Vec<(&'static str, crate::Value)> {
    let mut variant = vec![
        ("bytes", reader.bytes().into()),
        ("pages", pages.into()),
        ("threads", reader.threads().into()),
        ("method", reader.method().name().into()),
    ];
    // None where nobody asks ahead.
    let distance = Some(reader.method().distance).filter(|&distance| distance > 0);
    variant.extend(distance.map(|distance| ("distance", distance.into())));
    variant
}

/// Beyond all caches: the null run is to show the harness's noise, and how much of 24 MB a cache
/// of 32 MB holds is another CPU's business too (it differed by 30 % from trial to trial).
fn is_steady(contestant: &Contestant) -> bool {
    let has = |field, value: crate::Value| contestant.variant.contains(&(field, value));
    has("bytes", (512 * MIB).into()) && has("method", Method::ROLLING.name().into())
}

fn throughput(mut reader: Reader, pages: &'static str, wanted: Duration) -> Contestant {
    Contestant {
        variant: variant(&reader, pages),
        metric: "lines_per_second",
        measure: Box::new(move |trial| reader.measure(wanted, trial)),
    }
}

fn latency(mut reader: Reader, pages: &'static str, wanted: Duration) -> Contestant {
    Contestant {
        variant: variant(&reader, pages),
        metric: "ns_per_load",
        measure: Box::new(move |trial| 1e9 / reader.measure(wanted, trial)),
    }
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let mut outcome = Outcome::default();
    let plan = Plan::new(settings.quick, &mut outcome);
    let large = Field::new(&plan.large, settings.seed)?;
    let mut contestants = plan.contestants(&large, &plan.large);
    if large.pages() == Some(Pages::Small) {
        let skipped = "large pages: the kernel gave none, all rows are of 4 KiB pages";
        outcome.skipped.push(skipped.to_owned());
    } else {
        let small = Field::in_small_pages(&plan.small, settings.seed)?;
        contestants.extend(plan.contestants(&small, &plan.small));
    }
    let steady = contestants.iter().position(is_steady);
    contestants.swap(0, steady.unwrap_or(0));
    let mut contest = Contest::new(settings, if plan.trial == TRIAL { 15 } else { 10 }, 1);
    let mut measured = Outcome::default();
    contest.run(contestants, &mut measured);
    measured.rows.swap(0, steady.unwrap_or(0));
    outcome.noise = Some(contest.noise());
    outcome.rows = best_rows(&measured.rows);
    outcome.findings = findings(&outcome.rows);
    outcome
        .findings
        .extend(farther(&outcome.rows, &measured.rows));
    outcome.rows.extend(measured.rows);
    outcome.varies = varies();
    outcome.charts = charts(pages_name(large.pages()));
    Ok(outcome)
}

fn varies() -> Vec<String> {
    [
        "Varied: the footprint, the kind of pages, one thread or all CPUs, and who asks for a line \
         before it is read: nobody (the CPU runs ahead by itself), batches, or a rolling distance, \
         into the first cache level (t0) or the second (t1).",
        "Held: one 8-byte word is read of each line; places come from a stream of 64 MiB of random \
         numbers, itself asked for ahead. 'best' repeats the samples of the method whose median is \
         highest; 'chain' makes the place of each line depend on the one before.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// True when two rows have the same footprint, pages and threads.
fn same_place(a: &Row, b: &Row) -> bool {
    ["bytes", "pages", "threads"]
        .iter()
        .all(|field| a.value(field) == b.value(field))
}

/// True for rows that the limit is the best of.
fn counts(row: &Row) -> bool {
    let distance = row.number("distance").unwrap_or(0);
    row.metric == "lines_per_second" && distance <= DISTANCES[DISTANCES.len() - 1] as u64
}

/// For each footprint, pages and threads the row of the best method, named so.
fn best_rows(rows: &[Row]) -> Vec<Row> {
    let mut best: Vec<Row> = Vec::new();
    for row in rows.iter().filter(|row| counts(row)) {
        match best.iter_mut().find(|known| same_place(known, row)) {
            Some(known) if known.samples.median() >= row.samples.median() => {}
            Some(known) => *known = row.clone(),
            None => best.push(row.clone()),
        }
    }
    for row in &mut best {
        for (field, value) in &mut row.variant {
            match *field {
                "method" => *value = "best".into(),
                "distance" => *field = "at_distance",
                _ => {}
            }
        }
    }
    best
}

/// A sentence for each kind of pages and number of threads.
fn findings(best: &[Row]) -> Vec<String> {
    let mut groups: Vec<&Row> = Vec::new();
    for row in best {
        let known = |group: &&Row| {
            ["pages", "threads"]
                .iter()
                .all(|f| group.value(f) == row.value(f))
        };
        if !groups.iter().any(known) {
            groups.push(row);
        }
    }
    groups
        .iter()
        .filter_map(|group| finding(group, best))
        .collect()
}

/// What each footprint gives in the pages and with the threads of `group`, and what that is
/// against larger pages or one thread.
fn finding(group: &Row, best: &[Row]) -> Option<String> {
    let (threads, pages) = (group.number("threads")?, group.value("pages")?);
    let mine = || {
        best.iter()
            .filter(|row| row.is("threads", threads) && row.value("pages") == Some(pages))
    };
    let small = group.is("pages", "4 KiB");
    let beside = match threads {
        1 => "what larger pages give",
        _ => "one thread",
    };
    let other = |row: &Row| {
        let pages_too = row.is("pages", "4 KiB") == (small && threads > 1);
        row.is("threads", 1u64) && pages_too && (small || threads > 1)
    };
    let figure = |row: &Row| {
        let bytes = row.number("bytes")? as usize;
        let millions = row.samples.median() / 1e6;
        let same = |other: &&Row| other.value("bytes") == row.value("bytes");
        let against = best.iter().filter(same).find(|row| other(row));
        let times = against.map(|against| format!(" ({:.2})", crate::contest::ratio(row, against)));
        Some(format!(
            "{} {millions:.0}{}",
            mebibytes(&bytes),
            times.unwrap_or_default()
        ))
    };
    let figures: Vec<String> = mine().filter_map(figure).collect();
    let who = if threads == 1 {
        "one thread".to_owned()
    } else {
        format!("{threads} threads")
    };
    let figures = figures.join(", ");
    let explained = if figures.contains('(') {
        format!(" (times {beside})")
    } else {
        String::new()
    };
    Some(format!(
        "million lines a second, pages of {pages}, {who}{explained}: {figures}"
    ))
}

/// What still longer distances give, where one is worth saying.
fn farther(best: &[Row], rows: &[Row]) -> Option<String> {
    let beyond = |row: &&Row| row.metric == "lines_per_second" && !counts(row);
    let gain = |row: &Row| {
        let limit = best.iter().find(|limit| same_place(limit, row))?;
        let bytes = row.number("bytes")? as usize;
        Some((
            crate::contest::ratio(row, limit),
            bytes,
            row.number("distance")?,
        ))
    };
    let gains = rows.iter().filter(beyond).filter_map(gain);
    let (times, bytes, distance) = gains.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (times > 1.05).then(|| {
        format!(
            "This CPU keeps more than 64 lines on their way: at distance {distance} it reads up to \
             {times:.2} times as many lines a second ({}). The limit is taken at distances up to \
             64, which is what a burst of 64 keys can ask for.",
            mebibytes(&bytes)
        )
    })
}

/// `pages` are the largest got.
fn charts(pages: &'static str) -> Vec<Chart> {
    let chart = |title: &str, caption: &str, metric, method: &'static str| Chart {
        title: title.to_owned(),
        caption: caption.to_owned(),
        kind: ChartKind::Lines,
        metric,
        beside: None,
        x: "bytes",
        series: vec!["pages", "threads"],
        only: vec![("method", method.into())],
    };
    let who_asks = |bytes: usize| Chart {
        title: format!("Who asks for the lines: {}", mebibytes(&bytes)),
        caption:
            "One thread, the largest pages got, by the lines on their way at a time. Rolling: \
                  with each line read, the one so far ahead is asked for; batch: as many are asked \
                  for, then read, and each batch waits for its end. t0 asks into the first cache \
                  level, t1 into the second."
                .to_owned(),
        kind: ChartKind::Lines,
        metric: "lines_per_second",
        beside: None,
        x: "distance",
        series: vec!["method"],
        only: vec![
            ("bytes", bytes.into()),
            ("threads", 1u64.into()),
            ("pages", pages.into()),
        ],
    };
    vec![
        chart(
            "Random lines a second",
            "The limit of every table of that size: the best method of each footprint.",
            "lines_per_second",
            "best",
        ),
        who_asks(24 * MIB),
        who_asks(512 * MIB),
        chart(
            "Latency",
            "Nanoseconds for a line when the next is known only after it.",
            "ns_per_load",
            Method::CHAIN.name(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Samples;

    fn row(bytes: u64, method: &'static str, rate: f64) -> Row {
        let mut samples = Samples::default();
        samples.push(rate);
        Row {
            variant: vec![
                ("bytes", bytes.into()),
                ("pages", "4 KiB".into()),
                ("threads", 1u64.into()),
                ("method", method.into()),
                ("distance", 8u64.into()),
            ],
            metric: "lines_per_second",
            samples,
        }
    }

    #[test]
    fn the_best_method_of_each_footprint_is_named() {
        let rows = [
            row(1, "a", 3.0),
            row(1, "b", 4.0),
            row(2, "a", 2.0),
            row(1, "c", 1.0),
        ];
        let best = best_rows(&rows);
        let medians: Vec<f64> = best.iter().map(|row| row.samples.median()).collect();
        assert_eq!(medians, [4.0, 2.0]);
        assert!(best.iter().all(|row| row.is("method", "best")));
        assert_eq!(findings(&best).len(), 1);
    }

    #[test]
    fn variants_are_as_the_contract_says() {
        let field = Field::new(&[1 << 16], 1).expect("memory");
        let plan = Plan {
            large: vec![1 << 16],
            small: vec![],
            threads: vec![1, 2],
            trial: Duration::from_micros(10),
        };
        let contestants = plan.contestants(&field, &plan.large);
        assert_eq!(contestants.len(), 2 * 21 + 1);
        for mut contestant in contestants {
            let fields: Vec<_> = contestant.variant.iter().map(|(name, _)| *name).collect();
            assert_eq!(fields[..4], ["bytes", "pages", "threads", "method"]);
            let trial = crate::Trial {
                round: 0,
                shift_lines: 3,
                seed: 1,
            };
            assert!((contestant.measure)(&trial) > 0.0);
        }
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let mut outcome = Outcome::default();
        let plan = Plan::new(false, &mut outcome);
        let whole = plan.large.len() == FOOTPRINTS.len();
        assert_eq!(
            whole,
            !outcome.skipped.iter().any(|why| why.contains("MiB"))
        );
        assert!(Kind::Chain == Method::CHAIN.kind);
    }
}
