//! All lanes and sets, and one trial.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use frame::CpuId;

use super::accounts::Tasks;
use super::generator::Generator;
use super::lane::{self, Device, Lane, Links, Passed};
use super::loads::{self, Load, Set};
use super::testpmd::Testpmd;
use super::vswitch::Vswitch;
use super::{FarEnd, Path, Variant};
use crate::experiment::LabError;

/// Sent before a trial is timed: rings and caches come into the path's state.
const WARM: Duration = Duration::from_millis(60);
/// How long frames under way have to arrive after the sender has ended.
const SETTLE: Duration = Duration::from_millis(5);

/// Frames a second that no lane was seen to take, and how much more than what it took before a
/// lane is offered: the kernel is asked for so many, and has to come to their end.
const RATE_FIRST: f64 = 10e6;
const RATE_MORE: f64 = 2.0;

/// One trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) seconds: f64,
    /// Frames sent.
    pub(super) sent: u64,
    /// Frames that arrived, or were dropped where that is asked for.
    pub(super) frames: u64,
    /// That all threads of the trial ran.
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
    far: FarEnd,
    lane: Lane,
    sets: Vec<usize>,
    tasks: Tasks,
    /// Frames a second that were sent into it, at most.
    rate: f64,
}

impl Place {
    fn count_tasks(&mut self, cpus: &[CpuId]) {
        let names = [format!("napi/{}-", self.lane.links.name("k"))];
        self.tasks = Tasks::of(cpus, &names);
        let process = match &self.lane.device {
            Device::Testpmd(testpmd) => Some(testpmd.process()),
            Device::Vswitch(vswitch) => vswitch.process(),
            Device::Kernel | Device::Ours(_) => None,
        };
        process
            .into_iter()
            .for_each(|process| self.tasks.add(process));
    }

    /// Begins testpmd anew, where it is that. With its sockets of AF_XDP it was seen to stop
    /// forwarding in the middle of a run, for good.
    fn begin_anew(&mut self, cpus: [CpuId; 2]) -> Result<bool, LabError> {
        if !matches!(self.lane.device, Device::Testpmd(_)) {
            return Ok(false);
        }
        // The interfaces are free again once it has ended.
        self.lane.device = Device::Kernel;
        let [a, b] = ["a", "b"].map(|end| self.lane.links.name(end));
        let started = Testpmd::start(self.path.driver(), [&a, &b], cpus);
        self.lane.device = Device::Testpmd(started.map_err(LabError)?);
        self.count_tasks(&cpus);
        Ok(true)
    }

    fn takes(&self, variant: Variant) -> bool {
        (self.path, self.far) == (variant.path, variant.far) && self.sets.contains(&variant.set)
    }
}

/// Everything that trials share. Lanes end before the namespace does.
pub(super) struct Bench {
    generator: Generator,
    places: Vec<Place>,
    pub(super) sets: Vec<Set>,
    /// How nft and the XDP program loaded each set, where they did.
    pub(super) nft_loads: Vec<Option<Load>>,
    pub(super) hash_loads: Vec<Option<Load>>,
    /// Paths that there are not, and why.
    pub(super) skipped: Vec<String>,
    cpus: [CpuId; 2],
    trial: Duration,
    /// Lanes begun, those that failed among them.
    begun: usize,
}

impl Bench {
    /// Makes sets of so many entries and a lane for each of these paths and each far end; one for
    /// each set with designs that have their set in the kernel.
    pub(super) fn new(
        entries: &[usize],
        paths: &[Path],
        cpus: [CpuId; 2],
        trial: Duration,
        seed: u64,
    ) -> Result<Self, LabError> {
        let sets = entries.iter().map(|&count| Set::random(count, seed));
        let sets: Vec<Set> = sets.collect::<Result<_, _>>()?;
        let samples: Vec<Arc<[u32]>> = sets
            .iter()
            .filter(|set| !set.addresses.is_empty())
            .map(|set| Arc::clone(&set.addresses))
            .collect();
        let mut bench = Self {
            generator: Generator::start(cpus[0], &samples, seed)?,
            places: Vec::new(),
            nft_loads: vec![None; sets.len()],
            hash_loads: vec![None; sets.len()],
            sets,
            skipped: Vec::new(),
            cpus,
            trial,
            begun: 0,
        };
        let alone = bench.place(Path::GeneratorOnly, FarEnd::Drop, &[0]);
        alone.map_err(LabError)?;
        for far in FarEnd::ALL {
            for &path in paths {
                bench.place_all(path, far);
            }
        }
        Ok(bench)
    }

