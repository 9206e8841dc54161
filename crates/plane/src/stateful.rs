//! The bridge's memory of flows: what belongs to one passes, and new ones begin from
//! allowed sides alone.
//!
//! It looks at frames that the policy forwards, and only ever makes a drop of them. A flow
//! is known by addresses, protocol and ports; each of its ends is on the side where it was first
//! seen, and a packet that claims to be of an end and comes in by the other side is none of it.
//! TCP is followed loosely ([`tcp`]): flags, no sequence numbers. An ICMP error passes towards the
//! sender of the packet that it quotes. Of a packet in pieces the first has the ports: what is
//! decided of it holds for the others, which [`crate::Fragments`] sees to; without it, when the
//! first passes, pieces with its identification do for [`Timeouts::pieces`].

mod asked;
mod config;
mod log;
mod shards;
mod tcp;
#[cfg(test)]
mod tests;

use frame::{Burst, Consumer, Nanos, PortId};
use table::flows::{
    End, Flow, FlowCounts, FlowId, FlowLimits, FlowTable, LOCATE_MAX, NoRoom, Sighting, Tick,
};
use table::{Address, CompileError};
use wire::toeplitz::{Key, Toeplitz};
use wire::{Family, FlowKey, Follow, Fragment, Parsed, protocol};

use crate::fragments::Followed;
use crate::{DropReason, Verdict, Verdicts, original_len};

pub use config::{StatefulConfig, Timeouts};
pub use log::{FlowEvent, FlowLogConfig, FlowRecord};
pub use shards::Shards;

use asked::asked;
use log::FlowLog;

/// Buckets that flows are hashed to: as the engine deals them out to workers.
pub const FLOW_BUCKETS: u16 = 128;
/// Records that are looked at for expiry after a burst, at most.
const EXPIRED_MAX: usize = 64;
/// Of a record's state: its first packet came in by the second port.
const SECOND_PORT: u8 = 0x80;
/// Of a record's state: the other end has answered.
pub(crate) const ANSWERED: u8 = 0x40;

/// Flows that this worker knows, of both families.
#[derive(Debug)]
pub struct Stateful {
    config: StatefulConfig,
    pub(crate) hash: Toeplitz,
    pub(crate) now: Tick,
    /// Other workers have the other buckets.
    shared: bool,
    pub(crate) v4: Known<u32>,
    pub(crate) v6: Known<u128>,
    /// Of the logs, until somebody takes them.
    readers: Vec<Consumer<FlowRecord>>,
}

/// The flows of one family, and packets that wait to be looked up together.
#[derive(Debug)]
pub(crate) struct Known<A> {
    pub(crate) table: FlowTable<A>,
    sightings: [Sighting<A>; LOCATE_MAX],
    packets: [Packet; LOCATE_MAX],
    /// Keys beside those of the packets: of what [`Beside`] says.
    beside: [FlowKey; LOCATE_MAX],
    len: usize,
    log: Option<Box<FlowLog>>,
}

/// What is to be decided of a packet.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// Its place in the burst.
    place: u8,
    part: Part,
    tcp_flags: u8,
    bytes: u32,
    beside: Beside,
}

/// What another key stands for that is looked up or remembered beside a packet's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// There is none.
    Nothing,
    /// It is a first piece, and the others are to pass by that key.
    Pieces,
    /// It asks many, and the answers of all are to pass by that key.
    Asks,
    /// It may be an answer of one of many: it passes if that key is known.
    Answers,
}

/// A packet's part in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Of,
    Answer,
    Later,
    Error,
}

impl Packet {
    /// Others are to pass by the key beside its own.
    fn expects(&self) -> bool {
        matches!(self.beside, Beside::Pieces | Beside::Asks)
    }
}

/// The burst that is being judged.
struct Judged<'a> {
    config: &'a StatefulConfig,
    now: Tick,
    /// Where it came in: 0 or 1, and whether flows may begin there.
    arrival: usize,
    may_begin: bool,
    hash: &'a Toeplitz,
}

