//! What one of several workers does with fragments: they meet at a worker chosen by their packet,
//! and go on to the one that has its flow.
//!
//! Three purposes have rings: a frame to be gathered leads to one to be decided on, that to one to
//! be transmitted, never back. Whoever waits for room for one of them still takes those behind it.

use frame::{BURST_MAX, PortId, WorkerId};
use plane::{Gathered, Node, Verdict};
use table::fragments::DatagramHash;
use wire::DatagramKey;

use crate::attachment::Attachment;
use crate::carried::Parts;
use crate::dispatch::NO_FLOW;
use crate::worker::Worker;

/// Workers that gather. Each worker keeps a verdict for every packet that each of them may know,
/// and room for what they hold, so that without this bound memory grows with the square of the
/// workers.
pub(crate) const GATHERERS_MAX: u16 = 8;

/// Which worker gathers the fragments of a packet: by a hash with a key that is drawn for each run.
/// It never changes, so that no fragment misses the others.
#[derive(Clone, Debug)]
pub(crate) struct Gatherers {
    hash: DatagramHash,
    /// Packets are put together: those of outer headers alone.
    pub(crate) reassembles: bool,
}

impl Gatherers {
    pub(crate) fn new(reassembles: bool) -> Self {
        Self {
            hash: DatagramHash::draw(),
            reassembles,
        }
    }

    /// One of the workers that have a queue of the port, of the first [`GATHERERS_MAX`].
    #[inline]
    pub(crate) fn of(&self, packet: &DatagramKey, queues: u16) -> WorkerId {
        let gatherers = u64::from(queues.clamp(1, GATHERERS_MAX));
        WorkerId((((self.hash.of(packet, 0) >> 32) * gatherers) >> 32) as u16)
    }
}

/// What became of a frame that was to go on.
enum Sent {
    Gone,
    /// There is no room where it must go.
    Full(Gathered),
}

impl<N: Node> Worker<N> {
    /// Whether gathered fragments wait to go on.
    #[inline]
    pub(crate) fn has_gathered(&self) -> bool {
        let reassembly = self.reassembly.as_ref();
        self.bridge.has_gathered() || reassembly.is_some_and(|own| own.has_whole())
    }

