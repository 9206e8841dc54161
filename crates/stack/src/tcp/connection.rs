//! A connection: its state, and what an application does with it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use frame::Nanos;

use super::assemble::Assembler;
use super::congestion::Congestion;
use super::in_flight::InFlight;
use super::options::{Options, Timestamps};
use super::round_trip::RoundTrip;
use super::segment::{Header, flag};
use super::{Cause, ConnectionId, Seq, TcpSettings};
use crate::Allowance;

/// Answers to segments that do not fit, a second and at once (RFC 5961 section 7: of each
/// connection, since a count of all would tell strangers of it).
const CHALLENGES_PER_SECOND: u32 = 10;

/// Both ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
}

impl Pair {
    /// Whether a connection can have these ends.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        let is_host = |end: SocketAddr| {
            let ip = end.ip();
            let is_broadcast = ip == std::net::IpAddr::V4(std::net::Ipv4Addr::BROADCAST);
            end.port() != 0 && !ip.is_unspecified() && !ip.is_multicast() && !is_broadcast
        };
        let is_one_family = self.local.is_ipv4() == self.remote.is_ipv4();
        is_one_family && is_host(self.local) && is_host(self.remote)
    }
}

/// The states of RFC 9293 section 3.3.2 that have a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// SYN sent, none received.
    SynSent,
    /// SYN sent and received.
    SynReceived,
    /// Data both ways.
    Established,
    /// FIN sent.
    FinWait1,
    /// FIN sent and acknowledged.
    FinWait2,
    /// FIN received.
    CloseWait,
    /// FIN sent and received, not acknowledged.
    Closing,
    /// FIN received, then sent.
    LastAck,
    /// Both FINs are acknowledged; old segments die out.
    TimeWait,
    /// Gone.
    Closed(Cause),
}

/// What goes out.
#[derive(Debug)]
pub(super) struct Sending {
    /// SND.UNA, SND.NXT, ISS.
    pub(super) una: Seq,
    pub(super) next: Seq,
    pub(super) initial: Seq,
    /// SYN is not acknowledged. Numbers alone do not tell: they come round again.
    pub(super) has_syn: bool,
    /// SND.WND, SND.WL1, SND.WL2; and the largest window so far.
    pub(super) window: u32,
    pub(super) window_seq: Seq,
    pub(super) window_ack: Seq,
    pub(super) window_max: u32,
    pub(super) scale: u8,
    /// Data bytes a segment at most.
    pub(super) mss: u32,
    /// Data from `una` on.
    pub(super) queue: VecDeque<u8>,
    pub(super) in_flight: InFlight,
    /// No more data comes: FIN is sent behind the last.
    pub(super) is_ending: bool,
    /// The application was refused room.
    pub(super) is_awaited: bool,
    /// Where recovery from a loss ends.
    pub(super) recovery: Option<Seq>,
    pub(super) duplicates: u32,
    /// The window is closed, and a byte is sent against it.
    pub(super) probes: bool,
}

/// What comes in.
#[derive(Debug)]
pub(super) struct Receiving {
    /// RCV.NXT, IRS.
    pub(super) next: Seq,
    pub(super) initial: Seq,
    pub(super) scale: u8,
    pub(super) out_of_order: Assembler,
    /// Where FIN stands, once it came.
    pub(super) end: Option<Seq>,
    /// The other end's clock, and when it was heard.
    pub(super) clock: Option<(u32, Nanos)>,
    /// The acknowledgment number sent last.
    pub(super) acknowledged: Seq,
    /// An acknowledgment is to be sent now; segments that wait for one.
    pub(super) ack_now: bool,
    pub(super) unacknowledged: u32,
}

/// When something is to be done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deadlines {
    pub(super) retransmit: Option<Nanos>,
    pub(super) probe: Option<Nanos>,
    pub(super) ack: Option<Nanos>,
    pub(super) keep_alive: Option<Nanos>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) pair: Pair,
    pub(super) state: State,
    /// The application knows of it: it asked for it, or heard that it is complete.
    pub(super) is_known: bool,
    pub(super) settings: Arc<TcpSettings>,
    pub(super) snd: Sending,
    pub(super) rcv: Receiving,
    pub(super) round_trip: RoundTrip,
    pub(super) congestion: Congestion,
    pub(super) deadlines: Deadlines,
    /// The other end acknowledged something new, or showed that it lives.
    pub(super) progress: Nanos,
    pub(super) keep_alive_probes: u32,
    /// A keep-alive probe is to be sent.
    pub(super) asks_for_life: bool,
    /// A reset that is to be sent.
    pub(super) reset: Option<Box<Header>>,
    pub(super) challenges: Allowance,
    pub(super) clock_offset: u32,
    pub(super) has_timestamps: bool,
    pub(super) has_sack: bool,
    /// When the table looks at it next, at the latest; see the table's `arm`.
    pub(super) armed: Option<Nanos>,
    /// It stands in the table's queue of those that may send.
    pub(super) is_ready: bool,
}

/// What a new connection begins with.
#[derive(Debug)]
pub(super) struct Birth {
    pub(super) pair: Pair,
    pub(super) initial: Seq,
    pub(super) clock_offset: u32,
    pub(super) now: Nanos,
    pub(super) settings: Arc<TcpSettings>,
}

