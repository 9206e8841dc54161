//! What a worker does when buckets move: see [`crate::dispatch::handover`] for the order of it.

use std::collections::VecDeque;

use frame::{BURST_MAX, Burst, Frame, FramePool};
use plane::{DropReason, Node, datagram_place};

use crate::attachment::Attachment;
use crate::counters::Counters;
use crate::dispatch::Found;
use crate::worker::Worker;

/// Frames of buckets that are not here yet, in the order in which they came. As many as a ring
/// holds unless it was chosen otherwise: the old owner has at most so many before it from each.
pub(crate) struct Kept {
    frames: VecDeque<Frame>,
    /// The places of the datagrams whose first fragments are among them: their other fragments stay
    /// behind those, and so do datagrams that have the same places after them.
    datagrams: Vec<u64>,
}

const KEPT_MAX: usize = 4 * BURST_MAX;

impl Kept {
    /// With all the room there will be where buckets can move, and none elsewhere.
    pub(crate) fn new(steers: bool) -> Self {
        let room = if steers { KEPT_MAX } else { 0 };
        Self {
            frames: VecDeque::with_capacity(room),
            datagrams: Vec::with_capacity(room),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// How many more it may take.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        KEPT_MAX.saturating_sub(self.frames.len())
    }

    /// Keeps a frame; the caller has looked at [`Kept::room`].
    pub(crate) fn keep(&mut self, frame: Frame) {
        debug_assert!(self.room() > 0, "more is kept than there is room for");
        self.frames.push_back(frame);
    }

    /// Whether a gathered fragment has to be kept: a first one where its bucket `comes`, any behind
    /// one with its place.
    pub(crate) fn awaits(&self, frame: &Frame, comes: bool) -> bool {
        let place = datagram_place(frame);
        comes || place != 0 && self.datagrams.contains(&place)
    }

    /// Keeps a gathered fragment; the caller has looked at [`Kept::room`].
    pub(crate) fn keep_piece(&mut self, frame: Frame, is_first: bool) {
        if is_first && datagram_place(&frame) != 0 {
            self.datagrams.push(datagram_place(&frame));
        }
        self.keep(frame);
    }

    /// Moves frames to a burst, oldest first, as many as fit and `max` at most; how many.
    fn release(&mut self, burst: &mut Burst, max: usize) -> usize {
        let mut count = 0;
        while count < max
            && let Some(frame) = self.frames.pop_front()
        {
            // There is room.
            if let Err(frame) = burst.push(frame) {
                self.frames.push_front(frame);
                break;
            }
            count += 1;
        }
        if self.frames.is_empty() {
            self.datagrams.clear();
        }
        count
    }

    /// Drops all.
    pub(crate) fn discard(
        &mut self,
        pool: &mut FramePool,
        reason: DropReason,
        counters: &mut Counters,
    ) {
        counters.drop_frames(reason, self.frames.len() as u64);
        self.frames.drain(..).for_each(|frame| pool.free(frame));
    }
}

impl<N: Node> Worker<N> {
    /// Takes part in a change of owners. Returns how many frames moved.
    #[cold]
    #[inline(never)]
    pub(crate) fn follow_moves(&mut self) -> usize {
        if self.steering.is_stale() {
            let staged = |own: &Attachment| own.decisions.is_staged();
            if self.has_gathered() || self.attachments.iter().any(staged) {
                // Placed by the old table: they go first.
                return 0;
            }
            self.mark_rings();
            self.steering.adopt();
        }
        if self.steering.goes() && self.has_drained() {
            self.give_flows();
            self.steering.drained();
        }
        if self.steering.awaits() && self.steering.arrived() {
            self.take_flows();
            return self.release();
        }
        0
    }

    /// Sends the flows of the buckets that left after them.
    fn give_flows(&mut self) {
        let Self {
            bridge,
            steering,
            state,
            ..
        } = self;
        let Some(stateful) = bridge.stateful_mut() else {
            return;
        };
        for &(bucket, to) in steering.left() {
            if let Some(shards) = stateful.take_bucket(bucket) {
                state.send(to, bucket, shards);
            }
        }
    }

    /// Takes over the flows of buckets that came.
    pub(crate) fn take_flows(&mut self) {
        if let Some(stateful) = self.bridge.stateful_mut() {
            let put = |bucket, shards| stateful.put_bucket(bucket, shards);
            self.state.receive(put);
        }
    }

    /// Tells how many frames it has put into each ring.
    fn mark_rings(&self) {
        let handover = &self.steering.handover;
        for (place, attachment) in self.attachments.iter().enumerate() {
            for (to, (queued, _)) in attachment.decisions.sent().enumerate() {
                handover.set_mark(place, self.id, to, queued);
            }
        }
    }

    /// Whether nothing of the buckets that left comes here any more, nor is on its way to a port.
    fn has_drained(&self) -> bool {
        let (handover, version) = (&self.steering.handover, self.steering.version);
        let below_marks = |(place, attachment): (usize, &Attachment)| {
            let mut inlets = attachment.decisions.taken();
            inlets.all(|(from, taken)| taken >= handover.mark(place, from, self.id))
        };
        handover.all_adopted(version)
            && self.attachments.iter().enumerate().all(below_marks)
            && self.may_decide()
            && self
                .attachments
                .iter()
                .all(|own| own.transmissions.is_taken())
    }

    /// Decides on what was kept back, as long as there is room for what comes of it.
    fn release(&mut self) -> usize {
        let mut moved = 0;
        let max = self.decided_max();
        for place in 0..self.attachments.len() {
            while !self.attachments[place].kept.is_empty()
                && self.may_decide()
                && self.has_room_for_copies(0)
            {
                let attachment = &mut self.attachments[place];
                let count = attachment.kept.release(&mut self.burst, max);
                attachment.decisions.counts.taken += count as u64;
                moved += count;
                self.decide(place);
            }
        }
        if self.attachments.iter().all(|own| own.kept.is_empty()) {
            self.steering.settled();
        }
        moved
    }

    /// Of the frames taken from rings, keeps back those of buckets that are not here yet.
    #[cold]
    #[inline(never)]
    pub(crate) fn keep_back(&mut self, place: usize) {
        self.steering.place(&self.burst);
        let placed = self.steering.placed();
        let mut rest = Burst::new();
        let attachment = &mut self.attachments[place];
        for (frame, found) in self.burst.drain().zip(placed.found) {
            let kept = &mut attachment.kept;
            let keeps = match found {
                Found::Place(place) => placed.comes(*place),
                Found::First(place) => kept.awaits(&frame, placed.comes(*place)),
                Found::Later => kept.awaits(&frame, false),
                Found::Piece(_) => false,
            };
            if keeps {
                kept.keep_piece(frame, matches!(found, Found::First(_)));
                // It is still queued.
                attachment.decisions.counts.taken -= 1;
            } else {
                // As many as the burst had.
                let _full = rest.push(frame).map_err(|frame| self.pool.free(frame));
            }
        }
        self.burst.append(&mut rest);
    }
}
