//! What the ends of a run saw: frames lost, out of order, and how long they were under way.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::load::FLOWS;
use super::ports::NOT_COUNTED;

/// Steps of the delays a doubling: 4 % apart.
const STEPS: f64 = 16.0;
const DOUBLINGS: usize = 40;

/// What interface and sink share.
pub(super) struct Tally {
    begun: OnceLock<Instant>,
    /// Frames due in it are counted, nanoseconds.
    pub(super) window: Range<u64>,
    /// By flow: the number that should come next.
    next: Vec<AtomicU64>,
    reordered: AtomicU64,
    /// Frames that were due, and that were sent.
    due: AtomicU64,
    sent: AtomicU64,
    /// Frames by the logarithm of their delay.
    delays: Vec<AtomicU64>,
}

/// What came of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Per cent of the frames that were due.
    pub(super) lost_percent: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    pub(super) reordered: u64,
}

impl Tally {
    pub(super) fn new(window: Range<u64>) -> Arc<Self> {
        let zeros = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self {
            begun: OnceLock::new(),
            window,
            next: zeros(FLOWS),
            reordered: AtomicU64::new(0),
            due: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            delays: zeros(DOUBLINGS * STEPS as usize),
        })
    }

    /// Nanoseconds since somebody first asked.
    pub(super) fn now(&self) -> u64 {
        self.begun.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    pub(super) fn counts(&self, due: u64) -> bool {
        self.window.contains(&due)
    }

    /// So many frames were due in the window, by one queue.
    pub(super) fn was_due(&self, frames: u64) {
        self.due.fetch_add(frames, Ordering::Relaxed);
    }

    /// A frame is sent that was due at this time. Whichever worker sends the next of its flow does
    /// so after this one: else the numbers show it.
    pub(super) fn sent(&self, flow: u64, number: u64, due: u64) {
        let next = &self.next[flow as usize % FLOWS];
        if number < next.load(Ordering::Acquire) {
            self.reordered.fetch_add(1, Ordering::Relaxed);
        } else {
            next.store(number + 1, Ordering::Release);
        }
        if due != NOT_COUNTED {
            self.sent.fetch_add(1, Ordering::Relaxed);
            let delay = self.now().saturating_sub(due).max(1) as f64;
            let place = (delay.log2() * STEPS) as usize;
            self.delays[place.min(self.delays.len() - 1)].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn seen(&self) -> Seen {
        let (due, sent) = (
            self.due.load(Ordering::Relaxed),
            self.sent.load(Ordering::Relaxed),
        );
        Seen {
            lost_percent: 100.0 * due.saturating_sub(sent) as f64 / due.max(1) as f64,
            p50_us: self.quantile(0.5),
            p99_us: self.quantile(0.99),
            reordered: self.reordered.load(Ordering::Relaxed),
        }
    }

    /// The upper end of the step in which the delay lies, microseconds.
    fn quantile(&self, share: f64) -> f64 {
        let counts = self
            .delays
            .iter()
            .map(|count| count.load(Ordering::Relaxed));
        let counts: Vec<u64> = counts.collect();
        let mut left = (counts.iter().sum::<u64>() as f64 * share) as u64;
        let place = counts.iter().position(|&count| {
            let found = count > left;
            left = left.saturating_sub(count);
            found
        });
        2f64.powf((place.unwrap_or(0) as f64 + 1.0) / STEPS) / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_lost_or_out_of_order_is_seen() {
        let tally = Tally::new(100..1000);
        tally.was_due(4);
        let none = NOT_COUNTED;
        for (number, due) in [(0, none), (1, 100), (3, 999), (2, 500), (4, none)] {
            tally.sent(7, number, due);
        }
        let seen = tally.seen();
        assert_eq!(seen.reordered, 1);
        assert!((seen.lost_percent - 25.0).abs() < 1e-9, "{seen:?}");
        assert!(seen.p50_us > 0.0 && seen.p50_us <= seen.p99_us);
    }
}