impl Stateful {
    /// No flows yet, and the memory for as many as configured.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn new(config: StatefulConfig) -> Result<Self, CompileError> {
        let stateful = Self {
            config,
            hash: Toeplitz::new(&Key::SYMMETRIC),
            now: Tick(0),
            shared: false,
            v4: Known::new(&config)?,
            v6: Known::new(&config)?,
            readers: Vec::new(),
        };
        Ok(stateful.with_log())
    }

    /// What time it is, by a clock that never goes back; ends what is over, some at a time.
    #[inline]
    pub fn set_now(&mut self, now: Nanos) {
        self.now = Tick::from(now);
        self.v4.expire(self.now);
        self.v6.expire(self.now);
    }

    /// Flows there are, of IPv4 and of IPv6.
    #[must_use]
    pub fn len(&self) -> [usize; 2] {
        [self.v4.table.len(), self.v6.table.len()]
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == [0, 0]
    }

    /// Bytes of memory; they do not change.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.v4.table.bytes() + self.v6.table.bytes()
    }

    /// What was done so far, of IPv4 and of IPv6.
    #[must_use]
    pub fn counts(&self) -> [&FlowCounts; 2] {
        [self.v4.table.counts(), self.v6.table.counts()]
    }

    /// Drops of a burst that came in by `from`, at place `arrival` of the two ports, what belongs
    /// to no flow and may begin none. It says nothing of later fragments that are followed
    /// elsewhere.
    pub(crate) fn judge(
        &mut self,
        burst: &Burst,
        (parsed, followed): (&[Parsed], Option<&Followed>),
        (from, arrival): (PortId, usize),
        verdicts: &mut Verdicts,
    ) {
        let judged = Judged {
            config: &self.config,
            now: self.now,
            arrival,
            may_begin: self.config.allow_new.contains(from),
            hash: &self.hash,
        };
        let shared = self.shared;
        for (place, (frame, parsed)) in burst.frames().iter().zip(parsed).enumerate() {
            let forwarded = matches!(verdicts.as_slice().get(place), Some(Verdict::Forward(_)));
            let followed = followed.is_some_and(|followed| followed.has(place));
            let later = followed && parsed.fragment == Fragment::Later;
            if !forwarded || !parsed.is_ip() || later {
                continue;
            }
            let packet = |part| Packet {
                place: place as u8,
                part,
                tcp_flags: parsed.tcp_flags,
                bytes: original_len(frame) as u32,
                beside: Beside::Nothing,
            };
            // Keys are read where `follow` wrote them: moved first, they are read in wider words
            // than they were written in, which waits for the writes.
            let mut add = |key: &FlowKey, part, beside: Option<(Beside, FlowKey)>| {
                let packet = packet(part);
                if key.family == Family::V4 {
                    self.v4.push(key, (packet, beside), &judged, verdicts);
                } else {
                    self.v6.push(key, (packet, beside), &judged, verdicts);
                }
            };
            match &wire::follow(frame.bytes(), parsed) {
                Follow::Of(key) if judged.config.answers_from_any => {
                    add(key, Part::Of, asked(parsed, judged.may_begin));
                }
                Follow::Of(key) => add(key, Part::Of, None),
                Follow::Answer(key) => add(key, Part::Answer, None),
                // With several workers the others come here only if somebody gathers them.
                Follow::First { of, pieces } => {
                    let expects = !shared && !followed;
                    add(of, Part::Of, expects.then_some((Beside::Pieces, *pieces)));
                }
                Follow::Later(key) => add(key, Part::Later, None),
                Follow::Error(key) => add(key, Part::Error, None),
                Follow::None if judged.may_begin => {}
                Follow::None => verdicts.set(place, Verdict::Drop(DropReason::NotEstablished)),
            }
        }
        self.v4.judge(&judged, verdicts);
        self.v6.judge(&judged, verdicts);
    }
}

