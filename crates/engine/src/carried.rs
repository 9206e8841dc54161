//! How verdicts are carried out: what the node makes of a burst, and where each frame of it goes.

use frame::{BURST_MAX, Burst, Frame, FramePool, PortId};
use plane::{Bridge, DropReason, Forwarding, Node, Origin, Outbox, Outgoing, Verdict, Verdicts};

use crate::attachment::Attachment;
use crate::counters::{Count, Counters};
use crate::recorded::Recorded;
use crate::worker::Worker;

impl<N: Node> Worker<N> {
    /// Has the node say where the frames of a burst leave that may pass.
    #[inline]
    pub(crate) fn process(&mut self, from: PortId) {
        let mut cx = Forwarding {
            from,
            now: self.plane_now(),
            pool: &mut self.pool,
            out: &mut self.outbox,
        };
        self.node
            .process(&mut cx, &mut self.burst, &mut self.verdicts);
    }

    /// Has the node do what is due beside frames, and sends what comes of it, as long as that has
    /// room. Returns how many frames moved.
    ///
    /// What is due does not wait for room: a worker that has always something staged, since frames
    /// come faster than it goes, would never call the node.
    #[inline]
    pub(crate) fn poll_node(&mut self) -> usize {
        if !N::DECIDES {
            return 0;
        }
        if !self.may_decide() {
            let mut full = Outbox::default();
            self.poll_with(&mut full);
            if !full.has_refused() {
                return 0;
            }
            self.flush();
            if !self.may_decide() {
                return 0;
            }
        }
        let mut outbox = std::mem::take(&mut self.outbox);
        self.poll_with(&mut outbox);
        self.outbox = outbox;
        let sent = self.outbox.len();
        if sent != 0 {
            let mut parts = self.parts();
            let outgoing = parts.outbox.drain();
            outgoing.for_each(|next| parts.departure.send(next));
            self.flush();
        }
        sent
    }

    #[inline]
    fn poll_with(&mut self, out: &mut Outbox) {
        let mut cx = Forwarding {
            from: PortId(0),
            now: self.plane_now(),
            pool: &mut self.pool,
            out,
        };
        self.node.poll(&mut cx);
    }

    /// Whether the pool has the copies that a node may make of a burst, and `received` frames: a
    /// frame that waits to be received can wait, and a copy cannot.
    ///
    /// To decide on frames of others takes less than to receive: workers that have received all
    /// that they can for each other still decide.
    #[inline]
    pub(crate) fn has_room_for_copies(&mut self, received: usize) -> bool {
        if !N::DECIDES {
            return true;
        }
        let needed = self.burst_max * self.attachments.len() + received;
        if (self.pool.free_count() as usize) < needed {
            self.pool.collect();
        }
        self.pool.free_count() as usize >= needed
    }

    /// Frames to decide on at once: of more the pool may not have the copies.
    #[inline]
    pub(crate) fn decided_max(&self) -> usize {
        if N::DECIDES {
            self.burst_max
        } else {
            BURST_MAX
        }
    }

    /// Carries out the verdicts on a burst that came in by `from`.
    #[inline]
    pub(crate) fn carry_out(&mut self, from: PortId) {
        let Parts {
            burst,
            verdicts,
            outbox,
            node,
            mut departure,
            ..
        } = self.parts();
        debug_assert_eq!(
            burst.len(),
            verdicts.as_slice().len(),
            "one verdict a frame"
        );
        // Most bursts in most traffic: 0.6 ns a frame, and 0.1 as a whole.
        if let Some(Verdict::Forward(port)) = verdicts.unanimous()
            && outbox.is_empty()
            && departure.attachments[port.index()].stage_burst(burst)
        {
            return;
        }
        let decided = burst.drain().zip(verdicts.as_slice());
        // A bridge sends nothing of its own, and its frames need not look for that.
        if outbox.is_empty() {
            for (frame, &verdict) in decided {
                departure.carry_out_or_keep(node, frame, verdict, from);
            }
            return;
        }
        let mut outgoing = outbox.drain().peekable();
        for (index, (frame, &verdict)) in decided.enumerate() {
            while let Some(next) = outgoing.next_if(|next| next.after <= index) {
                departure.send(next);
            }
            departure.carry_out_or_keep(node, frame, verdict, from);
        }
        outgoing.for_each(|next| departure.send(next));
    }
}

