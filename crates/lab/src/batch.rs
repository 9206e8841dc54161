//! Frames handled together, against what is asked for before it is read.
//!
//! A batch alone gives the CPU more to run ahead into; a prefetch over a batch has all its memory
//! on the way at once. Varies the batch, the prefetch, the table and whether it holds anything.
//! Holds the frames at the two distances of the published experiment.

use std::rc::Rc;
use std::time::Duration;

use table::AddressSetV4;

use crate::contest::{Contest, Contestant, ratio, refused};
use crate::design::array::{ArrayTable, HEADS, HEADS_MORE};
use crate::experiment::{LabError, Outcome, Published, Row, Settings};
use crate::key::Key;
use crate::stamped::{Asked, Stamped, Table};
use crate::wired::{self, Way, Wire};
use crate::{Chart, ChartKind, Value};

const BATCHES: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const BATCHES_QUICK: [usize; 4] = [1, 4, 32, 256];
const ENTRIES: u32 = 6_000_000;
/// Those of the published experiment, bytes.
const STRIDES: [u32; 2] = [2048, 1920];
const POOL: u32 = 8192;
/// Names, and what is prefetched or touched.
const PREFETCHES: [(&str, Asked); 5] = [
    ("none", asked(false, false)),
    ("headers", asked(true, false)),
    ("table", asked(false, true)),
    ("both", asked(true, true)),
    (
        "ring",
        Asked {
            ring: true,
            ..asked(false, false)
        },
    ),
];
/// Rates of 2015 over NICs, whose rows are known: heads, entries, stride, batch, Mpps.
const PUBLISHED: [(usize, u32, u32, usize, f64); 3] = [
    (HEADS, ENTRIES, 2048, 1, 3.7),
    (HEADS, ENTRIES, 1920, 1, 5.0),
    (HEADS, ENTRIES, 1920, 4, 5.6),
];

/// One table and what its rows say.
struct Subject {
    design: &'static str,
    heads: Option<usize>,
    entries: u32,
    table: Table,
}

fn subjects(entries: u32, seed: u64) -> Result<Vec<Subject>, LabError> {
    let mut subjects = Vec::new();
    for entries in [0, entries] {
        let addresses = || (0..entries).map(|number| u32::nth(number, seed));
        for heads in [HEADS, HEADS_MORE] {
            let table = ArrayTable::new(addresses(), heads)?;
            subjects.push(Subject {
                design: "array",
                heads: Some(heads),
                entries,
                table: Table::Array(Rc::new(table)),
            });
        }
        let all: Vec<u32> = addresses().collect();
        let set = AddressSetV4::new(&all).map_err(refused)?;
        subjects.push(Subject {
            design: "ours",
            heads: None,
            entries,
            table: Table::Ours(Rc::new(set)),
        });
    }
    Ok(subjects)
}

impl Subject {
    fn variant(
        &self,
        stride: u32,
        batch: usize,
        prefetch: &'static str,
    ) -> Vec<(&'static str, Value)> {
        let mut variant = vec![
            ("design", self.design.into()),
            ("entries", self.entries.into()),
            ("stride", stride.into()),
            ("batch", batch.into()),
            ("prefetch", prefetch.into()),
        ];
        variant.extend(self.heads.map(|heads| ("heads", heads.into())));
        variant
    }
}

const fn asked(headers: bool, table: bool) -> Asked {
    Asked {
        ring: false,
        headers,
        heads: table,
        arrays: table,
    }
}

fn contestants(
    entries: u32,
    batches: &[usize],
    wanted: Duration,
    seed: u64,
) -> Result<Vec<Contestant>, LabError> {
    let mut contestants = Vec::new();
    let subjects = subjects(entries, seed)?;
    for stride in STRIDES {
        let frames = Stamped::new(stride, POOL, seed)?;
        for subject in &subjects {
            for &batch in batches {
                for (name, asked) in PREFETCHES {
                    let (table, frames) = (subject.table.clone(), Rc::clone(&frames));
                    contestants.push(Contestant {
                        variant: subject.variant(stride, batch, name),
                        metric: "frames_per_second",
                        measure: Box::new(move |_| table.rate(&frames, wanted, (batch, asked))),
                    });
                }
            }
        }
    }
    Ok(contestants)
}

