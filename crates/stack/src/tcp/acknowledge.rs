//! What the other end acknowledges: room in the send queue, round trips, losses, the window.

use super::congestion::Acked;
use super::connection::{Connection, State};
use super::segment::Segment;
use super::{Application, Arrival, Event, Seq};
use frame::Nanos;

/// Duplicate acknowledgments that prove a loss where there is no SACK.
const DUPLICATES: u32 = 3;

impl Connection {
    /// Takes the acknowledgment of a segment; false where the segment is to be dropped.
    pub(super) fn take_ack<A: Application>(
        &mut self,
        segment: &Segment<'_>,
        cx: &mut Arrival<'_, A>,
    ) -> bool {
        let ack = segment.header.ack;
        if self.state == State::SynReceived {
            if !self.snd.una.is_before(ack) || self.snd.next.is_before(ack) {
                self.reset = Some(Box::new(segment.reset()));
                return false;
            }
            self.take_window(segment);
            self.establish(cx);
        }
        // RFC 5961 section 5.
        let oldest = self.snd.una.back(self.snd.window_max);
        if self.snd.next.is_before(ack) || ack.is_before(oldest) {
            self.challenge(cx.now);
            return false;
        }
        self.heard_from(cx.now);
        if ack.is_before(self.snd.una) {
            return true;
        }
        let is_duplicate = self.is_duplicate(segment);
        let was_closed = self.snd.window == 0;
        self.take_window(segment);
        if was_closed && self.snd.window != 0 {
            self.window_opened();
        }
        let before = self.snd.una;
        self.take_losses(segment, is_duplicate);
        if before.is_before(ack) {
            let sent_at = self.snd.in_flight.acknowledge(ack);
            self.take_acknowledged(ack, sent_at, cx);
        }
        self.find_losses(is_duplicate, before.is_before(ack));
        self.after_ack();
        true
    }

    /// RFC 5681 section 2.
    fn is_duplicate(&self, segment: &Segment<'_>) -> bool {
        segment.header.ack == self.snd.una
            && segment.len() == 0
            && !self.snd.in_flight.is_empty()
            && u32::from(segment.header.window) << self.snd.scale == self.snd.window
    }

    fn take_window(&mut self, segment: &Segment<'_>) {
        let header = &segment.header;
        let snd = &mut self.snd;
        let is_newer = snd.window_seq.is_before(header.seq)
            || (snd.window_seq == header.seq && !header.ack.is_before(snd.window_ack));
        if is_newer {
            snd.window = u32::from(header.window) << snd.scale;
            snd.window_max = snd.window_max.max(snd.window);
            snd.window_seq = header.seq;
            snd.window_ack = header.ack;
        }
    }

    /// What was sent against a closed window is sent again without waiting.
    fn window_opened(&mut self) {
        self.round_trip.end_backoff();
        self.deadlines.probe = None;
        self.snd.probes = false;
        self.snd.in_flight.lose_all();
    }

    fn take_losses(&mut self, segment: &Segment<'_>, is_duplicate: bool) {
        self.snd.duplicates += u32::from(is_duplicate);
        if !self.has_sack {
            return;
        }
        for &(first, end) in segment.header.options.sack.as_slice() {
            let is_sound = first.is_before(end)
                && self.snd.una.is_before(end)
                && !self.snd.next.is_before(end);
            if is_sound {
                self.snd.in_flight.arrived((first, end));
            }
        }
    }

    /// Everything up to `ack` arrived.
    pub(super) fn take_acknowledged<A: Application>(
        &mut self,
        ack: Seq,
        sent_at: Option<Nanos>,
        cx: &mut Arrival<'_, A>,
    ) {
        let was_limited = self.snd.in_flight.pipe() + ack.since(self.snd.una) + self.snd.mss
            >= self.congestion.window();
        let mut len = ack.since(self.snd.una);
        let is_syn = std::mem::take(&mut self.snd.has_syn);
        len -= u32::from(is_syn);
        let data = self.snd.queue.len().min(len as usize);
        self.snd.queue.drain(..data);
        if self.snd.queue.is_empty() {
            self.snd.queue.shrink_to(0);
        }
        self.snd.una = ack;
        self.snd.duplicates = 0;
        self.progress = cx.now;
        if let Some(at) = sent_at {
            self.round_trip.measured(cx.now.since(at));
        }
        self.round_trip.end_backoff();
        let is_over = self.snd.recovery.is_none_or(|end| !ack.is_before(end));
        if is_over {
            self.snd.recovery = None;
        }
        // After a timeout the window grows from one segment while the rest is sent again.
        let grows = is_over || self.congestion.is_slow_start();
        if grows && was_limited && data != 0 {
            self.congestion.grow(Acked {
                bytes: data as u32,
                now: cx.now,
                round_trip: self.round_trip.smoothed(),
            });
        }
        self.deadlines.retransmit = None;
        if !self.snd.in_flight.is_empty() {
            self.arm_retransmit(cx.now);
        }
        self.tell_acknowledged(data, cx);
    }

    fn tell_acknowledged<A: Application>(&mut self, data: usize, cx: &mut Arrival<'_, A>) {
        if data != 0 {
            self.tell(cx, Event::Acknowledged(data));
        }
        let has_room = 2 * self.snd.queue.len() <= self.settings.send_queue_max;
        if self.snd.is_awaited && has_room {
            self.snd.is_awaited = false;
            self.tell(cx, Event::Writable);
        }
    }

    /// RFC 6675 with SACK, RFC 6582 without.
    fn find_losses(&mut self, is_duplicate: bool, is_advance: bool) {
        let in_recovery = self.snd.recovery.is_some();
        let has_found = match self.has_sack {
            true => self.snd.in_flight.find_lost(self.round_trip.smoothed() / 4),
            false if in_recovery && is_advance => {
                self.snd.in_flight.lose_first();
                true
            }
            false => {
                let is_loss = is_duplicate && self.snd.duplicates == DUPLICATES && !in_recovery;
                if is_loss {
                    self.snd.in_flight.lose_first();
                }
                is_loss
            }
        };
        if has_found && !in_recovery {
            self.congestion.reduce(self.snd.next.since(self.snd.una));
            self.snd.recovery = Some(self.snd.next);
        }
    }

    /// FIN of this end is acknowledged, or not yet.
    fn after_ack(&mut self) {
        let is_all = self.snd.una == self.snd.next;
        self.state = match self.state {
            State::FinWait1 if is_all => State::FinWait2,
            State::Closing if is_all => State::TimeWait,
            State::LastAck if is_all => State::Closed(super::Cause::Finished),
            state => state,
        };
    }
}
