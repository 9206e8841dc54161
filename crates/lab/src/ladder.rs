//! The published ladder: one change a rung, from a table looked up one frame at a time to ours.
//!
//! Shapes are compared, not figures: the published ones were taken over NICs in 2015. Varies one
//! thing a rung. Holds the frames: 64 bytes, in memory, every frame of the pool in turn, fresh
//! random addresses in each pass, both looked up among 6 million, all forwarded.

mod checks;
mod over;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use table::AddressSetV4;

use crate::contest::{Contest, Contestant, ratio, ratios, refused};
use crate::design::array::{ArrayTable, HEADS, HEADS_MORE};
use crate::experiment::{LabError, Outcome, Published, Row, Settings};
use crate::key::Key;
use crate::stamped::{Asked, Stamped, Table};
use crate::{Chart, ChartKind, Samples, Value};

const ENTRIES: u32 = 6_000_000;
/// Frames of a pool: more headers than a first-level cache holds, and with the lines of the table
/// that a pass reads more than a second-level one.
const POOL: u32 = 8192;

/// One rung.
struct Rung {
    /// What changes.
    name: &'static str,
    /// Heads of the published table; `None` is our set.
    heads: Option<usize>,
    stride: u32,
    batch: usize,
    prefetch: Prefetch,
    /// As published, in Mpps.
    published: Option<f64>,
    /// Why the change may do nothing here, where no check says it.
    excuse: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Prefetch {
    None,
    Heads,
    Both,
}

impl Prefetch {
    fn asked(self) -> Asked {
        Asked {
            ring: false,
            headers: false,
            heads: !matches!(self, Self::None),
            arrays: matches!(self, Self::Both),
        }
    }
}

const RUNGS: [Rung; 8] = [
    Rung {
        name: "array table, stride 2048",
        heads: Some(HEADS),
        stride: 2048,
        batch: 1,
        prefetch: Prefetch::None,
        published: Some(3.7),
        excuse: "",
    },
    Rung {
        name: "stride 1920",
        heads: Some(HEADS),
        stride: 1920,
        batch: 1,
        prefetch: Prefetch::None,
        published: Some(5.0),
        excuse: "",
    },
    Rung {
        name: "batch 4",
        heads: Some(HEADS),
        stride: 1920,
        batch: 4,
        prefetch: Prefetch::None,
        published: Some(5.6),
        excuse: "this CPU runs far enough ahead to read the next frame while one waits, so four \
                 frames together gain nothing until their memory is asked for ahead; the \
                 published gain also holds what a NIC's driver saves a batch",
    },
    Rung {
        name: "bucket prefetch",
        heads: Some(HEADS),
        stride: 1920,
        batch: 4,
        prefetch: Prefetch::Heads,
        published: Some(7.7),
        excuse: "what is waited for is the arrays, for which a prefetch of heads does not ask",
    },
    Rung {
        name: "2,097,152 heads",
        heads: Some(HEADS_MORE),
        stride: 1920,
        batch: 4,
        prefetch: Prefetch::Heads,
        published: Some(8.9),
        excuse: "",
    },
    Rung {
        name: "batch 32, all prefetched",
        heads: Some(HEADS_MORE),
        stride: 1920,
        batch: 32,
        prefetch: Prefetch::Both,
        published: None,
        excuse: "",
    },
    Rung {
        name: "our set",
        heads: None,
        stride: 1920,
        batch: 32,
        prefetch: Prefetch::Both,
        published: None,
        excuse: "",
    },
    Rung {
        name: "our set, stride 1984",
        heads: None,
        stride: 1984,
        batch: 32,
        prefetch: Prefetch::Both,
        published: None,
        excuse: "",
    },
];

impl Rung {
    /// The rung alone: each differs from the one before in what its name says, and columns for
    /// all of it would push the published figures off the screen.
    fn variant(&self) -> Vec<(&'static str, Value)> {
        vec![("rung", self.name.into())]
    }