/// The same over real interfaces, with the tables that hold something, and batches, from one frame
/// to as many as a port gives.
fn over(settings: &mut Settings<'_>, wire: Wire<'_>) -> Result<Outcome, LabError> {
    let (batches, rounds): (&[usize], usize) = match settings.quick {
        true => (&BATCHES_QUICK, 4),
        false => (&BATCHES, 10),
    };
    let mut ways = Vec::new();
    let full = |subject: &Subject| subject.entries > 0;
    for subject in subjects(ENTRIES, settings.seed)?.into_iter().filter(full) {
        for stride in STRIDES {
            for &batch in batches {
                for (name, asked) in PREFETCHES {
                    let table = subject.table.clone();
                    ways.push(Way {
                        variant: subject.variant(stride, batch, name),
                        stride,
                        batch,
                        work: Rc::new(move |frames| {
                            table.pass(frames, batch, asked);
                        }),
                    });
                }
            }
        }
    }
    let wanted = Duration::from_millis(50);
    let mut outcome = wired::measure(settings, wire, &ways, (rounds, wanted))?;
    outcome.varies = vec![
        "Varied: frames taken from the port and handled together, at most, and what is asked for \
         before any of them is read, on three tables of 6 million addresses. Held: frames of 64 \
         bytes with random addresses, sent flat out; both are looked up, and the frame ends."
            .to_owned(),
    ];
    Ok(outcome)
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    if let Some(wire) = settings.wire {
        return over(settings, wire);
    }
    let (batches, rounds): (&[usize], usize) = if settings.quick {
        (&BATCHES_QUICK, 10)
    } else {
        (&BATCHES, 15)
    };
    let wanted = Duration::from_millis(20);
    let contestants = contestants(ENTRIES, batches, wanted, settings.seed)?;
    let mut outcome = Outcome {
        varies: varies(),
        charts: charts(),
        ..Outcome::default()
    };
    let mut contest = Contest::new(settings, rounds, 1);
    contest.run(contestants, &mut outcome);
    outcome.noise = Some(contest.noise());
    outcome.findings = findings(&outcome.rows);
    outcome.published = published(&outcome.rows);
    Ok(outcome)
}

fn published(rows: &[Row]) -> Vec<Published> {
    let beside = PUBLISHED
        .into_iter()
        .filter_map(|(heads, entries, stride, batch, figure)| {
            let row = rows.iter().position(|row| {
                row.is("heads", heads)
                    && row.is("entries", entries)
                    && row.is("stride", stride)
                    && row.is("batch", batch)
                    && row.is("prefetch", "none")
            })?;
            Some(Published {
                row,
                figure,
                unit: "Mpps",
                ratio: figure / PUBLISHED[0].4,
            })
        });
    beside.collect()
}

