//! All lanes and sets, and one trial.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use frame::CpuId;

use super::accounts::busy_nanos;
use super::lane::{self, Lane, Links, Passed};
use super::loads::{self, Load, Set};
use super::sender::Sender;
use super::{Path, Variant};
use crate::experiment::LabError;

/// Sent before a trial is timed: rings and caches come into the path's state.
const WARM: Duration = Duration::from_millis(60);
/// How long frames under way have to arrive after the sender has ended.
const SETTLE: Duration = Duration::from_millis(5);

/// One trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) seconds: f64,
    /// Frames sent.
    pub(super) sent: u64,
    /// Frames that arrived, or were dropped where that is asked for.
    pub(super) frames: u64,
    /// That both CPUs were busy.
    pub(super) cpu_nanos: f64,
}

impl Measured {
    pub(super) fn frames_per_second(&self) -> f64 {
        self.frames as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }

    /// CPU time of a frame, where sending costs `send_nanos` for each that was sent.
    pub(super) fn nanos_per_frame(&self, send_nanos: f64) -> f64 {
        (self.cpu_nanos - send_nanos * self.sent as f64) / self.frames.max(1) as f64
    }

    /// What sending alone costs, of a trial in which nothing else was done.
    pub(super) fn send_nanos(&self) -> f64 {
        self.cpu_nanos / self.sent.max(1) as f64
    }
}

/// A lane, what it is for, and the sets it can use with the traffic that hits each.
struct Place {
    path: Path,
    lane: Lane,
    sets: Vec<usize>,
}

/// Everything that trials share. Lanes end before the namespace does.
pub(super) struct Bench {
    places: Vec<Place>,
    pub(super) sets: Vec<Set>,
    /// How nft loaded each set, where it did.
    pub(super) nft_loads: Vec<Option<Load>>,
    /// Paths that there are not, and why.
    pub(super) skipped: Vec<String>,
    cpus: [CpuId; 2],
    trial: Duration,
    /// Lanes begun, those that failed among them.
    begun: usize,
}

impl Bench {
    /// Makes sets of so many entries and a lane a path; one for each set with nft.
    pub(super) fn new(
        entries: &[usize],
        cpus: [CpuId; 2],
        trial: Duration,
        seed: u64,
    ) -> Result<Self, LabError> {
        let sets = entries.iter().map(|&count| Set::random(count, seed));
        let sets: Vec<Set> = sets.collect::<Result<_, _>>()?;
        let mut bench = Self {
            places: Vec::new(),
            nft_loads: vec![None; sets.len()],
            sets,
            skipped: Vec::new(),
            cpus,
            trial,
            begun: 0,
        };
        let all: Vec<usize> = (0..bench.sets.len()).collect();
        bench
            .place(Path::GeneratorOnly, &[0], seed)
            .map_err(LabError)?;
        bench.try_place(Path::KernelBridge, &[0], seed);
        for &set in &all {
            bench.try_place(Path::Nft, &[set], seed);
        }
        bench.try_place(Path::Packet, &all, seed);
        bench.try_place(Path::Xdp, &all, seed);
        Ok(bench)
    }

    /// Adds a lane, or the reason why there is none.
    fn try_place(&mut self, path: Path, sets: &[usize], seed: u64) {
        if let Err(reason) = self.place(path, sets, seed) {
            let reason = format!("{}: {reason}", path.name());
            if !self.skipped.contains(&reason) {
                self.skipped.push(reason);
            }
        }
    }

    fn place(&mut self, path: Path, sets: &[usize], seed: u64) -> Result<(), String> {
        self.begun += 1;
        let links = Links::new(self.begun)?;
        let mut ours = None;
        match path {
            Path::GeneratorOnly => {}
            Path::KernelBridge => links.bridge()?,
            Path::Nft => {
                links.bridge()?;
                for &set in sets {
                    let load = loads::nft(&links, &self.sets[set].addresses)?;
                    self.nft_loads[set] = Some(load);
                }
            }
            Path::Packet | Path::Xdp => {
                let lists = &self.sets[sets[0]].lists;
                let started = lane::ours(&links, path.name(), self.cpus[1], lists);
                ours = Some(started.map_err(|error| error.to_string())?);
            }
        }
        let sender = self.sender(&links, sets, seed);
        let lane = Lane {
            sender: sender.map_err(|error| error.to_string())?,
            ours,
            links,
        };
        self.places.push(Place {
            path,
            lane,
            sets: sets.to_vec(),
        });
        Ok(())
    }

    /// AF_XDP sends twice as fast as AF_PACKET, but not every kernel has it.
    fn sender(&self, links: &Links, sets: &[usize], seed: u64) -> Result<Sender, LabError> {
        let samples: Vec<Arc<[u32]>> = sets
            .iter()
            .map(|&set| Arc::clone(&self.sets[set].addresses))
            .filter(|addresses| !addresses.is_empty())
            .collect();
        let end = links.name("s");
        let start = |driver| {
            let out = lane::port_spec(driver, &end);
            Sender::start(&out, self.cpus[0], &samples, seed)
        };
        start("xdp").or_else(|_| start("packet"))
    }

    /// All that the lanes can be asked; sending alone is the first.
    pub(super) fn variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        for place in &self.places {
            for &set in &place.sets {
                for hits in [false, true] {
                    if !hits || !self.sets[set].addresses.is_empty() {
                        let path = place.path;
                        variants.push(Variant { path, set, hits });
                    }
                }
            }
        }
        variants
    }

    /// One trial.
    pub(super) fn trial(&self, variant: Variant) -> Result<Measured, LabError> {
        let place = self
            .places
            .iter()
            .find(|place| place.path == variant.path && place.sets.contains(&variant.set));
        let place = place.ok_or_else(|| LabError("a variant has no lane".to_owned()))?;
        let lane = &place.lane;
        lane.use_lists(&self.sets[variant.set].lists)?;
        lane.sender.begin(place.traffic(variant, &self.sets))?;
        sleep(WARM.min(self.trial));
        let before = Look::at(lane, &self.cpus);
        sleep(self.trial);
        let after = Look::at(lane, &self.cpus);
        lane.sender.end()?;
        sleep(SETTLE);
        Ok(after.since(&before, variant))
    }
}

impl Place {
    /// The sender's traffic: 0 is random, and each set that is not empty has one.
    fn traffic(&self, variant: Variant, sets: &[Set]) -> usize {
        let own = self.sets.iter().take_while(|&&set| set <= variant.set);
        let filled = own.filter(|&&set| !sets[set].addresses.is_empty());
        if variant.hits { filled.count() } else { 0 }
    }
}

/// The accounts at one time.
struct Look {
    at: Instant,
    passed: Passed,
    cpu_nanos: f64,
}

impl Look {
    fn at(lane: &Lane, cpus: &[CpuId]) -> Self {
        Self {
            at: Instant::now(),
            passed: lane.passed(),
            cpu_nanos: busy_nanos(cpus),
        }
    }

    fn since(&self, before: &Self, variant: Variant) -> Measured {
        let passed = |of: fn(&Passed) -> u64| of(&self.passed).saturating_sub(of(&before.passed));
        let sent = passed(|passed| passed.sent);
        Measured {
            seconds: (self.at - before.at).as_secs_f64(),
            sent,
            frames: match variant {
                Variant {
                    path: Path::GeneratorOnly,
                    ..
                } => sent,
                Variant { hits: true, .. } => passed(|passed| passed.dropped),
                _ => passed(|passed| passed.arrived),
            },
            cpu_nanos: self.cpu_nanos - before.cpu_nanos,
        }
    }
}
