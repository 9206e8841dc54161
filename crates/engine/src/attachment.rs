//! A worker's hold on one port: a queue of its own or none, the frames waiting to leave, and the
//! rings over which workers share the port.

use std::os::fd::BorrowedFd;

use frame::{Burst, Frame, FramePool, PortId, WorkerId};
use plane::DropReason;
use port::{PortQueue, RxState};

use crate::counters::{Count, Counters};
use crate::dispatch::DispatchPolicy;
use crate::exchange::Exchange;
use crate::moves::Kept;

/// One port as one worker sees it.
pub(crate) struct Attachment {
    pub(crate) port: PortId,
    /// Its own queue; without one it hands frames for this port to `tx_owner`.
    pub(crate) queue: Option<Box<dyn PortQueue>>,
    /// Something may still come from the queue.
    pub(crate) open: bool,
    /// At the end of the run: frames that arrived before are still received.
    pub(crate) empties: bool,
    /// Last asked before its turn the queue had nothing, so it is not asked in the next one.
    pub(crate) had_nothing: bool,
    /// The port takes frames at all.
    pub(crate) transmits: bool,
    /// Who decides on what comes in.
    pub(crate) policy: DispatchPolicy,
    /// Queues that the port has.
    pub(crate) queues: u16,
    /// Some worker has no queue of this port to transmit by.
    pub(crate) shared: bool,
    /// The worker that transmits for this one.
    pub(crate) tx_owner: WorkerId,
    /// Frames that came in by it and that this worker dropped by their verdict.
    pub(crate) rx_dropped: u64,
    /// Frames that were to leave by it and that this worker dropped.
    pub(crate) tx_dropped: u64,
    /// Frames to transmit, in order.
    pub(crate) staged: Burst,
    /// Frames of buckets that come to this worker and are not here yet.
    pub(crate) kept: Kept,
    /// Frames received here for other workers to decide on, and the other way round.
    pub(crate) decisions: Exchange,
    /// Fragments received here for other workers to gather, and the other way round.
    pub(crate) gatherings: Exchange,
    /// Frames for the worker that has a queue to transmit, and the other way round.
    pub(crate) transmissions: Exchange,
}

