//! Frames between workers: single-producer rings, one for each pair, port and purpose.
//!
//! Three purposes have rings of their own, since one may have to wait for the other: a fragment to
//! be *gathered* leads to one to be decided on, a frame to be *decided* on may lead to a
//! transmission, a frame to be *transmitted* leads to nothing but the port. Whoever waits to hand
//! over a frame still takes those of its purpose and of the purposes behind, but for one: a
//! gathered fragment that waits to be decided on lets none be gathered. So no two workers wait for
//! each other.

use std::sync::atomic::{Ordering, fence};

use frame::{BURST_MAX, Burst, Consumer, Frame, FramePool, Producer, WorkerId};
use plane::DropReason;

use crate::counters::{Count, Counters};
use crate::dispatch::QueueCounts;
use crate::dispatch::handover::Handover;

/// The sending end to one worker.
struct Outlet {
    ring: Producer<Frame>,
    /// Waiting for a slot, in order; nothing is added while any waits, so one burst is enough.
    staged: Burst,
    /// Frames put into the ring, and frames dropped for want of room there.
    queued: u64,
    dropped: u64,
}

/// The receiving end from one worker.
struct Inlet {
    ring: Consumer<Frame>,
    from: WorkerId,
    /// Frames taken out of the ring.
    taken: u64,
    /// Frames in the ring when it was last looked at.
    ready: usize,
}

/// How far rings may be emptied while buckets come to `me`, by one port's marks.
pub(crate) struct Bound<'a> {
    pub(crate) handover: &'a Handover,
    pub(crate) version: u64,
    pub(crate) port: usize,
    pub(crate) me: WorkerId,
    /// Frames beyond the marks that can be kept back.
    pub(crate) room: usize,
}

impl Bound<'_> {
    /// Frames of `from` below its mark, of which `taken` were taken; none where it has not adopted
    /// the version, so that all that waited at a look before was placed by the table before.
    fn below_mark(&self, from: WorkerId, taken: u64) -> Option<usize> {
        let adopted = self.handover.has_adopted(from, self.version);
        let below = || {
            self.handover
                .mark(self.port, from, self.me)
                .saturating_sub(taken)
        };
        adopted.then(|| usize::try_from(below()).unwrap_or(usize::MAX))
    }
}

/// One worker's ends of the rings for one port and purpose.
#[derive(Default)]
pub(crate) struct Exchange {
    /// By the other worker's number; none where no frame will ever go.
    outlets: Vec<Option<Outlet>>,
    inlets: Vec<Inlet>,
    /// The inlet to be asked first, each in its turn: none can keep the others waiting.
    turn: usize,
    pub(crate) counts: QueueCounts,
}

impl Exchange {
    /// The exchanges of `workers` workers with a ring of `limit` frames from `a` to `b` wherever
    /// `wanted(a, b)`, also from a worker to itself.
    pub(crate) fn mesh(
        workers: usize,
        limit: usize,
        wanted: impl Fn(usize, usize) -> bool,
    ) -> Vec<Self> {
        let mut mesh: Vec<Self> = (0..workers).map(|_| Self::default()).collect();
        for from in 0..workers {
            for to in 0..workers {
                let outlet = wanted(from, to).then(|| {
                    let (ring, inlet) = frame::ring(limit);
                    mesh[to].inlets.push(Inlet {
                        ring: inlet,
                        from: WorkerId(from as u16),
                        taken: 0,
                        ready: 0,
                    });
                    Outlet {
                        ring,
                        staged: Burst::new(),
                        queued: 0,
                        dropped: 0,
                    }
                });
                mesh[from].outlets.push(outlet);
            }
        }
        mesh
    }

    /// Whether a ring leads to that worker.
    #[inline]
    pub(crate) fn leads_to(&self, to: WorkerId) -> bool {
        matches!(self.outlets.get(usize::from(to.0)), Some(Some(_)))
    }

    /// Puts a frame on its way to a worker; `Err` gives it back where no ring leads there.
    #[inline]
    pub(crate) fn stage(
        &mut self,
        to: WorkerId,
        frame: Frame,
        counters: &mut Counters,
    ) -> Result<(), Frame> {
        match self.outlets.get_mut(usize::from(to.0)) {
            Some(Some(outlet)) => {
                outlet.staged.push(frame)?;
                counters.add(Count::HandedOff, 1);
                Ok(())
            }
            _ => Err(frame),
        }
    }

    /// Hands over what is staged, as far as the rings have room; returns how many went.
    #[inline]
    pub(crate) fn flush(&mut self) -> usize {
        let mut sent = 0;
        for outlet in self.outlets.iter_mut().flatten() {
            if !outlet.staged.is_empty() {
                let went = outlet.staged.send(&mut outlet.ring);
                outlet.queued += went as u64;
                sent += went;
            }
        }
        sent
    }

    /// Looks how many frames wait: the next take takes none that came later. What the sender of one
    /// of those had seen, this worker sees from here on.
    #[inline]
    pub(crate) fn look(&mut self) {
        for inlet in &mut self.inlets {
            inlet.ready = inlet.ring.len();
        }
        // Acquire, of the indices just read: each was stored after what the sender had seen.
        fence(Ordering::Acquire);
    }

