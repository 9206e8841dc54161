//! The report's part about dispatching, as JSON: the names are a contract, as all of the report's.

use engine::{DispatchPort, DispatchReport, DispatchRow};
use serde::Serialize;

/// How frames got to the worker that decided on them.
#[derive(Debug, Serialize)]
pub(crate) struct Dispatch {
    /// `direct`, `hybrid` or `deferred`, or `auto` for each port's own.
    pub(crate) policy: &'static str,
    /// Frames that one ring between two workers held.
    pub(crate) ring_limit: u64,
    pub(crate) workers: u64,
    /// Whether each worker was bound to a CPU.
    pub(crate) bound: bool,
    /// Those CPUs, by worker.
    pub(crate) cpus: Vec<u32>,
    /// In the order given.
    pub(crate) ports: Vec<Port>,
    /// By worker, port and kind.
    pub(crate) rows: Vec<Row>,
}

/// How one port was dispatched.
#[derive(Debug, Serialize)]
pub(crate) struct Port {
    pub(crate) id: u8,
    pub(crate) policy: &'static str,
    pub(crate) queues: u64,
}

/// Frames for one worker, of one port and kind:
/// `handled + len = dispatched + hybrid_dispatched + queued`.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) worker: u32,
    pub(crate) port: u8,
    /// `decide` or `transmit`.
    pub(crate) kind: &'static str,
    /// In its queues at the end.
    pub(crate) len: u64,
    /// The most that were ever there.
    pub(crate) wmark: u64,
    /// Handled at once under `direct`; or sent at once.
    pub(crate) dispatched: u64,
    /// Handled at once under `hybrid`.
    pub(crate) hybrid_dispatched: u64,
    /// Dropped because a ring to it was full.
    pub(crate) qdrops: u64,
    /// Put into its queues.
    pub(crate) queued: u64,
    /// Handled, at once or out of a queue.
    pub(crate) handled: u64,
}

impl Dispatch {
    pub(crate) fn of(report: &DispatchReport) -> Self {
        let port = |port: &DispatchPort| Port {
            id: port.id.0,
            policy: port.policy.name(),
            queues: port.queues as u64,
        };
        Self {
            policy: report.settings.policy_name(),
            ring_limit: report.settings.ring_limit as u64,
            workers: report.cpus.len() as u64,
            bound: true,
            cpus: report.cpus.iter().map(|cpu| u32::from(cpu.0)).collect(),
            ports: report.ports.iter().map(port).collect(),
            rows: report.rows.iter().map(Row::of).collect(),
        }
    }
}

impl Row {
    fn of(row: &DispatchRow) -> Self {
        Self {
            worker: u32::from(row.worker.0),
            port: row.port.0,
            kind: row.kind.name(),
            len: row.counts.len,
            wmark: row.counts.watermark,
            dispatched: row.counts.direct,
            hybrid_dispatched: row.counts.hybrid,
            qdrops: row.counts.dropped,
            queued: row.counts.queued,
            handled: row.counts.handled,
        }
    }
}
