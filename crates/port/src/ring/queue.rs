//! A queue of one end of a ring.

use std::sync::atomic::Ordering;

use frame::{Burst, FramePool};

use super::pipe::Half;
use crate::{PortError, PortQueue, PortStatistics, RxState};

pub(super) struct RingQueue {
    half: Half,
    statistics: PortStatistics,
}

impl RingQueue {
    pub(super) fn new(half: Half) -> Self {
        Self {
            half,
            statistics: PortStatistics::default(),
        }
    }

    /// Whether the other end will send no more: it has finished, or is gone.
    fn peer_has_ended(&self) -> bool {
        // Acquire: what it sent before is seen once this is.
        self.half.peer_finished.load(Ordering::Acquire) || self.half.from_peer.is_closed()
    }
}

impl PortQueue for RingQueue {
    fn rx_burst(&mut self, _: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        // Asked before receiving: what was sent before the end is then received below.
        let ended = self.peer_has_ended();
        let before = burst.len();
        let count = burst.receive(&mut self.half.from_peer, max);
        self.statistics.rx_frames += count as u64;
        let received = &burst.frames()[before..];
        self.statistics.rx_bytes += received.iter().map(|frame| frame.len() as u64).sum::<u64>();
        if ended && self.half.from_peer.is_empty() {
            RxState::Ended
        } else {
            RxState::Open
        }
    }

    fn tx_burst(&mut self, burst: &mut Burst, _: &mut FramePool) {
        if self.half.to_peer.is_closed() {
            return;
        }
        let sent = self.half.to_peer.free_slots().min(burst.len());
        let bytes = burst.frames()[..sent]
            .iter()
            .map(|frame| frame.len() as u64)
            .sum::<u64>();
        self.statistics.tx_frames += sent as u64;
        self.statistics.tx_bytes += bytes;
        self.half.to_peer.push_burst(burst.drain_front(sent));
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    /// Frames on their way to the other end; those on their way here are counted there.
    fn in_flight(&self) -> u32 {
        self.half.to_peer.len() as u32
    }

    /// Whether the other end is gone: what is sent then stays with the sender.
    fn failed(&self) -> bool {
        self.half.to_peer.is_closed()
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        // Release: whoever sees the mark sees every frame sent before.
        self.half.finished.store(true, Ordering::Release);
        Ok(Vec::new())
    }
}
