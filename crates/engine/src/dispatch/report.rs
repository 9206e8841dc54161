//! What there is to say of dispatching, in the columns of FreeBSD's `netstat -Q`.

use frame::{CpuId, PortId, WorkerId};

use crate::placement::Elephant;

use super::{DispatchPolicy, DispatchSettings, KINDS, KindCounters};

/// What frames are queued to a worker for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchKind {
    /// To be decided on by the owner of their flow.
    Decide,
    /// To be transmitted by a worker that has a queue of the port.
    Transmit,
    /// Fragments, to be held by the worker that gathers their packet, which sends them on.
    Gather,
}

impl DispatchKind {
    /// The name in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Transmit => "transmit",
            Self::Gather => "gather",
        }
    }
}

/// Frames for one worker, of one port and kind.
///
/// `handled + len = direct + hybrid + queued`, exactly when nothing moves: a report of a run that
/// ended is held to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DispatchCounts {
    /// In its queues now: rings, and what it keeps of buckets that come to it.
    pub len: u64,
    /// The most that was ever seen there.
    pub watermark: u64,
    /// Handled at once, where the policy is direct.
    pub direct: u64,
    /// Handled at once, where the policy is hybrid.
    pub hybrid: u64,
    /// Dropped because its ring was full: of the `handoff_ring_full` drops those of this queue.
    pub dropped: u64,
    /// Put into its queues.
    pub queued: u64,
    /// Handled: at once or out of a queue.
    pub handled: u64,
}

/// One line of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchRow {
    /// The worker that the frames are for.
    pub worker: WorkerId,
    /// The port they came by, or are to leave by.
    pub port: PortId,
    /// What they are for.
    pub kind: DispatchKind,
    /// How many.
    pub counts: DispatchCounts,
}

/// One port, as it is dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchPort {
    /// Its number.
    pub id: PortId,
    /// The policy that holds for it.
    pub policy: DispatchPolicy,
    /// Its queues; a worker without one gets frames from those that have one.
    pub queues: usize,
}

/// How frames were dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchReport {
    /// What was asked for.
    pub settings: DispatchSettings,
    /// The CPU that each worker is bound to.
    pub cpus: Vec<CpuId>,
    /// Each port.
    pub ports: Vec<DispatchPort>,
    /// Buckets of flows that were given to another worker.
    pub moved: u64,
    /// Buckets that alone are more than a worker's fair share, as last seen when one had too much:
    /// no placement helps against those.
    pub elephants: Vec<Elephant>,
    /// By worker, port and kind; transmissions only where some worker has no queue of the port,
    /// and gathering only where fragments are followed by several workers.
    pub rows: Vec<DispatchRow>,
}

impl DispatchReport {
    /// Whether, in every row, what was handled and what waits is what came.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.rows.iter().all(|DispatchRow { counts, .. }| {
            counts.handled + counts.len == counts.direct + counts.hybrid + counts.queued
        })
    }
}

/// What does not change of a run's dispatching.
#[derive(Clone, Debug)]
pub(crate) struct PathFacts {
    pub(crate) settings: DispatchSettings,
    pub(crate) cpus: Vec<CpuId>,
    pub(crate) ports: Vec<DispatchPort>,
    /// Fragments are followed.
    pub(crate) follows_fragments: bool,
    /// Fragments are gathered for flows of several workers.
    pub(crate) gathers: bool,
    /// Flows that may be known at most; none where nothing is remembered.
    pub(crate) flows: Option<u32>,
}

/// The report, from what each worker counted by port and kind.
pub(crate) fn dispatch_report(facts: &PathFacts, workers: &[Vec<KindCounters>]) -> DispatchReport {
    let mut rows = Vec::new();
    for (place, own) in workers.iter().enumerate() {
        for (kind_place, counters) in own.iter().enumerate() {
            let Some(port) = facts.ports.get(kind_place / KINDS) else {
                continue;
            };
            let (kind, shown) = match kind_place % KINDS {
                0 => (DispatchKind::Decide, true),
                1 => (DispatchKind::Transmit, port.queues < workers.len()),
                _ => (DispatchKind::Gather, facts.gathers && place < port.queues),
            };
            if !shown {
                continue;
            }
            let sent = |worker: &Vec<KindCounters>| {
                let kind = worker.get(kind_place);
                kind.and_then(|kind| kind.sent.get(place).copied())
            };
            let (mut queued, mut dropped) = (counters.queue.kept, 0);
            for (more, lost) in workers.iter().filter_map(sent) {
                queued += more;
                dropped += lost;
            }
            let queue = &counters.queue;
            let counts = DispatchCounts {
                len: queue.len,
                watermark: queue.watermark,
                direct: queue.direct,
                hybrid: queue.hybrid,
                dropped,
                queued,
                handled: queue.direct + queue.hybrid + queue.taken,
            };
            rows.push(DispatchRow {
                worker: WorkerId(place as u16),
                port: port.id,
                kind,
                counts,
            });
        }
    }
    DispatchReport {
        settings: facts.settings,
        cpus: facts.cpus.clone(),
        ports: facts.ports.clone(),
        moved: 0,
        elephants: Vec::new(),
        rows,
    }
}
