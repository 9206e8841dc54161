//! What a port of a test does for the sake of its link: it answers requests for its addresses and
//! announces itself, past the test frames.

use frame::{Burst, Frame, FramePool, Nanos};
use traffic::{ANSWER_BYTES_MAX, Controls, Neighbour};

use super::sender::bytes_of;
use super::worker::Taker;
use crate::attachment::Attachment;
use crate::counters::{Count, Counters};

/// Switches forget in five minutes what they have not seen again (IEEE 802.1D).
const ANNOUNCE_EVERY_NANOS: u64 = 60_000_000_000;

/// One worker's part of it, at one port.
#[derive(Default)]
pub(super) struct Answering {
    neighbour: Option<Neighbour>,
    /// What came, and what was answered.
    pub(super) controls: Controls,
    /// Bytes of what was sent.
    pub(super) bytes: u64,
    /// Written and not sent yet; empty between steps.
    answers: Burst,
    announced: Nanos,
}

/// What a step of it needs of its worker.
pub(super) struct Hold<'a> {
    pub(super) attachment: &'a mut Attachment,
    pub(super) pool: &'a mut FramePool,
    pub(super) counters: &'a mut Counters,
}

impl Answering {
    pub(super) fn new(neighbour: Option<Neighbour>) -> Self {
        Self {
            neighbour,
            ..Self::default()
        }
    }

    /// Whether its worker's queue announces the port.
    pub(super) fn announces(&self) -> bool {
        self.neighbour.as_ref().is_some_and(|own| own.announces)
    }

    /// Looks at what came, and writes answers.
    pub(super) fn look(&mut self, frames: &[Frame], pool: &mut FramePool) {
        let mut room = [0; ANSWER_BYTES_MAX];
        for frame in frames {
            let own = self.neighbour.as_ref();
            if let Some(len) = self.controls.take(frame.bytes(), own, &mut room) {
                self.write(&room[..len], pool);
            }
        }
    }

    /// Without a frame that is free there is no answer: who asks does so again.
    fn write(&mut self, bytes: &[u8], pool: &mut FramePool) {
        if let Some(mut frame) = pool.alloc() {
            // Every chunk has room for the shortest frames, and the burst for those of one look.
            let _fits = frame.copy_from(bytes);
            let _full = self.answers.push(frame).map_err(|frame| pool.free(frame));
        }
    }

    /// Sends what was written; how many frames of the port's it refused, of earlier steps too. What
    /// it does not take now is given up.
    pub(super) fn send(&mut self, hold: Hold<'_>) -> u64 {
        if self.neighbour.is_none() {
            return 0;
        }
        let (taken, refused) = self.flush(hold);
        self.controls.answer(taken);
        refused
    }

    /// Announces the port, where it is to be and it is time again; what the port refused.
    pub(super) fn announce(&mut self, now: Nanos, hold: Hold<'_>) -> u64 {
        self.announced = now;
        let mut room = [0; ANSWER_BYTES_MAX];
        let own = self.neighbour.as_ref();
        if let Some(len) = own.and_then(|own| own.announcement(&mut room)) {
            self.write(&room[..len], hold.pool);
        }
        let (taken, refused) = self.flush(hold);
        self.controls.announce(taken);
        refused
    }

    /// It was announced before; the time until it is again begins at `now`.
    pub(super) fn restart(&mut self, now: Nanos) {
        self.announced = now;
    }

    /// Whether it is time to announce the port again.
    pub(super) fn must_announce(&self, now: Nanos) -> bool {
        self.announces() && now.since(self.announced) >= ANNOUNCE_EVERY_NANOS
    }

    fn flush(&mut self, hold: Hold<'_>) -> (u64, u64) {
        let Hold {
            attachment,
            pool,
            counters,
        } = hold;
        let written = bytes_of(self.answers.frames());
        let (taken, refused) = attachment.transmit_past(&mut self.answers, pool, counters);
        self.bytes += written - bytes_of(self.answers.frames());
        counters.add(Count::Originated, taken);
        pool.free_burst(&mut self.answers);
        (taken, refused)
    }
}

impl Taker {
    /// Answers and announces; what the port refused of earlier steps.
    pub(super) fn answer(&mut self, now: Nanos, hold: Hold<'_>) -> u64 {
        match self.answering.must_announce(now) {
            true => self.answering.announce(now, hold),
            false => self.answering.send(hold),
        }
    }
}
