//! What says when test frames arrived, and their account.

use frame::{Frame, Nanos};

use super::worker::Taker;

/// What says when a frame arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrivals {
    /// The worker's clock, once a burst.
    Clock,
    /// The port's NIC, as far as it does.
    Nic,
    /// The records of a capture.
    Recorded,
}

impl Taker {
    /// Accounts for frames that came by `now`; how many of them are sound test frames.
    pub(super) fn account(&mut self, frames: &[Frame], now: Nanos) -> usize {
        if !self.accounts {
            return 0;
        }
        self.stamps.add(now.since(self.looked));
        (self.looked, self.last) = (now, now);
        match self.arrivals {
            Arrivals::Clock => self.sink.take_burst(frames, now),
            Arrivals::Nic => self.sink.take_stamped(frames, now),
            Arrivals::Recorded => {
                self.widen_span(frames);
                self.sink.take_recorded(frames)
            }
        }
    }

    /// The span of the times that records of a capture say.
    fn widen_span(&mut self, frames: &[Frame]) {
        let times = frames
            .iter()
            .filter_map(|frame| Some(frame.meta()?.time_ns));
        for time_ns in times {
            let (first, last) = self.span.unwrap_or((time_ns, time_ns));
            self.span = Some((first.min(time_ns), last.max(time_ns)));
        }
    }
}
