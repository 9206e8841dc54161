//! The whole classify-and-bridge path over memory rings, and what each stage of it costs.
//!
//! Every variant leaves one stage out. Beside them stand, in the same rounds, the bare lookup of
//! as many pairs in the same table, and the random lines that memory gives over as many bytes as
//! the path can touch: table and one header line a frame. A frame needs three lines (header,
//! source, destination), so a third of the limit is the most frames there can be.

pub(crate) mod circuit;
mod findings;
#[cfg(test)]
mod tests;
pub(crate) mod without;

use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use plane::{Action, Bridge, HitAddresses, Policy, Ruleset, SetRule, Sides};
use table::{CompiledLists, Entries, ListMask};

use crate::contest::{better_half, refused};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::key::{Cursor, Stream, drive};
use crate::memory::{Field, Limit, Line, Tables};
use crate::places::Placed;
use crate::shuffle::Seeded;
use crate::{Chart, ChartKind, Trial, interleave};
use circuit::{Circuit, PORTS};
use without::Without;

const LINE_BYTES: usize = 64;
const ENTRIES: usize = 6_000_000;
const ENTRIES_FEW: usize = 100_000;
pub(crate) const POOL: u32 = 8192;
const POOL_LARGE: u32 = 65_536;
/// Frames of the far side alone: in the circle those it stamps are near, since the worker had them
/// a burst ago, and so must these be. The slots of its rings are near, too, which in the circle
/// they are not: less is taken for the far side's than is.
const POOL_NEAR: u32 = 256;
/// An odd number of lines, as the program chooses by default, and the usual power of two.
pub(crate) const STRIDE: u32 = 2112;
const STRIDE_EVEN: u32 = 2048;
/// Lookups for each line of a table before a trial, which are not timed, as before those of its
/// limit: a third-level cache takes up what the trials before have pushed out only slowly. In the
/// first million lookups after it was gone a table of 21 MB had 0.6 of the rate that it had from
/// the fourth on.
const WARM: usize = 8;
/// Frames of a trial.
const FRAMES_QUICK: usize = 1 << 18;
const FRAMES: usize = 1 << 20;
const ROUNDS_QUICK: usize = 11;
const ROUNDS: usize = 21;

/// What a variant measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    /// The bridge, without a stage.
    Bridge(Without),
    /// What of it is the far side's.
    FarSide,
    /// Pairs of lookups and nothing else.
    Lookups,
    /// Random lines.
    Limit,
}

/// A row to be.
#[derive(Clone, Copy, Debug)]
struct Variant {
    path: Path,
    place: usize,
}

/// A table, a pool, and all that is measured with them.
struct Place {
    entries: usize,
    pool: u32,
    stride: u32,
    rulesets: Rc<Placed<Ruleset>>,
    circuit: Circuit,
    /// Of few frames.
    far_side: Circuit,
    /// A bridge for each stage left out.
    bridges: Vec<Bridge>,
    limit: Limit,
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let mut places = places(settings)?;
    let variants = variants(&places);
    let mut lookups = BareLookups::new(settings.seed ^ 1)?;
    let (frames, rounds) = match settings.quick {
        true => (FRAMES_QUICK, ROUNDS_QUICK),
        false => (FRAMES, ROUNDS),
    };
    let measured = interleave(
        settings,
        variants.len(),
        rounds,
        |variant, trial: &Trial| {
            let Variant { path, place } = variants[variant];
            let place = &mut places[place];
            match path {
                Path::Bridge(without) => {
                    place.warm(without, trial);
                    better_half(|_| place.frames_per_second(without, frames / 2, trial))
                }
                Path::FarSide => better_half(|_| place.far_side_frames_per_second(frames / 2)),
                Path::Lookups => {
                    let lists = place.rulesets.of(trial).lists();
                    lookups.pairs_per_second(lists, warm_frames(lists), trial);
                    better_half(|_| lookups.pairs_per_second(lists, frames / 2, trial))
                }
                Path::Limit => place.limit.measure(trial),
            }
        },
    );
    let rows: Vec<Row> = variants
        .iter()
        .zip(measured.samples)
        .map(|(variant, samples)| row(*variant, &places[variant.place], samples))
        .collect();
    Ok(Outcome {
        findings: findings::sentences(&rows),
        varies: varies(),
        charts: charts(),
        rows,
        noise: Some(measured.noise),
        ..Outcome::default()
    })
}