    /// Adds all lanes of this path with this far end.
    fn place_all(&mut self, path: Path, far: FarEnd) {
        let all: Vec<usize> = (0..self.sets.len()).collect();
        match path {
            Path::Nft | Path::HashMap => {
                for set in all {
                    self.try_place(path, far, &[set]);
                }
            }
            // It rests where the far end receives elsewhere than on the CPU that transmits.
            Path::XdpRedirect if far == FarEnd::Thread => {}
            // Two in one namespace would be in each other's way.
            Path::OpenVswitch if far != FarEnd::Drop => {}
            Path::Packet | Path::Xdp | Path::XdpRedirect | Path::XdpShortcut => {
                self.try_place(path, far, &all);
            }
            _ => self.try_place(path, far, &[0]),
        }
    }

    /// Adds a lane, or the reason why there is none.
    fn try_place(&mut self, path: Path, far: FarEnd, sets: &[usize]) {
        if let Err(reason) = self.place(path, far, sets) {
            let reason = format!("{}: {reason}", path.name());
            if !self.skipped.contains(&reason) {
                self.skipped.push(reason);
            }
        }
    }

    fn place(&mut self, path: Path, far: FarEnd, sets: &[usize]) -> Result<(), String> {
        self.begun += 1;
        let links = Links::new(self.begun, far, self.cpus[0])?;
        self.generator.enter(links.number(), &links.name("s"))?;
        let lane = self.lane(path, links, sets)?;
        let mut place = Place {
            path,
            far,
            lane,
            sets: sets.to_vec(),
            tasks: Tasks::default(),
            rate: RATE_FIRST / RATE_MORE,
        };
        place.count_tasks(&self.cpus);
        self.places.push(place);
        Ok(())
    }

    fn lane(&mut self, path: Path, links: Links, sets: &[usize]) -> Result<Lane, String> {
        let text = |error: port::PortError| error.to_string();
        let (a, b) = (links.name("a"), links.name("b"));
        let mut device = Device::Kernel;
        let program = match path {
            Path::GeneratorOnly => Some(links.dropping("a")?),
            Path::KernelBridge => {
                links.bridge()?;
                Some(links.open()?)
            }
            Path::Nft => {
                links.bridge()?;
                for &set in sets {
                    let load = loads::nft(&links, &self.sets[set].addresses)?;
                    self.nft_loads[set].get_or_insert(load);
                }
                Some(links.open()?)
            }
            Path::HashMap => {
                let addresses = &self.sets[sets[0]].addresses;
                let (program, load) = loads::hash_set(addresses)?;
                self.hash_loads[sets[0]].get_or_insert(load);
                program.set_interface("interfaces", 0, &b).map_err(text)?;
                Some(program.attach(&a).map_err(text)?)
            }
            Path::Packet | Path::Xdp | Path::XdpRedirect | Path::XdpShortcut => {
                let lists = &self.sets[sets[0]].lists;
                let words = self.sets.iter().filter_map(|set| set.lists.sieve());
                let words = words.map(|sieve| sieve.words().len()).max().unwrap_or(0);
                let started = lane::ours(&links, path.driver(), self.cpus[1], lists, words);
                device = Device::Ours(started.map_err(|error| error.to_string())?);
                (path == Path::Packet).then(|| links.open()).transpose()?
            }
            Path::SwitchPacket | Path::SwitchXdp => {
                let lists = &self.sets[sets[0]].lists;
                let started = lane::switch(&links, path.driver(), self.cpus[1], lists);
                device = Device::Ours(started.map_err(|error| error.to_string())?);
                (path == Path::SwitchPacket)
                    .then(|| links.open())
                    .transpose()?
            }
            Path::OpenVswitch => {
                let started = Vswitch::start(&links.name("ov"), [&a, &b], self.cpus[1]);
                device = Device::Vswitch(started?);
                Some(links.open()?)
            }
            Path::TestpmdPacket | Path::TestpmdXdp => {
                let started = Testpmd::start(path.driver(), [&a, &b], self.cpus);
                device = Device::Testpmd(started?);
                let packet = path == Path::TestpmdPacket;
                packet.then(|| links.open()).transpose()?
            }
        };
        Ok(Lane {
            device,
            _program: program,
            links,
        })
    }