impl Attachment {
    /// Receives up to `max` frames and counts them.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        pool: &mut FramePool,
        burst: &mut Burst,
        max: usize,
        counters: &mut Counters,
    ) -> usize {
        let Some(queue) = self.queue.as_mut().filter(|_| self.open) else {
            return 0;
        };
        let before = burst.len();
        let state = queue.rx_burst(pool, burst, max);
        self.open = state == RxState::Open;
        let frames = burst.len() - before;
        if frames != 0 {
            let bytes: usize = burst.frames()[before..].iter().map(Frame::len).sum();
            counters.add(Count::Rx, frames as u64);
            counters.add(Count::RxBytes, bytes as u64);
            counters.add_burst(frames);
        }
        frames
    }

    /// Stages a frame to leave by this port; `Err` gives it back where the port does not transmit.
    #[inline]
    pub(crate) fn stage(&mut self, frame: Frame, counters: &mut Counters) -> Result<(), Frame> {
        if !self.transmits {
            return Err(frame);
        }
        match self.queue {
            Some(_) => {
                self.staged.push(frame)?;
                self.transmissions.counts.direct += 1;
                Ok(())
            }
            None => self.transmissions.stage(self.tx_owner, frame, counters),
        }
    }

    /// Stages a whole burst to leave by a queue of this worker's own; `false` where some frame
    /// must be staged by itself, and the burst is as it was.
    #[inline]
    pub(crate) fn stage_burst(&mut self, burst: &mut Burst) -> bool {
        let fits = self.transmits && self.queue.is_some() && self.staged.room() >= burst.len();
        if fits {
            self.transmissions.counts.direct += burst.len() as u64;
            self.staged.append(burst);
        }
        fits
    }

    /// Transmits and hands over what is staged, gets completed frames back, and returns how many
    /// frames moved. Where the sources cannot wait, what found no room is dropped.
    #[inline]
    pub(crate) fn flush(
        &mut self,
        pool: &mut FramePool,
        can_wait: bool,
        counters: &mut Counters,
    ) -> usize {
        let handed = self.decisions.flush() + self.gatherings.flush() + self.transmissions.flush();
        let moved = self.transmit(pool, counters) + handed;
        if !can_wait {
            self.discard_staged(pool, DropReason::TxRingFull, counters);
            self.discard_handoffs(pool, DropReason::HandoffRingFull, counters);
        }
        moved
    }

    #[inline]
    fn transmit(&mut self, pool: &mut FramePool, counters: &mut Counters) -> usize {
        let Some(queue) = &mut self.queue else {
            return 0;
        };
        let before = self.staged.len();
        if before != 0 {
            queue.tx_burst(&mut self.staged, pool);
        }
        queue.reclaim(pool);
        let failed = queue.failed();
        let taken = before - self.staged.len();
        if before != 0 {
            counters.offered(self.port, taken);
        }
        let refused = queue.take_refused();
        counters.add(Count::Tx, taken as u64);
        self.book_refused(refused, counters);
        if failed {
            // Waiting for room would be for ever.
            self.discard_staged(pool, DropReason::PortFailed, counters);
        }
        taken
    }

    /// Transmits frames past those that are staged, and gets completed frames back; how many the
    /// port took, and how many it refused, of earlier steps too. The others stay in `frames`.
    pub(crate) fn transmit_past(
        &mut self,
        frames: &mut Burst,
        pool: &mut FramePool,
        counters: &mut Counters,
    ) -> (u64, u64) {
        let Some(queue) = &mut self.queue else {
            return (0, 0);
        };
        let before = frames.len();
        if before != 0 {
            queue.tx_burst(frames, pool);
        }
        queue.reclaim(pool);
        let refused = queue.take_refused();
        let taken = (before - frames.len()) as u64;
        counters.add(Count::Tx, taken);
        self.book_refused(refused, counters);
        (taken, refused)
    }

    /// What a port refuses may have been taken in an earlier step.
    #[inline]
    fn book_refused(&mut self, refused: u64, counters: &mut Counters) {
        // What went down with an interface may have been taken in a run before this one.
        let refused = refused.min(counters.get(Count::Tx));
        if refused != 0 {
            counters.take_back(Count::Tx, refused);
            counters.drop_frames(DropReason::TxRefused, refused);
            self.tx_dropped += refused;
        }
    }

    /// Has sent what the port gathers, when nothing more will come; what it then says that it could
    /// not send is still in the books.
    pub(crate) fn settle(&mut self, pool: &mut FramePool, counters: &mut Counters) {
        let Some(queue) = &mut self.queue else {
            return;
        };
        // A port that waits for more sends when a step brought none.
        queue.reclaim(pool);
        queue.reclaim(pool);
        let refused = queue.take_refused();
        self.book_refused(refused, counters);
    }

    /// Drops what is staged to transmit.
    pub(crate) fn discard_staged(
        &mut self,
        pool: &mut FramePool,
        reason: DropReason,
        counters: &mut Counters,
    ) {
        if !self.staged.is_empty() {
            counters.drop_frames(reason, self.staged.len() as u64);
            self.tx_dropped += self.staged.len() as u64;
            pool.free_burst(&mut self.staged);
        }
    }

    /// Drops what is staged for other workers.
    pub(crate) fn discard_handoffs(
        &mut self,
        pool: &mut FramePool,
        reason: DropReason,
        counters: &mut Counters,
    ) {
        self.decisions.discard_staged(pool, reason, counters);
        self.gatherings.discard_staged(pool, reason, counters);
        self.transmissions.discard_staged(pool, reason, counters);
    }

    /// Whether the port has failed for good.
    #[inline]
    pub(crate) fn failed(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.failed())
    }

    /// Nothing is staged that was decided on, so there is room for a whole burst more of it.
    #[inline]
    pub(crate) fn may_decide(&self) -> bool {
        self.staged.is_empty() && !self.transmissions.is_staged()
    }

    /// Nothing is staged, so a whole burst has room.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        self.may_decide() && !self.decisions.is_staged() && !self.gatherings.is_staged()
    }

    /// Frames that were decided on may wait here while a burst of `max` more comes: nobody else's
    /// do, and there is room for all.
    #[inline]
    pub(crate) fn may_defer(&self, max: usize) -> bool {
        !self.steers() && !self.shared && self.staged.room() >= max
    }

    /// Whether frames for this port's owners of flows may come from other workers.
    #[inline]
    pub(crate) fn steers(&self) -> bool {
        self.policy != DispatchPolicy::Direct
    }

    /// What tells that there is something to receive; `None` where the queue cannot tell, or where
    /// other workers hand frames over for this port.
    pub(crate) fn wake(&self) -> Option<BorrowedFd<'_>> {
        let alone = !self.steers() && !self.shared && self.open && self.is_clear();
        self.queue.as_ref().filter(|_| alone)?.wake()
    }

    /// Whether another worker's frames wait to be taken.
    pub(crate) fn is_waiting(&self) -> bool {
        let exchanges = [&self.decisions, &self.gatherings, &self.transmissions];
        exchanges.iter().any(|exchange| exchange.is_waiting())
    }
}

/// [`Attachment::flush`] of all.
#[inline]
pub(crate) fn flush(
    attachments: &mut [Attachment],
    pool: &mut FramePool,
    can_wait: bool,
    counters: &mut Counters,
) -> usize {
    let flush = |attachment: &mut Attachment| attachment.flush(pool, can_wait, counters);
    attachments.iter_mut().map(flush).sum()
}
