//! Experiments over real interfaces: the engine's generator sends by one port, and what arrives at
//! another is handled in the ways that an experiment compares.
//!
//! A way is how far frames lie apart, how many are taken together, and what is done with them. The
//! distance of frames belongs to the memory that a port is opened with, so a port is opened anew
//! for each: in each round the distances come in random order, and within each its ways do.

mod bandwidth;
mod receiver;
mod sender;

use std::rc::Rc;
use std::time::{Duration, Instant};

use engine::allowed_cpus;
use frame::{CpuId, Frame};
use port::PortSpec;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use self::bandwidth::Bandwidth;
use self::receiver::{Receiver, Taken};
use self::sender::Sender;
use crate::contest::refused;
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::shuffle::Seeded;
use crate::{Noise, Samples, Value};

/// What is thrown away of each trial: the variants before have taken the caches, and the sender
/// has to begin.
const WARM: Duration = Duration::from_millis(20);
/// How long a frame is waited for where others have the CPUs.
const PATIENCE: Duration = Duration::from_secs(3);

/// Two ports that are joined outside of this program, as a user writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire<'a> {
    /// Frames are sent by this one.
    pub tx: &'a str,
    /// They are taken in at this one.
    pub rx: &'a str,
}

/// What is done with frames that were taken together.
pub(crate) type Work = Rc<dyn Fn(&[Frame])>;

/// One way to handle what arrives.
pub(crate) struct Way {
    pub(crate) variant: Vec<(&'static str, Value)>,
    /// Bytes from one frame to the next.
    pub(crate) stride: u32,
    /// Frames taken from the port, and worked on, together.
    pub(crate) batch: usize,
    pub(crate) work: Work,
}

/// One trial of a way.
#[derive(Clone, Copy, Debug)]
struct Sample {
    taken: Taken,
    megabytes_per_second: Option<f64>,
}

/// The samples of one way.
#[derive(Clone, Default)]
struct Figures {
    nanos: Samples,
    rate: Samples,
    memory: Samples,
}

/// Measures the ways in interleaved rounds, after one that is thrown away. Rows are three a way, by
/// metric: what a frame took, how many came, and where it can be read what memory moved.
///
/// # Errors
/// Ports that cannot be opened, fewer than two CPUs, nothing that arrives.
pub(crate) fn measure(
    settings: &mut Settings<'_>,
    wire: Wire<'_>,
    ways: &[Way],
    (rounds, wanted): (usize, Duration),
) -> Result<Outcome, LabError> {
    let bench = Bench::new(wire, settings.seed)?;
    let mut sender = Some(bench.sender()?);
    let mut order = Order::new(ways, settings.seed);
    let mut figures = vec![Figures::default(); ways.len() + 1];
    let all = (rounds + 1) * (ways.len() + 1);
    let mut done = 0;
    for round in 0..=rounds {
        for (stride, places) in order.next(ways) {
            let mut receiver = bench.receiver(stride)?;
            for place in places {
                // The first way is measured twice a round: the last place is its second.
                let way = ways.get(place).unwrap_or(&ways[0]);
                let sample = bench.trial(&mut sender, &mut receiver, way, wanted)?;
                if round > 0 {
                    figures[place].push(&sample);
                }
                done += 1;
                (settings.progress)(done, all);
            }
            receiver.close()?;
        }
    }
    Ok(bench.outcome(ways, &figures))
}

impl Figures {
    fn push(&mut self, sample: &Sample) {
        self.nanos.push(sample.taken.nanos_per_frame());
        self.rate.push(sample.taken.frames_per_second());
        if let Some(figure) = sample.megabytes_per_second {
            self.memory.push(figure * 1e6);
        }
    }
}

/// Places of ways, by distance of frames, in another order each round.
struct Order {
    strides: Vec<u32>,
    seeded: Seeded,
}

impl Order {
    fn new(ways: &[Way], seed: u64) -> Self {
        let mut strides: Vec<u32> = ways.iter().map(|way| way.stride).collect();
        strides.sort_unstable();
        strides.dedup();
        Self {
            strides,
            seeded: Seeded::new(seed),
        }
    }

    /// One round: every way once, and the first once more as place `ways.len()`.
    fn next(&mut self, ways: &[Way]) -> Vec<(u32, Vec<usize>)> {
        self.seeded.shuffle(&mut self.strides);
        let mut round = Vec::new();
        for &stride in &self.strides {
            let is_own = |place: &usize| ways.get(*place).unwrap_or(&ways[0]).stride == stride;
            let mut places: Vec<usize> = (0..=ways.len()).filter(is_own).collect();
            self.seeded.shuffle(&mut places);
            round.push((stride, places));
        }
        round
    }
}

/// What all trials share.
struct Bench {
    tx: PortSpec,
    rx: PortSpec,
    sending: CpuId,
    bandwidth: Bandwidth,
    seed: u64,
    /// Where this thread may run, and does again afterwards.
    before: CpuSet,
}

impl Drop for Bench {
    fn drop(&mut self) {
        // It could before.
        let _stays = sched_setaffinity(None, &self.before);
    }
}

impl Bench {
    fn new(wire: Wire<'_>, seed: u64) -> Result<Self, LabError> {
        let cpus = allowed_cpus();
        let [sending, receiving, ..] = cpus[..] else {
            return Err(LabError(
                "an experiment over interfaces takes two CPUs, one to send and one to take in: \
                 allow this program more, or leave out --tx and --rx"
                    .to_owned(),
            ));
        };
        let parse = |text: &str| PortSpec::parse(text).map_err(refused);
        let (tx, rx) = (parse(wire.tx)?, parse(wire.rx)?);
        let before = sched_getaffinity(None).map_err(refused)?;
        engine::pin_to(receiving).map_err(refused)?;
        Ok(Self {
            tx,
            rx,
            sending,
            bandwidth: Bandwidth::find(),
            seed,
            before,
        })
    }

