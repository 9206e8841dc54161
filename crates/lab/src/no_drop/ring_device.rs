//! A device of known capacity between two memory rings, driven by the engine in simulated time.
//!
//! Other than the [model](super::ModelDevice), which counts, here frames are made, signed, sent
//! by a worker over `ring:` ports, queued, served, and taken in and accounted for by the sink.

use std::collections::VecDeque;

use engine::{Drive, DrivePlan, IdleMode, SteppedDrive, Trial, TrialReport, allowed_cpus};
use frame::{Burst, Frame, FramePool, Nanos, PoolRequest, PortId, QueueId, Region};
use port::{OpenContext, Port, PortQueue, PortSpec};
use traffic::{Rate, Recipe};

use super::device::Device;
use super::model::ModelSpec;
use super::ports::outcome;
use super::trial::{TrialOutcome, TrialPlan};
use crate::LabError;
use crate::shuffle::Seeded;

/// Simulated time goes on by this much: a fifth of the time of a frame at 100,000 frames/s.
const TICK_NS: u64 = 2_000;
/// A trial is over when all is sent and nothing has moved for so many ticks.
const QUIET_TICKS: u32 = 10;
/// Time between two trials.
const SETTLE_NS: u64 = 1_000_000;
/// Frames taken from a ring at once.
const BURST: usize = 64;
/// Uniform numbers from -1 to 1 have this standard deviation's inverse.
const UNIFORM: f64 = 1.732_050_8;

/// The device: of a [`ModelSpec`] it has capacity, queue, noise, random loss and drift.
struct RingDevice {
    spec: ModelSpec,
    drive: Option<Drive>,
    recipe: Recipe,
    now: Nanos,
    lanes: Vec<Lane>,
    random: Seeded,
    pool: FramePool,
}

/// One direction: what comes out of one ring goes, served, into the other. The queues are shared
/// by index, since a device that carries both ways has two of them.
struct Lane {
    from: usize,
    to: usize,
    waiting: VecDeque<(Nanos, Frame)>,
    free_at: f64,
}

/// The device's ends of the rings.
struct Ends(Vec<Box<dyn PortQueue>>);

/// A device and its ends, which are borrowed apart.
pub struct RingSetup {
    device: RingDevice,
    ends: Ends,
}

impl RingSetup {
    /// Opens the rings, the drive on their near ends and the device on their far ones.
    ///
    /// # Errors
    /// Frame memory or a CPU that cannot be had.
    pub fn open(spec: ModelSpec, recipe: Recipe) -> Result<Self, LabError> {
        let context = OpenContext::default();
        let mut ends = Vec::new();
        let mut near: Vec<Box<dyn Port>> = Vec::new();
        for (place, name) in ["out", "in"].into_iter().enumerate() {
            let text = format!("ring:{name},capacity=4096");
            let spec = PortSpec::parse(&text).map_err(said)?;
            let open = |id: usize| port::open(&spec, PortId(id as u8), &context).map_err(said);
            near.push(open(place)?);
            let mut far = open(place + 2)?;
            ends.push(far.open_queue(QueueId(0), 1).map_err(said)?);
        }
        let rx = near.pop();
        let cpus: Vec<_> = allowed_cpus().into_iter().take(1).collect();
        let plan = DrivePlan {
            tx: near.pop(),
            rx,
            apart: false,
            returns: spec.bidirectional,
            reflect: spec.bidirectional,
            neighbours: [None, None],
            replay: None,
            cpus,
            burst: BURST,
            stride_bytes: 2112,
            pool_frames: 32_768,
            idle: IdleMode::Spin,
        };
        let request = PoolRequest {
            frames: 64,
            stride_bytes: 2112,
            headroom_bytes: 256,
            node: None,
        };
        let (_, mut pools) = Region::with_pools(&[request]).map_err(said)?;
        let Some(pool) = pools.pop() else {
            return Err(LabError(
                "no pool was made: this is a fault of linerate".to_owned(),
            ));
        };
        let lane = |from, to| Lane {
            from,
            to,
            waiting: VecDeque::new(),
            free_at: 0.0,
        };
        let mut lanes = vec![lane(0, 1)];
        if spec.bidirectional {
            lanes.push(lane(1, 0));
        }
        let device = RingDevice {
            drive: Some(Drive::open(plan).map_err(said)?),
            random: Seeded::new(spec.seed),
            now: Nanos::ZERO,
            spec,
            recipe,
            lanes,
            pool,
        };
        Ok(Self {
            device,
            ends: Ends(ends),
        })
    }
}