    /// How many things differ from the rung before: table, distance, frames together, prefetch.
    #[cfg(test)]
    fn changes(&self, before: &Self) -> usize {
        let table = self.heads != before.heads;
        let frames = self.stride != before.stride;
        let together = self.batch != before.batch || self.prefetch != before.prefetch;
        [table, frames, together]
            .into_iter()
            .filter(|changed| *changed)
            .count()
    }

    fn contestant(
        &self,
        table: Table,
        frames: Rc<RefCell<Stamped>>,
        wanted: Duration,
    ) -> Contestant {
        let (batch, asked) = (self.batch, self.prefetch.asked());
        Contestant {
            variant: self.variant(),
            metric: "frames_per_second",
            measure: Box::new(move |_| table.rate(&frames, wanted, (batch, asked))),
        }
    }
}

/// The tables of all rungs.
struct Tables {
    few: Rc<ArrayTable>,
    more: Rc<ArrayTable>,
    ours: Rc<AddressSetV4>,
}

impl Tables {
    fn new(entries: u32, seed: u64) -> Result<Self, LabError> {
        let addresses = || (0..entries).map(|number| u32::nth(number, seed));
        let all: Vec<u32> = addresses().collect();
        Ok(Self {
            few: Rc::new(ArrayTable::new(addresses(), HEADS)?),
            more: Rc::new(ArrayTable::new(addresses(), HEADS_MORE)?),
            ours: Rc::new(AddressSetV4::new(&all).map_err(refused)?),
        })
    }

