//! What every run does after its last frame, whatever its workers did with frames: queues closed,
//! memory accounted for, ports asked what passed.

use frame::PortId;
use port::{PortError, PortStatistics};

use crate::Accounting;
use crate::counters::{Count, Counters};
use crate::ledger::{PortCounts, cross_bypassed};
use crate::report::{PortReport, WorkerReport};
use crate::start::Work;
use crate::states::Watched;
use crate::status::PortName;

/// What is known of a port before its queues are gone.
pub(crate) struct PortFacts {
    pub(crate) id: PortId,
    pub(crate) spec: String,
    pub(crate) mode: String,
    /// Where something can change meanwhile.
    pub(crate) watched: Option<Watched>,
}

impl PortFacts {
    /// What does not change of it.
    pub(crate) fn name(&self) -> PortName {
        PortName {
            id: self.id,
            spec: self.spec.clone(),
            mode: self.mode.clone(),
        }
    }
}

/// Closes every queue; returns their warnings and the first failure.
pub(crate) fn finish_queues<W: Work>(workers: &mut [W]) -> (Vec<String>, Option<PortError>) {
    let (mut warnings, mut failure) = (Vec::new(), None);
    for worker in workers {
        let (attachments, pool) = worker.hold();
        for queue in attachments.iter_mut().filter_map(|own| own.queue.as_mut()) {
            queue.reclaim(pool);
            match queue.finish() {
                Ok(more) => warnings.extend(more),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
    }
    warnings.dedup();
    (warnings, failure)
}

/// The books of each worker and of all balance, and every chunk of every pool is free or held by
/// a port.
pub(crate) fn balance<W: Work>(workers: &[W]) -> bool {
    let mut sum = Counters::new();
    workers
        .iter()
        .for_each(|worker| sum.merge(worker.counters()));
    let mut accounting = workers
        .iter()
        .map(|worker| Accounting::of(worker.counters()));
    accounting.all(|accounting| accounting.balance())
        && Accounting::of(&sum).balance()
        && sum.get(Count::HandedOff) == sum.get(Count::Received)
        && chunks_are_kept(workers)
}

fn chunks_are_kept<W: Work>(workers: &[W]) -> bool {
    let (mut total, mut kept) = (0, 0);
    for worker in workers {
        let (attachments, pool) = worker.held();
        let accounts = pool.accounts();
        total += u64::from(accounts.total);
        kept += u64::from(accounts.free);
        let queues = attachments.iter().filter_map(|own| own.queue.as_ref());
        kept += queues
            .map(|queue| u64::from(queue.in_flight()))
            .sum::<u64>();
    }
    total == kept
}

/// What the queues of each port counted, for the ledger.
pub(crate) fn all_counts<W: Work>(facts: &[PortFacts], workers: &mut [W]) -> Vec<PortCounts> {
    let mut places = Vec::new();
    let mut ports: Vec<PortCounts> = Vec::new();
    for facts in facts {
        // Driver and interface: what was chosen beside them stands in the report.
        let name = facts.spec.split(',').next().unwrap_or_default().to_owned();
        let twice = places.contains(&name);
        places.push(name.clone());
        let place = if twice {
            format!("{name} ({})", facts.id)
        } else {
            name
        };
        let taken_down = facts.watched.as_ref().map_or(0, Watched::taken_down);
        ports.push(PortCounts {
            taken_down,
            ..port_counts(facts.id, place, workers)
        });
    }
    cross_bypassed(&mut ports);
    ports
}

fn port_counts<W: Work>(id: PortId, place: String, workers: &mut [W]) -> PortCounts {
    let mut counts = PortCounts {
        id,
        place,
        ..PortCounts::default()
    };
    let attachments = workers.iter_mut().flat_map(|worker| worker.hold().0);
    for attachment in attachments.filter(|attachment| attachment.port == id) {
        if let Some(queue) = &mut attachment.queue {
            let passed = queue.statistics();
            counts.received += passed.rx_frames;
            counts.sent += passed.tx_frames;
            counts.losses.extend(queue.losses());
        }
    }
    counts
}

/// What passed by a port so far, all its queues together.
pub(crate) fn passed<W: Work>(workers: &[W], port: PortId) -> PortStatistics {
    let attachments = workers.iter().flat_map(|worker| worker.held().0);
    attachments
        .filter(|attachment| attachment.port == port)
        .filter_map(|attachment| attachment.queue.as_ref())
        .map(|queue| queue.statistics())
        .sum()
}

pub(crate) fn port_report(facts: &PortFacts, passed: PortStatistics, ended: f64) -> PortReport {
    let watched = facts.watched.as_ref();
    PortReport {
        id: facts.id,
        spec: facts.spec.clone(),
        rx_frames: passed.rx_frames,
        rx_bytes: passed.rx_bytes,
        tx_frames: passed.tx_frames,
        tx_bytes: passed.tx_bytes,
        missed: passed.missed,
        to_host: passed.to_host,
        unfiltered: passed.unfiltered,
        unfiltered_before: passed.unfiltered_before,
        shortcut: passed.shortcut,
        missed_merged: passed.missed_merged,
        missed_too_long: passed.missed_too_long,
        mode: facts.mode.clone(),
        states: watched.map_or_else(Vec::new, |watched| watched.report(ended)),
    }
}

pub(crate) fn worker_report<W: Work>(
    worker: &W,
    node: &[&'static str],
    seconds: f64,
) -> WorkerReport {
    let counters = worker.counters();
    let busy_nanos = counters.get(Count::BusyNanos);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    WorkerReport {
        id: worker.id(),
        cpu: worker.cpu(),
        rx: counters.get(Count::Rx),
        tx: counters.get(Count::Tx),
        dropped: counters.dropped_total(),
        busy: share(busy_nanos as f64 / 1e9, seconds).min(1.0),
        busy_nanos,
        burst_mean: share(
            counters.get(Count::Rx) as f64,
            counters.get(Count::Bursts) as f64,
        ),
        cpu_seconds: counters.get(Count::CpuNanos) as f64 / 1e9,
        sleeps: counters.get(Count::Sleeps),
        accounting: Accounting::of(counters),
        node: counters.node_counts(node),
    }
}
