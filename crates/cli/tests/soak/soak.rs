//! A daemon under full load while its sets change in every way there is.

use std::sync::atomic::Ordering;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use crate::bridge::Bridge;
use crate::changes::{self, Done, FILE, FLIP, FileList, Random, TRACKS};
use crate::model::{Change, Sides};
use crate::run::{Run, followed};
use crate::{given, seed};

const SETS: &str = "[[set]]\nname = 'hand'\naction = 'block'\nsides = 'source'\n\
    [[set]]\nname = 'timed'\naction = 'block'\nsides = 'source'\n\
    [[set]]\nname = 'file'\naction = 'block'\nsides = 'source'\nsource = 'file.txt'\n\
    allow_private = true\n\
    [[set]]\nname = 'flip'\naction = 'block'\nsides = 'source'\nsource = 'flip.txt'\n\
    allow_private = true\n\
    [[set]]\nname = 'always'\naction = 'block'\nsides = 'source'\nsource = 'always.txt'\n\
    allow_private = true\n";

/// From which length on memory is held against the criterion. Warm-up takes two to three minutes:
/// the first hundred loads each leave their mark on the heap.
const FLAT_FROM: Duration = Duration::from_secs(600);

/// Samples of resident memory, in KiB.
///
/// Loads come and go, and for a moment a list is there twice: so it is the median that is held
/// against the criterion, and the most is told beside it.
struct Memory(Vec<u64>);

/// The median of samples, and the most.
fn level(samples: &[u64]) -> (u64, u64) {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    (middle, sorted.last().copied().unwrap_or(0))
}

impl Memory {
    /// Without the first quarter, which is warm-up: both halves of the rest.
    fn halves(&self) -> (&[u64], &[u64]) {
        let rest = &self.0[self.0.len() / 4..];
        rest.split_at(rest.len() / 2)
    }

    /// The median of the last half is not above that of the first and a fiftieth of it.
    fn is_flat(&self) -> bool {
        let (first, last) = self.halves();
        let (first, last) = (level(first).0, level(last).0);
        last <= first + first / 50
    }

    /// Median and most of each tenth, in MiB.
    fn tenths(&self) -> Vec<(u64, u64)> {
        let tenths = self.0.chunks(self.0.len().div_ceil(10).max(1));
        let mib = |(middle, most)| (middle >> 10, most >> 10);
        tenths.map(|tenth| mib(level(tenth))).collect()
    }
}

/// Everyone who changes sets; memory is sampled five times a second.
fn changed(bridge: &Bridge, sides: &Sides, list: FileList, seed: u64) -> (Done, Memory) {
    let (done, mut memory) = (Done::default(), Memory(Vec::new()));
    scope(|threads| {
        let changing = [
            threads.spawn(|| changes::by_hand(bridge, sides, Random(seed ^ 1), &done)),
            threads.spawn(|| changes::timed(bridge, sides, Random(seed ^ 2), &done)),
            threads.spawn(|| changes::replaced(bridge, sides, list, &done)),
            threads.spawn(|| changes::flipped(bridge, sides, Random(seed ^ 3), &done)),
            threads.spawn(|| changes::marked(bridge, sides)),
        ];
        let begun = Instant::now();
        // One that has ended has failed.
        while begun.elapsed() < duration() && !changing.iter().any(|thread| thread.is_finished()) {
            memory.0.extend(bridge.resident_kib());
            sleep(Duration::from_millis(200));
        }
        sides.end();
    });
    (done, memory)
}

fn duration() -> Duration {
    Duration::from_secs(given("LINERATE_SOAK_SECONDS").unwrap_or(4))
}

#[test]
fn no_frame_is_lost_or_wrongly_judged_while_all_sets_change() {
    let seed = seed();
    let list = FileList::new(given("LINERATE_SOAK_ENTRIES").unwrap_or(20_000) as u32);
    let sides = Sides::new(TRACKS, changes::space);
    sides.tracks[FILE].answered(sides.tracks[FILE].announce(list.whole()));
    let flip: Vec<u16> = (104 << 8..120 << 8).collect();
    sides.tracks[FLIP].answered(sides.tracks[FLIP].announce(Change::nets(flip, true)));
    sides.mark(0, sides.all_answered());
    let lists = [
        ("file.txt", &*list.text()),
        ("flip.txt", "104.0.0.0/5\n112.0.0.0/5\n"),
        ("always.txt", "128.0.0.0/3\n"),
    ];
    let mut bridge = Bridge::start(seed, SETS, &lists);
    let run = followed(&mut bridge, &sides, |bridge| {
        changed(bridge, &sides, list, seed)
    });
    told(&run);
    run.must_be_right(&sides);
    let (done, memory) = &run.changed;
    for count in done.all() {
        assert!(count > 0, "something was never changed: {:?}", done.all());
    }
    let flat = memory.is_flat() || duration() < FLAT_FROM;
    assert!(flat, "memory grows: {:?} MiB", memory.tenths());
}

fn told(run: &Run<(Done, Memory)>) {
    let (done, memory) = &run.changed;
    let [by_hand, expired, replaced, flipped] = done.all();
    let seconds = run.report["seconds"].as_f64().unwrap_or(f64::NAN);
    println!(
        "{seconds:.0} s, {:.2} Mpps: {by_hand} changes by hand, {expired} entries expired, \
         {replaced} lists replaced, {flipped} actions, {} late; {:?}; resident, median and most \
         of each tenth, MiB: {:?}",
        run.judged.frames as f64 / seconds / 1e6,
        done.unconfirmed.load(Ordering::Relaxed),
        run.judged,
        memory.tenths()
    );
}
