//! What is known of a running daemon at one moment, as plain data.

use serde::{Deserialize, Serialize};

use crate::rpc::answers::{FragmentCounts, Health, Vlans};

/// Whatever can say how the daemon is doing. Called from threads of the metrics server, never from
/// a worker; it should take well below a second.
pub trait Observe: Send + Sync {
    /// How things are now.
    fn observe(&self) -> Observation;

    /// Whether traffic may be sent to it.
    fn health(&self) -> Health {
        self.observe().health
    }
}

impl<F: Fn() -> Observation + Send + Sync> Observe for F {
    fn observe(&self) -> Observation {
        self()
    }
}

/// One look at everything. Counts begin at the start of the daemon and never fall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observation {
    /// The program's version.
    pub version: String,
    /// The commit it was built from; empty where that is unknown.
    pub commit: String,
    /// When the daemon started, seconds since 1970.
    pub started_at: f64,
    /// Whether traffic may be sent to it.
    pub health: Health,
    /// In the order of the configuration.
    pub ports: Vec<Port>,
    /// In the order of their numbers.
    pub workers: Vec<Worker>,
    /// Dropped frames by [`plane::DropReason::index`]; shorter than that means 0 for the rest.
    pub drops: Vec<u64>,
    /// Frames that passed by a rule alone, by [`wire::LinkProtocol`]; shorter means 0 for the rest.
    pub passed: Vec<u64>,
    /// Packets in fragments; none where they are not followed.
    pub fragments: Option<FragmentCounts>,
    /// What the switch did, where there is one.
    pub switch: Option<Vlans>,
    /// What the router did; nothing where there is none.
    pub router: Vec<(String, u64)>,
    /// Rules of packets, where there are some.
    pub rules: Option<RuleFigures>,
    /// In the order of the configuration.
    pub sets: Vec<Set>,
    /// Frames that a count set would have dropped, and no block set did.
    pub would_drop: u64,
    /// One a worker.
    pub pools: Vec<Pool>,
    /// Changes of the configuration.
    pub reloads: Reloads,
    /// What `linerate capture` was given.
    pub captured: Captured,
    /// Bytes mapped for frames.
    pub frame_memory_bytes: u64,
    /// The version of sets and actions that every worker has.
    pub published_version: u64,
}

/// Rules of packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleFigures {
    /// How many there are.
    pub count: u64,
    /// What becomes of packets that no rule decides on.
    pub policy: String,
    /// Their first, and behind them what no rule decided on.
    pub rules: Vec<RuleFigure>,
}

/// What one rule matched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuleFigure {
    /// Its number from 1, or `policy`.
    pub rule: String,
    /// Its text, cut where it is long.
    pub text: String,
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames.
    pub bytes: u64,
}

/// One port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Port {
    /// Its name, unique in the daemon.
    pub name: String,
    /// As the user wrote it, as in `xdp:eth0`.
    pub spec: String,
    /// The mode that was granted.
    pub mode: String,
    /// Whether frames can pass: its interface is there and its link is up.
    pub up: bool,
    /// Frames received.
    pub rx_frames: u64,
    /// Their bytes, without FCS.
    pub rx_bytes: u64,
    /// Frames transmitted.
    pub tx_frames: u64,
    /// Their bytes, without FCS.
    pub tx_bytes: u64,
    /// Frames that came in by it and were dropped by their verdict.
    pub rx_dropped: u64,
    /// Frames that were to leave by it and were dropped.
    pub tx_dropped: u64,
    /// Frames that were there and never received.
    pub missed: u64,
    /// Frames that the kernel forwarded because they are surely in no set (`shortcut`).
    pub shortcut: u64,
    /// Frames that the kernel forwarded while no worker was there (`bypass`).
    pub unfiltered: u64,
    /// Frames left to the host, whose they are (`keep-local`).
    pub to_host: u64,
}

/// One worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Worker {
    /// Its number.
    pub id: u16,
    /// The CPU it is tied to.
    pub cpu: u16,
    /// Frames it received from ports.
    pub rx_frames: u64,
    /// Frames it transmitted.
    pub tx_frames: u64,
    /// Frames it dropped.
    pub dropped: u64,
    /// Frames it gave to other workers, whose flows they are.
    pub handed_off: u64,
    /// Time in steps that moved a frame, seconds.
    pub busy_seconds: f64,
    /// CPU time of its thread, seconds.
    pub cpu_seconds: f64,
    /// System calls made for want of frames.
    pub sleeps: u64,
    /// Bursts received, by size; empty ones are left out.
    pub bursts: BurstSizes,
    /// Since it last showed that it goes round, seconds; `None` where nobody asked.
    pub silent_seconds: Option<f64>,
}

/// Bursts by how many frames they had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BurstSizes {
    /// Pairs of a size and the bursts of at most that size and above the size before, growing.
    pub counts: Vec<(u32, u64)>,
    /// All bursts.
    pub bursts: u64,
    /// Frames in them.
    pub frames: u64,
}

/// One set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// What a hit does now, unless side and port make an exception: `block`, `count` or `allow`.
    pub action: String,
    /// Entries of its file, URL or command; `None` where nobody keeps them.
    pub file_entries: Option<u64>,
    /// Entries added by hand or by CrowdSec; `None` where nobody keeps them.
    pub dynamic_entries: Option<u64>,
    /// Frames that hit it, by ingress port, side and the action at that time.
    pub hits: Vec<Hits>,
    /// Frames it would have dropped, were it a block set, and no block set did.
    pub would_drop: u64,
    /// When its file part was last read, seconds since 1970; `None` where it has none.
    pub loaded_at: Option<f64>,
    /// When its source last confirmed or changed it, seconds since 1970.
    pub confirmed_at: Option<f64>,
    /// What came of reading its source; `None` where it has none.
    pub refreshes: Option<Refreshes>,
    /// Whether the last refresh failed or was refused, so that an older list is in force.
    pub stale: bool,
    /// Whether nothing was ever read of a source of it, so that it is without that list.
    pub never_read: bool,
    /// Whether the daemon is not healthy without a current list.
    pub required: bool,
    /// Whether it has the lists of its sources, and none is too old; `None` where it has none.
    pub current: Option<bool>,
    /// How old the oldest of them is, seconds.
    pub age_seconds: Option<f64>,
}

/// Frames of one port that hit a set on one side while it had one action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hits {
    /// The name of the port that frames came in by.
    pub port: String,
    /// `src` or `dst`.
    pub side: String,
    /// `block`, `count` or `allow`.
    pub action: String,
    /// How many.
    pub frames: u64,
}

/// What came of the refreshes of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refreshes {
    /// The list changed.
    pub loaded: u64,
    /// The source said, or showed, that nothing changed.
    pub unchanged: u64,
    /// The source could not be read.
    pub failed: u64,
    /// It was read, and a guard kept the old list.
    pub refused: u64,
}

/// One worker's frame memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pool {
    /// The worker's number.
    pub worker: u16,
    /// All its frames.
    pub frames: u64,
    /// Those that nobody holds.
    pub free: u64,
}

/// What came of `linerate reload`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reloads {
    /// Taken over.
    pub applied: u64,
    /// Refused whole.
    pub refused: u64,
    /// When one was last taken over, seconds since 1970.
    pub applied_at: Option<f64>,
}

/// Sampled frames, given to all captures together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Captured {
    /// Samples.
    pub samples: u64,
    /// Frames that they stand for.
    pub frames: u64,
}
