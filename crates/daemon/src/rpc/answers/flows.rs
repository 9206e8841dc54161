//! What `show.flows` and `show.rss` tell: flows, and the buckets that flows are hashed to.

use engine::{FlowReport, FragmentReport};
use serde::{Deserialize, Serialize};

/// What `show.flows` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flows {
    /// Since the start.
    pub seconds: f64,
    /// Whether the bridge remembers flows; if not, all else is 0.
    pub remembers: bool,
    /// How many there are and were.
    #[serde(flatten)]
    pub counts: FlowCounts,
    /// Lines that could not be written there: a full disk, or nobody who reads.
    pub records_unwritten: u64,
    /// Packets in fragments; none where they are not followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragments: Option<FragmentCounts>,
}

/// Flows, under the names that every report has for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// How many may be known at most, of IPv4 and as many of IPv6.
    pub most: u64,
    /// Known now, of IPv4.
    pub known_v4: u64,
    /// Known now, of IPv6.
    pub known_v6: u64,
    /// Flows that began.
    pub begun: u64,
    /// Of those, whose time was over.
    pub expired: u64,
    /// Of those, ended to make room.
    pub evicted: u64,
    /// Flows that could not begin for want of room.
    pub refused: u64,
    /// Records made for the flow log.
    pub records: u64,
    /// Records that found no room on their way there.
    pub records_lost: u64,
}

impl From<&FlowReport> for FlowCounts {
    fn from(report: &FlowReport) -> Self {
        Self {
            most: report.most,
            known_v4: report.known[0],
            known_v6: report.known[1],
            begun: report.begun,
            expired: report.expired,
            evicted: report.evicted,
            refused: report.refused,
            records: report.records,
            records_lost: report.records_lost,
        }
    }
}

/// Packets in fragments, as `show.flows` tells of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FragmentCounts {
    /// Frames held now: they wait for others, or to go on.
    pub held: u64,
    /// Packets known now.
    pub known: u64,
    /// Since the start.
    #[serde(flatten)]
    pub totals: FragmentTotals,
}

/// Packets in fragments since a run began, under the names that every report has for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FragmentTotals {
    /// Packets that began.
    pub begun: u64,
    /// Of those, packets of which all fragments came.
    pub complete: u64,
    /// Of those, given up when their time was over.
    pub timed_out: u64,
    /// Of those, given up for want of room.
    pub evicted: u64,
    /// Of those, found bad.
    pub flawed: u64,
    /// Of the bad ones, those whose identification another packet had.
    pub reused: u64,
    /// Fragments that came again.
    pub duplicates: u64,
    /// Fragments that had to wait.
    pub waited: u64,
    /// The most that waited at a time, at each worker.
    pub waited_most: u64,
}

impl From<&FragmentReport> for FragmentCounts {
    fn from(report: &FragmentReport) -> Self {
        let &FragmentReport {
            held,
            known,
            ref counts,
        } = report;
        Self {
            held,
            known,
            totals: FragmentTotals {
                begun: counts.begun,
                complete: counts.complete,
                timed_out: counts.timed_out,
                evicted: counts.evicted,
                flawed: counts.flawed,
                reused: counts.reused,
                duplicates: counts.duplicates,
                waited: counts.waited,
                waited_most: counts.held_max,
            },
        }
    }
}

/// What `show.rss` answers: whose each bucket is, and what it brought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rss {
    /// Since the start.
    pub seconds: f64,
    /// How many workers there are.
    pub workers: u64,
    /// Buckets that were given to another worker.
    pub moved: u64,
    /// Ports whose frames no bucket counts: each worker decides on what it receives by them, and
    /// nothing is hashed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<String>,
    /// By number.
    pub buckets: Vec<RssBucket>,
}

/// One bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RssBucket {
    /// Its number: the hash, modulo how many there are.
    pub bucket: u32,
    /// Whose it is.
    pub worker: u32,
    /// Frames that came, and their bytes without FCS.
    pub frames: u64,
    /// Bytes.
    pub bytes: u64,
}
