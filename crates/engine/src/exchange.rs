//! Frames between workers: single-producer rings, one for each pair, port and purpose.
//!
//! Two purposes have rings of their own, since one may have to wait for the other: a frame to be
//! *decided* on may lead to a transmission, a frame to be *transmitted* leads to nothing but the
//! port. Whoever waits to hand over a decision still takes transmissions, so no two workers wait
//! for each other.

use frame::{BURST_MAX, Burst, Consumer, Frame, FramePool, Producer, WorkerId};
use plane::DropReason;

use crate::counters::{Count, Words};

/// Slots of one ring between two workers: four bursts of the greatest size, so that a receiver
/// may be four steps behind before the sender waits.
const RING_SLOTS: usize = 4 * BURST_MAX;

/// The sending end to one worker.
struct Outlet {
    ring: Producer<Frame>,
    /// Waiting for a slot, in order; nothing is added while any waits, so one burst is enough.
    staged: Burst,
}

/// One worker's ends of the rings for one port and purpose.
#[derive(Default)]
pub(crate) struct Exchange {
    /// By the other worker's number; none to itself or where no frame will ever go.
    outlets: Vec<Option<Outlet>>,
    inlets: Vec<Consumer<Frame>>,
}

impl Exchange {
    /// The exchanges of `workers` workers with a ring from `a` to `b` wherever `wanted(a, b)`.
    pub(crate) fn mesh(workers: usize, wanted: impl Fn(usize, usize) -> bool) -> Vec<Self> {
        let mut mesh: Vec<Self> = (0..workers).map(|_| Self::default()).collect();
        for from in 0..workers {
            for to in 0..workers {
                let outlet = (from != to && wanted(from, to)).then(|| {
                    let (ring, inlet) = frame::ring(RING_SLOTS);
                    mesh[to].inlets.push(inlet);
                    Outlet {
                        ring,
                        staged: Burst::new(),
                    }
                });
                mesh[from].outlets.push(outlet);
            }
        }
        mesh
    }

    /// Puts a frame on its way to a worker; `Err` gives it back where no ring leads there.
    #[inline]
    pub(crate) fn stage(
        &mut self,
        to: WorkerId,
        frame: Frame,
        words: &mut Words,
    ) -> Result<(), Frame> {
        match self.outlets.get_mut(usize::from(to.0)) {
            Some(Some(outlet)) => {
                outlet.staged.push(frame)?;
                words.add(Count::HandedOff, 1);
                Ok(())
            }
            _ => Err(frame),
        }
    }

    /// Hands over what is staged, as far as the rings have room; returns how many went.
    #[inline]
    pub(crate) fn flush(&mut self) -> usize {
        let outlets = self.outlets.iter_mut().flatten();
        outlets
            .map(|outlet| outlet.staged.send(&mut outlet.ring))
            .sum()
    }

    /// Takes frames until the burst is full or nothing waits; returns how many.
    #[inline]
    pub(crate) fn take(&mut self, burst: &mut Burst, words: &mut Words) -> usize {
        let mut taken = 0;
        for inlet in &mut self.inlets {
            let room = burst.room();
            taken += burst.receive(inlet, room);
        }
        words.add(Count::Received, taken as u64);
        taken
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
        self.inlets.iter().any(|inlet| !inlet.is_empty())
    }

    /// Drops what is staged; it is not handed off then.
    pub(crate) fn discard_staged(
        &mut self,
        pool: &mut FramePool,
        reason: DropReason,
        words: &mut Words,
    ) {
        for outlet in self.outlets.iter_mut().flatten() {
            let frames = outlet.staged.len() as u64;
            words.take_back(Count::HandedOff, frames);
            words.drop_frames(reason, frames);
            pool.free_burst(&mut outlet.staged);
        }
    }

    /// Drops what waits to be taken.
    pub(crate) fn discard_waiting(
        &mut self,
        pool: &mut FramePool,
        reason: DropReason,
        words: &mut Words,
    ) {
        let mut burst = Burst::new();
        while self.take(&mut burst, words) != 0 {
            words.drop_frames(reason, burst.len() as u64);
            pool.free_burst(&mut burst);
        }
    }
}
