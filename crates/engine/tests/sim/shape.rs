//! What a seed asks for: how many ports and workers, and how each behaves.

use engine::{DispatchPolicy, Plan, RING_LIMIT_MAX};
use plane::Ports;

use crate::random::Random;

pub(crate) const PORTS_MAX: usize = 8;
pub(crate) const WORKERS_MAX: usize = 4;
pub(crate) const STATIONS: usize = 24;

/// One port of a simulation.
#[derive(Clone, Debug)]
pub(crate) struct PortShape {
    pub(crate) queues: usize,
    /// The VLAN of all its frames.
    pub(crate) vlan: u16,
    /// Frames that it takes at a time at most, and that a queue has under way at most.
    pub(crate) takes: usize,
    pub(crate) flight: usize,
    /// How long a frame is under way at most, in steps of any worker.
    pub(crate) delay: usize,
    /// One reception in so many brings all that was asked for.
    pub(crate) surge: usize,
    /// It is down now and then.
    pub(crate) flaps: bool,
}

/// A simulation as its seed makes it.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) seed: u64,
    pub(crate) ports: Vec<PortShape>,
    pub(crate) workers: usize,
    pub(crate) lossless: bool,
    pub(crate) policy: Option<DispatchPolicy>,
    pub(crate) ring_limit: usize,
    pub(crate) burst: usize,
    /// Pools are as small as a plan allows.
    pub(crate) has_little_memory: bool,
    pub(crate) age_ms: u64,
    pub(crate) steps: usize,
    /// Frames that each queue brings.
    pub(crate) frames: usize,
    /// When it begins: also shortly before milliseconds in 32 bits begin anew.
    pub(crate) begin: u64,
    /// The greatest pause between two steps, microseconds.
    pub(crate) pause_us: usize,
    /// The run ends in the middle.
    pub(crate) breaks_off: bool,
}

impl Shape {
    pub(crate) fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let workers = random.between(1, WORKERS_MAX);
        let ports = random.between(2, PORTS_MAX);
        let vlans = random.of(&[1, 1, 2]);
        let port = |_| PortShape::draw(&mut random, workers, vlans);
        let ports = (0..ports).map(port).collect();
        Self {
            seed,
            ports,
            workers,
            lossless: random.once_in(2),
            policy: random.of(&[
                None,
                Some(DispatchPolicy::Direct),
                Some(DispatchPolicy::Hybrid),
                Some(DispatchPolicy::Deferred),
            ]),
            ring_limit: random.of(&[1, 7, 64, 1024]).min(RING_LIMIT_MAX),
            burst: random.of(&[1, 16, 64]),
            has_little_memory: random.once_in(2),
            age_ms: random.of(&[1_000, 2_000, 300_000]),
            steps: random.between(20, 200),
            frames: random.of(&[30, 200, 2_000]),
            begin: random.of(&[1, ((1 << 32) - 500) * 1_000_000]),
            pause_us: random.of(&[2, 50, 20_000]),
            breaks_off: random.once_in(3),
        }
    }

    /// Frames in each worker's pool.
    pub(crate) fn pool_frames(&self) -> u32 {
        let least = Plan::pool_frames_min(self.burst, self.ports.len());
        if self.has_little_memory {
            least
        } else {
            4 * least
        }
    }

    /// The ports that frames of `from` may leave by.
    pub(crate) fn others(&self, from: usize) -> Ports {
        let vlan = self.ports[from].vlan;
        let is_other = |&at: &usize| at != from && self.ports[at].vlan == vlan;
        let others = (0..self.ports.len()).filter(is_other);
        others.fold(Ports::NONE, |all, at| all.with(frame::PortId(at as u8)))
    }
}

impl PortShape {
    fn draw(random: &mut Random, workers: usize, vlans: u16) -> Self {
        Self {
            queues: random.of(&[1, workers]),
            vlan: 10 + random.below(vlans.into()) as u16,
            takes: random.of(&[1, 5, 64, 256]),
            flight: random.of(&[8, 64, 256]),
            delay: random.of(&[0, 3, 30]),
            surge: random.of(&[1, 3, 10]),
            flaps: random.once_in(3),
        }
    }
}
