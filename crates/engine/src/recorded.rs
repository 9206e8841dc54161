//! Time as captures tell it: where all frames of a run come out of captures, what depends on time,
//! flows and fragments, goes by the times of their records.
//!
//! A burst may hold frames recorded hours from each other, and those of two captures are not
//! received in the order of their times. So what is received is kept by port, and decided on in
//! pieces: the earliest first, and no more than were recorded at about one time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use frame::{Burst, Frame, Nanos};
use plane::{DropReason, Node};
use port::TimeSource;

use crate::plan::Plan;
use crate::worker::Worker;

/// Frames recorded within so much are decided on at one time: far below what flows and
/// fragments tell apart.
const SLICE_NANOS: u64 = 1_000_000;

/// Whether what depends on time goes by the times of captures: nothing else brings frames. A node
/// that `learns` depends on time.
pub(crate) fn by_captures(plan: &Plan, learns: bool) -> bool {
    let follows = plan.policy.stateful.is_some() || plan.fragments().is_some();
    let timed = learns || follows || plan.policy.reassembles;
    let mut sources = plan.ports.iter().filter(|port| port.rx_source());
    timed && sources.all(|port| port.time_source() == TimeSource::Recorded)
}

/// The first time that the captures of a run tell, nanoseconds since 1970: the origin of the clock
/// that all its workers have.
#[derive(Clone, Debug)]
pub(crate) struct Origin(Arc<AtomicU64>);

impl Origin {
    pub(crate) fn unknown() -> Self {
        Self(Arc::new(AtomicU64::new(u64::MAX)))
    }

    /// None before the first frame was received.
    pub(crate) fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&time| time != u64::MAX)
    }
}

/// A worker's clock, and the frames that it did not come to yet.
pub(crate) struct Recorded {
    origin: Origin,
    now: Nanos,
    /// Frames recorded within so much are decided on at one time.
    slice_nanos: u64,
    /// By the places of the ports that they came in by.
    rest: Vec<VecDeque<Frame>>,
}

impl Recorded {
    /// Where stations are learned, each frame has the time of its own: an age may end between two.
    pub(crate) fn new(origin: &Origin, ports: usize, learns: bool) -> Self {
        Self {
            origin: origin.clone(),
            now: Nanos::ZERO,
            slice_nanos: if learns { 0 } else { SLICE_NANOS },
            rest: (0..ports).map(|_| VecDeque::new()).collect(),
        }
    }

    /// What time it is, since 1970; none before the first frame was received.
    pub(crate) fn time_ns(&self) -> Option<u64> {
        self.origin.get()?.checked_add(self.now.0)
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Takes note of frames that were received: before the first is decided on, the earliest says
    /// when time begins.
    pub(crate) fn begin(&self, received: &[Frame]) {
        let time_ns = received
            .first()
            .and_then(|first| Some(first.meta()?.time_ns));
        if let Some(time_ns @ 1..) = time_ns
            && self.now == Nanos::ZERO
        {
            self.origin.0.fetch_min(time_ns, Ordering::Relaxed);
        }
    }

    /// Since the origin. A frame without a time has that of the frames before it, and so has one
    /// that was recorded before them.
    fn time_of(&self, frame: &Frame) -> u64 {
        match frame.meta().map_or(0, |meta| meta.time_ns) {
            0 => self.now.0,
            time_ns => {
                let origin = self.origin.get().unwrap_or(time_ns);
                time_ns.saturating_sub(origin).max(self.now.0)
            }
        }
    }

    /// The time of the first frame of a port.
    fn front(&self, place: usize) -> Option<u64> {
        let frame = self.rest.get(place)?.front()?;
        Some(self.time_of(frame))
    }

    /// Puts into `burst` what was recorded next, and says where it came in.
    fn next_slice(&mut self, burst: &mut Burst) -> Option<usize> {
        let fronts = || (0..self.rest.len()).filter_map(|place| Some((self.front(place)?, place)));
        let (first, place) = fronts().min()?;
        let others = fronts().filter(|&(_, other)| other != place);
        let ends = (first.saturating_add(self.slice_nanos), place);
        // Of frames of one time, those of the first port go first.
        let ends = others.fold(ends, Ord::min);
        self.now = Nanos(first);
        while burst.room() > 0
            && self.front(place).is_some_and(|time| (time, place) <= ends)
            && let Some(frame) = self.rest.get_mut(place).and_then(VecDeque::pop_front)
        {
            // There is room.
            let _full = burst.push(frame);
        }
        Some(place)
    }
}

impl<N: Node> Worker<N> {
    /// What time it is to flows and fragments.
    #[inline]
    pub(crate) fn plane_now(&self) -> Nanos {
        self.recorded.as_ref().map_or(self.now, |own| own.now)
    }

    /// Frames that were received and not decided on yet, by their times.
    #[inline]
    pub(crate) fn rest_len(&self) -> usize {
        let rest = |own: &Recorded| own.rest.iter().map(VecDeque::len).sum();
        self.recorded.as_deref().map_or(0, rest)
    }

    /// Whether frames of a port wait to be decided on: no more are received of it before.
    #[inline]
    pub(crate) fn has_rest(&self, place: usize) -> bool {
        let rest = self.recorded.as_ref().and_then(|own| own.rest.get(place));
        rest.is_some_and(|rest| !rest.is_empty())
    }

    /// Keeps a burst to be decided on by the times of its frames, where those count; whether
    /// they do.
    #[inline]
    pub(crate) fn keep_recorded(&mut self, place: usize) -> bool {
        let Some(recorded) = &mut self.recorded else {
            return false;
        };
        if let Some(rest) = recorded.rest.get_mut(place) {
            rest.extend(self.burst.drain());
        }
        true
    }

    /// Decides on what is kept, as far as what comes of it finds room, and as it is known what
    /// comes next: until nothing is left of a port of which there may be more. Returns how
    /// many frames.
    pub(crate) fn decide_rest(&mut self) -> usize {
        let mut decided = 0;
        while self.rest_len() != 0 && self.may_decide() && self.has_room_for_copies(0) {
            let slice = self.recorded.as_mut();
            let Some(place) = slice.and_then(|own| own.next_slice(&mut self.burst)) else {
                break;
            };
            decided += self.burst.len();
            self.poll_node();
            self.decide_overlapped(place, |_, _| {});
            if self.attachments[place].open && !self.has_rest(place) {
                break;
            }
        }
        decided
    }

    /// Drops what is left, at the end of a run.
    pub(crate) fn discard_rest(&mut self, reason: DropReason) {
        if let Some(recorded) = &mut self.recorded {
            for frame in recorded.rest.iter_mut().flat_map(|rest| rest.drain(..)) {
                self.counters.drop_frames(reason, 1);
                self.pool.free(frame);
            }
        }
    }
}
