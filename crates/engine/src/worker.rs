//! All that a CPU owns, and one turn of it.

use std::sync::Arc;

use frame::{Burst, CpuId, FramePool, Nanos, PortId, WorkerId};
use plane::{Bridge, DropReason, Node, Outbox, Verdicts};

use crate::ahead::Ahead;
use crate::attachment::{self, Attachment};
use crate::clock::{Clock, OsClock};
use crate::counters::{Count, Counters};
use crate::dispatch::{StateLinks, Steering};
use crate::idle::IdleMode;
use crate::overlap::Overlap;
use crate::publish::{Reader, Version};
use crate::reassembly::Reassembly;
use crate::recorded::Recorded;
use crate::requests::Requests;
use crate::samples::Decided;
use crate::start::Work;
use crate::supervise::Control;

/// A worker: its pool, its queues, its tables, its counters. Nothing of it is shared but the
/// rings, the board and the published lists.
pub(crate) struct Worker<N> {
    pub(crate) id: WorkerId,
    pub(crate) cpu: CpuId,
    pub(crate) pool: FramePool,
    /// What the policy says.
    // In a box: its columns are some hundred KiB.
    pub(crate) bridge: Box<Bridge>,
    /// Where frames leave.
    pub(crate) node: N,
    /// What the node makes of a burst.
    pub(crate) outbox: Outbox,
    pub(crate) versions: Reader<Version>,
    /// Frames of policies before this one that count sets would have dropped.
    pub(crate) would_drop_before: u64,
    /// By port number.
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) steering: Steering,
    /// By which flows go where their buckets go.
    pub(crate) state: StateLinks,
    /// Frames taken from a queue in one step at most.
    pub(crate) burst_max: usize,
    /// Frames it may still receive.
    pub(crate) quota: u64,
    /// Every source can wait, so nothing is dropped for want of room.
    pub(crate) can_wait: bool,
    /// Being decided on.
    pub(crate) burst: Box<Burst>,
    /// The next, received while that one waited for memory.
    pub(crate) ahead: Ahead,
    /// Fragments to be gathered.
    pub(crate) pieces: Burst,
    /// Packets that are put together, if they are.
    pub(crate) reassembly: Option<Box<Reassembly>>,
    pub(crate) verdicts: Verdicts,
    pub(crate) counters: Counters,
    pub(crate) control: Arc<Control>,
    /// What it does while nothing comes.
    pub(crate) idle: IdleMode,
    /// It has told its queues that it is about to end.
    pub(crate) leaves: bool,
    /// What the control side gave it to do.
    pub(crate) requests: Requests,
    /// What time it is by captures, where all comes out of captures and something asks.
    pub(crate) recorded: Option<Box<Recorded>>,
    /// When the step began.
    pub(crate) now: Nanos,
    /// Receptions that brought frames to be steered.
    pub(crate) receptions: u32,
    /// When it last moved a frame.
    pub(crate) active_until: Nanos,
}

impl<N: Node> Work for Worker<N> {
    fn id(&self) -> WorkerId {
        self.id
    }

    fn cpu(&self) -> CpuId {
        self.cpu
    }

    fn hold(&mut self) -> (&mut [Attachment], &mut FramePool) {
        (&mut self.attachments, &mut self.pool)
    }

    fn held(&self) -> (&[Attachment], &FramePool) {
        (&self.attachments, &self.pool)
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn run(self, clock: &OsClock) -> Self {
        self.work(clock)
    }
}

impl<N: Node> Worker<N> {
    /// One turn, with the newest lists for all of it: take what others want transmitted, send what
    /// waits, decide on what others received, receive. Returns how many frames moved.
    pub(crate) fn step(&mut self, clock: &impl Clock) -> usize {
        if !self.versions.is_newest() {
            self.change(|versions| _ = versions.refresh());
        }
        let mut moved = self.take_transmissions();
        if !self.defers() {
            moved += self.flush();
        }
        moved += self.attend_held();
        moved += self.attend_gathered();
        moved += self.poll_node();
        if self.steering.is_moved() {
            moved += self.follow_moves();
        }
        let drains = self.control.drains();
        if drains && !self.leaves {
            self.leaves = true;
            self.leave();
        }
        for place in 0..self.attachments.len() {
            if self.has_rest(place) {
                continue;
            }
            if self.may_decide() && self.has_room_for_copies(0) {
                moved += self.take_decisions(place);
            }
            moved += self.take_pieces(place);
            if self.may_receive(place) && self.has_room_for_copies(self.burst_max) {
                moved += self.receive(place, clock);
            }
        }
        moved += self.decide_rest();
        if self.has_failed() {
            self.control.fail();
        }
        debug_assert!(self.accounting_balances(), "a frame without a verdict");
        self.show_exchange(drains);
        moved
    }