    /// Frames that wait for others, or to go on.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        let assembled = self.reassembly.as_ref().map_or(0, |own| own.held());
        self.bridge.held() + assembled + self.node.held()
    }

    fn next_gathered(&mut self) -> Option<Gathered> {
        match &mut self.reassembly {
            Some(reassembly) => reassembly.next_whole(),
            None => self.bridge.gatherer()?.next_gathered(),
        }
    }

    /// Sends on what was gathered and found no room before; drops what waited in vain. Returns how
    /// many frames moved.
    #[inline]
    pub(crate) fn attend_gathered(&mut self) -> usize {
        if self.held() == 0 {
            return 0;
        }
        self.discard_unassembled();
        self.discard_ungathered();
        self.send_gathered()
    }

    /// Takes fragments that others received and this worker gathers.
    #[inline]
    pub(crate) fn take_pieces(&mut self, place: usize) -> usize {
        if !self.may_gather() {
            return 0;
        }
        let Attachment { gatherings, .. } = &mut self.attachments[place];
        gatherings.look();
        let taken = gatherings.take(&mut self.pieces, &mut self.counters);
        gatherings.counts.taken += taken as u64;
        self.gather(place);
        taken
    }

    /// What is gathered may go on at once.
    fn may_gather(&self) -> bool {
        let staged = |own: &Attachment| own.decisions.is_staged();
        self.may_decide() && !self.has_gathered() && !self.attachments.iter().any(staged)
    }

    /// Gathers the fragments that came in by the port at `place`, and sends on what may.
    pub(crate) fn gather(&mut self, place: usize) {
        if self.pieces.is_empty() {
            return;
        }
        if self.reassembly.is_some() {
            self.reassemble(place);
            self.send_gathered();
            return;
        }
        let now = self.plane_now();
        let Self {
            bridge,
            pieces,
            burst,
            verdicts,
            steering,
            versions,
            ..
        } = self;
        let from = (PortId(place as u8), &versions.get().ruleset);
        bridge.set_now(now);
        let mut route = |frame: &frame::Frame| steering.route(frame);
        bridge.gather(pieces, from, verdicts, (&mut route, burst));
        let rest = self.burst.len() as u64;
        if rest != 0 {
            self.attachments[place].decisions.counts.hybrid += rest;
            self.decide(place);
        }
        self.discard_ungathered();
        self.send_gathered();
    }

    /// Puts gathered frames on their way, a burst of them, as far as there is room.
    fn send_gathered(&mut self) -> usize {
        if !self.has_gathered() || !self.may_send() {
            return 0;
        }
        let mut sent = 0;
        let mut of = None;
        while sent < BURST_MAX
            && let Some(gathered) = self.next_gathered()
        {
            let place = usize::from(gathered.from.0);
            // One port's frames are decided on at a time.
            if of.is_some_and(|other| other != place) && !self.burst.is_empty() {
                self.put_back(gathered);
                break;
            }
            of = Some(place);
            match self.send_one(gathered, place) {
                Sent::Gone => sent += 1,
                Sent::Full(gathered) => {
                    self.put_back(gathered);
                    break;
                }
            }
        }
        if let Some(place) = of
            && !self.burst.is_empty()
        {
            self.attachments[place].decisions.counts.hybrid += self.burst.len() as u64;
            self.decide(place);
        }
        self.flush();
        sent
    }

    /// Nothing waits for the room that gathered frames need.
    fn may_send(&self) -> bool {
        let staged = |own: &Attachment| own.decisions.is_staged();
        self.may_decide() && !self.attachments.iter().any(staged)
    }

    fn put_back(&mut self, gathered: Gathered) {
        if let Some(reassembly) = &mut self.reassembly {
            reassembly.put_back(gathered);
        } else if let Some(gatherer) = self.bridge.gatherer() {
            gatherer.put_back(gathered);
        }
    }

    /// Stages a gathered frame for its worker; this one's own joins the burst, or is kept back
    /// where its flow is still another worker's.
    fn send_one(&mut self, gathered: Gathered, place: usize) -> Sent {
        let Self {
            attachments,
            steering,
            counters,
            burst,
            ..
        } = self;
        let Attachment {
            decisions, kept, ..
        } = &mut attachments[place];
        let Gathered {
            frame,
            route,
            from,
            is_first,
        } = gathered;
        let full = |frame| {
            Sent::Full(Gathered {
                frame,
                route,
                from,
                is_first,
            })
        };
        let len = frame.len() as u32;
        if decisions.leads_to(route.worker) {
            if let Err(frame) = decisions.stage(route.worker, frame, counters) {
                return full(frame);
            }
        } else if kept.awaits(&frame, is_first && steering.comes(route.bucket)) {
            if kept.room() == 0 {
                return full(frame);
            }
            decisions.counts.kept += 1;
            kept.keep_piece(frame, is_first);
        } else if let Err(frame) = burst.push(frame) {
            return full(frame);
        }
        if usize::from(route.bucket) != NO_FLOW {
            steering.count(route.bucket, len);
        }
        Sent::Gone
    }

    /// Decides on what the gatherer has no use for, which is dropped: sets count it and samples
    /// have it, as all that is dropped.
    fn discard_ungathered(&mut self) {
        debug_assert!(self.burst.is_empty(), "nothing else is decided on");
        while self.may_decide()
            && let Some(gatherer) = self.bridge.gatherer()
            && let Some(from) = gatherer.take_lost(&mut self.burst)
        {
            let place = usize::from(from.0);
            self.attachments[place].decisions.counts.hybrid += self.burst.len() as u64;
            self.decide(place);
        }
    }

    /// Drops all that is gathered, at the end of a run.
    pub(crate) fn discard_gathered(&mut self, reason: plane::DropReason) {
        let Parts {
            bridge,
            mut departure,
            ..
        } = self.parts();
        if let Some(gatherer) = bridge.gatherer() {
            gatherer.clear(reason);
            while let Some(one) = gatherer.next_lost() {
                debug_assert!(matches!(one.verdict, Verdict::Drop(_)), "it is lost");
                departure.carry_out(one.frame, one.verdict, one.from);
            }
        }
        self.discard_reassembly(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that may gather do so about equally often, and nobody else ever does.
    #[test]
    fn gatherers_share_packets_and_are_few() {
        let gatherers = Gatherers::new(false);
        for (queues, wanted) in [(0, 1), (1, 1), (2, 2), (3, 3), (8, 8), (64, 8)] {
            let mut counts = [0_u32; 64];
            for identification in 0..8000 {
                let packet = DatagramKey {
                    src: 0x2D53_0201,
                    dst: 0x0808_0808,
                    identification,
                    protocol: 17,
                    family: wire::Family::V4,
                };
                counts[usize::from(gatherers.of(&packet, queues).0)] += 1;
            }
            let (few, others) = counts.split_at(wanted);
            assert!(
                others.iter().all(|&count| count == 0),
                "{queues} queues: {counts:?}"
            );
            // Drawn keys: 1,000 of eight are some 30 off.
            let even = 8000 / wanted as u32;
            let about = even / 2..=even * 2;
            assert!(
                few.iter().all(|count| about.contains(count)),
                "{queues} queues: {counts:?}"
            );
        }
    }
}
