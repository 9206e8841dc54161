//! What a worker does with fragments whose packets are to be put together, for ends: they meet
//! where others would be gathered, and the whole packet goes on to the worker of its flow.

use std::collections::VecDeque;

use frame::PortId;
use plane::{DropReason, Gathered, Node, Reassembled, Reassembler};
use table::fragments::{FragmentCounts, FragmentLimits};

use crate::counters::Count;
use crate::worker::Worker;

/// Packets of which some fragments have come, and whole ones that wait to go on.
pub(crate) struct Reassembly {
    reassembler: Reassembler,
    whole: VecDeque<Gathered>,
}

impl Reassembly {
    pub(crate) fn new(limits: FragmentLimits) -> Self {
        Self {
            reassembler: Reassembler::new(limits),
            whole: VecDeque::with_capacity(frame::BURST_MAX),
        }
    }

    /// Frames that it holds.
    pub(crate) fn held(&self) -> usize {
        self.reassembler.held() + self.whole.len()
    }

    /// What was counted, and how many packets are known.
    pub(crate) fn counts(&self) -> (FragmentCounts, usize) {
        (*self.reassembler.counts(), self.reassembler.len())
    }

    pub(crate) fn has_whole(&self) -> bool {
        !self.whole.is_empty()
    }

    pub(crate) fn next_whole(&mut self) -> Option<Gathered> {
        self.whole.pop_front()
    }

    pub(crate) fn put_back(&mut self, whole: Gathered) {
        self.whole.push_front(whole);
    }
}

impl<N: Node> Worker<N> {
    /// Takes in the fragments that came in by the port at `place`; those of packets that become
    /// whole are consumed, and the packet is a frame of this worker.
    pub(crate) fn reassemble(&mut self, place: usize) {
        let now = self.plane_now();
        let Self {
            reassembly,
            pieces,
            pool,
            counters,
            steering,
            ..
        } = self;
        let Some(Reassembly { reassembler, whole }) = reassembly.as_deref_mut() else {
            return;
        };
        reassembler.set_now(now);
        for frame in pieces.drain() {
            let before = reassembler.held() as u64 + 1;
            match reassembler.accept(frame, pool) {
                Reassembled::Held => {}
                Reassembled::Packet(frame) => {
                    counters.add(Count::Consumed, before - reassembler.held() as u64);
                    counters.add(Count::Originated, 1);
                    whole.push_back(Gathered {
                        route: steering.route(&frame),
                        frame,
                        from: PortId(place as u8),
                        is_first: true,
                    });
                }
                // Fragments alone come here, so that there is no packet that is none.
                Reassembled::Untouched(frame) => {
                    counters.drop_frames(DropReason::FragmentUnknown, 1);
                    pool.free(frame);
                }
                Reassembled::Lost(frame, reason) => {
                    counters.drop_frames(reason, 1);
                    pool.free(frame);
                }
            }
        }
        self.discard_unassembled();
    }

    /// Drops what waited in vain.
    pub(crate) fn discard_unassembled(&mut self) {
        let now = self.plane_now();
        let Self {
            reassembly,
            pool,
            counters,
            ..
        } = self;
        let Some(Reassembly { reassembler, .. }) = reassembly.as_deref_mut() else {
            return;
        };
        reassembler.set_now(now);
        while let Some((frame, reason)) = reassembler.next_lost() {
            counters.drop_frames(reason, 1);
            pool.free(frame);
        }
    }

    /// Drops all of it, at the end of a run.
    pub(crate) fn discard_reassembly(&mut self, reason: DropReason) {
        if let Some(Reassembly { reassembler, whole }) = self.reassembly.as_deref_mut() {
            reassembler.clear(reason);
            for one in whole.drain(..) {
                self.counters.drop_frames(reason, 1);
                self.pool.free(one.frame);
            }
        }
        self.discard_unassembled();
    }
}