fn said(error: impl std::fmt::Display) -> LabError {
    LabError(error.to_string())
}

impl Device for RingSetup {
    fn trial(&mut self, plan: &TrialPlan) -> Result<TrialOutcome, LabError> {
        let Self { device, ends } = self;
        let drive = device.drive.take().ok_or_else(|| {
            LabError("a trial failed before, so its ports are closed: begin anew".to_owned())
        })?;
        let trial = Trial {
            recipe: device.recipe.clone(),
            rate: Rate::Frames(plan.load),
            count: Some(plan.frames().max(1)),
            duration: Some(plan.duration),
            drain: std::time::Duration::ZERO,
        };
        let stepped = drive.start_stepped(&trial, device.now).map_err(said)?;
        let (drive, report, held) = device.run(stepped, ends);
        device.drive = Some(drive);
        let mut outcome = outcome(&report, plan, device.spec.bidirectional);
        outcome.held = Some(held);
        Ok(outcome)
    }
}

impl RingDevice {
    /// Until all is sent and nothing has moved for a while; says how many frames the device held
    /// when the last was sent.
    fn run(&mut self, mut drive: SteppedDrive, ends: &mut Ends) -> (Drive, TrialReport, u64) {
        let mut held = None;
        let mut quiet = 0;
        while quiet < QUIET_TICKS {
            self.now = self.now.after(TICK_NS);
            let moved = drive.step(self.now);
            self.serve(ends);
            if !drive.is_sent() {
                continue;
            }
            let waiting: usize = self.lanes.iter().map(|lane| lane.waiting.len()).sum();
            held.get_or_insert(waiting as u64);
            quiet = if waiting == 0 && moved == 0 {
                quiet + 1
            } else {
                0
            };
        }
        self.now = self.now.after(SETTLE_NS);
        let (drive, report) = drive.end();
        (drive, report, held.unwrap_or(0))
    }

    fn serve(&mut self, ends: &mut Ends) {
        let mut lanes = std::mem::take(&mut self.lanes);
        for lane in &mut lanes {
            self.admit(lane, ends);
            self.release(lane, ends);
        }
        self.lanes = lanes;
    }

    /// Takes in what was sent: it waits, or is dropped where the queue is full.
    fn admit(&mut self, lane: &mut Lane, ends: &mut Ends) {
        let mut burst = Burst::new();
        ends.0[lane.from].rx_burst(&mut self.pool, &mut burst, BURST);
        let mut dropped = Burst::new();
        let count = burst.len();
        for frame in burst.drain_front(count) {
            let unlucky = self.spec.loss > 0.0 && self.uniform() < self.spec.loss;
            if unlucky || lane.waiting.len() > self.spec.queue {
                // A burst has room for what came in one.
                let _ = dropped.push(frame);
                continue;
            }
            let begins = lane.free_at.max(self.now.0 as f64);
            lane.free_at = begins + self.service(begins);
            lane.waiting.push_back((Nanos(lane.free_at as u64), frame));
        }
        self.pool.free_burst(&mut dropped);
    }

    /// Nanoseconds that a frame takes.
    fn service(&mut self, begins: f64) -> f64 {
        let capacity = self.spec.capacity * (1.0 + self.spec.drift * begins / 1e9);
        let even = (2.0 * self.uniform() - 1.0) * UNIFORM;
        1e9 / capacity.max(1.0) * (1.0 + self.spec.noise * even)
    }

    fn uniform(&mut self) -> f64 {
        (self.random.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Sends on what is served.
    fn release(&mut self, lane: &mut Lane, ends: &mut Ends) {
        let mut burst = Burst::new();
        let now = self.now;
        while burst.len() < BURST && lane.waiting.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, frame)) = lane.waiting.pop_front() else {
                break;
            };
            // The burst has room: see the loop.
            let _ = burst.push(frame);
        }
        ends.0[lane.to].tx_burst(&mut burst, &mut self.pool);
        ends.0[lane.to].reclaim(&mut self.pool);
        self.pool.free_burst(&mut burst);
    }
}
