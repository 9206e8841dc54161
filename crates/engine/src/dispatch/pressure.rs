//! From what workers counted between two looks to what the balancer is asked about.
//!
//! The unit is a frame decided on. What came and was lost counts, too: a worker that is behind
//! would else look as if it had less to do than it has. Receiving a frame stays with who received
//! it; workers time some of their receptions, and its part is what those took over what deciding
//! took. All workers are taken for equally fast: one whose CPU was away for a moment would else
//! look as if its flows cost more.

use frame::Nanos;

use crate::counters::{Count, Counters};
use crate::placement::BucketLoad;

/// A worker's bursts are this much shorter than they may be: it emptied its queue each time, so it
/// has room, however much of its time it spent on bursts of a frame or two.
const SHORT_BURST: u64 = 4;
/// What it is taken for then, per mille.
const AT_EASE: u64 = 500;

/// What one look saw.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) at: Nanos,
    /// By worker that received them, then by bucket.
    pub(crate) buckets: Vec<Vec<BucketLoad>>,
    pub(crate) workers: Vec<Counters>,
    /// By worker: frames its queues lost before it took them.
    pub(crate) missed: Vec<u64>,
    /// By worker: frames dropped because its rings were full.
    pub(crate) dropped: Vec<u64>,
}

/// What the balancer is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) buckets: Vec<u64>,
    pub(crate) fixed: Vec<u64>,
    pub(crate) busy: Vec<u16>,
}

impl Demand {
    /// Between two looks, of workers that receive `burst_max` frames at a time at most.
    pub(crate) fn between(before: &Look, now: &Look, burst_max: usize) -> Self {
        let passed = Passed { before, now };
        let workers = now.workers.len();
        let receiving = passed.receiving();
        let mut buckets = vec![0; now.buckets.first().map_or(0, Vec::len)];
        for worker in 0..workers {
            let rows = now.buckets[worker].iter().zip(&before.buckets[worker]);
            for (sum, (now, before)) in buckets.iter_mut().zip(rows) {
                *sum += passed.offered(worker, (*now - *before).frames);
            }
        }
        let fixed = |worker| {
            let received = passed.offered(worker, passed.count(worker, Count::Rx));
            (received as f64 * receiving) as u64
        };
        Self {
            buckets,
            fixed: (0..workers).map(fixed).collect(),
            busy: (0..workers)
                .map(|worker| passed.busy(worker, burst_max as u64))
                .collect(),
        }
    }
}

struct Passed<'a> {
    before: &'a Look,
    now: &'a Look,
}

impl Passed<'_> {
    fn count(&self, worker: usize, count: Count) -> u64 {
        let (now, before) = (&self.now.workers[worker], &self.before.workers[worker]);
        now.get(count).saturating_sub(before.get(count))
    }

    fn missed(&self, worker: usize) -> u64 {
        self.now.missed[worker].saturating_sub(self.before.missed[worker])
    }

    /// Of so many frames that a worker received, how many came, if all were lost alike.
    fn offered(&self, worker: usize, frames: u64) -> u64 {
        let received = self.count(worker, Count::Rx).max(1);
        let came = u128::from(received + self.missed(worker));
        (u128::from(frames) * came / u128::from(received)) as u64
    }

    fn sum(&self, count: Count) -> f64 {
        let workers = 0..self.now.workers.len();
        workers.map(|worker| self.count(worker, count)).sum::<u64>() as f64
    }

    /// What receiving a frame takes, of what deciding on one does.
    fn receiving(&self) -> f64 {
        let frames = self.sum(Count::Rx);
        let reception = self.sum(Count::ReceptionNanos) / self.sum(Count::ReceptionFrames).max(1.0);
        let busy = self.sum(Count::BusyNanos) / frames.max(1.0);
        // Before anything was timed, and against times that contradict each other.
        (reception / (busy - reception).max(busy / 10.0).max(1.0)).min(1.0)
    }

    fn busy(&self, worker: usize, burst_max: u64) -> u16 {
        if self.missed(worker) > 0 || self.now.dropped[worker] > self.before.dropped[worker] {
            return 1000;
        }
        let span = self.now.at.since(self.before.at).max(1);
        let busy = self.count(worker, Count::BusyNanos).saturating_mul(1000) / span;
        let (bursts, frames) = (
            self.count(worker, Count::Bursts),
            self.count(worker, Count::Rx),
        );
        let short = bursts > 0 && frames * SHORT_BURST < bursts * burst_max;
        let most = if short { AT_EASE } else { 1000 };
        busy.min(most) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: BucketLoad = BucketLoad {
        frames: 0,
        bytes: 0,
    };

    fn look(at: u64, workers: usize) -> Look {
        Look {
            at: Nanos(at),
            buckets: vec![vec![NONE; 2]; workers],
            workers: vec![Counters::new(); workers],
            missed: vec![0; workers],
            dropped: vec![0; workers],
        }
    }

    /// A worker that received `frames` in bursts of so many and was busy for so many nanoseconds.
    fn count(counters: &mut Counters, frames: u64, burst: u64, busy: u64) {
        counters.add(Count::Rx, frames);
        counters.add(Count::Bursts, frames / burst);
        counters.add(Count::BusyNanos, busy);
        counters.add(Count::ReceptionNanos, 20 * burst);
        counters.add(Count::ReceptionFrames, burst);
    }

    #[test]
    fn what_was_lost_is_demand_and_what_receiving_takes_stays() {
        let (before, mut now) = (look(0, 2), look(1_000_000, 2));
        count(&mut now.workers[0], 8000, 64, 960_000);
        count(&mut now.workers[1], 2000, 64, 240_000);
        now.missed[0] = 2000;
        now.buckets[0][0].frames = 8000;
        now.buckets[1][1].frames = 2000;
        let demand = Demand::between(&before, &now, 64);
        assert_eq!(demand.buckets, [10_000, 2000]);
        // 120 ns a frame, 20 of them to receive it.
        assert_eq!(demand.fixed, [2000, 400]);
        assert_eq!(demand.busy, [1000, 240]);
    }

    #[test]
    fn who_empties_the_queue_each_time_is_at_ease() {
        let (before, mut now) = (look(0, 2), look(1_000_000, 2));
        count(&mut now.workers[0], 4000, 2, 990_000);
        count(&mut now.workers[1], 8000, 64, 990_000);
        let demand = Demand::between(&before, &now, 64);
        assert_eq!(demand.busy, [500, 990]);
    }

    #[test]
    fn nothing_timed_is_nothing_said() {
        let (before, mut now) = (look(0, 1), look(1_000_000, 1));
        now.workers[0].add(Count::Rx, 100);
        now.workers[0].add(Count::BusyNanos, 10_000);
        assert_eq!(Demand::between(&before, &now, 64).fixed, [0]);
        assert_eq!(Demand::between(&before, &before, 64).busy, [0]);
    }
}
