//! What `show.dispatch` tells: how frames get to the worker that decides on them.

use serde::{Deserialize, Serialize};

/// What `show.dispatch` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// Since the start.
    pub seconds: f64,
    /// `direct`, `hybrid` or `deferred`, or `auto` for what each port's queues ask for.
    pub policy: String,
    /// Frames that one ring between two workers holds.
    pub ring_limit: u64,
    /// How many workers there are.
    pub workers: u64,
    /// Whether each worker is bound to a CPU.
    pub bound: bool,
    /// Those CPUs, by worker.
    pub cpus: Vec<u32>,
    /// In the order of the configuration.
    pub ports: Vec<DispatchPort>,
    /// By worker, port and kind.
    pub rows: Vec<DispatchRow>,
}

/// How one port is dispatched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchPort {
    /// Its name.
    pub port: String,
    /// `direct`, `hybrid` or `deferred`.
    pub policy: String,
    /// Its queues.
    pub queues: u64,
}

/// Frames for one worker, of one port and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchRow {
    /// The worker that the frames are for.
    pub worker: u32,
    /// Its CPU.
    pub cpu: u32,
    /// The port they came by, or are to leave by.
    pub port: String,
    /// `decide` or `transmit`.
    pub kind: String,
    /// How many.
    #[serde(flatten)]
    pub counts: DispatchCounts,
}

/// Frames for one worker, of one port and kind: `handled + len = dispatched + hybrid_dispatched +
/// queued`, but for what passes while it is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchCounts {
    /// Frames in its queues.
    pub len: u64,
    /// The most that were ever there.
    pub wmark: u64,
    /// Handled at once under `direct`; or sent at once.
    pub dispatched: u64,
    /// Handled at once under `hybrid`.
    pub hybrid_dispatched: u64,
    /// Dropped because a ring to it was full.
    pub qdrops: u64,
    /// Put into its queues.
    pub queued: u64,
    /// Handled, at once or out of a queue.
    pub handled: u64,
}

impl DispatchCounts {
    /// All, in the order of FreeBSD's `netstat -Q`.
    #[must_use]
    pub fn in_order(&self) -> [u64; 7] {
        [
            self.len,
            self.wmark,
            self.dispatched,
            self.hybrid_dispatched,
            self.qdrops,
            self.queued,
            self.handled,
        ]
    }
}

impl From<&engine::DispatchCounts> for DispatchCounts {
    fn from(counts: &engine::DispatchCounts) -> Self {
        Self {
            len: counts.len,
            wmark: counts.watermark,
            dispatched: counts.direct,
            hybrid_dispatched: counts.hybrid,
            qdrops: counts.dropped,
            queued: counts.queued,
            handled: counts.handled,
        }
    }
}
