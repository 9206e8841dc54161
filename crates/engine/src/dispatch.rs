//! Which worker decides on a frame, and how a frame that arrived elsewhere gets there.
//!
//! A port's frames are dispatched by one of three policies, those of FreeBSD's netisr(9):
//!
//! - *direct*: the worker that received a frame decides on it, at once, whoever owns its flow.
//!   Nothing is hashed and nothing is queued.
//! - *hybrid*: a frame is hashed to its bucket. If the worker that received it owns the bucket and
//!   no frame of it waits there, it decides at once; else the frame is queued to the owner.
//! - *deferred*: a frame is hashed, and queued to the owner in any case, over a ring to itself if
//!   that is the worker that received it.
//!
//! In each, the frames of one flow that one queue received take one path, so they stay in order:
//! order holds per (receiving queue, flow). A frame without addresses belongs to the first worker.

mod board;
pub(crate) mod handover;
#[cfg(test)]
mod model;
mod mover;
mod pressure;
mod report;
mod state;
mod steering;

pub(crate) use board::{DispatchBoard, KINDS, KindCounters, QueueCounts};
pub(crate) use mover::Mover;
pub use mover::{BucketStatus, MoveError};
pub use report::{DispatchCounts, DispatchKind, DispatchPort, DispatchReport, DispatchRow};
pub(crate) use report::{PathFacts, dispatch_report};
pub(crate) use state::StateLinks;
pub use steering::bucket_of;
pub(crate) use steering::{BUCKETS, By, Found, NO_FLOW, Steering};

use crate::EngineError;

/// Frames that one ring between two workers holds, unless the plan says otherwise: four bursts of
/// the greatest size, so that a receiver may be four steps behind before the sender waits or drops.
pub const DEFAULT_RING_LIMIT: usize = 4 * frame::BURST_MAX;

/// Most frames of one ring: 1 MiB of memory for each pair of workers, port and purpose.
pub const RING_LIMIT_MAX: usize = 1 << 16;

/// Who decides on a frame, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchPolicy {
    /// The worker that received it, at once.
    Direct,
    /// The owner of its flow: at once if that is the worker that received it, else queued.
    Hybrid,
    /// The owner of its flow, always by way of a ring.
    Deferred,
}

impl DispatchPolicy {
    /// All, in the order of how much they queue.
    pub const ALL: [Self; 3] = [Self::Direct, Self::Hybrid, Self::Deferred];

    /// The name in options, configuration, tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Hybrid => "hybrid",
            Self::Deferred => "deferred",
        }
    }

    /// What holds of a port with `queues` receive queues where none was chosen: direct where each
    /// worker has a queue of its own, which the driver spreads flows over, and hybrid where some
    /// worker has none and would have nothing to do.
    pub(crate) fn of_port(chosen: Option<Self>, queues: usize, workers: usize) -> Self {
        match chosen {
            Some(policy) => policy,
            None if queues < workers => Self::Hybrid,
            None => Self::Direct,
        }
    }
}

/// How frames get to the worker that decides on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchSettings {
    /// For all ports; `None` for direct where a port has a queue for each worker and hybrid where
    /// it has fewer.
    pub policy: Option<DispatchPolicy>,
    /// Frames that one ring between two workers holds, 1 to [`RING_LIMIT_MAX`].
    pub ring_limit: usize,
    /// Buckets of flows move from a worker that has too much to one that has room, where ports are
    /// dispatched by flows and some source cannot wait.
    pub balance: bool,
}

impl Default for DispatchSettings {
    fn default() -> Self {
        Self {
            policy: None,
            ring_limit: DEFAULT_RING_LIMIT,
            balance: true,
        }
    }
}

impl DispatchSettings {
    /// The policy's name, or `auto` for each port's own.
    #[must_use]
    pub fn policy_name(self) -> &'static str {
        self.policy.map_or("auto", DispatchPolicy::name)
    }

    pub(crate) fn check(self) -> Result<(), EngineError> {
        match self.ring_limit {
            1..=RING_LIMIT_MAX => Ok(()),
            given => Err(EngineError::RingLimit(given)),
        }
    }
}