    /// The books in the middle of a run: what came in has left, was handed off, was dropped, or
    /// waits to leave. Checked after every step of a debug build.
    pub(crate) fn accounting_balances(&self) -> bool {
        let sum = |counts: &[Count]| -> u64 {
            counts.iter().map(|&count| self.counters.get(count)).sum()
        };
        let entered = sum(&[Count::Rx, Count::Received, Count::Originated, Count::Cloned]);
        let left =
            sum(&[Count::Tx, Count::HandedOff, Count::Consumed]) + self.counters.dropped_total();
        entered == left + self.waiting() && self.burst.is_empty() && self.pieces.is_empty()
    }

    /// Frames that wait here between two steps.
    pub(crate) fn waiting(&self) -> u64 {
        let waits = |own: &Attachment| own.staged.len() + own.kept.len();
        let staged: usize = self.attachments.iter().map(waits).sum();
        (staged + self.held() + self.ahead.len() + self.rest_len()) as u64
    }

    /// Gives every frame of the burst its verdict, carries it out and sends what may leave.
    #[inline]
    pub(crate) fn decide(&mut self, place: usize) {
        if self.keep_recorded(place) {
            return;
        }
        self.decide_overlapped(place, |_, _| {});
    }

    /// [`Worker::decide`] that calls `meanwhile` once, while lines of tables are on their way.
    #[inline]
    pub(crate) fn decide_overlapped(
        &mut self,
        place: usize,
        mut overlap: impl FnMut(&Burst, Overlap<'_>),
    ) {
        let from = PortId(place as u8);
        self.bridge.set_now(self.plane_now());
        let Self {
            bridge,
            burst,
            versions,
            verdicts,
            attachments,
            pool,
            counters,
            ahead,
            quota,
            can_wait,
            ..
        } = self;
        let ruleset = &versions.get().ruleset;
        bridge.decide_overlapped((burst, from), ruleset, verdicts, &mut || {
            let worker = Overlap {
                attachments,
                pool,
                counters,
                ahead,
                quota,
                can_wait: *can_wait,
            };
            overlap(burst, worker);
        });
        if N::DECIDES {
            self.process(from);
        }
        // Almost always none.
        if !self.requests.samplers.is_empty() {
            self.sample(from);
        }
        if self.bridge.has_rejected() {
            let now = self.plane_now();
            let burst = (&mut *self.burst, from);
            self.bridge.answer_rejected(burst, &mut self.verdicts, now);
        }
        if !self.settle_fragments() {
            self.carry_out(from);
        }
        if !self.defers() {
            self.flush();
        }
    }

    /// Takes samples of a burst that was decided on.
    #[cold]
    #[inline(never)]
    fn sample(&mut self, from: PortId) {
        let decided = Decided {
            burst: &self.burst,
            verdicts: self.verdicts.as_slice(),
            bridge: &self.bridge,
            from,
            ruleset: &self.versions.get().ruleset,
            version: self.versions.version(),
            now: self.now,
        };
        for sampler in &mut self.requests.samplers {
            sampler.look(&decided);
        }
    }

    #[inline]
    pub(crate) fn flush(&mut self) -> usize {
        let Self {
            attachments,
            pool,
            counters,
            can_wait,
            ..
        } = self;
        attachment::flush(attachments, pool, *can_wait, counters)
    }

    /// Something that was decided on waits to be sent, and may until the next burst waits for
    /// memory: that one is here, and there is room for all of it beside.
    #[inline]
    pub(crate) fn defers(&self) -> bool {
        let is_staged = |attachment: &Attachment| !attachment.staged.is_empty();
        let may_defer = |attachment: &Attachment| attachment.may_defer(self.burst_max);
        !self.ahead.is_empty()
            && self.attachments.iter().any(is_staged)
            && self.attachments.iter().all(may_defer)
            && !self.bridge.may_hold()
    }

    /// Takes frames that other workers want transmitted, as many as there is room to stage.
    #[inline]
    fn take_transmissions(&mut self) -> usize {
        let Self {
            attachments,
            counters,
            ..
        } = self;
        let take = |attachment: &mut Attachment| {
            attachment.transmissions.look();
            let taken = attachment
                .transmissions
                .take(&mut attachment.staged, counters);
            attachment.transmissions.counts.taken += taken as u64;
            taken
        };
        attachments.iter_mut().map(take).sum()
    }

    /// Nothing is staged anywhere, and what comes has room even if all of it must be kept back; or
    /// what is staged may wait.
    #[inline]
    fn may_receive(&self, place: usize) -> bool {
        if self.ahead.is_from(place) && self.defers() {
            return true;
        }
        let keeps = self.steering.awaits() && self.attachments[place].steers();
        self.is_clear() && (!keeps || self.attachments[place].kept.room() >= self.burst_max)
    }

    /// Nothing that was decided on is staged anywhere. What is staged for other workers to decide
    /// on may wait: two workers that hand over to each other would else wait for ever.
    #[inline]
    pub(crate) fn may_decide(&self) -> bool {
        !self.has_released() && self.attachments.iter().all(Attachment::may_decide)
    }

    /// Nothing is staged anywhere, so a whole burst has room, whatever the verdicts.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        !self.has_released()
            && !self.has_gathered()
            && self.attachments.iter().all(Attachment::is_clear)
    }

