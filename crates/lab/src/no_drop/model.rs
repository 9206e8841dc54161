//! A device of known capacity in simulated time: one server, one queue, and what spoils both.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use super::device::Device;
use super::trial::{Direction, Latency, TrialOutcome, TrialPlan};
use crate::LabError;
use crate::shuffle::Seeded;

/// Time passes between two trials, and the device empties.
const SETTLE_NS: f64 = 10e6;
/// Uniform numbers from -1 to 1 have this standard deviation's inverse.
const UNIFORM: f64 = 1.732_050_8;
/// A frame takes this long through an idle device besides its service, nanoseconds.
const WIRE_NS: f64 = 5_000.0;
/// Latencies that are kept of a trial, at even distances.
const LATENCIES_MAX: u64 = 10_000;

/// Pauses of the server, at random times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pauses {
    /// Mean time from one to the next.
    pub every: Duration,
    /// How long one takes.
    pub lasting: Duration,
}

/// What a simulated device is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelSpec {
    /// Frames a second that it serves, in each direction.
    pub capacity: f64,
    /// Frames that wait at most.
    pub queue: usize,
    /// Standard deviation of a frame's service time, as a share of its mean; up to 0.57.
    pub noise: f64,
    /// The share of frames lost whatever the load.
    pub loss: f64,
    /// By how much the capacity grows a second, as a share of what it is at first.
    pub drift: f64,
    /// Standard deviation of the capacity from one trial to the next, as a share.
    pub wander: f64,
    /// Pauses, if any.
    pub pauses: Option<Pauses>,
    /// Frames a second that the sender can send, if it is limited.
    pub sender: Option<f64>,
    /// One direction, or both at once.
    pub bidirectional: bool,
    /// Seed of all that is random.
    pub seed: u64,
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            capacity: 1e6,
            queue: 512,
            noise: 0.0,
            loss: 0.0,
            drift: 0.0,
            wander: 0.0,
            pauses: None,
            sender: None,
            bidirectional: false,
            seed: 1,
        }
    }
}

/// The device.
#[derive(Clone, Debug)]
pub struct ModelDevice {
    spec: ModelSpec,
    random: Seeded,
    /// Nanoseconds since its beginning.
    now: f64,
    lanes: Vec<Lane>,
}

/// One direction.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// When each waiting frame, and the one that is served, will leave.
    leaving: VecDeque<f64>,
    free_at: f64,
    next_pause: f64,
}

impl ModelDevice {
    /// A device that has not been used.
    #[must_use]
    pub fn new(spec: ModelSpec) -> Self {
        let lanes = if spec.bidirectional { 2 } else { 1 };
        let mut device = Self {
            spec,
            random: Seeded::new(spec.seed),
            now: 0.0,
            lanes: vec![Lane::default(); lanes],
        };
        for lane in 0..lanes {
            device.lanes[lane].next_pause = device.pause_after(0.0);
        }
        device
    }

