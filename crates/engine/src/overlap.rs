//! What a worker does while it waits for lines of its tables.

use frame::FramePool;

use crate::ahead::Ahead;
use crate::attachment::{self, Attachment};
use crate::counters::Counters;

/// What of a worker has nothing to do with the burst that it decides on.
pub(crate) struct Overlap<'a> {
    pub(crate) attachments: &'a mut [Attachment],
    pub(crate) pool: &'a mut FramePool,
    pub(crate) counters: &'a mut Counters,
    pub(crate) ahead: &'a mut Ahead,
    /// Frames that may still be received.
    pub(crate) quota: &'a mut u64,
    /// Every source can wait.
    pub(crate) can_wait: bool,
}

impl Overlap<'_> {
    /// Sends what the burst before left to be sent. Not where it left nothing: ports that gather
    /// frames take a flush without any for a sign that none come.
    #[inline]
    pub(crate) fn flush(&mut self) {
        let is_staged = |attachment: &Attachment| !attachment.staged.is_empty();
        if self.attachments.iter().any(is_staged) {
            attachment::flush(self.attachments, self.pool, self.can_wait, self.counters);
        }
    }

    /// Receives the burst behind one from the port at `place`, of `max` frames at most: from the
    /// port whose turn is next, or from the one after it where that has nothing. Where ports
    /// `drain`, only from queues that are not empty yet. Not where frames may be other workers':
    /// they would come to them later, and what is staged for others takes the pool's room for it.
    pub(crate) fn receive_ahead(self, place: usize, max: usize, drain: bool) {
        let max = at_most(max, *self.quota);
        let steers = self.attachments.iter().any(Attachment::steers);
        if max == 0 || steers || !self.ahead.is_empty() {
            return;
        }
        let places = self.attachments.len();
        for turn in 1..=places {
            let place = (place + turn) % places;
            let attachment = &mut self.attachments[place];
            if drain && !attachment.empties {
                continue;
            }
            let burst = self.ahead.receive(place);
            let frames = attachment.receive(self.pool, burst, max, self.counters);
            attachment.empties &= frames != 0;
            attachment.had_nothing = frames == 0;
            if frames != 0 {
                *self.quota -= frames as u64;
                return;
            }
        }
    }
}

/// Frames to receive at once, where so many may still be received.
#[inline]
pub(crate) fn at_most(max: usize, quota: u64) -> usize {
    max.min(usize::try_from(quota).unwrap_or(usize::MAX))
}
