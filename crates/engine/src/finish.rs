//! What every run does after its last frame, whatever its workers did with frames: queues closed,
//! memory accounted for, ports asked what passed.

use port::{PortError, PortStatistics};

use crate::Books;
use crate::counters::{Count, Words};
use crate::ledger::{PortCounts, cross_bypassed};
use crate::report::PortReport;
use crate::start::Work;
use crate::states::Watched;

/// What is known of a port before its queues are gone.
pub(crate) struct PortFacts {
    pub(crate) id: frame::PortId,
    pub(crate) spec: String,
    pub(crate) mode: String,
    /// Where something can change meanwhile.
    pub(crate) watched: Option<Watched>,
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
    let mut sum = Words::new();
    workers.iter().for_each(|worker| sum.merge(worker.words()));
    let mut books = workers.iter().map(|worker| Books::of(worker.words()));
    books.all(|books| books.balance())
        && Books::of(&sum).balance()
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
        ports.push(port_counts(facts.id, place, workers));
    }
    cross_bypassed(&mut ports);
    ports
}

fn port_counts<W: Work>(id: frame::PortId, place: String, workers: &mut [W]) -> PortCounts {
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

/// What passed by a port, all its queues together.
pub(crate) fn port_report<W: Work>(facts: &PortFacts, workers: &[W], ended: f64) -> PortReport {
    let watched = facts.watched.as_ref();
    let mut sum = PortStatistics::default();
    let attachments = workers.iter().flat_map(|worker| worker.held().0);
    for attachment in attachments.filter(|attachment| attachment.port == facts.id) {
        if let Some(queue) = &attachment.queue {
            sum += queue.statistics();
        }
    }
    PortReport {
        id: facts.id,
        spec: facts.spec.clone(),
        rx_frames: sum.rx_frames,
        rx_bytes: sum.rx_bytes,
        tx_frames: sum.tx_frames,
        tx_bytes: sum.tx_bytes,
        missed: sum.missed,
        to_host: sum.to_host,
        unfiltered: sum.unfiltered,
        unfiltered_before: sum.unfiltered_before,
        missed_merged: sum.missed_merged,
        missed_too_long: sum.missed_too_long,
        mode: facts.mode.clone(),
        states: watched.map_or_else(Vec::new, |watched| watched.report(ended)),
    }
}
