//! How a worker receives: in a port's turn, or before it.
//!
//! A worker that decides on a burst waits for lines of its tables. Where frames come faster than it
//! goes, which a full burst tells, it receives the next one then, to decide on it in the turn of
//! its port, and sends the one before. Where they do not, nothing is received before its turn: a
//! frame would wait for others to be received.

use std::mem;

use plane::{DropReason, Node};

use crate::clock::Clock;
use crate::overlap::at_most;
use crate::worker::Worker;

/// Receptions of which one is timed: two readings of the clock are 1 ns a burst then.
const TIMED_EVERY: u32 = 64;

impl<N: Node> Worker<N> {
    /// Receives from one queue, unless that was done before its turn, and decides on what came.
    #[inline]
    pub(crate) fn receive(&mut self, place: usize, clock: &impl Clock) -> usize {
        if self.ahead.is_from(place) {
            return self.take_up(place);
        }
        let attachment = &mut self.attachments[place];
        if mem::take(&mut attachment.had_nothing) || self.leaves && !attachment.empties {
            return 0;
        }
        self.receive_now(place, clock)
    }

    /// Decides on the burst that was received before the turn of the port at `place`.
    #[inline]
    fn take_up(&mut self, place: usize) -> usize {
        self.ahead.take_up(&mut self.burst);
        let frames = self.burst.len();
        self.attachments[place].decisions.counts.direct += frames as u64;
        self.decide_received(place);
        frames
    }

    /// Receives from one queue and decides on what came. Now and then it measures what receiving
    /// takes where frames may be other workers': that part of a bucket's load stays when it moves.
    #[inline]
    fn receive_now(&mut self, place: usize, clock: &impl Clock) -> usize {
        let timed = self.receptions.is_multiple_of(TIMED_EVERY) && self.attachments[place].steers();
        let begun = if timed { clock.now() } else { self.now };
        let max = at_most(self.burst_max, self.quota);
        let Self {
            attachments,
            pool,
            burst,
            counters,
            ..
        } = self;
        let frames = attachments[place].receive(pool, burst, max, counters);
        attachments[place].empties &= frames != 0;
        if frames != 0 {
            self.quota -= frames as u64;
            if let Some(recorded) = &self.recorded {
                recorded.begin(self.burst.frames());
            }
            if self.attachments[place].steers() {
                self.steer(place);
                self.receptions = self.receptions.wrapping_add(1);
                if timed {
                    self.time_reception(clock.now().since(begun), frames);
                }
            } else {
                self.attachments[place].decisions.counts.direct += frames as u64;
            }
            if self.burst.is_empty() {
                self.flush();
            } else {
                self.decide_received(place);
            }
            self.gather(place);
        }
        frames
    }

    /// Decides on a burst; meanwhile sends the one before and, where it is full, receives the next.
    #[inline]
    fn decide_received(&mut self, place: usize) {
        if self.keep_recorded(place) {
            return;
        }
        let (max, drain) = (self.burst_max, self.leaves);
        self.decide_overlapped(place, |burst, mut overlap| {
            overlap.flush();
            if burst.len() >= max {
                overlap.receive_ahead(place, max, drain);
            }
        });
    }

    /// Drops what was received before its turn, at the end of a run.
    pub(crate) fn discard_ahead(&mut self, reason: DropReason) {
        self.counters.drop_frames(reason, self.ahead.len() as u64);
        self.ahead.drain().for_each(|frame| self.pool.free(frame));
    }
}
