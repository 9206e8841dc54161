//! What of a host is one worker's: the flows of its buckets, and a part of every limit.

use std::sync::Arc;

use frame::WorkerId;
use stack::neighbours::Heard;
use stack::tcp::{Pair, TcpSettings};
use wire::toeplitz::{Key, Toeplitz};
use wire::{FlowKey, protocol};

use super::config::Pace;
use crate::Links;

/// Messages about neighbours that one worker may have for another.
const HEARD_MAX: usize = 256;

/// A worker's part of a host.
///
/// All workers have all addresses. A connection is that worker's whose bucket its flow is in, so
/// that no other one ever looks at it. What one hears of a neighbour it tells the others.
#[derive(Debug)]
pub struct Share {
    pub(super) links: Links<Heard>,
    pub(super) flows: Flows,
}

/// The flows of one worker.
#[derive(Debug)]
pub(super) struct Flows {
    worker: WorkerId,
    workers: usize,
    /// Whose each bucket is; a power of two of them.
    owners: Arc<[WorkerId]>,
    /// The hash that frames are dispatched by.
    hash: Arc<Toeplitz>,
}

impl Share {
    /// The whole host.
    #[must_use]
    pub fn whole() -> Self {
        Self {
            links: Links::alone(),
            flows: Flows {
                worker: WorkerId(0),
                workers: 1,
                owners: [WorkerId(0)].into(),
                hash: Toeplitz::new(&Key::SYMMETRIC).into(),
            },
        }
    }

    /// The parts of so many workers. `owners` says whose each bucket of flows is, for good: a
    /// power of two of them, by the low bits of the symmetric RSS hash.
    #[must_use]
    pub fn of_workers(workers: u16, owners: &[WorkerId]) -> Vec<Self> {
        debug_assert!(owners.len().is_power_of_two(), "buckets are of low bits");
        let owners: Arc<[WorkerId]> = owners.into();
        let hash: Arc<Toeplitz> = Toeplitz::new(&Key::SYMMETRIC).into();
        let links = Links::mesh(workers, HEARD_MAX).into_iter();
        links
            .map(|links| Self {
                flows: Flows {
                    worker: links.worker,
                    workers: workers.into(),
                    owners: Arc::clone(&owners),
                    hash: Arc::clone(&hash),
                },
                links,
            })
            .collect()
    }
}

impl Flows {
    /// Whether a connection is this worker's.
    pub(super) fn holds(&self, pair: &Pair) -> bool {
        if self.workers == 1 {
            return true;
        }
        let (local, remote) = (pair.local, pair.remote);
        let (from, to) = (local.port(), remote.port());
        let key = match (local.ip(), remote.ip()) {
            (std::net::IpAddr::V4(own), std::net::IpAddr::V4(other)) => {
                FlowKey::v4(own.to_bits(), other.to_bits(), from, to, protocol::TCP)
            }
            (std::net::IpAddr::V6(own), std::net::IpAddr::V6(other)) => {
                FlowKey::v6(own.to_bits(), other.to_bits(), from, to, protocol::TCP)
            }
            _ => return false,
        };
        let bucket = self.hash.hash(&key) as usize & (self.owners.len() - 1);
        self.owners[bucket] == self.worker
    }

    /// This worker's part of a number: even parts, the rest to the first workers.
    pub(super) fn part(&self, total: usize) -> usize {
        let is_first = usize::from(self.worker.0) < total % self.workers;
        total / self.workers + usize::from(is_first)
    }

    /// This worker's part of what a client begins.
    pub(super) fn pace(&self, pace: Pace) -> Pace {
        match pace {
            Pace::Connections(count) => Pace::Connections(self.part(count)),
            Pace::Rate(rate) => Pace::Rate(rate / self.workers as f64),
        }
    }

    /// The limits of this worker, which of all workers together are those of `settings`.
    pub(super) fn limits(&self, settings: &TcpSettings) -> TcpSettings {
        TcpSettings {
            connections_max: self.part(settings.connections_max),
            half_open_max: self.part(settings.half_open_max),
            time_wait_max: self.part(settings.time_wait_max),
            out_of_order_max: self.part(settings.out_of_order_max),
            ..settings.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(local: &str, remote: &str) -> Pair {
        Pair {
            local: local.parse().expect("an end"),
            remote: remote.parse().expect("an end"),
        }
    }

    fn turned(pair: &Pair) -> Pair {
        Pair {
            local: pair.remote,
            remote: pair.local,
        }
    }

    /// Each row: workers, buckets.
    #[test]
    fn every_connection_is_one_workers_and_the_same_for_both_ends() {
        for (workers, buckets) in [(1u16, 1u16), (2, 128), (3, 128), (8, 128)] {
            let owners: Vec<_> = (0..buckets).map(|at| WorkerId(at % workers)).collect();
            let shares = Share::of_workers(workers, &owners);
            let mut counts = vec![0; shares.len()];
            for port in 32_768..33_768 {
                for ends in [
                    pair(&format!("198.18.0.7:{port}"), "192.0.2.2:80"),
                    pair(&format!("[fd00::7]:{port}"), "[fd00::2]:80"),
                ] {
                    let holds = |one: &Share, ends: &Pair| one.flows.holds(ends);
                    let own: Vec<_> = shares.iter().map(|one| holds(one, &ends)).collect();
                    let back: Vec<_> = shares
                        .iter()
                        .map(|one| holds(one, &turned(&ends)))
                        .collect();
                    assert_eq!(own, back, "{workers} workers, {ends:?}");
                    let held = own.iter().filter(|&&holds| holds).count();
                    assert_eq!(held, 1, "{workers} workers, {ends:?}");
                    let at = own.iter().position(|&holds| holds).expect("one");
                    counts[at] += 1;
                }
            }
            let fair = 2000 / usize::from(workers);
            for count in counts {
                assert!(count > fair / 2, "{workers} workers: {count} of {fair}");
            }
        }
    }

    #[test]
    fn parts_are_the_whole_together() {
        for workers in [1, 2, 3, 5] {
            let shares = Share::of_workers(workers, &[WorkerId(0)]);
            for total in [0, 1, 2, 7, 262_144] {
                let parts: usize = shares.iter().map(|one| one.flows.part(total)).sum();
                assert_eq!(parts, total, "{workers} workers");
            }
            let rates = shares
                .iter()
                .map(|one| match one.flows.pace(Pace::Rate(30.0)) {
                    Pace::Rate(rate) => rate,
                    Pace::Connections(_) => 0.0,
                });
            assert!(
                (rates.sum::<f64>() - 30.0).abs() < 1e-9,
                "{workers} workers"
            );
        }
    }
}
