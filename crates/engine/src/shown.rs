//! What a worker shows of itself while it works, and what it writes down.

use frame::Consumer;
use plane::{FlowRecord, Node, Stateful};

use crate::attachment::Attachment;
use crate::counters::{Count, NODE_COUNTS_MAX};
use crate::flows;
use crate::fragments;
use crate::worker::Worker;

/// What a reception takes at most, nanoseconds.
const RECEPTION_NANOS_MAX: u64 = 1_000_000;

impl<N: Node> Worker<N> {
    /// Counts what a reception took.
    pub(crate) fn time_reception(&mut self, nanos: u64, frames: usize) {
        // More is no work: the worker was not running.
        if nanos < RECEPTION_NANOS_MAX {
            self.counters.add(Count::ReceptionNanos, nanos);
            self.counters.add(Count::ReceptionFrames, frames as u64);
        }
    }

    /// Shows what passed between workers, and whether it is at rest.
    #[inline]
    pub(crate) fn show_exchange(&mut self, drains: bool) {
        let dry = self.is_dry(drains);
        let kept = self.attachments.iter().any(|own| !own.kept.is_empty());
        let quiet =
            dry && !kept && self.is_clear() && !self.attachments.iter().any(Attachment::is_waiting);
        self.board().show_exchange(&self.counters, quiet);
    }

    /// Shows its counters.
    pub(crate) fn show(&mut self) {
        const { assert!(N::COUNTS.len() <= NODE_COUNTS_MAX, "each count has a place") }
        self.show_hits();
        let now = self.plane_now();
        if let Some(stateful) = self.bridge.stateful_mut() {
            // Flows are over in time also where no frame comes.
            stateful.set_now(now);
            flows::count(stateful, &mut self.counters);
        }
        self.counters.set(Count::Held, self.held() as u64);
        let reassembly = self.reassembly.as_deref();
        fragments::count(&mut self.bridge, reassembly, &mut self.counters);
        if N::DECIDES {
            self.node.counts(self.counters.node_mut());
        }
        self.board().show(&self.counters);
    }

    /// Shows the hits by the policy it is at.
    pub(crate) fn show_hits(&mut self) {
        let hits = self.bridge.hits();
        let would_drop = self.would_drop_before + hits.would_drop_frames;
        self.counters.set(Count::WouldDrop, would_drop);
        self.versions.get().hit_counters.show(self.id, hits);
        self.counters.set_passed(self.bridge.passed());
    }

    /// Shows what it holds.
    pub(crate) fn show_hold(&self) {
        let board = self.control.hold(self.id);
        board.show(&self.attachments, &self.pool);
        self.show_dispatch();
    }

    /// Shows how it dispatched.
    pub(crate) fn show_dispatch(&self) {
        self.control.dispatch_board(self.id).show(&self.attachments);
    }

    /// The reading ends of what it writes down of flows.
    pub(crate) fn take_log_readers(&mut self) -> Vec<Consumer<FlowRecord>> {
        let stateful = self.bridge.stateful_mut();
        stateful.map(Stateful::take_readers).unwrap_or_default()
    }

    /// Writes down the flows that go on, after all workers have stopped; `wait` as of
    /// [`plane::Stateful::write_last`].
    pub(crate) fn end_flows(&mut self, wait: impl FnMut() -> bool) {
        if let Some(stateful) = self.bridge.stateful_mut() {
            stateful.write_last(wait);
            flows::count(stateful, &mut self.counters);
        }
    }

    fn board(&self) -> &crate::counters::Board {
        self.control.board(self.id)
    }
}