    fn of(&self, rung: &Rung) -> Table {
        match rung.heads {
            Some(HEADS) => Table::Array(Rc::clone(&self.few)),
            Some(_) => Table::Array(Rc::clone(&self.more)),
            None => Table::Ours(Rc::clone(&self.ours)),
        }
    }
}

/// Tables and pools of all rungs.
fn contestants(entries: u32, seed: u64, wanted: Duration) -> Result<Vec<Contestant>, LabError> {
    let tables = Tables::new(entries, seed)?;
    let mut pools: Vec<(u32, Rc<RefCell<Stamped>>)> = Vec::new();
    for rung in &RUNGS {
        if pools.iter().all(|(stride, _)| *stride != rung.stride) {
            pools.push((rung.stride, Stamped::new(rung.stride, POOL, seed)?));
        }
    }
    let contestant = |rung: &Rung| {
        let pool = pools.iter().find(|(stride, _)| *stride == rung.stride);
        pool.map(|(_, frames)| rung.contestant(tables.of(rung), Rc::clone(frames), wanted))
    };
    let mut all: Vec<Contestant> = RUNGS.iter().filter_map(contestant).collect();
    if let Some((_, frames)) = pools.iter().find(|(stride, _)| *stride == RUNGS[3].stride) {
        all.extend(checks::contestants(&tables, entries, seed, wanted, frames)?);
    }
    Ok(all)
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    if let Some(wire) = settings.wire {
        return over::run(settings, wire);
    }
    let (rounds, millis) = if settings.quick { (20, 100) } else { (40, 200) };
    let wanted = Duration::from_millis(millis);
    let contestants = contestants(ENTRIES, settings.seed, wanted)?;
    let mut outcome = Outcome {
        varies: varies(),
        charts: charts(),
        published: published(),
        ..Outcome::default()
    };
    let mut contest = Contest::new(settings, rounds, 1);
    contest.run(contestants, &mut outcome);
    outcome.noise = Some(contest.noise());
    outcome.findings = findings(&outcome.rows);
    Ok(outcome)
}

fn published() -> Vec<Published> {
    let first = RUNGS[0].published.unwrap_or(1.0);
    let beside = |(row, rung): (usize, &Rung)| {
        let figure = rung.published?;
        Some(Published {
            row,
            figure,
            unit: "Mpps",
            ratio: figure / first,
        })
    };
    RUNGS.iter().enumerate().filter_map(beside).collect()
}

fn varies() -> Vec<String> {
    [
        "Varied: one thing a rung, in the order in which it was published in 2015 (6 million IPv4 \
         addresses, 524,288 heads, each of which names an array of about 11), and three rungs \
         more.",
        "Held: frames of 64 bytes in memory, 8,192 a pool in shuffled order, each with fresh \
         random addresses in every pass; the source and destination of each are looked up, and \
         all are forwarded whatever the answer. Headers are asked for on no rung: \
         'batch' varies that. Two rungs are checked below the ladder: the step to 1920 bytes by \
         what reading a header takes when nothing is looked up, and with 1,024 frames; and the \
         step to more heads with four times as many addresses and heads. There is no NIC: shapes \
         are compared, not figures.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// What each rung gained, here and there.
fn findings(rows: &[Row]) -> Vec<String> {
    let mut findings = Vec::new();
    let (rungs, checks) = rows.split_at(RUNGS.len().min(rows.len()));
    for (index, pair) in rungs.windows(2).enumerate() {
        let (before, rung) = (&RUNGS[index], &RUNGS[index + 1]);
        let reason = match index {
            0 => checks::headers(rungs, checks),
            3 => checks::larger(checks),
            _ => None,
        };
        let reason = reason.unwrap_or_else(|| rung.excuse.to_owned());
        findings.push(step(before, rung, &ratios(&pair[1], &pair[0]), &reason));
    }
    if let (Some(first), Some(last)) = (rungs.first(), rungs.last()) {
        findings.push(format!(
            "From the first rung to the last: {:.1} times; published, from the first to the fifth: \
             {:.1} times",
            ratio(last, first),
            8.9 / 3.7
        ));
    }
    findings
}

/// A rung goes the published way when three rounds of four did.
fn step(before: &Rung, rung: &Rung, here: &Samples, reason: &str) -> String {
    let there = rung.published.zip(before.published).map(|(a, b)| a / b);
    let beside = there.map_or(String::new(), |there| format!(", published {there:.2}"));
    let sentence = format!(
        "{}: {:.2} times the rung before{beside}",
        rung.name,
        here.median()
    );
    if there.is_none() || here.low() > 1.0 {
        return sentence;
    }
    let how = if here.high() < 1.0 {
        "The other way here"
    } else {
        "No difference here"
    };
    format!("{sentence}. {how}: {reason}")
}

fn charts() -> Vec<Chart> {
    vec![Chart {
        title: "The ladder".to_owned(),
        caption: "Frames a second whose two addresses are looked up among 6 million, one change a \
                  rung."
            .to_owned(),
        kind: ChartKind::Bars,
        metric: "frames_per_second",
        beside: None,
        x: "rung",
        series: Vec::new(),
        only: Vec::new(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trial;

    #[test]
    fn every_rung_runs_and_says_what_it_is() {
        let contestants = contestants(10_000, 1, Duration::from_nanos(1)).expect("memory");
        assert_eq!(contestants.len(), RUNGS.len() + 6);
        let trial = Trial {
            round: 0,
            shift_lines: 0,
            seed: 1,
        };
        for mut contestant in contestants {
            assert!((contestant.measure)(&trial) > 0.0);
            let metrics = ["frames_per_second", checks::METRIC];
            assert!(metrics.contains(&contestant.metric));
        }
    }

    #[test]
    fn one_thing_changes_a_rung() {
        for pair in RUNGS.windows(2) {
            assert_eq!(pair[1].changes(&pair[0]), 1, "{}", pair[1].name);
        }
    }

    #[test]
    fn the_published_figures_stand_beside_their_rungs() {
        let figures: Vec<f64> = published().iter().map(|beside| beside.figure).collect();
        assert_eq!(figures, [3.7, 5.0, 5.6, 7.7, 8.9]);
        assert!((published()[4].ratio - 2.405).abs() < 1e-3);
    }

    #[test]
    fn a_rung_that_disagrees_says_why() {
        let said = |ratios: [f64; 3]| {
            let mut here = Samples::default();
            ratios.into_iter().for_each(|ratio| here.push(ratio));
            step(&RUNGS[1], &RUNGS[2], &here, RUNGS[2].excuse)
        };
        assert!(!said([1.1, 1.2, 1.3]).contains("here:"));
        assert!(said([0.9, 1.01, 1.2]).contains("No difference here: this CPU"));
        assert!(said([0.8, 0.9, 0.91]).contains("The other way here: this CPU"));
    }
}