impl Connection {
    pub(super) fn new(birth: Birth) -> Self {
        let settings = birth.settings;
        let mss = u32::from(settings.mss);
        Self {
            pair: birth.pair,
            state: State::SynSent,
            is_known: true,
            snd: Sending::new(birth.initial, mss),
            rcv: Receiving::default(),
            round_trip: RoundTrip::default(),
            congestion: Congestion::new(settings.congestion, mss),
            deadlines: Deadlines::default(),
            progress: birth.now,
            keep_alive_probes: 0,
            asks_for_life: false,
            reset: None,
            challenges: Allowance::new(CHALLENGES_PER_SECOND, CHALLENGES_PER_SECOND),
            clock_offset: birth.clock_offset,
            has_timestamps: false,
            has_sack: false,
            armed: None,
            is_ready: false,
            settings,
        }
    }

    /// The header of a segment of this connection, with what every segment has.
    pub(super) fn header(&self, seq: Seq, flags: u8, now: Nanos) -> Header {
        let clocks = self.has_timestamps.then(|| self.clocks(now));
        let sack = match self.has_sack && flags & flag::ACK != 0 {
            true => self.rcv.out_of_order.sack(),
            false => super::SackBlocks::default(),
        };
        Header {
            seq,
            ack: if flags & flag::ACK != 0 {
                self.rcv.next
            } else {
                Seq(0)
            },
            flags,
            window: (self.settings.receive_window >> self.rcv.scale).min(0xFFFF) as u16,
            options: Options {
                timestamps: clocks,
                sack,
                ..Options::default()
            },
        }
    }

    /// Both clocks, in milliseconds.
    pub(super) fn clocks(&self, now: Nanos) -> Timestamps {
        Timestamps {
            value: clock(now, self.clock_offset),
            echo: self.rcv.clock.map_or(0, |(value, _)| value),
        }
    }

    /// The window that this end names, as the other end reads it.
    pub(super) fn receive_window(&self) -> u32 {
        let window = self.settings.receive_window >> self.rcv.scale;
        window.min(0xFFFF) << self.rcv.scale
    }

    /// Ends it at once; the other end is told by a reset.
    pub(super) fn abort(&mut self, cause: Cause) {
        let is_known = !matches!(self.state, State::SynSent | State::Closed(_));
        if is_known {
            let header = Header {
                seq: self.snd.next,
                ack: self.rcv.next,
                flags: flag::RST | flag::ACK,
                ..Header::default()
            };
            self.reset = Some(Box::new(header));
        }
        if !matches!(self.state, State::Closed(_)) {
            self.state = State::Closed(cause);
        }
    }
}

/// The clock of timestamps: milliseconds, from a point that strangers do not know.
pub(super) fn clock(now: Nanos, offset: u32) -> u32 {
    ((now.0 / 1_000_000) as u32).wrapping_add(offset)
}

impl Sending {
    fn new(initial: Seq, mss: u32) -> Self {
        Self {
            una: initial,
            next: initial,
            initial,
            has_syn: true,
            window: 0,
            window_seq: Seq(0),
            window_ack: Seq(0),
            window_max: 0,
            scale: 0,
            mss,
            queue: VecDeque::new(),
            in_flight: InFlight::default(),
            is_ending: false,
            is_awaited: false,
            recovery: None,
            duplicates: 0,
            probes: false,
        }
    }
}

impl Default for Receiving {
    fn default() -> Self {
        Self {
            next: Seq(0),
            initial: Seq(0),
            scale: 0,
            out_of_order: Assembler::default(),
            end: None,
            clock: None,
            acknowledged: Seq(0),
            ack_now: false,
            unacknowledged: 0,
        }
    }
}

/// A connection as its application sees it.
#[derive(Debug)]
pub struct Socket<'a> {
    pub(super) id: ConnectionId,
    pub(super) connection: &'a mut Connection,
}

impl Socket<'_> {
    /// Which connection it is.
    #[must_use]
    pub fn id(&self) -> ConnectionId {
        self.id
    }

    /// Its ends.
    #[must_use]
    pub fn pair(&self) -> &Pair {
        &self.connection.pair
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> State {
        self.connection.state
    }

    /// Bytes that [`Socket::send`] takes now.
    #[must_use]
    pub fn room(&self) -> usize {
        let connection = &self.connection;
        let is_open = matches!(
            connection.state,
            State::SynSent | State::SynReceived | State::Established | State::CloseWait
        );
        match is_open && !connection.snd.is_ending {
            true => {
                let max = connection.settings.send_queue_max;
                max.saturating_sub(connection.snd.queue.len())
            }
            false => 0,
        }
    }

    /// Copies data to be sent; returns how much of it there was room for. The application hears
    /// of room again by [`super::Event::Writable`].
    pub fn send(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(self.room());
        self.connection.snd.queue.extend(&bytes[..len]);
        self.connection.snd.is_awaited |= len < bytes.len();
        len
    }

    /// No more data is sent; what is queued still is. Data is still received.
    pub fn close(&mut self) {
        if self.connection.state == State::SynSent {
            self.connection.abort(Cause::Aborted);
        }
        self.connection.snd.is_ending = true;
    }

    /// Ends the connection at once by a reset.
    pub fn abort(&mut self) {
        self.connection.abort(Cause::Aborted);
    }
}