    /// Takes frames that waited at the last look until the burst is full; returns how many.
    #[inline]
    pub(crate) fn take(&mut self, burst: &mut Burst, counters: &mut Counters) -> usize {
        self.take_some(burst, counters, BURST_MAX)
    }

    /// As [`Exchange::take`], and no more than `max`.
    #[inline]
    pub(crate) fn take_some(
        &mut self,
        burst: &mut Burst,
        counters: &mut Counters,
        max: usize,
    ) -> usize {
        if self.inlets.is_empty() {
            return 0;
        }
        let (mut waited, mut taken) = (0, 0);
        self.turn = (self.turn + 1) % self.inlets.len();
        let (later, first) = self.inlets.split_at_mut(self.turn);
        for inlet in first.iter_mut().chain(later) {
            waited += inlet.ready;
            let max = inlet.ready.min(max - taken);
            let count = burst.receive(&mut inlet.ring, max);
            inlet.taken += count as u64;
            taken += count;
        }
        self.counts.look(waited as u64, taken as u64);
        counters.add(Count::Received, taken as u64);
        taken
    }

    /// As [`Exchange::take`] while buckets move: of a ring whose sender has adopted the version,
    /// only what is below its mark is taken, and beyond it as much as there is room to keep back.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_bounded(
        &mut self,
        burst: &mut Burst,
        counters: &mut Counters,
        max: usize,
        bound: &Bound<'_>,
    ) -> usize {
        let (mut waited, mut taken, mut room) = (0, 0, bound.room);
        for inlet in &mut self.inlets {
            waited += inlet.ready;
            let below = bound.below_mark(inlet.from, inlet.taken);
            let safe = below.unwrap_or(inlet.ready);
            let allowed = safe.saturating_add(room).min(inlet.ready);
            let count = burst.receive(&mut inlet.ring, allowed.min(max - taken));
            room -= count.saturating_sub(safe);
            inlet.taken += count as u64;
            taken += count;
        }
        self.counts.look(waited as u64, taken as u64);
        counters.add(Count::Received, taken as u64);
        taken
    }

    /// By inlet: who sends, and how many frames were taken of it.
    pub(crate) fn taken(&self) -> impl Iterator<Item = (WorkerId, u64)> {
        self.inlets.iter().map(|inlet| (inlet.from, inlet.taken))
    }

    /// Whether nothing is staged or in a ring that this worker sends by.
    pub(crate) fn is_taken(&self) -> bool {
        let mut outlets = self.outlets.iter().flatten();
        outlets.all(|outlet| outlet.staged.is_empty() && outlet.ring.is_empty())
    }

    /// Whether anything waits to be handed over.
    #[inline]
    pub(crate) fn is_staged(&self) -> bool {
        self.outlets
            .iter()
            .flatten()
            .any(|outlet| !outlet.staged.is_empty())
    }

    /// Whether anything waits to be taken.
    pub(crate) fn is_waiting(&self) -> bool {
        self.inlets.iter().any(|inlet| !inlet.ring.is_empty())
    }

    /// Frames staged here for others, and frames of others in rings that lead here.
    pub(crate) fn under_way(&self) -> u64 {
        let staged = self.outlets.iter().flatten();
        let staged: usize = staged.map(|outlet| outlet.staged.len()).sum();
        let ready: usize = self.inlets.iter().map(|inlet| inlet.ring.len()).sum();
        (staged + ready) as u64
    }

    /// What was counted of frames for this worker.
    pub(crate) fn counts(&self) -> &QueueCounts {
        &self.counts
    }

    /// By worker: frames queued to that one, and frames dropped for want of room there.
    pub(crate) fn sent(&self) -> impl Iterator<Item = (u64, u64)> {
        let sent = |outlet: &Option<Outlet>| {
            let outlet = outlet.as_ref();
            outlet.map_or((0, 0), |outlet| (outlet.queued, outlet.dropped))
        };
        self.outlets.iter().map(sent)
    }

    /// Drops what is staged; it is not handed off then.
    pub(crate) fn discard_staged(
        &mut self,
        pool: &mut FramePool,
        reason: DropReason,
        counters: &mut Counters,
    ) {
        for outlet in self.outlets.iter_mut().flatten() {
            let frames = outlet.staged.len() as u64;
            outlet.dropped += frames;
            counters.take_back(Count::HandedOff, frames);
            counters.drop_frames(reason, frames);
            pool.free_burst(&mut outlet.staged);
        }
    }

    /// Drops what waits to be taken.
    pub(crate) fn discard_waiting(
        &mut self,
        pool: &mut FramePool,
        reason: DropReason,
        counters: &mut Counters,
    ) {
        let mut burst = Burst::new();
        self.look();
        while self.take(&mut burst, counters) != 0 {
            self.look();
            self.counts.taken += burst.len() as u64;
            counters.drop_frames(reason, burst.len() as u64);
            pool.free_burst(&mut burst);
        }
    }
}
