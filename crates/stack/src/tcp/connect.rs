//! How a connection begins: both SYNs and what they agree on (RFC 9293 section 3.5).

use frame::Nanos;

use super::congestion::Congestion;
use super::connection::{Birth, Connection, State};
use super::options::{Options, TIMESTAMPS_BYTES};
use super::segment::{Header, Segment, flag};
use super::{Application, Arrival, Cause, Event, Seq};

/// The MSS of an end that names none (RFC 9293 section 3.7.1).
const MSS_UNNAMED: u16 = 536;
/// The least MSS that is believed: a smaller one would cost more headers than data.
const MSS_MIN: u16 = 64;

impl Connection {
    /// A connection that this end asks for.
    pub(super) fn active(birth: Birth) -> Self {
        Self::new(birth)
    }

    /// A connection that the other end asks for by `syn`.
    pub(super) fn passive(birth: Birth, syn: &Segment<'_>) -> Self {
        let now = birth.now;
        let mut connection = Self::new(birth);
        connection.is_known = false;
        connection.agree(syn, now);
        connection.state = State::SynReceived;
        connection
    }

    /// Takes over what a SYN says.
    fn agree(&mut self, syn: &Segment<'_>, now: Nanos) {
        let options = &syn.header.options;
        self.rcv.initial = syn.header.seq;
        self.rcv.next = syn.header.seq.after(1);
        self.rcv.acknowledged = self.rcv.next;
        if let Some(scale) = options.window_scale {
            self.snd.scale = scale;
            self.rcv.scale = self.settings.window_scale();
        }
        self.has_sack = options.sack_permitted && self.settings.sack;
        self.has_timestamps = options.timestamps.is_some() && self.settings.timestamps;
        let clocks = options.timestamps.filter(|_| self.has_timestamps);
        self.rcv.clock = clocks.map(|clocks| (clocks.value, now));
        let mss = options.mss.unwrap_or(MSS_UNNAMED).max(MSS_MIN);
        let mss = u32::from(mss.min(self.settings.mss));
        self.snd.mss = match self.has_timestamps {
            true => mss - TIMESTAMPS_BYTES,
            false => mss,
        };
        self.congestion = Congestion::new(self.settings.congestion, self.snd.mss);
        // The window of a SYN is not scaled (RFC 7323 section 2.2).
        self.snd.window = syn.header.window.into();
        self.snd.window_max = self.snd.window;
        self.snd.window_seq = syn.header.seq;
        self.snd.window_ack = syn.header.ack;
    }

    /// The SYN of this end, with ACK where it knows the other's.
    pub(super) fn syn(&self, now: Nanos) -> Header {
        let is_answer = self.state != State::SynSent;
        let flags = flag::SYN | if is_answer { flag::ACK } else { 0 };
        let header = self.header(self.snd.initial, flags, now);
        let scale = self.settings.window_scale();
        let has_scale = !is_answer || self.rcv.scale != 0 || self.snd.scale != 0;
        let has_sack = if is_answer {
            self.has_sack
        } else {
            self.settings.sack
        };
        let has_timestamps = match is_answer {
            true => self.has_timestamps,
            false => self.settings.timestamps,
        };
        Header {
            window: self.settings.receive_window.min(0xFFFF) as u16,
            options: Options {
                mss: Some(self.settings.mss),
                window_scale: has_scale.then_some(scale),
                sack_permitted: has_sack,
                timestamps: has_timestamps.then(|| self.clocks(now)),
                ..Options::default()
            },
            ..header
        }
    }

    /// A segment arrived in SYN-SENT (RFC 9293 section 3.10.7.3).
    pub(super) fn arrive_syn_sent<A: Application>(
        &mut self,
        segment: &Segment<'_>,
        cx: &mut Arrival<'_, A>,
    ) {
        let header = &segment.header;
        let has_ack = segment.has(flag::ACK);
        let is_ours = self.snd.una.is_before(header.ack) && !self.snd.next.is_before(header.ack);
        if has_ack && !is_ours {
            self.reset = (!segment.has(flag::RST)).then(|| Box::new(segment.reset()));
            return;
        }
        if segment.has(flag::RST) {
            if has_ack {
                self.state = State::Closed(Cause::Refused);
            }
            return;
        }
        if !segment.has(flag::SYN) {
            return;
        }
        self.agree(segment, cx.now);
        if !has_ack {
            // Both ends asked at the same time: SYN goes out again, with ACK.
            self.state = State::SynReceived;
            self.snd.in_flight.lose_all();
            return;
        }
        let sent_at = self.snd.in_flight.acknowledge(header.ack);
        self.take_acknowledged(header.ack, sent_at, cx);
        self.rcv.ack_now = true;
        self.establish(cx);
        self.take_data(&segment.without_syn(), cx);
    }

    /// The connection is complete.
    pub(super) fn establish<A: Application>(&mut self, cx: &mut Arrival<'_, A>) {
        self.state = State::Established;
        self.is_known = true;
        self.keep_alive_from(cx.now);
        self.tell(cx, Event::Connected);
    }
}

impl Segment<'_> {
    /// The segment without its SYN.
    pub(super) fn without_syn(&self) -> Self {
        let header = Header {
            seq: Seq(self.header.seq.0.wrapping_add(1)),
            flags: self.header.flags & !flag::SYN,
            ..self.header
        };
        Self { header, ..*self }
    }
}
