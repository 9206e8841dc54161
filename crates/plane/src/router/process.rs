//! One burst through a router: headers are read, all destinations are looked up at once, then each
//! packet gets its verdict, in order.

use frame::{BURST_MAX, Burst, Frame, prefetch};
use table::ListMask;

use super::arrive::Arrival;
use super::packet::Packet;
use super::{InterfaceId, ReversePath, Router, RouterTable, Target, scope};
use crate::nat::{Arrived, Asked};
use crate::{DropReason, Forwarding, Verdict, Verdicts, original_len};

/// What the first pass found of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    /// It has its verdict already.
    Decided,
    /// It goes no further.
    Refused(DropReason),
    /// It holds something for stations of the link: ARP, neighbour discovery, groups.
    OfLink(Arrival, Option<Packet>),
    /// Its destination is looked up; the number is its index among those of its family.
    Routed(Routed, usize),
}

/// A packet that may be forwarded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Routed {
    pub(super) arrival: Arrival,
    /// With the destination that NAT gives it, in place of the one that it came with.
    pub(super) packet: Packet,
    pub(super) nat: Arrived,
}

impl Routed {
    /// A packet that NAT has nothing to do with.
    pub(super) fn new(arrival: Arrival, packet: Packet) -> Self {
        Self {
            arrival,
            packet,
            nat: Arrived::Plain,
        }
    }
}

/// What is known of a burst: columns, so that lookups overlap.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) seen: Vec<Seen>,
    pub(super) v4: Vec<u32>,
    v6: Vec<u128>,
    /// What NAT is asked about the packets of IPv4.
    pub(super) asked: Vec<Asked>,
    /// By which interface each destination came, where there are several VRFs.
    from_v4: Vec<InterfaceId>,
    from_v6: Vec<InterfaceId>,
    answers_v4: [ListMask; BURST_MAX],
    answers_v6: [ListMask; BURST_MAX],
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            seen: Vec::with_capacity(BURST_MAX),
            v4: Vec::with_capacity(BURST_MAX),
            v6: Vec::with_capacity(BURST_MAX),
            asked: Vec::with_capacity(BURST_MAX),
            from_v4: Vec::with_capacity(BURST_MAX),
            from_v6: Vec::with_capacity(BURST_MAX),
            answers_v4: [ListMask::EMPTY; BURST_MAX],
            answers_v6: [ListMask::EMPTY; BURST_MAX],
        }
    }
}

impl Columns {
    /// Looks up by several VRFs: those destinations at once that follow each other in one.
    fn look_up_each(&mut self, table: &RouterTable) {
        let is_one = |a: &InterfaceId, b: &InterfaceId| std::ptr::eq(table.vrf(*a), table.vrf(*b));
        let mut at = 0;
        for run in self.from_v4.chunk_by(is_one) {
            let next = at + run.len();
            let answers = &mut self.answers_v4[at..next];
            table
                .vrf(run[0])
                .fib_v4
                .lookup_burst(&self.v4[at..next], answers);
            at = next;
        }
        at = 0;
        for run in self.from_v6.chunk_by(is_one) {
            let next = at + run.len();
            let answers = &mut self.answers_v6[at..next];
            table
                .vrf(run[0])
                .fib_v6
                .lookup_burst(&self.v6[at..next], answers);
            at = next;
        }
    }
}

impl Router {
    /// Replaces each [`Verdict::Forward`] by the router's answer: the port that the frame leaves
    /// by, for which it is made ready, or that it waits for its next hop, ends here or is dropped.
    pub(super) fn route(
        &mut self,
        cx: &mut Forwarding<'_>,
        burst: &mut Burst,
        verdicts: &mut Verdicts,
    ) {
        self.read(cx, burst, verdicts);
        self.look_up();
        for at in 0..self.columns.seen.len().min(burst.len()) {
            let frame = &mut burst.frames_mut()[at];
            let verdict = match self.columns.seen[at] {
                Seen::Decided => continue,
                Seen::Refused(reason) => Verdict::Drop(reason),
                Seen::OfLink(arrival, packet) => self.hear(cx, arrival, packet, at, frame),
                Seen::Routed(routed, index) => {
                    let answers = match routed.packet.is_v4() {
                        true => &self.columns.answers_v4,
                        false => &self.columns.answers_v6,
                    };
                    let answer = answers[index].0;
                    self.decide(cx, &routed, answer, at, frame)
                }
            };
            verdicts.set(at, verdict);
        }
    }