impl<A: Address> Known<A> {
    fn new(config: &StatefulConfig) -> Result<Self, CompileError> {
        let limits = FlowLimits {
            buckets: FLOW_BUCKETS,
            per_bucket: config.flows.div_ceil(u32::from(FLOW_BUCKETS)).max(1),
            full: config.full,
        };
        Ok(Self::over(FlowTable::new(limits)?))
    }

    fn over(table: FlowTable<A>) -> Self {
        let none = Packet {
            place: 0,
            part: Part::Of,
            tcp_flags: 0,
            bytes: 0,
            beside: Beside::Nothing,
        };
        Self {
            table,
            sightings: [Sighting::default(); LOCATE_MAX],
            packets: [none; LOCATE_MAX],
            beside: [FlowKey::v4(0, 0, 0, 0, 0); LOCATE_MAX],
            len: 0,
            log: None,
        }
    }

    #[inline]
    fn expire(&mut self, now: Tick) {
        let Self { table, log, .. } = self;
        match log {
            None => table.expire(now, EXPIRED_MAX, &mut |_| ()),
            Some(log) => {
                let mut ended = |flow: &Flow<A>| log.write(flow, FlowEvent::Expired, now);
                table.expire(now, EXPIRED_MAX, &mut ended)
            }
        };
    }

    fn write_last(&mut self, now: Tick, wait: &mut impl FnMut() -> bool) {
        if let Some(log) = &mut self.log {
            let flows = self.table.flows();
            flows.for_each(|flow| log.write_last(flow, now, wait));
        }
    }

    fn sibling(&self) -> Self {
        Self::over(self.table.sibling())
    }

    #[inline]
    fn push(
        &mut self,
        key: &FlowKey,
        (mut packet, beside): (Packet, Option<(Beside, FlowKey)>),
        on: &Judged<'_>,
        verdicts: &mut Verdicts,
    ) {
        if let Some(beside) = beside {
            (packet.beside, self.beside[self.len]) = beside;
        }
        self.sightings[self.len] = sighting(key, on.hash);
        self.packets[self.len] = packet;
        self.len += 1;
        if self.len == LOCATE_MAX {
            self.judge(on, verdicts);
        }
    }

    /// Decides on the packets that wait: those of known flows first, then, in their order,
    /// those that are not or that say something of others. A flow has packets of one kind
    /// only, so that its order holds.
    fn judge(&mut self, on: &Judged<'_>, verdicts: &mut Verdicts) {
        let count = std::mem::take(&mut self.len);
        let (sightings, packets) = (&self.sightings[..count], &self.packets[..count]);
        let (table, log) = (&mut self.table, &mut self.log);
        let (mut over, mut first) = (0_u64, 0_u64);
        let missing = table.visit(sightings, &mut |at, flow| {
            let packet = &packets[at];
            if flow.is_over(on.now) {
                over |= 1 << at;
                return;
            }
            let last = flow.last();
            match on.follow(flow, &sightings[at], packet) {
                Some(reason) => verdicts.set(packet.place.into(), Verdict::Drop(reason)),
                None => {
                    first |= u64::from(packet.expects()) << at;
                    if let Some(log) = log {
                        log.look(flow, last, on.now);
                    }
                }
            }
        });
        let mut left = missing | over | first;
        while left != 0 {
            let at = left.trailing_zeros() as usize % LOCATE_MAX;
            let passed = if first >> at & 1 == 0 {
                self.meet(at, on)
            } else {
                Ok(())
            };
            left &= left - 1;
            let packet = self.packets[at];
            let passed = match passed {
                Ok(()) if packet.expects() => self.expect(at, on),
                passed => passed,
            };
            if let Err(reason) = passed {
                verdicts.set(packet.place.into(), Verdict::Drop(reason));
            }
        }
    }

