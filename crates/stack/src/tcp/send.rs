//! What leaves next: a reset, SYN, what is lost, new data, an acknowledgment.

use frame::Nanos;

use super::Seq;
use super::connection::{Connection, State};
use super::segment::{Header, flag};

/// A segment to be sent: a header and how much data behind SND.UNA.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) header: Header,
    /// Where the data begins in the send queue, and its length.
    pub(super) at: usize,
    pub(super) len: usize,
    /// It was sent before.
    pub(super) is_again: bool,
}

impl Departure {
    fn bare(header: Header) -> Self {
        Self {
            header,
            at: 0,
            len: 0,
            is_again: false,
        }
    }
}

impl Connection {
    /// The next segment that may leave now.
    pub(super) fn depart(&mut self, now: Nanos) -> Option<Departure> {
        if let Some(header) = self.reset.take() {
            return Some(Departure::bare(*header));
        }
        if matches!(self.state, State::Closed(_)) {
            return None;
        }
        let departure = self
            .again(now)
            .or_else(|| self.fresh(now))
            .or_else(|| self.acknowledgment(now).map(Departure::bare))?;
        if departure.header.has(flag::ACK) {
            self.rcv.ack_now = false;
            self.rcv.unacknowledged = 0;
            self.rcv.acknowledged = self.rcv.next;
            self.deadlines.ack = None;
        }
        Some(departure)
    }

    /// An acknowledgment, if one is to be sent; one with an old number asks for an answer.
    fn acknowledgment(&mut self, now: Nanos) -> Option<Header> {
        let asks = std::mem::take(&mut self.asks_for_life);
        let seq = self.snd.next.back(asks.into());
        (asks || self.rcv.ack_now).then(|| self.header(seq, flag::ACK, now))
    }

    /// A segment that is lost, as it was sent, if there is room for it in the congestion window.
    fn again(&mut self, now: Nanos) -> Option<Departure> {
        let pipe = self.snd.in_flight.pipe();
        let window = self.congestion.window();
        let sent = self.snd.in_flight.first_lost()?;
        if pipe != 0 && pipe + sent.len > window {
            return None;
        }
        let (first, len) = (sent.first, sent.len);
        self.snd.in_flight.sent_again(now);
        self.arm_retransmit(now);
        let segment = self.segment(first, len, now);
        Some(Departure {
            is_again: true,
            ..segment
        })
    }

    /// SYN, or data that was not sent yet, or FIN.
    fn fresh(&mut self, now: Nanos) -> Option<Departure> {
        if self.snd.has_syn && self.snd.next == self.snd.initial {
            return Some(self.send_fresh(1, now));
        }
        let may_send = matches!(self.state, State::Established | State::CloseWait);
        if !may_send || self.snd.in_flight.is_full() {
            return None;
        }
        let in_flight = self.snd.next.since(self.snd.una);
        let waiting = self.snd.queue.len() as u32 - in_flight;
        let len = self.usable(in_flight).min(self.snd.mss).min(waiting);
        let is_last = len == waiting;
        if is_last && self.snd.is_ending && self.has_room_for_end(in_flight) {
            return Some(self.send_fresh(len + 1, now));
        }
        if len == 0 {
            self.await_window(waiting, in_flight, now);
            return None;
        }
        self.is_worth_sending(len, is_last, in_flight)
            .then(|| self.send_fresh(len, now))
    }

    /// Bytes that the other end and the path take now. A probe sends a byte against a closed
    /// window.
    fn usable(&self, in_flight: u32) -> u32 {
        let window = self.snd.window.max(u32::from(self.snd.probes));
        let pipe = self.snd.in_flight.pipe();
        let path = self.congestion.window().saturating_sub(pipe);
        window.saturating_sub(in_flight).min(path)
    }

    /// FIN needs no room but that of its number.
    fn has_room_for_end(&self, in_flight: u32) -> bool {
        self.usable(in_flight) != 0 || in_flight == 0
    }

    /// Nagle's algorithm and the silly window syndrome (RFC 9293 sections 3.7.4 and 3.8.6.2.1).
    fn is_worth_sending(&self, len: u32, is_last: bool, in_flight: u32) -> bool {
        let is_pressing = !self.settings.nagle || in_flight == 0 || self.snd.is_ending;
        len == self.snd.mss
            || (is_last && is_pressing)
            || 2 * len >= self.snd.window_max
            || self.snd.probes
    }

    /// Nothing is in flight whose acknowledgment would open the window: it is asked for.
    fn await_window(&mut self, waiting: u32, in_flight: u32, now: Nanos) {
        let is_stuck = waiting != 0 && in_flight == 0 && self.snd.window == 0;
        if is_stuck && self.deadlines.probe.is_none() {
            self.deadlines.probe = Some(now.after(self.round_trip.timeout()));
        }
    }

    fn send_fresh(&mut self, len: u32, now: Nanos) -> Departure {
        let first = self.snd.next;
        if self.snd.in_flight.is_empty() {
            self.progress = now;
        }
        self.snd.next = first.after(len);
        self.snd.in_flight.push(first, len, now);
        self.snd.probes = false;
        if self.deadlines.retransmit.is_none() {
            self.arm_retransmit(now);
        }
        let departure = self.segment(first, len, now);
        if departure.header.has(flag::FIN) {
            self.end_is_sent();
        }
        departure
    }

    /// The segment with these sequence numbers.
    fn segment(&self, first: Seq, len: u32, now: Nanos) -> Departure {
        if self.snd.has_syn && first == self.snd.initial {
            return Departure::bare(self.syn(now));
        }
        let at = first.since(self.snd.una) as usize;
        let data = self.snd.queue.len().saturating_sub(at).min(len as usize);
        let is_end = data < len as usize;
        let is_last = at + data == self.snd.queue.len();
        let flags = flag::ACK
            | if is_end { flag::FIN } else { 0 }
            | if is_last && data != 0 { flag::PSH } else { 0 };
        Departure {
            header: self.header(first, flags, now),
            at,
            len: data,
            is_again: false,
        }
    }

    /// The data of a segment, in two pieces.
    pub(super) fn payload(&self, departure: &Departure) -> (&[u8], &[u8]) {
        let (front, back) = self.snd.queue.as_slices();
        let end = departure.at + departure.len;
        let piece = |bytes: &'_ [u8], before: usize| {
            let cut = |at: usize| at.saturating_sub(before).min(bytes.len());
            cut(departure.at)..cut(end)
        };
        let (first, second) = (piece(front, 0), piece(back, front.len()));
        (&front[first], &back[second])
    }
}
