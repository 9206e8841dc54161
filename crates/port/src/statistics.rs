//! What passed through a queue.

use std::ops::{Add, AddAssign};

/// Counts of one queue, or of all queues of a port added up. Bytes are without FCS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortStatistics {
    /// Frames given to the worker.
    pub rx_frames: u64,
    /// Their captured bytes.
    pub rx_bytes: u64,
    /// Frames taken from the worker.
    pub tx_frames: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Frames that were there to receive and were not given to the worker.
    pub missed: u64,
    /// Of those, frames that the kernel or their sender had merged of several of the wire's.
    pub missed_merged: u64,
    /// Of those, frames longer than a chunk.
    pub missed_too_long: u64,
    /// Frames that the port left to the host, whose they are, without a worker having seen them.
    pub to_host: u64,
    /// Frames that the kernel forwarded past the worker during the run.
    pub unfiltered: u64,
    /// The same from the start of the run before until this one took over.
    pub unfiltered_before: u64,
    /// Frames that the kernel forwarded past the worker, because they are surely in no list.
    pub shortcut: u64,
}

impl PortStatistics {
    /// What passed since the counts were `earlier`.
    #[must_use]
    pub const fn since(self, earlier: &Self) -> Self {
        Self {
            rx_frames: self.rx_frames.saturating_sub(earlier.rx_frames),
            rx_bytes: self.rx_bytes.saturating_sub(earlier.rx_bytes),
            tx_frames: self.tx_frames.saturating_sub(earlier.tx_frames),
            tx_bytes: self.tx_bytes.saturating_sub(earlier.tx_bytes),
            missed: self.missed.saturating_sub(earlier.missed),
            missed_merged: self.missed_merged.saturating_sub(earlier.missed_merged),
            missed_too_long: self.missed_too_long.saturating_sub(earlier.missed_too_long),
            to_host: self.to_host.saturating_sub(earlier.to_host),
            unfiltered: self.unfiltered.saturating_sub(earlier.unfiltered),
            shortcut: self.shortcut.saturating_sub(earlier.shortcut),
            unfiltered_before: self
                .unfiltered_before
                .saturating_sub(earlier.unfiltered_before),
        }
    }
}

impl PortStatistics {
    /// Takes frames back that were counted as transmitted and were not, and their bytes by the mean
    /// of all; how many those are.
    pub(crate) fn take_back(&mut self, frames: u64) -> u64 {
        let frames = frames.min(self.tx_frames);
        let mean = self.tx_bytes as f64 / self.tx_frames.max(1) as f64;
        self.tx_frames -= frames;
        self.tx_bytes -= self.tx_bytes.min((frames as f64 * mean).round() as u64);
        frames
    }
}

impl AddAssign for PortStatistics {
    fn add_assign(&mut self, other: Self) {
        self.rx_frames += other.rx_frames;
        self.rx_bytes += other.rx_bytes;
        self.tx_frames += other.tx_frames;
        self.tx_bytes += other.tx_bytes;
        self.missed += other.missed;
        self.missed_merged += other.missed_merged;
        self.missed_too_long += other.missed_too_long;
        self.to_host += other.to_host;
        self.unfiltered += other.unfiltered;
        self.unfiltered_before += other.unfiltered_before;
        self.shortcut += other.shortcut;
    }
}

impl Add for PortStatistics {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::iter::Sum for PortStatistics {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
