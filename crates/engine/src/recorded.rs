//! Time as captures tell it: where all frames of a run come out of captures, what depends on time,
//! conversations and fragments, goes by the times of their records.
//!
//! A burst may hold frames recorded hours from each other, and its frames are decided on at one
//! time. So it is cut where the times in it part ways.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use frame::{Burst, Frame, Nanos};
use plane::DropReason;

use crate::worker::Worker;

/// Frames recorded within so much are decided on at one time: far below what conversations and
/// fragments tell apart.
const SLICE_NANOS: u64 = 1_000_000;

/// The first time that the captures of a run tell, nanoseconds since 1970: the origin of the clock
/// that all its workers have.
pub(crate) type Origin = Arc<OnceLock<u64>>;

/// A worker's clock, and the frames that it did not come to yet.
pub(crate) struct Recorded {
    origin: Origin,
    now: Nanos,
    /// With the place of the port that each came in by.
    rest: VecDeque<(Frame, usize)>,
}

impl Recorded {
    pub(crate) fn new(origin: &Origin) -> Self {
        Self {
            origin: Arc::clone(origin),
            now: Nanos::ZERO,
            rest: VecDeque::new(),
        }
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Takes note of frames that were received: the first of all says when time begins.
    pub(crate) fn begin(&self, received: &[Frame]) {
        if let Some(first) = received.first() {
            self.time_of(first);
        }
    }

    /// Since the origin. A frame without a time has that of the frames before it, and so has one
    /// that was recorded before them.
    fn time_of(&self, frame: &Frame) -> u64 {
        match frame.meta().map_or(0, |meta| meta.time_ns) {
            0 => self.now.0,
            time_ns => {
                let origin = *self.origin.get_or_init(|| time_ns);
                time_ns.saturating_sub(origin).max(self.now.0)
            }
        }
    }

    /// Puts into `burst` what was recorded next, and says where it came in.
    fn next_slice(&mut self, burst: &mut Burst) -> Option<usize> {
        let (first, place) = self.rest.front()?;
        let place = *place;
        self.now = Nanos(self.time_of(first));
        let ends = self.now.0.saturating_add(SLICE_NANOS);
        while let Some((frame, from)) = self.rest.front()
            && *from == place
            && burst.room() > 0
            && self.time_of(frame) < ends
            && let Some((frame, _)) = self.rest.pop_front()
        {
            // There is room.
            let _full = burst.push(frame);
        }
        Some(place)
    }
}

impl Worker {
    /// What time it is to conversations and fragments.
    #[inline]
    pub(crate) fn plane_now(&self) -> Nanos {
        self.recorded.as_ref().map_or(self.now, |own| own.now)
    }

    /// Frames that were received and not decided on yet, by their times.
    #[inline]
    pub(crate) fn rest_len(&self) -> usize {
        self.recorded.as_ref().map_or(0, |own| own.rest.len())
    }

    /// Decides on a burst by the times of its frames, where those count; whether they do.
    #[inline]
    pub(crate) fn decide_recorded(&mut self, place: usize) -> bool {
        let Some(recorded) = &mut self.recorded else {
            return false;
        };
        let frames = self.burst.drain().map(|frame| (frame, place));
        recorded.rest.extend(frames);
        self.decide_rest();
        true
    }

    /// Decides on what is left, as far as what comes of it finds room. Returns how many frames.
    pub(crate) fn decide_rest(&mut self) -> usize {
        let mut decided = 0;
        while self.may_decide() {
            let slice = self.recorded.as_mut();
            let Some(place) = slice.and_then(|own| own.next_slice(&mut self.burst)) else {
                break;
            };
            decided += self.burst.len();
            self.decide_meanwhile(place, |_, _| {});
        }
        decided
    }

    /// Drops what is left, at the end of a run.
    pub(crate) fn discard_rest(&mut self, reason: DropReason) {
        if let Some(recorded) = &mut self.recorded {
            self.words.drop_frames(reason, recorded.rest.len() as u64);
            let frames = recorded.rest.drain(..);
            frames.for_each(|(frame, _)| self.pool.free(frame));
        }
    }
}
