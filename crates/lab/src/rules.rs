//! Rules: what they cost a frame of the path over memory rings, by how many there are and by which
//! of them matches, and what trying one after the other costs.

mod made;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use plane::{Bridge, HitAddresses, RuleName, RuleNames, RuleTable, Ruleset};
use table::CompiledLists;
use table::classify::{Classifier, Entry, matches};

use crate::contest::{Contest, Contestant, better_half, refused};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::pipeline::circuit::{Circuit, PORTS};
use crate::pipeline::without::Without;
use crate::pipeline::{POOL, STRIDE, compile, policy};
use crate::{Chart, ChartKind, Value, paired};
use made::{Hit, Tuples, entries, make};

const COUNTS: [usize; 5] = [1, 10, 100, 1_000, 10_000];
const COUNTS_QUICK: [usize; 3] = [1, 100, 10_000];
/// Addresses of the set that the path looks up in front of the rules.
const SET_ENTRIES: usize = 100_000;
/// Frames or lookups of a trial.
const FRAMES: usize = 1 << 17;
const FRAMES_QUICK: usize = 1 << 16;
const ROUNDS: usize = 21;
const ROUNDS_QUICK: usize = 11;
/// Rules that are tried one by one in a trial, at least, and packets, at least.
const TRIED: usize = 1 << 18;
const PACKETS: usize = 32;
/// The largest share of the path that rules should add: of the first, and of 10,000.
const AIM_FIRST: f64 = 0.10;
const AIM_MANY: f64 = 0.50;

/// The circle, which all paths share: frame memory is never given back.
type Shared = Rc<RefCell<Circuit<Tuples>>>;

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let (counts, frames, rounds): (&[usize], _, _) = match settings.quick {
        true => (&COUNTS_QUICK, FRAMES_QUICK, ROUNDS_QUICK),
        false => (&COUNTS, FRAMES, ROUNDS),
    };
    let seed = settings.seed;
    let lists = Arc::new(compile(SET_ENTRIES, seed)?);
    let first = Tuples::new(&make(1, seed), Hit::First, seed);
    let circuit = Rc::new(RefCell::new(Circuit::new(POOL, STRIDE, first)?));
    let mut outcome = Outcome {
        varies: varies(),
        charts: vec![chart()],
        ..Outcome::default()
    };
    let wanted: Vec<(usize, Hit)> = counts
        .iter()
        .flat_map(|&count| Hit::among(count).iter().map(move |&hit| (count, hit)))
        .collect();
    let mut contest = Contest::new(settings, rounds, wanted.len());
    for (count, hit) in wanted {
        let group = Group::new(count, hit, seed)?;
        contest.run(group.contestants(&circuit, &lists, frames)?, &mut outcome);
    }
    outcome.noise = Some(contest.noise());
    outcome.findings = findings(&outcome.rows);
    Ok(outcome)
}

/// Rules, and frames that match one of them.
struct Group {
    count: usize,
    hit: Hit,
    entries: Rc<Vec<Entry>>,
    classifier: Classifier,
    seed: u64,
}

impl Group {
    fn new(count: usize, hit: Hit, seed: u64) -> Result<Self, LabError> {
        let entries = entries(&make(count, seed));
        Ok(Self {
            count,
            hit,
            classifier: Classifier::new(&entries).map_err(refused)?,
            entries: Rc::new(entries),
            seed,
        })
    }

    fn tuples(&self) -> Tuples {
        Tuples::new(&make(self.count, self.seed), self.hit, self.seed)
    }

    fn row(&self, operation: &'static str) -> Vec<(&'static str, Value)> {
        vec![
            ("operation", operation.into()),
            ("rules", self.count.into()),
            ("hit", self.hit.name().into()),
        ]
    }

    /// The path without and with the rules, the lookup alone, and the same one by one.
    fn contestants(
        self,
        circuit: &Shared,
        lists: &Arc<CompiledLists>,
        frames: usize,
    ) -> Result<Vec<Contestant>, LabError> {
        *circuit.borrow_mut().stamp_mut() = self.tuples();
        let path = |operation, rules| -> Result<Contestant, LabError> {
            let mut path = Path::new(circuit, lists, rules)?;
            Ok(Contestant {
                variant: self.row(operation),
                metric: "ns_per_frame",
                measure: Box::new(move |_| path.nanos_per_frame(frames)),
            })
        };
        let without = path("path alone", None)?;
        let with = path("path with rules", Some(&self.entries))?;
        let (looked_up, one_by_one) = (self.row("lookup"), self.row("one by one"));
        let (mut keys, mut few) = (self.tuples(), self.tuples());
        let packets = (TRIED / self.count).max(PACKETS).min(frames);
        let (classifier, entries) = (self.classifier, self.entries);
        Ok(vec![
            without,
            with,
            Contestant {
                variant: looked_up,
                metric: "ns_per_frame",
                measure: Box::new(move |_| {
                    each(&mut keys, frames, |key| first(&classifier, key).is_some())
                }),
            },
            Contestant {
                variant: one_by_one,
                metric: "ns_per_frame",
                measure: Box::new(move |_| {
                    each(&mut few, packets, |key| {
                        entries.iter().any(|entry| matches(entry, key))
                    })
                }),
            },
        ])
    }
}

