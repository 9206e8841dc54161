//! A decorator that harms traffic: seeded loss, duplication, reordering and corruption.

mod plan;
#[cfg(test)]
mod sink_tests;
mod stage;
#[cfg(test)]
mod tests;

use frame::{Burst, FramePool, Nanos};

pub use plan::{FaultCounts, FaultPlan, Faults};
use stage::Stage;

use crate::{PortError, PortQueue, PortStatistics, QueueLoss, RxState};

/// A queue that does to frames what a bad wire does. The same seed does the same to the same
/// frames. What it did is counted, so that tests can tell it from what the code under test did.
///
/// Its statistics are those of the side its worker sees: `rx_frames` counts what was given to the
/// worker, `tx_frames` what was taken from it.
pub struct Faulty<Q> {
    inner: Q,
    rx: Stage,
    tx: Stage,
    /// Received from `inner` and not yet through the receive stage.
    incoming: Burst,
    /// Through the transmit stage and not yet taken by `inner`.
    outgoing: Burst,
    inner_state: RxState,
    /// Frames taken from the worker since the last `reclaim`.
    fresh: bool,
    statistics: PortStatistics,
}

impl<Q> Faulty<Q> {
    /// Harms what `inner` receives and sends as `plan` says.
    #[must_use]
    pub fn new(inner: Q, plan: &FaultPlan) -> Self {
        Self {
            inner,
            rx: Stage::new(plan.rx, plan.seed, 0),
            tx: Stage::new(plan.tx, plan.seed, 1),
            incoming: Burst::new(),
            outgoing: Burst::new(),
            inner_state: RxState::Open,
            fresh: false,
            statistics: PortStatistics::default(),
        }
    }

    /// What was done to received frames.
    #[must_use]
    pub const fn rx_counts(&self) -> FaultCounts {
        self.rx.counts()
    }

    /// What was done to sent frames.
    #[must_use]
    pub const fn tx_counts(&self) -> FaultCounts {
        self.tx.counts()
    }
}

impl<Q: PortQueue> PortQueue for Faulty<Q> {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let before = burst.len();
        let end = before + max.min(burst.room());
        if self.incoming.is_empty() && self.inner_state == RxState::Open {
            self.inner_state = self.inner.rx_burst(pool, &mut self.incoming, max);
        }
        self.rx.give_due(burst, end);
        // One at a time and only while there is room: what the drain does not give stays.
        let mut incoming = self.incoming.drain();
        while burst.len() < end
            && let Some(frame) = incoming.next()
        {
            self.rx.pass(frame, pool);
            self.rx.give_due(burst, end);
        }
        drop(incoming);
        if self.incoming.is_empty() && burst.len() == before {
            // Nothing comes behind them that they could be reordered with.
            self.rx.give_all(burst, end);
        }
        let given = &burst.frames()[before..];
        self.statistics.rx_frames += given.len() as u64;
        self.statistics.rx_bytes += given.iter().map(|frame| frame.len() as u64).sum::<u64>();
        let over = self.incoming.is_empty() && self.rx.held() == 0;
        if over {
            self.inner_state
        } else {
            RxState::Open
        }
    }

    fn begin(&mut self, pool: &mut FramePool) -> Result<(), PortError> {
        self.inner.begin(pool)
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        self.push_out(pool);
        let mut taken = 0;
        let mut offered = burst.drain();
        while self.outgoing.room() > 0
            && let Some(frame) = offered.next()
        {
            taken += 1;
            self.statistics.tx_bytes += frame.len() as u64;
            self.tx.pass(frame, pool);
            self.tx.give_due(&mut self.outgoing, frame::BURST_MAX);
        }
        drop(offered);
        self.statistics.tx_frames += taken;
        self.fresh |= taken > 0;
        self.push_out(pool);
    }

    fn reclaim(&mut self, pool: &mut FramePool) {
        if !self.fresh {
            self.tx.give_all(&mut self.outgoing, frame::BURST_MAX);
        }
        self.fresh = false;
        self.push_out(pool);
        self.inner.reclaim(pool);
    }

    fn beat(&mut self, now: Nanos) {
        self.inner.beat(now);
    }

    fn leave(&mut self) -> bool {
        self.inner.leave()
    }

    fn losses(&mut self) -> Vec<QueueLoss> {
        self.inner.losses()
    }

    fn statistics(&self) -> PortStatistics {
        let inner = self.inner.statistics();
        let missed = inner.missed + self.rx.counts().lost;
        PortStatistics {
            missed,
            ..self.statistics
        }
    }

    fn in_flight(&self) -> u32 {
        let here = self.incoming.len() + self.outgoing.len() + self.rx.held() + self.tx.held();
        here as u32 + self.inner.in_flight()
    }

    fn failed(&self) -> bool {
        self.inner.failed()
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        self.inner.finish()
    }
}

impl<Q: PortQueue> Faulty<Q> {
    fn push_out(&mut self, pool: &mut FramePool) {
        if !self.outgoing.is_empty() {
            self.inner.tx_burst(&mut self.outgoing, pool);
        }
    }
}
