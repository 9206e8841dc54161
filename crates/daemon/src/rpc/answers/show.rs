//! What `show` tells of a running daemon. Counts are since its start; whoever wants rates takes
//! two answers and divides by what passed between their `seconds`.

use super::{Action, SetFacts, Side};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Everything at one moment: what `show.status` answers, and the others parts of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Since the start.
    pub seconds: f64,
    /// The ports.
    pub ports: Vec<PortFacts>,
    /// The workers.
    pub workers: Vec<WorkerFacts>,
    /// What was dropped.
    pub drops: Vec<DropFacts>,
    /// What passed by a rule alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<PassFacts>,
    /// What hit.
    pub sets: Vec<SetHits>,
    /// Frames that at least one count set would have dropped, each counted once.
    #[serde(default)]
    pub would_drop: u64,
}

/// What `show.ports` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ports {
    /// Since the start.
    pub seconds: f64,
    /// In the order of the configuration.
    pub ports: Vec<PortFacts>,
}

/// What one port did. Bytes are those of frames without FCS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortFacts {
    /// Its name.
    pub port: String,
    /// As `xdp:eth1`.
    pub spec: String,
    /// `up`, or what is the matter, as `link down` or `gone`.
    pub state: String,
    /// Frames received.
    pub in_frames: u64,
    /// Their bytes.
    pub in_bytes: u64,
    /// Frames the interface could not receive whole.
    pub in_errors: u64,
    /// Frames lost before a worker had them, by a full ring or for want of memory.
    pub in_drops: u64,
    /// All frames that were there and that no worker had: `in_errors` and `in_drops` together.
    #[serde(default)]
    pub missed: u64,
    /// Frames that came in by it and were dropped by their verdict.
    #[serde(default)]
    pub in_dropped: u64,
    /// Frames sent.
    pub out_frames: u64,
    /// Their bytes.
    pub out_bytes: u64,
    /// Frames that should have been sent and were not: the same as `out_dropped`.
    pub out_errors: u64,
    /// Frames that were to leave by it and were dropped.
    #[serde(default)]
    pub out_dropped: u64,
}

/// What `show.workers` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workers {
    /// Since the start.
    pub seconds: f64,
    /// By number.
    pub workers: Vec<WorkerFacts>,
}

/// What one worker did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerFacts {
    /// Its number.
    pub worker: u32,
    /// The CPU it is pinned to.
    pub cpu: u32,
    /// Frames received.
    pub frames: u64,
    /// Receptions that brought frames: `frames / bursts` is how full they were.
    pub bursts: u64,
    /// Time spent on frames, nanoseconds.
    pub busy_ns: u64,
    /// The share of the last second spent on frames, 0 to 1.
    #[serde(default)]
    pub busy_share: f64,
    /// Since it last showed that it goes round, milliseconds: a few, with frames or without.
    #[serde(default)]
    pub silent_ms: u64,
    /// Frames dropped.
    pub drops: u64,
    /// Chunks that its pool has left.
    pub pool_free: u64,
    /// Chunks of its pool.
    pub pool_frames: u64,
}

/// What `show.drops` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drops {
    /// Since the start.
    pub seconds: f64,
    /// Every reason that occurred, the most frequent first.
    pub drops: Vec<DropFacts>,
    /// Every rule by which frames passed that would have been dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<PassFacts>,
}

/// Frames that a rule let pass: they would have been dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassFacts {
    /// Its name, as `pass` has it.
    pub rule: String,
    /// Frames.
    pub frames: u64,
}

/// One reason for which frames were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropFacts {
    /// As in `linerate drops`.
    pub reason: String,
    /// Frames.
    pub frames: u64,
}

/// What `show.sets` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sets {
    /// Since the start.
    pub seconds: f64,
    /// In the order of the configuration.
    pub sets: Vec<SetFacts>,
    /// Their hits, in the same order.
    pub hits: Vec<SetHits>,
    /// Frames that at least one count set would have dropped, each counted once.
    #[serde(default)]
    pub would_drop: u64,
}

/// Hits of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetHits {
    /// The set.
    pub set: String,
    /// What it does.
    pub action: Action,
    /// Frames whose source is in the set.
    pub source: u64,
    /// Frames whose destination is.
    pub destination: u64,
    /// Frames that it would have dropped while it was a count set, each counted once: no block set
    /// dropped them, and no allow set exempted the address.
    #[serde(default)]
    pub would_drop: u64,
}

/// What `show.hits` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HitsParams {
    /// How many addresses, at most 1,000.
    #[serde(default = "top_default")]
    pub top: u32,
}

fn top_default() -> u32 {
    20
}

impl Default for HitsParams {
    fn default() -> Self {
        Self { top: top_default() }
    }
}

/// What `show.hits` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hits {
    /// Since the start.
    pub seconds: f64,
    /// The addresses hit most in the last hour, by the hits that are certain: `frames - error`.
    pub top: Vec<HitAddress>,
    /// Sets that no frame hit.
    pub never: Vec<String>,
}

/// An address of many hits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitAddress {
    /// The address.
    pub address: IpAddr,
    /// Where frames had it.
    pub side: Side,
    /// Frames in the last minute, at most: the count may be too high by `last_minute_error`.
    pub last_minute: u64,
    /// How much of `last_minute` may be others'.
    #[serde(default)]
    pub last_minute_error: u64,
    /// Frames in the last hour, at most: the count may be too high by `error`.
    pub frames: u64,
    /// How much of `frames` may be others'.
    pub error: u64,
    /// The sets that hold it, as they are now.
    pub sets: Vec<String>,
}

/// What `show.memory` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What the process has, bytes; none when the kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_bytes: Option<u64>,
    /// Of what.
    pub parts: Vec<MemoryFacts>,
}

/// What memory is used for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFacts {
    /// As `frames` or `tables of bad`.
    pub what: String,
    /// How much.
    pub bytes: u64,
    /// Where and how, as `huge pages, node 0`; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What `show.config` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigAnswer {
    /// The file.
    pub file: String,
    /// The configuration in force, as TOML; secrets are left out.
    pub toml: String,
}

/// What `reload` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// What changed, a sentence each; empty when nothing did.
    pub changes: Vec<String>,
}