    /// A packet that was of no flow when the burst came, or of one whose time was over.
    fn meet(&mut self, at: usize, on: &Judged<'_>) -> Result<(), DropReason> {
        let (sighting, packet) = (self.sightings[at], self.packets[at]);
        let mut place = [None];
        self.table.locate(&[sighting], &mut place);
        if let Some(place) = place[0]
            && let Some(flow) = self.table.flow_mut(place)
        {
            if !flow.is_over(on.now) {
                return on.follow(flow, &sighting, &packet).map_or(Ok(()), Err);
            }
            if let Some(log) = &mut self.log {
                log.write(flow, FlowEvent::Expired, on.now);
            }
            self.table.remove(place);
        }
        let is_tcp = sighting.id.protocol() == protocol::TCP;
        match packet.part {
            Part::Later => return Err(DropReason::FragmentUnknown),
            Part::Error => return Err(DropReason::IcmpUnrelated),
            Part::Answer => return Err(DropReason::NotEstablished),
            Part::Of if packet.beside == Beside::Answers && self.was_asked(at, on) => {
                return Ok(());
            }
            Part::Of if !on.may_begin || is_tcp && !tcp::may_begin(packet.tcp_flags) => {
                return Err(DropReason::NotEstablished);
            }
            Part::Of => {}
        }
        let flow = self.begin(&sighting, on)?;
        on.follow(flow, &sighting, &packet).map_or(Ok(()), Err)
    }

    fn begin(
        &mut self,
        sighting: &Sighting<A>,
        on: &Judged<'_>,
    ) -> Result<&mut Flow<A>, DropReason> {
        let timeout = on.config.timeouts.pieces_ticks();
        let begun = self.table.counts().begun;
        let Self { table, log, .. } = self;
        let place = table.insert(sighting, timeout, on.now, &mut |flow| {
            if let Some(log) = log {
                log.write(flow, FlowEvent::Evicted, on.now);
            }
        });
        let full = |_: NoRoom| DropReason::FlowsFull;
        let place = place.map_err(full)?;
        let is_new = self.table.counts().begun != begun;
        let flow = self.table.flow_mut(place).ok_or(DropReason::FlowsFull)?;
        if is_new {
            flow.state = on.arrival as u8 * SECOND_PORT;
        }
        Ok(flow)
    }
}

impl Judged<'_> {
    /// A packet of a flow: why it may not pass, or nothing, and then it is counted.
    #[inline]
    fn follow<A: Address>(
        &self,
        flow: &mut Flow<A>,
        sighting: &Sighting<A>,
        packet: &Packet,
    ) -> Option<DropReason> {
        let of_first = sighting.from == flow.first();
        let home = usize::from(flow.state & SECOND_PORT != 0) ^ usize::from(!of_first);
        if packet.part == Part::Error {
            // It goes to who sent what it quotes, and comes in by the other side.
            return (self.arrival == home).then_some(DropReason::IcmpUnrelated);
        }
        if self.arrival != home {
            return Some(DropReason::OtherSide);
        }
        let is_tcp = flow.id().protocol() == protocol::TCP;
        if is_tcp && tcp::is_opening(packet.tcp_flags) && !self.may_begin {
            return Some(DropReason::NotEstablished);
        }
        if !of_first {
            flow.state |= ANSWERED;
        }
        let timeouts = &self.config.timeouts;
        if is_tcp {
            flow.state = tcp::next(flow.state, of_first, packet.tcp_flags);
            flow.set_timeout(tcp::timeout(flow.state, timeouts));
        } else {
            let answered = flow.state & ANSWERED != 0;
            flow.set_timeout(timeouts.of(flow.id().protocol(), answered));
        }
        flow.count(sighting.from, packet.bytes, self.now);
        None
    }
}

pub(crate) fn sighting<A: Address>(key: &FlowKey, hash: &Toeplitz) -> Sighting<A> {
    let (id, from): (FlowId<A>, End) = FlowId::of(
        (A::narrow(key.src), key.src_port),
        (A::narrow(key.dst), key.dst_port),
        key.protocol,
    );
    let bucket = hash.hash(key) as u16 % FLOW_BUCKETS;
    Sighting { id, from, bucket }
}
