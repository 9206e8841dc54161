//! A segment arrives: whether it is one of the connection, and its data (RFC 9293 section
//! 3.10.7.4).

use frame::Nanos;

use super::connection::{Connection, Socket, State};
use super::segment::{Segment, flag};
use super::{Application, Arrival, Cause, Event, Seq};

/// How long the other end's clock is believed, nanoseconds: 24 days (RFC 7323 section 5.5).
const CLOCK_FOR: u64 = 24 * 86_400 * 1_000_000_000;

impl Connection {
    /// Takes a segment.
    pub(super) fn arrive<A: Application>(
        &mut self,
        segment: &Segment<'_>,
        cx: &mut Arrival<'_, A>,
    ) {
        if self.state == State::SynSent {
            return self.arrive_syn_sent(segment, cx);
        }
        let is_same_syn = self.state == State::SynReceived
            && segment.has(flag::SYN)
            && segment.header.seq == self.rcv.initial;
        let segment = match is_same_syn {
            true => &segment.without_syn(),
            false => segment,
        };
        if !self.is_acceptable(segment, cx.now) {
            return;
        }
        if segment.has(flag::RST) {
            return self.take_reset(segment.header.seq, cx.now);
        }
        if segment.has(flag::SYN) {
            return self.challenge(cx.now);
        }
        if !segment.has(flag::ACK) || !self.take_ack(segment, cx) {
            return;
        }
        self.take_data(segment, cx);
    }

    /// Whether a segment is new: by its clock (PAWS, RFC 7323 section 5) and its numbers. One that
    /// is not is answered by an acknowledgment.
    fn is_acceptable(&mut self, segment: &Segment<'_>, now: Nanos) -> bool {
        let is_reset = segment.has(flag::RST);
        let clocks = segment.header.options.timestamps;
        if self.has_timestamps && clocks.is_none() && !is_reset {
            return false;
        }
        let is_timely = self.is_timely(clocks.map(|clocks| clocks.value), now);
        let is_old = !is_reset && !is_timely;
        if is_old || !self.is_in_window(segment) {
            if !is_reset {
                self.answer_old(segment, now);
            }
            return false;
        }
        if let Some(clocks) = clocks
            && self.has_timestamps
            && is_timely
            && !self.rcv.acknowledged.is_before(segment.header.seq)
        {
            self.rcv.clock = Some((clocks.value, now));
        }
        true
    }

    fn is_timely(&self, value: Option<u32>, now: Nanos) -> bool {
        match (self.rcv.clock, value) {
            (Some((known, at)), Some(value)) if self.has_timestamps => {
                !Seq(value).is_before(Seq(known)) || now.since(at) > CLOCK_FOR
            }
            _ => true,
        }
    }

    fn is_in_window(&self, segment: &Segment<'_>) -> bool {
        let window = self.receive_window();
        let is_within =
            |seq: Seq| seq.is_at_least(self.rcv.next) && seq.is_before(self.rcv.next.after(window));
        let (first, len) = (segment.header.seq, segment.len());
        is_within(first) || (len != 0 && is_within(first.after(len - 1)))
    }

    /// Data is acknowledged again whenever it comes; empty segments could go to and fro for ever.
    fn answer_old(&mut self, segment: &Segment<'_>, now: Nanos) {
        match segment.len() {
            0 => self.challenge(now),
            _ => self.rcv.ack_now = true,
        }
    }

    /// Tells the other end where this one is (RFC 5961), if it was not told often.
    pub(super) fn challenge(&mut self, now: Nanos) {
        self.rcv.ack_now |= self.challenges.take(now);
    }

    /// RFC 5961 section 3: only the number that is expected next resets a connection.
    fn take_reset(&mut self, seq: Seq, now: Nanos) {
        if seq != self.rcv.next {
            return self.challenge(now);
        }
        self.state = State::Closed(match self.state {
            State::SynReceived => Cause::Refused,
            _ => Cause::Reset,
        });
    }

    /// Takes the data and the end of a segment.
    pub(super) fn take_data<A: Application>(
        &mut self,
        segment: &Segment<'_>,
        cx: &mut Arrival<'_, A>,
    ) {
        let receives = matches!(
            self.state,
            State::Established | State::FinWait1 | State::FinWait2
        );
        if !receives || segment.len() == 0 {
            return;
        }
        let (first, data) = self.within_window(segment);
        if segment.has(flag::FIN) && data.len() == segment.payload.len() {
            let end = segment.header.seq.after(data.len() as u32);
            self.rcv.end = self.rcv.end.or(Some(end));
        }
        if self.rcv.next.is_before(first) {
            self.rcv.out_of_order.insert(first, data, cx.room);
            self.rcv.ack_now = true;
            return;
        }
        let data = data.get(self.rcv.next.since(first) as usize..);
        let is_gap_filled = !self.rcv.out_of_order.is_empty();
        self.deliver(data.unwrap_or_default(), cx);
        while let Some(bytes) = self.rcv.out_of_order.take(self.rcv.next) {
            self.deliver(&bytes, cx);
        }
        self.owe_ack(segment, is_gap_filled, cx.now);
        self.take_end(cx);
    }

    /// The data of a segment that is neither beyond the window nor behind FIN.
    fn within_window<'a>(&self, segment: &Segment<'a>) -> (Seq, &'a [u8]) {
        let first = segment.header.seq;
        let window_end = self.rcv.next.after(self.receive_window());
        let end = self.rcv.end.map_or(window_end, |end| end.min(window_end));
        let len = match first.is_before(end) {
            true => segment.payload.len().min(end.since(first) as usize),
            false => 0,
        };
        (first, &segment.payload[..len])
    }

    fn deliver<A: Application>(&mut self, data: &[u8], cx: &mut Arrival<'_, A>) {
        // What is out of order may reach beyond a FIN that came later.
        let len = match self.rcv.end {
            Some(end) => data.len().min(end.since(self.rcv.next) as usize),
            None => data.len(),
        };
        self.rcv.next = self.rcv.next.after(len as u32);
        if len != 0 {
            self.tell(cx, Event::Data(&data[..len]));
        }
    }

    /// RFC 9293 section 3.8.6.3: every second full segment is acknowledged, others soon.
    fn owe_ack(&mut self, segment: &Segment<'_>, at_once: bool, now: Nanos) {
        self.rcv.unacknowledged += 1;
        if at_once || self.rcv.unacknowledged >= 2 || segment.has(flag::FIN) {
            self.rcv.ack_now = true;
        } else if self.deadlines.ack.is_none() {
            self.deadlines.ack = Some(now.after(self.settings.delayed_ack));
        }
    }

    /// Tells the application of something.
    pub(super) fn tell<A: Application>(&mut self, cx: &mut Arrival<'_, A>, event: Event<'_>) {
        if matches!(self.state, State::Closed(_)) {
            return;
        }
        let mut socket = Socket {
            id: cx.id,
            connection: self,
        };
        cx.application.on_event(&mut socket, event);
    }
}