/// A worker in parts: what decides, what is decided on, and what carries that out.
pub(crate) struct Parts<'a, N> {
    pub(crate) bridge: &'a mut Bridge,
    pub(crate) node: &'a mut N,
    pub(crate) burst: &'a mut Burst,
    pub(crate) verdicts: &'a Verdicts,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) departure: Departure<'a>,
}

impl<N: Node> Worker<N> {
    #[inline]
    pub(crate) fn parts(&mut self) -> Parts<'_, N> {
        let departure = Departure {
            attachments: &mut self.attachments,
            pool: &mut self.pool,
            counters: &mut self.counters,
            can_wait: self.can_wait,
            recorded_ns: self.recorded.as_deref().and_then(Recorded::time_ns),
        };
        Parts {
            bridge: &mut self.bridge,
            node: &mut self.node,
            burst: &mut self.burst,
            verdicts: &self.verdicts,
            outbox: &mut self.outbox,
            departure,
        }
    }
}

/// What carrying out verdicts needs of a worker.
pub(crate) struct Departure<'a> {
    pub(crate) attachments: &'a mut [Attachment],
    pub(crate) pool: &'a mut FramePool,
    pub(crate) counters: &'a mut Counters,
    /// Every source can wait, so nothing is dropped for want of room.
    pub(crate) can_wait: bool,
    /// What time it is by captures, since 1970, where all frames come out of captures.
    pub(crate) recorded_ns: Option<u64>,
}

impl Departure<'_> {
    /// Carries out the verdict on a frame that a node sends.
    fn send(&mut self, outgoing: Outgoing) {
        let Outgoing {
            mut frame,
            from,
            origin,
            verdict,
            after: _,
        } = outgoing;
        match origin {
            Origin::Copy => self.counters.add(Count::Cloned, 1),
            Origin::Made => self.counters.add(Count::Originated, 1),
            Origin::Held => {}
        }
        if let Some(time_ns) = self.recorded_ns.filter(|_| origin != Origin::Copy) {
            frame.meta_mut().time_ns = time_ns;
        }
        self.carry_out(frame, verdict, from);
    }

    /// Has the node keep a frame that is to wait, and carries out every other verdict.
    #[inline]
    fn carry_out_or_keep<N: Node>(
        &mut self,
        node: &mut N,
        frame: Frame,
        verdict: Verdict,
        from: PortId,
    ) {
        if N::DECIDES && verdict == Verdict::Hold {
            if let Err(frame) = node.keep(frame) {
                self.carry_out(frame, verdict, from);
            }
            return;
        }
        self.carry_out(frame, verdict, from);
    }

    /// Stages or drops one frame that came in by `from`.
    #[inline]
    pub(crate) fn carry_out(&mut self, frame: Frame, verdict: Verdict, from: PortId) {
        let (reason, frame) = match verdict {
            Verdict::Drop(reason) => (reason, frame),
            Verdict::Forward(port) => match self.stage(frame, port) {
                Ok(()) => return,
                Err(frame) => (DropReason::NoTransmit, frame),
            },
            Verdict::Consume => {
                self.counters.add(Count::Consumed, 1);
                return self.pool.free(frame);
            }
            // Bursts in which a fragment waits are settled, and a node takes what it has wait.
            Verdict::Hold => (DropReason::FragmentUnknown, frame),
        };
        self.counters.drop_frames(reason, 1);
        self.attachments[from.index()].rx_dropped += 1;
        self.pool.free(frame);
    }

    /// Stages a frame. One frame may become several for one port, more than a burst has room for:
    /// then those before it leave first.
    #[inline]
    fn stage(&mut self, frame: Frame, port: PortId) -> Result<(), Frame> {
        let attachment = &mut self.attachments[port.index()];
        let frame = match attachment.stage(frame, self.counters) {
            Err(frame) if attachment.transmits => frame,
            staged => return staged,
        };
        attachment.flush(self.pool, self.can_wait, self.counters);
        attachment.stage(frame, self.counters)
    }
}
