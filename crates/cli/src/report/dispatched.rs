//! The report's part about dispatching, as JSON: the names are a contract, as all of the report's.

use daemon::rpc::answers::DispatchCounts;
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

/// Frames for one worker, of one port and kind.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) worker: u32,
    pub(crate) port: u8,
    /// `decide` or `transmit`.
    pub(crate) kind: &'static str,
    #[serde(flatten)]
    pub(crate) counts: DispatchCounts,
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
            counts: (&row.counts).into(),
        }
    }
}
