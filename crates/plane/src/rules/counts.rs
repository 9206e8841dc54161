//! Counters of rules: each worker has its own, which others may read at any time.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What one rule matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleCount {
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames, without FCS.
    pub bytes: u64,
}

/// The counters of a table of rules, and behind the rules of what none decided on.
#[derive(Debug)]
pub struct RuleCounts {
    rules: usize,
    /// A column a worker: packets and bytes of each rule.
    columns: Vec<Vec<[AtomicU64; 2]>>,
    /// Columns that workers have.
    taken: AtomicUsize,
}

impl RuleCounts {
    pub(super) fn new(rules: usize, workers: usize) -> Self {
        let none = || [const { AtomicU64::new(0) }; 2];
        let column = |_| (0..=rules).map(|_| none()).collect();
        Self {
            rules,
            columns: (0..workers.max(1)).map(column).collect(),
            taken: AtomicUsize::new(0),
        }
    }

    /// As many counters, all 0.
    pub(super) fn anew(&self) -> Self {
        Self::new(self.rules, self.columns.len())
    }

    /// Where what no rule decides on is counted.
    pub(crate) fn otherwise(&self) -> u32 {
        self.rules as u32
    }

    /// Takes a column for one worker, who alone adds to it; once a worker and table.
    pub(crate) fn take_column(&self) -> usize {
        let column = self.taken.fetch_add(1, Ordering::Relaxed);
        debug_assert!(column < self.columns.len(), "more workers than columns");
        column.min(self.columns.len() - 1)
    }

    /// Counts a packet, by plain loads and stores.
    #[inline]
    pub(crate) fn add(&self, column: usize, rule: u32, bytes: u64) {
        let Some([packets, octets]) = self.columns[column].get(rule as usize) else {
            return;
        };
        packets.store(packets.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        octets.store(octets.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
    }

    /// What the rules matched, all workers together; the last is what none decided on.
    #[must_use]
    pub fn read(&self) -> Vec<RuleCount> {
        let mut sums = vec![RuleCount::default(); self.rules + 1];
        for column in &self.columns {
            for (sum, [packets, bytes]) in sums.iter_mut().zip(column) {
                sum.packets += packets.load(Ordering::Relaxed);
                sum.bytes += bytes.load(Ordering::Relaxed);
            }
        }
        sums
    }
}