    fn sender(&self) -> Result<Sender, LabError> {
        Sender::open(&self.tx, self.sending, self.seed)
    }

    fn receiver(&self, stride: u32) -> Result<Receiver, LabError> {
        Receiver::open(&self.rx, stride)
    }

    fn trial(
        &self,
        sender: &mut Option<Sender>,
        receiver: &mut Receiver,
        way: &Way,
        wanted: Duration,
    ) -> Result<Sample, LabError> {
        let idle = sender.take().ok_or_else(|| {
            LabError("a trial failed before, so its ports are closed: begin anew".to_owned())
        })?;
        let running = idle.start(WARM + wanted)?;
        let (mut taken, mut moved, begun) = (Taken::default(), None, Instant::now());
        while taken.frames == 0 && begun.elapsed() < PATIENCE {
            receiver.take(way, WARM);
            let before = self.bandwidth.read();
            taken = receiver.take(way, wanted);
            moved = self.bandwidth.since(before);
        }
        running.stop();
        // The interface counts what it sent once the other end has looked at it.
        while !running.is_finished() {
            receiver.take(way, Duration::from_micros(100));
        }
        *sender = Some(running.join()?);
        if taken.frames == 0 {
            return Err(LabError(format!(
                "no frame arrived at {} of those sent by {}: join the two, and see the state of \
                 both links (ip link)",
                name(&self.rx),
                name(&self.tx)
            )));
        }
        Ok(Sample {
            taken,
            megabytes_per_second: moved.map(|bytes| bytes / 1e6 / taken.seconds),
        })
    }

    fn outcome(&self, ways: &[Way], figures: &[Figures]) -> Outcome {
        let mut ratios = Samples::default();
        if let [first, .., again] = figures {
            for (again, first) in again.nanos.all().iter().zip(first.nanos.all()) {
                ratios.push(again / first);
            }
        }
        let row = |way: &Way, metric, samples: &Samples| Row {
            variant: way.variant.clone(),
            metric,
            samples: samples.clone(),
        };
        let mut rows = Vec::new();
        for (metric, of) in METRICS {
            let measured = ways.iter().zip(figures);
            let measured = measured.filter(|(_, figures)| !of(figures).all().is_empty());
            rows.extend(measured.map(|(way, figures)| row(way, metric, of(figures))));
        }
        Outcome {
            findings: vec![self.said(ways, figures)],
            skipped: self.bandwidth.missing().into_iter().collect(),
            rows,
            noise: Some(Noise { ratios }),
            ..Outcome::default()
        }
    }

    /// Over what it was measured, and whether the sender or the receiver was the limit.
    fn said(&self, ways: &[Way], figures: &[Figures]) -> String {
        let busy = |figures: &Figures| figures.nanos.median() * figures.rate.median() / 1e9;
        let full = figures.iter().take(ways.len()).map(busy);
        let least = full.fold(1.0, f64::min);
        let limit = if least > 0.95 {
            "the receiver was busy all the time, so that frames a second are its own"
        } else {
            "the receiver waited for frames in some way, so that frames a second are the \
             sender's or the interface's and only the time a frame tells the ways apart"
        };
        format!(
            "Measured from {} to {}: {limit} (busy at least {:.0} %)",
            name(&self.tx),
            name(&self.rx),
            least * 100.0
        )
    }
}

/// Metrics in the order of their rows, and where their samples are.
type Of = fn(&Figures) -> &Samples;
const METRICS: [(&str, Of); 3] = [
    ("ns_per_frame", |figures| &figures.nanos),
    ("frames_per_second", |figures| &figures.rate),
    ("memory_bytes_per_second", |figures| &figures.memory),
];

/// Driver and interface, without the settings.
fn name(spec: &PortSpec) -> String {
    let text = spec.to_string();
    text.split(',').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(stride: u32) -> Way {
        Way {
            variant: vec![("stride", stride.into())],
            stride,
            batch: 1,
            work: Rc::new(|_| {}),
        }
    }

    #[test]
    fn every_round_has_every_way_once_and_the_first_twice() {
        let ways: Vec<Way> = [2048, 1920, 1920, 1984].map(way).into();
        let mut order = Order::new(&ways, 7);
        let mut orders = std::collections::HashSet::new();
        for _ in 0..20 {
            let round = order.next(&ways);
            for (stride, places) in &round {
                for &place in places {
                    assert_eq!(ways.get(place).unwrap_or(&ways[0]).stride, *stride);
                }
            }
            let mut places: Vec<usize> = round.iter().flat_map(|(_, own)| own.clone()).collect();
            orders.insert(places.clone());
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3, 4]);
        }
        assert!(orders.len() > 5, "the order changes");
    }
}