    /// All that the lanes can be asked; sending alone is the first.
    pub(super) fn variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        for &Place {
            path,
            far,
            ref sets,
            ..
        } in &self.places
        {
            for &set in sets {
                // What is dropped reaches no far end.
                let drops = far == FarEnd::Drop && !self.sets[set].addresses.is_empty();
                for hits in [false, true].into_iter().filter(|&hits| !hits || drops) {
                    let variant = Variant {
                        path,
                        far,
                        set,
                        hits,
                    };
                    variants.push(variant);
                }
            }
        }
        variants
    }

    /// One trial, and another one where a testpmd that stands still is begun anew.
    pub(super) fn trial(&mut self, variant: Variant) -> Result<Measured, LabError> {
        let cpus = self.cpus;
        let measured = self.trial_once(variant)?;
        if measured.frames == 0 && self.place_of(variant)?.begin_anew(cpus)? {
            return self.trial_once(variant);
        }
        Ok(measured)
    }

    fn place_of(&mut self, variant: Variant) -> Result<&mut Place, LabError> {
        let place = self.places.iter_mut().find(|place| place.takes(variant));
        place.ok_or_else(|| LabError("a variant has no lane".to_owned()))
    }

    fn trial_once(&mut self, variant: Variant) -> Result<Measured, LabError> {
        let place = self.places.iter_mut().find(|place| place.takes(variant));
        let place = place.ok_or_else(|| LabError("a variant has no lane".to_owned()))?;
        let generator = &mut self.generator;
        place.lane.begin(&self.sets[variant.set].lists)?;
        let warm = WARM.min(self.trial);
        let frames = (warm + self.trial).as_secs_f64() * place.rate * RATE_MORE;
        let traffic = traffic(variant, &self.sets);
        generator.begin(place.lane.links.number(), traffic, frames as u32)?;
        sleep(warm);
        let before = Look::at(place, generator);
        sleep(self.trial);
        let after = Look::at(place, generator);
        generator.end()?;
        place.lane.end()?;
        sleep(SETTLE);
        let measured = after.since(&before, variant);
        place.rate = (measured.sent as f64 / measured.seconds).max(place.rate.min(1e6));
        Ok(measured)
    }
}

/// The sender's traffic: 0 is random, and each set that is not empty has one.
fn traffic(variant: Variant, sets: &[Set]) -> usize {
    let filled = sets[..=variant.set]
        .iter()
        .filter(|set| !set.addresses.is_empty());
    if variant.hits { filled.count() } else { 0 }
}

/// The accounts at one time.
struct Look {
    at: Instant,
    sent: u64,
    passed: Passed,
    cpu_nanos: f64,
}

impl Look {
    fn at(place: &Place, generator: &Generator) -> Self {
        Self {
            at: Instant::now(),
            sent: generator.sent(),
            passed: place.lane.passed(),
            cpu_nanos: place.tasks.nanos(),
        }
    }

    fn since(&self, before: &Self, variant: Variant) -> Measured {
        let passed = |of: fn(&Passed) -> u64| of(&self.passed).saturating_sub(of(&before.passed));
        let sent = self.sent.saturating_sub(before.sent);
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
