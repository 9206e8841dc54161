//! What is known of one stream.

use frame::Nanos;

use super::window::{Arrival, Window};
use crate::{Histogram, Signature, StreamReport};

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

    /// Takes a sound frame of `bytes` bytes; whether its number is known to be new.
    #[inline]
    pub(super) fn take(&mut self, signature: &Signature, bytes: usize, now: Nanos) -> bool {
        self.received += 1;
        self.bytes += bytes as u64;
        match self.window.take(signature.sequence) {
            Arrival::Highest => {}
            Arrival::Reordered(by) => {
                self.reordered += 1;
                self.reordered_by_max = self.reordered_by_max.max(by);
            }
            Arrival::Duplicate => {
                self.duplicated += 1;
                return false;
            }
            Arrival::Outside => {
                self.outside += 1;
                return false;
            }
        }
        self.lowest = self.lowest.min(signature.sequence);
        match u64::try_from(signature.age(now)) {
            Ok(age) => self.latency.record(age),
            Err(_) => {
                self.arrived_early += 1;
                self.clock_error = self.clock_error.max(signature.age(now).unsigned_abs());
            }
        }
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
            outside_window: self.outside,
            uncompared: self.unrecorded,
            corrupted: self.corrupted,
            latency: self.latency.report(),
            arrived_early: self.arrived_early,
            clock_error_ns: self.clock_error,
        }
    }
}