/// Pools and tables to measure with.
fn places(settings: &Settings<'_>) -> Result<Vec<Place>, LabError> {
    let many = rulesets(ENTRIES, settings.seed)?;
    let few = rulesets(ENTRIES_FEW, settings.seed)?;
    let mut wanted = vec![
        (ENTRIES, &many, POOL, STRIDE),
        (ENTRIES_FEW, &few, POOL, STRIDE),
    ];
    if !settings.quick {
        wanted.push((ENTRIES, &many, POOL, STRIDE_EVEN));
        wanted.push((ENTRIES, &many, POOL_LARGE, STRIDE));
    }
    let bytes = wanted
        .iter()
        .map(|(_, rulesets, pool, _)| footprint(rulesets, *pool));
    let field = Field::new(&bytes.collect::<Vec<_>>(), settings.seed)?;
    wanted
        .into_iter()
        .map(|(entries, rulesets, pool, stride)| {
            let circuits = [pool, POOL_NEAR]
                .map(|pool| Circuit::new(pool, stride, Seeded::new(settings.seed)));
            Place::new(entries, rulesets, circuits, stride, &field)
        })
        .collect()
}

/// A table in each of its places, and the policy over it.
fn rulesets(entries: usize, seed: u64) -> Result<Rc<Placed<Ruleset>>, LabError> {
    let ruleset = || {
        let lists = Arc::new(compile(entries, seed)?);
        Ruleset::new(lists, Arc::new(policy()?)).map_err(refused)
    };
    Placed::make(ruleset, |ruleset| ruleset.lists().bytes()).map(Rc::new)
}

/// Random addresses, a list of them.
pub(crate) fn compile(entries: usize, seed: u64) -> Result<CompiledLists, LabError> {
    let mut seeded = Seeded::new(seed ^ entries as u64);
    let mut list = Entries::default();
    list.v4.addresses = (0..entries).map(|_| seeded.next() as u32).collect();
    CompiledLists::compile(&[&list]).map_err(refused)
}

/// The whole set of stages with the first two pools; what matters most with the others.
fn variants(places: &[Place]) -> Vec<Variant> {
    let mut variants = Vec::new();
    for place in 0..places.len() {
        let stages: &[Without] = match place {
            0 | 1 => &Without::EVERY,
            _ => &[Without::Nothing, Without::Lookup, Without::All],
        };
        let bridges = stages.iter().map(|&without| Path::Bridge(without));
        let paths = bridges.chain([Path::FarSide, Path::Lookups, Path::Limit]);
        variants.extend(paths.map(|path| Variant { path, place }));
    }
    variants
}

fn row(variant: Variant, place: &Place, samples: crate::Samples) -> Row {
    let (path, without, metric) = match variant.path {
        Path::Bridge(without) => ("bridge", without.name(), "frames_per_second"),
        Path::FarSide => ("far_side", "none", "frames_per_second"),
        Path::Lookups => ("lookups", "none", "pairs_per_second"),
        Path::Limit => ("limit", "none", "lines_per_second"),
    };
    Row {
        variant: vec![
            ("path", path.into()),
            ("entries", place.entries.into()),
            ("pool", place.pool.into()),
            ("stride", place.stride.into()),
            ("without", without.into()),
            ("bytes", place.bytes().into()),
        ],
        metric,
        samples,
    }
}

impl Place {
    fn new(
        entries: usize,
        rulesets: &Rc<Placed<Ruleset>>,
        [circuit, far_side]: [Result<Circuit, LabError>; 2],
        stride: u32,
        field: &Rc<Field>,
    ) -> Result<Self, LabError> {
        let (mut circuit, far_side) = (circuit?, far_side?);
        let pool = circuit.frames() as u32;
        let bytes = footprint(rulesets, pool);
        let over = field.over(&(Rc::clone(rulesets) as Rc<dyn Tables>), bytes);
        let mut bridges = Vec::new();
        for _ in Without::EVERY {
            let mut bridge = Bridge::new(PORTS, Box::new(HitAddresses::new([1, 2])));
            circuit.prime(&mut bridge);
            bridges.push(bridge);
        }
        Ok(Self {
            entries,
            pool,
            stride,
            rulesets: Rc::clone(rulesets),
            circuit,
            far_side,
            bridges,
            limit: Limit::within(over.as_ref().unwrap_or(field), bytes),
        })
    }

    /// Bytes that the path can touch.
    fn bytes(&self) -> usize {
        footprint(&self.rulesets, self.pool)
    }

    /// Brings the caches into the variant's state.
    fn warm(&mut self, without: Without, trial: &Trial) {
        let frames = warm_frames(self.rulesets.of(trial).lists());
        self.frames_per_second(without, frames, trial);
    }

    /// One trial, after a round of the pool.
    fn frames_per_second(&mut self, without: Without, frames: usize, trial: &Trial) -> f64 {
        if without == Without::Rings {
            self.circuit.park();
        }
        self.turn(without, self.circuit.frames(), trial);
        let begun = Instant::now();
        let done = self.turn(without, frames, trial);
        let seconds = begun.elapsed().as_secs_f64();
        if without == Without::Rings {
            self.circuit.unpark();
        }
        done as f64 / seconds
    }