    /// From 0 up to 1.
    fn uniform(&mut self) -> f64 {
        (self.random.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Of mean 0 and standard deviation 1.
    fn even(&mut self) -> f64 {
        (2.0 * self.uniform() - 1.0) * UNIFORM
    }

    fn pause_after(&mut self, time: f64) -> f64 {
        match self.spec.pauses {
            // Times between random events have an exponential distribution.
            Some(pauses) => time - (1.0 - self.uniform()).ln() * pauses.every.as_nanos() as f64,
            None => f64::INFINITY,
        }
    }

    fn lane(&mut self, lane: usize, gap: f64, frames: u64, wandered: f64) -> LaneOutcome {
        let mut outcome = LaneOutcome::default();
        let start = self.now;
        let every = (frames / LATENCIES_MAX).max(1);
        let mut state = std::mem::take(&mut self.lanes[lane]);
        for place in 0..frames {
            let arrives = start + gap * place as f64;
            while state.leaving.front().is_some_and(|&left| left <= arrives) {
                state.leaving.pop_front();
            }
            if self.spec.loss > 0.0 && self.uniform() < self.spec.loss {
                continue;
            }
            // One is served and the others wait.
            if state.leaving.len() > self.spec.queue {
                continue;
            }
            let leaves = self.serve(&mut state, arrives, wandered);
            state.leaving.push_back(leaves);
            outcome.received += 1;
            if place.is_multiple_of(every) {
                outcome.latencies.push((leaves - arrives + WIRE_NS) as u64);
            }
        }
        let end = start + gap * frames as f64;
        let held = state.leaving.iter().filter(|&&left| left > end).count();
        outcome.held = held as u64;
        state.leaving.clear();
        self.lanes[lane] = state;
        outcome
    }

    /// When a frame that arrives now will leave.
    fn serve(&mut self, state: &mut Lane, arrives: f64, wandered: f64) -> f64 {
        let begins = state.free_at.max(arrives);
        let capacity = self.spec.capacity * (1.0 + self.spec.drift * begins / 1e9);
        let mean = 1e9 / (capacity * wandered).max(1.0);
        let service = match self.spec.noise {
            0.0 => mean,
            noise => mean * (1.0 + noise * self.even()),
        };
        let mut leaves = begins + service;
        while leaves >= state.next_pause {
            let lasting = self.spec.pauses.map_or(0, |p| p.lasting.as_nanos());
            // What the server does not serve, it does not pause either.
            leaves = leaves.max(state.next_pause + lasting as f64);
            state.next_pause = self.pause_after(state.next_pause + lasting as f64);
        }
        state.free_at = leaves;
        leaves
    }
}

#[derive(Clone, Debug, Default)]
struct LaneOutcome {
    received: u64,
    held: u64,
    latencies: Vec<u64>,
}

impl Device for ModelDevice {
    fn trial(&mut self, plan: &TrialPlan) -> Result<TrialOutcome, LabError> {
        let limit = self.spec.sender.unwrap_or(f64::INFINITY);
        let rate = (plan.load as f64).min(limit).max(1.0);
        let frames = (rate * plan.duration.as_secs_f64()).round() as u64;
        let wandered = (1.0 + self.spec.wander * self.even()).max(0.01);
        let lanes: Vec<LaneOutcome> = (0..self.lanes.len())
            .map(|lane| self.lane(lane, 1e9 / rate, frames, wandered))
            .collect();
        self.now += plan.duration.as_nanos() as f64 + SETTLE_NS;
        let direction = |lane: &LaneOutcome| Direction {
            sent: frames,
            received: lane.received,
        };
        Ok(TrialOutcome {
            directions: lanes.iter().map(direction).collect(),
            sending: plan.duration,
            judged: None,
            held: Some(lanes.iter().map(|lane| lane.held).sum()),
            latency: lanes.iter().filter_map(latency).reduce(Latency::slower),
            losses: Vec::new(),
            ledger: None,
        })
    }
}

fn latency(lane: &LaneOutcome) -> Option<Latency> {
    let mut sorted = lane.latencies.clone();
    sorted.sort_unstable();
    let last = sorted.len().checked_sub(1)?;
    let at = |percent: usize| sorted[last * percent / 100];
    Some(Latency {
        p50: at(50),
        p90: at(90),
        p99: at(99),
        max: sorted[last],
    })
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "capacity={},queue={}", self.capacity, self.queue)?;
        for (name, value) in [
            ("noise", self.noise),
            ("loss", self.loss),
            ("drift", self.drift),
            ("wander", self.wander),
            ("sender", self.sender.unwrap_or(0.0)),
        ] {
            if value != 0.0 {
                write!(f, ",{name}={value}")?;
            }
        }
        if let Some(pauses) = self.pauses {
            let micros = |time: Duration| time.as_micros();
            let (lasting, every) = (micros(pauses.lasting), micros(pauses.every));
            write!(f, ",pause={lasting}us,every={every}us")?;
        }
        write!(f, ",seed={}", self.seed)
    }
}