/// Nanoseconds that `work` takes of each of so many packets.
fn each(
    tuples: &mut Tuples,
    packets: usize,
    mut work: impl FnMut(&table::classify::Key) -> bool,
) -> f64 {
    let begun = Instant::now();
    for _ in 0..packets {
        black_box(work(black_box(&tuples.take().key())));
    }
    begun.elapsed().as_nanos() as f64 / packets as f64
}

/// The first rule that matches.
fn first(classifier: &Classifier, key: &table::classify::Key) -> Option<usize> {
    let mut found = None;
    classifier.each_match(key, |entry| {
        found = Some(entry);
        ControlFlow::Break(())
    });
    found
}

/// A bridge in the circle.
struct Path {
    circuit: Shared,
    bridge: Bridge,
    ruleset: Ruleset,
}

impl Path {
    fn new(
        circuit: &Shared,
        lists: &Arc<CompiledLists>,
        rules: Option<&Rc<Vec<Entry>>>,
    ) -> Result<Self, LabError> {
        let mut policy = policy()?;
        if let Some(entries) = rules {
            policy.packet_rules = Some(Arc::new(rule_table(entries)?));
        }
        Ok(Self {
            circuit: Rc::clone(circuit),
            bridge: Bridge::new(PORTS, Box::new(HitAddresses::new([1, 2]))),
            ruleset: Ruleset::new(Arc::clone(lists), Arc::new(policy)).map_err(refused)?,
        })
    }

    /// After a round of the pool, which brings the caches into the state of this path.
    fn nanos_per_frame(&mut self, frames: usize) -> f64 {
        let pool = self.circuit.borrow().frames();
        self.turn(pool);
        1e9 / better_half(|_| {
            let begun = Instant::now();
            let done = self.turn(frames / 2);
            done as f64 / begun.elapsed().as_secs_f64()
        })
    }

    /// Turns until at least `frames` have gone round; how many did.
    fn turn(&mut self, frames: usize) -> usize {
        let mut circuit = self.circuit.borrow_mut();
        let mut done = 0;
        while done < frames {
            done += circuit.turn(&mut self.bridge, &self.ruleset, Without::Nothing);
        }
        circuit.settle(Without::Nothing);
        done
    }
}

fn rule_table(entries: &[Entry]) -> Result<RuleTable, LabError> {
    let name = |entry: &Entry| RuleName {
        line: entry.rule + 1,
        text: String::new(),
        decides: true,
        rejects: None,
    };
    let names = RuleNames {
        source: "made".to_owned(),
        rules: entries.iter().map(name).collect(),
    };
    RuleTable::new(entries, names, false, 1).map_err(refused)
}

fn varies() -> Vec<String> {
    [
        "Varied: how many rules there are; which of them frames match: the first, the last, any, \
         none. 'lookup' is the classifier alone, 'one by one' the same rules tried in order.",
        "Held: one thread, the path over memory rings of `pipeline` with a set of 100,000 \
         addresses in front of the rules, frames of 64 bytes; rules of a source, a destination, a \
         protocol and destination ports, all of which accept; 262,144 five-tuples in turn, and no \
         verdict is kept from one frame to the next.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn chart() -> Chart {
    Chart {
        title: "A frame by the number of rules".to_owned(),
        caption: "Nanoseconds, where any rule matches.".to_owned(),
        kind: ChartKind::Lines,
        metric: "ns_per_frame",
        beside: None,
        x: "rules",
        series: vec!["operation"],
        only: vec![("hit", "any".into())],
    }
}

fn findings(rows: &[Row]) -> Vec<String> {
    let groups = rows.chunks_exact(4);
    groups.filter_map(finding).collect()
}

/// Of the four rows of a group.
fn finding(rows: &[Row]) -> Option<String> {
    let [alone, with, lookup, one_by_one] = rows else {
        return None;
    };
    let Some(Value::Word(hit)) = alone.value("hit") else {
        return None;
    };
    let count = alone.number("rules")?;
    let shares = paired::paired(&with.samples, &alone.samples, |with, alone| {
        100.0 * (with / alone - 1.0)
    });
    let aim = match count {
        1 => verdict(&shares, AIM_FIRST),
        10_000 => verdict(&shares, AIM_MANY),
        _ => String::new(),
    };
    Some(format!(
        "{count} rules, {hit} matches: {} % more than the path of {:.1} ns{aim}; the lookup alone \
         takes {:.1} ns, one by one {:.0}",
        paired::with_interval(&shares, 0),
        alone.samples.median(),
        lookup.samples.median(),
        one_by_one.samples.median(),
    ))
}

fn verdict(shares: &crate::Samples, aim: f64) -> String {
    let word = match shares.median() <= 100.0 * aim {
        true => "met",
        false => "missed",
    };
    format!(" (aim of {:.0} %: {word})", 100.0 * aim)
}
