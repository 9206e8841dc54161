//! A decorator that records what passes through a queue.

use std::os::fd::BorrowedFd;

use frame::{BURST_MAX, Burst, FramePool, Nanos};

use crate::pcap::{CaptureWriter, time_and_len};
use crate::{PortError, PortQueue, PortStatistics, QueueLoss, RxState};

/// A queue whose frames, in both directions, are also written into a capture: received ones as the
/// worker gets them, sent ones once the queue has taken them. An error of the recording does not
/// stop the traffic; [`PortQueue::finish`] tells it.
pub struct Tap<Q> {
    inner: Q,
    writer: CaptureWriter,
    start_time_ns: u64,
}

impl<Q> Tap<Q> {
    /// Records `inner`. Frames without a time of their own get `start_time_ns`.
    pub const fn new(inner: Q, writer: CaptureWriter, start_time_ns: u64) -> Self {
        Self {
            inner,
            writer,
            start_time_ns,
        }
    }
}

impl<Q: PortQueue> PortQueue for Tap<Q> {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let before = burst.len();
        let state = self.inner.rx_burst(pool, burst, max);
        for frame in &burst.frames()[before..] {
            let (time_ns, original_len) = time_and_len(frame, self.start_time_ns);
            self.writer.write(time_ns, original_len, frame.bytes());
        }
        state
    }

    fn begin(&mut self, pool: &mut FramePool) -> Result<(), PortError> {
        self.inner.begin(pool)
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        // How many the queue takes is known only when they are gone: all are added, and what
        // stayed is forgotten again.
        let mut marks = [self.writer.mark(); BURST_MAX + 1];
        let offered = burst.len();
        for (frame, mark) in burst.frames().iter().zip(&mut marks[1..]) {
            let (time_ns, original_len) = time_and_len(frame, self.start_time_ns);
            self.writer.add(time_ns, original_len, frame.bytes());
            *mark = self.writer.mark();
        }
        self.inner.tx_burst(burst, pool);
        let sent = offered.saturating_sub(burst.len());
        self.writer.keep(marks[sent], sent);
    }

    fn take_refused(&mut self) -> u64 {
        self.inner.take_refused()
    }

    fn reclaim(&mut self, pool: &mut FramePool) {
        self.inner.reclaim(pool);
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        self.inner.wake()
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
        self.inner.statistics()
    }

    fn in_flight(&self) -> u32 {
        self.inner.in_flight()
    }

    fn failed(&self) -> bool {
        self.inner.failed()
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        // Both are ended, whatever becomes of the first.
        let recorded = self.writer.finish();
        let mut warnings = self.inner.finish()?;
        warnings.extend(recorded?);
        Ok(warnings)
    }
}

#[cfg(test)]
mod tests;
