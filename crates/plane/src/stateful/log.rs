//! What is written down of flows: a record when one is over, and one now and then while it
//! goes on. Records go into a ring of fixed size; what does not fit is counted and forgotten.

use frame::{Consumer, Producer};
use table::Address;
use table::flows::{End, Flow, Tick, ticks};
use wire::protocol;

use super::{ANSWERED, SECOND_PORT, tcp};

/// What is to be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLogConfig {
    /// Seconds after which a flow that goes on is written down again; 0 for never.
    pub interval: u32,
    /// Records of one family that wait to be read at most, of each worker.
    pub records: u32,
}

/// Why a record was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEvent {
    /// The flow goes on.
    Interval,
    /// Nothing came for as long as its state allows.
    Expired,
    /// It had to make room for another.
    Evicted,
    /// The bridge ended before it.
    Stopped,
}

impl FlowEvent {
    /// As it stands in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Expired => "expired",
            Self::Evicted => "evicted",
            Self::Stopped => "stopped",
        }
    }
}

/// What is known of a flow at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Why it was made.
    pub event: FlowEvent,
    /// When it was made, when the flow began, and when its last packet came.
    pub at: Tick,
    /// The first packet.
    pub begun: Tick,
    /// The last packet.
    pub last: Tick,
    /// IPv6; of IPv4 the addresses are the low 32 bits.
    pub is_v6: bool,
    /// Who sent the first packet, and the port.
    pub from: (u128, u16),
    /// The other end.
    pub to: (u128, u16),
    /// Of the transport header.
    pub protocol: u8,
    /// In a word, as [`FlowRecord::state`] has it.
    state: &'static str,
    /// The place of the port by which the first packet came in: 0 or 1.
    pub arrival: u8,
    /// Packets of who sent the first, and of the other end.
    pub frames: [u64; 2],
    /// Their bytes, without FCS.
    pub bytes: [u64; 2],
}

impl FlowRecord {
    fn of<A: Address>(flow: &Flow<A>, event: FlowEvent, at: Tick) -> Self {
        let id = flow.id();
        let first = flow.first();
        let (low, high) = (id.end(End::Low), id.end(End::High));
        let wide = |(address, port): (A, u16)| (address.widen(), port);
        let in_order = |mut both: [u64; 2]| {
            if first == End::High {
                both.swap(0, 1);
            }
            both
        };
        let (from, to) = match first {
            End::Low => (wide(low), wide(high)),
            End::High => (wide(high), wide(low)),
        };
        Self {
            event,
            at,
            begun: flow.begun(),
            last: flow.last(),
            is_v6: size_of::<A>() == size_of::<u128>(),
            from,
            to,
            protocol: id.protocol(),
            state: state(id.protocol(), flow.state),
            arrival: u8::from(flow.state & SECOND_PORT != 0),
            frames: in_order(flow.frames()),
            bytes: in_order(flow.bytes()),
        }
    }

    /// The state in a word: of TCP `opening`, `established`, `closing`, `closed` or `reset`, of
    /// others `unanswered` or `answered`.
    #[must_use]
    pub fn state(&self) -> &'static str {
        self.state
    }
}

fn state(number: u8, state: u8) -> &'static str {
    match number {
        protocol::TCP => tcp::name(state),
        _ if state & ANSWERED != 0 => "answered",
        _ => "unanswered",
    }
}

/// One worker's writing end, of one family.
#[derive(Debug)]
pub(super) struct FlowLog {
    ring: Producer<FlowRecord>,
    /// Ticks; 0 for never.
    interval: u32,
    pub(super) written: u64,
    pub(super) lost: u64,
}

impl FlowLog {
    pub(super) fn new(config: FlowLogConfig) -> (Self, Consumer<FlowRecord>) {
        let (ring, reader) = frame::ring(config.records.max(1) as usize);
        let log = Self {
            ring,
            interval: ticks(config.interval),
            written: 0,
            lost: 0,
        };
        (log, reader)
    }

    /// A flow is over, or as good as.
    pub(super) fn write<A: Address>(&mut self, flow: &Flow<A>, event: FlowEvent, at: Tick) {
        // Pieces of a packet are no flow.
        if flow.id().protocol() == protocol::FRAGMENT {
            return;
        }
        match self.ring.push(FlowRecord::of(flow, event, at)) {
            Ok(()) => self.written += 1,
            Err(_) => self.lost += 1,
        }
    }

    /// A packet was counted, and the one before it came at `last`: writes the flow down
    /// where it is the first of another interval since the begin. Those that stand still have
    /// nothing new to say, and nobody walks over them.
    #[inline]
    pub(super) fn look<A: Address>(&mut self, flow: &Flow<A>, last: Tick, now: Tick) {
        if self.interval != 0 {
            let past = |tick: Tick| tick.0.saturating_sub(flow.begun().0) / self.interval;
            if past(now) != past(last) {
                self.write(flow, FlowEvent::Interval, now);
            }
        }
    }

    /// At the end of the run: as [`FlowLog::write`], but where there is no room it waits as long as
    /// `wait` says that waiting is worth it.
    pub(super) fn write_last<A: Address>(
        &mut self,
        flow: &Flow<A>,
        at: Tick,
        wait: &mut impl FnMut() -> bool,
    ) {
        while self.ring.free_slots() == 0 && !self.ring.is_closed() && wait() {}
        self.write(flow, FlowEvent::Stopped, at);
    }
}
