//! What a worker counts of its dispatching, and where it shows that: one writer, plain stores.

use std::sync::atomic::AtomicU64;

use crate::attachment::Attachment;
use crate::status::{load, store};

/// What is counted by the worker that frames are for, of one port and purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueCounts {
    /// Handled at once under the direct policy.
    pub(crate) direct: u64,
    /// Handled at once under the hybrid policy.
    pub(crate) hybrid: u64,
    /// Handled out of a queue.
    pub(crate) taken: u64,
    /// Queued by this worker to itself without a ring.
    pub(crate) kept: u64,
    /// Frames in its queues, when it last looked, and the most it ever saw.
    pub(crate) len: u64,
    pub(crate) watermark: u64,
}

/// Purposes that frames are queued for: deciding, transmitting, gathering.
pub(crate) const KINDS: usize = 3;

/// Counters of [`QueueCounts`].
const COUNTS: usize = 6;

impl QueueCounts {
    fn counters(&self) -> [u64; COUNTS] {
        [
            self.direct,
            self.hybrid,
            self.taken,
            self.kept,
            self.len,
            self.watermark,
        ]
    }

    fn from_words([direct, hybrid, taken, kept, len, watermark]: [u64; COUNTS]) -> Self {
        Self {
            direct,
            hybrid,
            taken,
            kept,
            len,
            watermark,
        }
    }

    /// Told how many frames waited, and how many of them have been taken.
    #[inline]
    pub(crate) fn look(&mut self, waited: u64, taken: u64) {
        // More may have come while some were taken.
        self.len = waited.saturating_sub(taken);
        self.watermark = self.watermark.max(waited);
    }
}

/// All that one worker counted of one port and purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KindCounters {
    pub(crate) queue: QueueCounts,
    /// By worker: frames it queued to that one, and frames it had to drop for want of room there.
    pub(crate) sent: Vec<(u64, u64)>,
}

/// Where one worker shows it. Aligned to two lines, as other boards are.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct DispatchBoard {
    /// By port, deciding before transmitting and gathering.
    kinds: Vec<[AtomicU64; COUNTS]>,
    /// By port and kind, and by worker: queued and dropped.
    sent: Vec<[AtomicU64; 2]>,
    workers: usize,
}

impl DispatchBoard {
    pub(crate) fn new(ports: usize, workers: usize) -> Self {
        let kinds = KINDS * ports;
        Self {
            kinds: (0..kinds).map(|_| Default::default()).collect(),
            sent: (0..kinds * workers).map(|_| Default::default()).collect(),
            workers,
        }
    }

    /// Shows what a worker counted. Only that worker may call it.
    pub(crate) fn show(&self, attachments: &[Attachment]) {
        let exchanges = attachments
            .iter()
            .flat_map(|own| [&own.decisions, &own.transmissions, &own.gatherings]);
        for (kind, exchange) in exchanges.enumerate() {
            let Some(shown) = self.kinds.get(kind) else {
                return;
            };
            let mut counts = *exchange.counts();
            // What is kept back of buckets to come waits to be decided on.
            if kind % KINDS == 0 {
                counts.len += attachments[kind / KINDS].kept.len() as u64;
            }
            store(shown, &counts.counters());
            let row = &self.sent[kind * self.workers..][..self.workers];
            for (shown, (queued, dropped)) in row.iter().zip(exchange.sent()) {
                store(shown, &[queued, dropped]);
            }
        }
    }

    /// What it shows, by port, deciding before transmitting and gathering.
    pub(crate) fn read(&self) -> Vec<KindCounters> {
        let kind = |(kind, counters): (usize, &[AtomicU64; COUNTS])| {
            let row = &self.sent[kind * self.workers..][..self.workers];
            KindCounters {
                queue: QueueCounts::from_words(load(counters)),
                sent: row.iter().map(load).map(|[q, d]| (q, d)).collect(),
            }
        };
        self.kinds.iter().enumerate().map(kind).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_comes_back_where_it_was() {
        let counters = std::array::from_fn(|place| place as u64 + 1);
        assert_eq!(QueueCounts::from_words(counters).counters(), counters);
        let board = DispatchBoard::new(2, 3);
        store(&board.kinds[3], &counters);
        store(&board.sent[3 * 3 + 1], &[8, 9]);
        let seen = board.read();
        assert_eq!(seen.len(), 6);
        assert_eq!(seen[3].queue, QueueCounts::from_words(counters));
        assert_eq!(seen[3].sent, [(0, 0), (8, 9), (0, 0)]);
        assert_eq!(seen[2].sent, [(0, 0); 3]);
    }
}