    /// A port that has failed ends the run: what is received after it has nowhere to go.
    fn has_failed(&self) -> bool {
        self.attachments.iter().any(Attachment::failed)
    }

    /// Nothing will come from its own queues any more.
    pub(crate) fn is_dry(&self, drains: bool) -> bool {
        let closed = |attachment: &Attachment| attachment.queue.is_none() || !attachment.open;
        let empties = self.attachments.iter().any(|attachment| attachment.empties);
        let ends = (drains && !empties) || self.quota == 0;
        let waits = !self.ahead.is_empty() || self.rest_len() != 0;
        !waits && (ends || self.attachments.iter().all(closed))
    }

    /// Tells the queues that nobody will be soon.
    fn leave(&mut self) {
        for attachment in &mut self.attachments {
            let left = attachment.queue.as_mut().is_some_and(|queue| queue.leave());
            attachment.empties = left;
        }
    }

    /// Does what may end at another version. Hits by the one before are shown first: when it has
    /// been left, nothing is added to them.
    pub(crate) fn change(&mut self, go: impl FnOnce(&mut Reader<Version>)) {
        self.show_hits();
        let before = self.versions.get().hit_counters.since;
        go(&mut self.versions);
        if self.versions.get().hit_counters.since != before {
            self.would_drop_before = self.counters.get(Count::WouldDrop);
            self.bridge.restart_hits();
        }
    }

    /// Ends the worker's hold on frames after all workers have stopped: drops what is still
    /// staged or on its way to it.
    pub(crate) fn abandon(&mut self) {
        self.take_flows();
        let reason = DropReason::Shutdown;
        self.discard_held(reason);
        self.discard_gathered(reason);
        self.discard_ahead(reason);
        self.discard_rest(reason);
        let Self {
            attachments,
            pool,
            counters,
            ..
        } = self;
        for attachment in attachments {
            attachment.discard_staged(pool, reason, counters);
            attachment.discard_handoffs(pool, reason, counters);
            attachment.decisions.discard_waiting(pool, reason, counters);
            attachment
                .gatherings
                .discard_waiting(pool, reason, counters);
            attachment.decisions.counts.taken += attachment.kept.len() as u64;
            attachment.kept.discard(pool, reason, counters);
            attachment
                .transmissions
                .discard_waiting(pool, reason, counters);
        }
    }
}
