//! What a worker shows of its ports and its pool, ten times a second.
//!
//! Queues and pools are the worker's: nobody else may ask them. Asking a queue can take system
//! calls, some microseconds, hence not every millisecond as counters are shown.

use std::sync::atomic::{AtomicU64, Ordering};

use frame::{FramePool, PoolAccounts};
use port::PortStatistics;

use crate::attachment::Attachment;
use crate::clock::cpu_time_nanos;

/// How often it is shown, nanoseconds.
pub(crate) const SHOW_EVERY_NANOS: u64 = 100_000_000;

const PORT_WORDS: usize = 13;

/// One writer, plain stores. Aligned to two lines, which adjacent-line prefetchers fetch together.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct HoldBoard {
    /// By port number. No other worker's words lie beside them.
    ports: Box<[PortBoard]>,
    pool: [AtomicU64; 3],
    cpu_nanos: AtomicU64,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct PortBoard([AtomicU64; PORT_WORDS]);

/// What passed by a port of one worker or of all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortHold {
    pub(crate) passed: PortStatistics,
    /// Frames that came in by it and were dropped by their verdict.
    pub(crate) rx_dropped: u64,
    /// Frames that were to leave by it and were dropped.
    pub(crate) tx_dropped: u64,
}

impl PortHold {
    fn of(attachment: &Attachment) -> Self {
        let queue = attachment.queue.as_ref();
        Self {
            passed: queue.map_or_else(PortStatistics::default, |queue| queue.statistics()),
            rx_dropped: attachment.rx_dropped,
            tx_dropped: attachment.tx_dropped,
        }
    }

    fn counters(&self) -> [u64; PORT_WORDS] {
        let passed = &self.passed;
        [
            passed.rx_frames,
            passed.rx_bytes,
            passed.tx_frames,
            passed.tx_bytes,
            passed.missed,
            passed.missed_merged,
            passed.missed_too_long,
            passed.to_host,
            passed.unfiltered,
            passed.unfiltered_before,
            passed.shortcut,
            self.rx_dropped,
            self.tx_dropped,
        ]
    }

    fn from_words(counters: [u64; PORT_WORDS]) -> Self {
        let [
            rx_frames,
            rx_bytes,
            tx_frames,
            tx_bytes,
            missed,
            missed_merged,
            missed_too_long,
            ..,
        ] = counters;
        let [
            ..,
            to_host,
            unfiltered,
            unfiltered_before,
            shortcut,
            rx_dropped,
            tx_dropped,
        ] = counters;
        let passed = PortStatistics {
            rx_frames,
            rx_bytes,
            tx_frames,
            tx_bytes,
            missed,
            missed_merged,
            missed_too_long,
            to_host,
            unfiltered,
            unfiltered_before,
            shortcut,
        };
        Self {
            passed,
            rx_dropped,
            tx_dropped,
        }
    }

    fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.rx_dropped += other.rx_dropped;
        self.tx_dropped += other.tx_dropped;
    }
}

impl HoldBoard {
    pub(crate) fn new(ports: usize) -> Self {
        Self {
            ports: (0..ports).map(|_| PortBoard::default()).collect(),
            pool: Default::default(),
            cpu_nanos: AtomicU64::new(0),
        }
    }

    /// Shows what a worker holds, from its own thread. Only that worker may call it.
    pub(crate) fn show(&self, attachments: &[Attachment], pool: &FramePool) {
        for (shown, attachment) in self.ports.iter().zip(attachments) {
            store(&shown.0, &PortHold::of(attachment).counters());
        }
        let accounts = pool.accounts();
        let counters = [accounts.total, accounts.free, accounts.returns].map(u64::from);
        store(&self.pool, &counters);
        self.cpu_nanos.store(cpu_time_nanos(), Ordering::Relaxed);
    }

    /// Adds what it shows of the port at `place`.
    pub(crate) fn add_port(&self, place: usize, sum: &mut PortHold) {
        if let Some(counters) = self.ports.get(place) {
            sum.add(&PortHold::from_words(load(&counters.0)));
        }
    }

    /// Frames of all ports that were there and that the worker did not receive.
    pub(crate) fn missed(&self) -> u64 {
        let mut hold = PortHold::default();
        (0..self.ports.len()).for_each(|place| self.add_port(place, &mut hold));
        hold.passed.missed
    }

    pub(crate) fn pool(&self) -> PoolAccounts {
        let [total, free, returns] = load(&self.pool).map(|count| count as u32);
        PoolAccounts {
            total,
            free,
            returns,
        }
    }

    pub(crate) fn cpu_nanos(&self) -> u64 {
        self.cpu_nanos.load(Ordering::Relaxed)
    }
}

/// Shows words that only this thread writes.
pub(crate) fn store<const N: usize>(shown: &[AtomicU64; N], counters: &[u64; N]) {
    for (shown, &word) in shown.iter().zip(counters) {
        shown.store(word, Ordering::Relaxed);
    }
}

/// What is shown, each word as of its own moment.
pub(crate) fn load<const N: usize>(shown: &[AtomicU64; N]) -> [u64; N] {
    std::array::from_fn(|place| shown[place].load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_comes_back_where_it_was() {
        let counters = std::array::from_fn(|place| place as u64 + 1);
        let hold = PortHold::from_words(counters);
        assert_eq!(hold.counters(), counters);
        let (mut sum, board) = (hold, HoldBoard::new(2));
        store(&board.ports[1].0, &counters);
        board.add_port(1, &mut sum);
        assert_eq!(sum.counters(), counters.map(|word| 2 * word));
        board.add_port(2, &mut sum);
        assert_eq!(sum.counters(), counters.map(|word| 2 * word));
    }
}