    /// The first pass: headers are read.
    fn read(&mut self, cx: &Forwarding<'_>, burst: &Burst, verdicts: &Verdicts) {
        for frame in burst.frames() {
            prefetch::read(frame.header_ptr());
        }
        self.columns.seen.clear();
        self.columns.v4.clear();
        self.columns.v6.clear();
        self.columns.from_v4.clear();
        self.columns.from_v6.clear();
        for (frame, verdict) in burst.frames().iter().zip(verdicts.as_slice()) {
            let seen = match verdict {
                Verdict::Forward(_) => self.read_one(cx, frame),
                _ => Seen::Decided,
            };
            self.columns.seen.push(seen);
        }
        self.arrive_all_at_nat(cx, burst);
    }

    #[inline]
    fn read_one(&mut self, cx: &Forwarding<'_>, frame: &Frame) -> Seen {
        let read = || {
            let arrival = self.table.arrive(cx.from, frame.bytes())?;
            if arrival.ether_type == wire::ether_type::ARP {
                return Ok(Seen::OfLink(arrival, None));
            }
            let wire_len = original_len(frame);
            let packet = Packet::read(arrival.ether_type, frame.bytes(), arrival.l3, wire_len)?;
            match scope::of(&packet)? {
                scope::Scope::Link => Ok(Seen::OfLink(arrival, Some(packet))),
                scope::Scope::Global => Ok(Seen::Routed(Routed::new(arrival, packet), 0)),
            }
        };
        match read() {
            Ok(Seen::Routed(routed, _)) => Seen::Routed(routed, self.add_key(&routed)),
            Ok(seen) => seen,
            Err(reason) => Seen::Refused(reason),
        }
    }

    /// Puts the destination among those to be looked up.
    #[inline]
    fn add_key(&mut self, routed: &Routed) -> usize {
        let (packet, from) = (&routed.packet, routed.arrival.interface);
        if packet.is_v4() {
            self.columns.v4.push(packet.dst as u32);
            self.columns.from_v4.push(from);
            self.columns.v4.len() - 1
        } else {
            self.columns.v6.push(packet.dst);
            self.columns.from_v6.push(from);
            self.columns.v6.len() - 1
        }
    }

    #[inline]
    fn look_up(&mut self) {
        let columns = &mut self.columns;
        let Some(vrf) = self.table.only_vrf() else {
            return columns.look_up_each(&self.table);
        };
        if !columns.v4.is_empty() {
            let answers = &mut columns.answers_v4[..columns.v4.len()];
            vrf.fib_v4.lookup_burst(&columns.v4, answers);
        }
        if !columns.v6.is_empty() {
            let answers = &mut columns.answers_v6[..columns.v6.len()];
            vrf.fib_v6.lookup_burst(&columns.v6, answers);
        }
    }

    /// Whether the source of a packet is one that packets could be sent to, as far as that is asked
    /// for (RFC 3704).
    #[inline]
    pub(super) fn reverse_path_holds(&self, routed: &Routed) -> bool {
        match self.table.config().reverse_path {
            ReversePath::Off => true,
            mode => self.has_reverse_path(routed, mode),
        }
    }

    fn has_reverse_path(&self, routed: &Routed, mode: ReversePath) -> bool {
        let vrf = self.table.vrf(routed.arrival.interface);
        match vrf.target_of(routed.packet.source()) {
            Some(Target::Via(hops)) => {
                let mut hops = hops.hops().iter();
                mode == ReversePath::Loose
                    || hops.any(|hop| hop.interface == routed.arrival.interface)
            }
            _ => false,
        }
    }
}
