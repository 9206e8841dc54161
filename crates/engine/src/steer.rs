//! How a worker puts what it received on its way to the workers of the flows, and takes what others
//! received of its own.

use frame::Burst;
use plane::Node;

use crate::attachment::Attachment;
use crate::dispatch::{Found, NO_FLOW};
use crate::exchange::Bound;
use crate::worker::Worker;

impl<N: Node> Worker<N> {
    /// Keeps the frames whose flows are this worker's, unless all are to be queued, and stages the
    /// others for theirs.
    pub(crate) fn steer(&mut self, place: usize) {
        let Self {
            attachments,
            burst,
            steering,
            counters,
            pool,
            pieces,
            ..
        } = self;
        steering.place_received(burst, attachments[place].queues);
        let placed = steering.placed();
        let mut own = Burst::new();
        let Attachment {
            decisions,
            gatherings,
            kept,
            ..
        } = &mut attachments[place];
        for (frame, found) in burst.drain().zip(placed.found) {
            let place = match *found {
                Found::Place(place) | Found::First(place) => place,
                Found::Piece(gatherer) => {
                    if let Err(frame) = gatherings.stage(gatherer, frame, counters) {
                        gatherings.counts.hybrid += 1;
                        // This worker's: there is room for as many as the burst had.
                        let _full = pieces.push(frame).map_err(|frame| pool.free(frame));
                    }
                    continue;
                }
                Found::Later => NO_FLOW as u8,
            };
            if let Err(frame) = decisions.stage(placed.owner(place), frame, counters) {
                if placed.comes(place) {
                    decisions.counts.kept += 1;
                    kept.keep(frame);
                    continue;
                }
                // This worker's: `own` has room for as many as the burst had.
                let _full = own.push(frame).map_err(|frame| pool.free(frame));
            }
        }
        decisions.counts.hybrid += own.len() as u64;
        burst.append(&mut own);
    }

    /// Takes frames of this worker's flows that others received, and decides on them.
    #[inline]
    pub(crate) fn take_decisions(&mut self, place: usize) -> usize {
        let decisions = &mut self.attachments[place].decisions;
        decisions.look();
        // Asked after the look: whoever sent by a newer table what waits has shown it.
        let newest = self.steering.newest();
        let stale = newest != self.steering.version;
        let awaits = self.steering.awaits();
        let max = self.decided_max();
        let Attachment {
            decisions, kept, ..
        } = &mut self.attachments[place];
        let taken = if awaits || stale {
            let bound = Bound {
                handover: &self.steering.handover,
                version: newest,
                port: place,
                me: self.id,
                // What belongs to the newer table waits until this worker has it.
                room: if stale { 0 } else { kept.room() },
            };
            decisions.take_bounded(&mut self.burst, &mut self.counters, max, &bound)
        } else {
            decisions.take_some(&mut self.burst, &mut self.counters, max)
        };
        decisions.counts.taken += taken as u64;
        if awaits && taken != 0 {
            self.keep_back(place);
        }
        if !self.burst.is_empty() {
            self.decide(place);
        }
        taken
    }
}
