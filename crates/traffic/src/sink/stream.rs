//! What is known of one stream.

use frame::Nanos;

use super::record::Record;
use super::run::Run;
use super::window::{Arrival, Window};
use crate::{Histogram, StreamReport};

/// Counts of a stream, its window and its latencies.
pub(super) struct Stream {
    number: u16,
    window: Window,
    latency: Histogram,
    received: u64,
    bytes: u64,
    duplicated: u64,
    reordered: u64,
    reordered_by_max: u64,
    across_flows: u64,
    outside: u64,
    pub(super) corrupted: u64,
    /// New numbers for which the record had no room.
    pub(super) unrecorded: u64,
    lowest: u64,
    arrived_early: u64,
    clock_error: u64,
}

impl Stream {
    /// A stream of which `window` numbers are remembered.
    pub(super) fn new(number: u16, window: usize) -> Self {
        Self {
            number,
            window: Window::new(window),
            latency: Histogram::new(),
            received: 0,
            bytes: 0,
            duplicated: 0,
            reordered: 0,
            reordered_by_max: 0,
            across_flows: 0,
            outside: 0,
            corrupted: 0,
            unrecorded: 0,
            lowest: u64::MAX,
            arrived_early: 0,
            clock_error: 0,
        }
    }

    pub(super) const fn number(&self) -> u16 {
        self.number
    }

    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// The highest number so far.
    pub(super) const fn highest(&self) -> Option<u64> {
        self.window.highest()
    }

    pub(super) const fn latency(&self) -> &Histogram {
        &self.latency
    }

    /// Takes a run of sound frames that came at `now`; numbers that are known to be new go into
    /// the record, where there is one.
    #[inline]
    pub(super) fn take(&mut self, run: &Run, now: Option<Nanos>, mut record: Option<&mut Record>) {
        let (first, count) = (run.first().sequence, run.count());
        self.received += count;
        self.bytes += run.bytes();
        let unique = if self.window.take_run(first, count) {
            self.lowest = self.lowest.min(first);
            if let Some(record) = record {
                (first..first + count).for_each(|number| self.write_down(number, record));
            }
            count
        } else {
            let mut unique = 0;
            for number in first..first + count {
                let is_new = self.take_one(number, run.overtaken());
                unique += u64::from(is_new);
                if let Some(record) = record.as_deref_mut().filter(|_| is_new) {
                    self.write_down(number, record);
                }
            }
            unique
        };
        let Some(age) = now.map(|now| run.first().age(now)) else {
            return;
        };
        match u64::try_from(age) {
            Ok(age) => self.latency.record_many(age, unique),
            Err(_) if unique == 0 => {}
            Err(_) => {
                self.arrived_early += unique;
                self.clock_error = self.clock_error.max(age.unsigned_abs());
            }
        }
    }

    fn write_down(&mut self, number: u64, record: &mut Record) {
        self.unrecorded += u64::from(!record.take(self.number, number));
    }

    /// Takes a number that is not above all before, or follows such; whether it is known to be new.
    /// `overtaken`: by how much a later frame of its own flow was before it.
    #[cold]
    fn take_one(&mut self, number: u64, overtaken: Option<u64>) -> bool {
        match self.window.take(number) {
            Arrival::Highest => {}
            Arrival::Below => match overtaken {
                Some(by) => {
                    self.reordered += 1;
                    self.reordered_by_max = self.reordered_by_max.max(by);
                }
                None => self.across_flows += 1,
            },
            Arrival::Duplicate => {
                self.duplicated += 1;
                return false;
            }
            Arrival::Outside => {
                self.outside += 1;
                return false;
            }
        }
        self.lowest = self.lowest.min(number);
        true
    }

    /// So many of the numbers that were taken for new had come to another worker.
    pub(super) fn came_to_others(&mut self, numbers: u64) {
        self.duplicated += numbers;
    }

    /// Adds what another worker saw of the same stream. A number that came to both counts twice
    /// among those that came until [`Self::came_to_others`] says how many did.
    pub(super) fn merge(&mut self, other: &Self) {
        self.received += other.received;
        self.bytes += other.bytes;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.reordered_by_max = self.reordered_by_max.max(other.reordered_by_max);
        self.across_flows += other.across_flows;
        self.outside += other.outside;
        self.unrecorded += other.unrecorded;
        self.corrupted += other.corrupted;
        self.lowest = self.lowest.min(other.lowest);
        self.arrived_early += other.arrived_early;
        self.clock_error = self.clock_error.max(other.clock_error);
        self.latency.merge(&other.latency);
        self.window.raise(other.window.highest());
    }

    pub(super) fn report(&self) -> StreamReport {
        let unique = self.received - self.duplicated - self.outside;
        let highest = self.window.highest().unwrap_or(0);
        let lowest = self.lowest.min(highest);
        let span = if self.received == 0 {
            0
        } else {
            highest - lowest + 1
        };
        StreamReport {
            stream: self.number,
            received: self.received,
            bytes: self.bytes,
            unique,
            lowest,
            highest,
            lost: span.saturating_sub(unique),
            duplicated: self.duplicated,
            reordered: self.reordered,
            reordered_by_max: self.reordered_by_max,
            across_flows: self.across_flows,
            outside_window: self.outside,
            uncompared: self.unrecorded,
            corrupted: self.corrupted,
            latency: self.latency.report(),
            arrived_early: self.arrived_early,
            clock_error_ns: self.clock_error,
        }
    }
}