    /// One trial of what the far side does with each frame.
    fn far_side_frames_per_second(&mut self, frames: usize) -> f64 {
        let begun = Instant::now();
        let mut done = 0;
        while done < frames {
            done += self.far_side.turn_far_side();
        }
        done as f64 / begun.elapsed().as_secs_f64()
    }

    /// Turns until at least `frames` have gone round; how many did.
    fn turn(&mut self, without: Without, frames: usize, trial: &Trial) -> usize {
        let bridge = &mut self.bridges[without as usize];
        let ruleset = self.rulesets.of(trial);
        let mut done = 0;
        while done < frames {
            done += self.circuit.turn(bridge, ruleset, without);
        }
        self.circuit.settle(without);
        done
    }
}

impl Tables for Placed<Ruleset> {
    fn lines(&self, trial: &Trial) -> &[Line] {
        self.of(trial).lists().lines_v4().unwrap_or_default()
    }
}

/// Frames, or pairs of lookups, before a trial.
fn warm_frames(lists: &CompiledLists) -> usize {
    WARM * lists.bytes() / LINE_BYTES / 2
}

fn footprint(rulesets: &Placed<Ruleset>, pool: u32) -> usize {
    rulesets.first().lists().bytes() + pool as usize * LINE_BYTES
}

/// One set that blocks both sides; all else passes.
pub(crate) fn policy() -> Result<Policy, LabError> {
    let rule = SetRule::new("set", Action::Block, Sides::BOTH);
    Policy::new(vec![rule]).map_err(refused)
}

/// Pairs looked up and nothing else: bursts of as many as the path has frames in a burst.
struct BareLookups {
    stream: Stream<u32>,
    cursor: Cursor,
}

impl BareLookups {
    fn new(seed: u64) -> Result<Self, LabError> {
        let mut seeded = Seeded::new(seed);
        Ok(Self {
            stream: Stream::drawn(|| seeded.next() as u32)?,
            cursor: Cursor::default(),
        })
    }

    fn pairs_per_second(&mut self, lists: &CompiledLists, pairs: usize, trial: &Trial) -> f64 {
        const BURST: usize = 2 * engine::DEFAULT_BURST;
        let mut masks = [ListMask::EMPTY; BURST];
        let shift = trial.shift_lines * LINE_BYTES / size_of::<u32>();
        let keys = self.cursor.take(self.stream.keys(), 2 * pairs, shift);
        let begun = Instant::now();
        drive(keys, BURST, |keys| {
            lists.lookup_burst_v4(keys, &mut masks);
            black_box(&masks);
        });
        pairs as f64 / begun.elapsed().as_secs_f64()
    }
}

fn varies() -> Vec<String> {
    let sentence = "one stage of the path is left out at a time; the table's entries, the pool, \
                    and the distance of two frames vary beside it";
    let held = format!(
        "held: one thread, 64-byte frames (60 in memory, without FCS), bursts of {}, one set that \
         blocks both sides, fresh random addresses in every frame on every round, all frames of \
         the pool in circulation, first in, first out",
        engine::DEFAULT_BURST
    );
    let placed = "tables and the bytes of their limits are there five times, and each round takes \
                  the next: how much of one the third-level cache keeps depends on where it \
                  lies; a sample is the better of two halves of a trial, of the limit of two \
                  methods; while lookups wait the burst before is sent, the next received, and odd \
                  frames are found: what they hide of that, about 1 ns a frame, makes what they \
                  add less";
    let limit = "the limit reads random lines of as many bytes as the path can touch: the table \
                 and one header line a frame, packed, which is kinder to the limit than to us; \
                 where headers are less than a thirtieth, the lines of the table alone";
    vec![
        sentence.to_owned(),
        held,
        placed.to_owned(),
        limit.to_owned(),
    ]
}

fn charts() -> Vec<Chart> {
    let chart = |entries: usize, caption: &str| Chart {
        title: format!("Frames a second without one stage, {entries} entries"),
        caption: caption.to_owned(),
        kind: ChartKind::Bars,
        metric: "frames_per_second",
        beside: None,
        x: "without",
        series: vec![],
        only: vec![
            ("entries", entries.into()),
            ("pool", POOL.into()),
            ("stride", STRIDE.into()),
        ],
    };
    vec![
        chart(
            ENTRIES,
            "The longer a bar is than the first, the more its stage costs where it is needed. The \
             last is the harness alone.",
        ),
        chart(
            ENTRIES_FEW,
            "The same with a table that the second-level cache holds.",
        ),
    ]
}