fn varies() -> Vec<String> {
    [
        "Varied: the distance of frames; frames handled together; what is prefetched before any \
         frame of the batch is read (nothing, headers, the table's lines, both); the published \
         table with 524,288 and 2,097,152 heads and our set, each empty and with 6 million \
         addresses. 'ring' reads the header of each of 1,024 frames before it handles the first of \
         them. 'table' prefetches the heads of a whole batch, then the arrays; our set prefetches \
         the lines of all keys it is handed, so without 'table' it is handed the two keys of one \
         frame.",
        "Held: frames of 64 bytes in memory, 8,192 a pool in shuffled order, with fresh random \
         addresses in every pass; source and destination are both looked up, and all are \
         forwarded.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn same(a: &Row, b: &Row, fields: &[&str]) -> bool {
    fields.iter().all(|field| a.value(field) == b.value(field))
}

/// For every table the best row against one frame at a time without prefetch, and what the batch
/// alone and the prefetch add.
fn findings(rows: &[Row]) -> Vec<String> {
    let first = |row: &&Row| row.number("batch") == Some(1) && row.is("prefetch", "none");
    rows.iter()
        .filter(first)
        .filter_map(|first| finding(first, rows))
        .collect()
}

fn finding(first: &Row, rows: &[Row]) -> Option<String> {
    let table = ["design", "entries", "heads", "stride"];
    let mine = || rows.iter().filter(|row| same(row, first, &table));
    let median = |row: &&Row| row.samples.median();
    let higher = |a: &&Row, b: &&Row| median(a).total_cmp(&median(b));
    let best = mine().max_by(higher)?;
    let plain = mine().filter(|row| row.is("prefetch", "none"));
    let plain = plain.max_by(higher)?;
    let name = match first.number("heads") {
        Some(heads) => format!("array table, {heads} heads"),
        None => "our set".to_owned(),
    };
    let filled = match first.number("entries")? {
        0 => "empty".to_owned(),
        entries => format!("{entries} entries"),
    };
    Some(format!(
        "{name}, {filled}, stride {}: best at {} together with prefetch '{}', {:.1} million frames \
         a second, {:.2} times one at a time; batches without prefetch give {:.2} at best ({} \
         together)",
        best.number("stride")?,
        best.number("batch")?,
        best.value("prefetch")?,
        best.samples.median() / 1e6,
        ratio(best, first),
        ratio(plain, first),
        plain.number("batch")?,
    ))
}

fn charts() -> Vec<Chart> {
    let chart = |title: &str, only| Chart {
        title: title.to_owned(),
        caption: "Frames a second by the number handled together and by what is asked for ahead."
            .to_owned(),
        kind: ChartKind::Lines,
        metric: "frames_per_second",
        beside: None,
        x: "batch",
        series: vec!["prefetch"],
        only,
    };
    let entries = || ("entries", ENTRIES.into());
    let stride = || ("stride", STRIDES[1].into());
    vec![
        chart(
            "Array table, 524,288 heads, 6 million entries, stride 1920",
            vec![entries(), stride(), ("heads", HEADS.into())],
        ),
        chart(
            "Array table, 2,097,152 heads, 6 million entries, stride 1920",
            vec![entries(), stride(), ("heads", HEADS_MORE.into())],
        ),
        chart(
            "Our set, 6 million entries, stride 1920",
            vec![entries(), stride(), ("design", "ours".into())],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Samples, Trial};

    #[test]
    fn every_variant_runs_and_is_named() {
        let trial = Trial {
            round: 0,
            shift_lines: 0,
            seed: 1,
        };
        let wanted = Duration::from_nanos(1);
        let contestants = contestants(1000, &[1, 256], wanted, 1).expect("memory");
        assert_eq!(contestants.len(), 2 * 6 * 2 * 5);
        for mut contestant in contestants {
            let names: Vec<_> = contestant.variant.iter().map(|(name, _)| *name).collect();
            let expected = ["design", "entries", "stride", "batch", "prefetch"];
            assert_eq!(names[..5], expected);
            assert!((contestant.measure)(&trial) > 0.0);
        }
    }

    #[test]
    fn the_best_is_said_of_each_table() {
        let row = |batch: usize, prefetch: &'static str, rate: f64| {
            let mut samples = Samples::default();
            samples.push(rate);
            Row {
                variant: vec![
                    ("design", "ours".into()),
                    ("entries", 0u64.into()),
                    ("stride", 1920u64.into()),
                    ("batch", batch.into()),
                    ("prefetch", prefetch.into()),
                ],
                metric: "frames_per_second",
                samples,
            }
        };
        let rows = [
            row(1, "none", 1e6),
            row(4, "none", 2e6),
            row(4, "both", 3e6),
        ];
        let said = findings(&rows);
        assert_eq!(
            said,
            [
                "our set, empty, stride 1920: best at 4 together with prefetch 'both', 3.0 million \
              frames a second, 3.00 times one at a time; batches without prefetch give 2.00 at \
              best (4 together)"
            ]
        );
    }
}
