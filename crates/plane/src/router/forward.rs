//! The decision on one packet, and its way to the next hop.

use frame::{Frame, PortId};
use stack::icmp::Report;
use stack::neighbours::{Key, Lookup};
use wire::MacAddress;
use wire::view::{Ipv4View, Ipv6View};

use super::follow::Kernel;
use super::packet::{Kind, Options, Packet};
use super::process::Routed;
use super::wait::Ticket;
use super::{Hop, Router, Target};
use crate::{DropReason, Forwarding, Origin, Verdict, original_len};

/// A packet on its way out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) hop: Hop,
    /// Where the packet begins in the frame.
    pub(super) l3: usize,
    /// Whom the next hop is looked up for.
    pub(super) key: Key,
    /// Another station sent it, so that it counts as forwarded when it leaves.
    pub(super) is_forwarded: bool,
}

/// What becomes of a frame at its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It is ready for this port.
    By(PortId),
    /// It is ready but for the Ethernet address of this neighbour, which is asked for.
    Waits(Key),
    /// The next hop does not answer.
    Unresolved,
    /// The next hop is asked for, and nothing more may wait for it.
    Full,
    /// Its chunk has no room for its link header.
    NoRoom,
}

impl Router {
    /// Decides on a packet whose lookup gave `answer`; it is the frame at `at` of its burst.
    pub(super) fn decide(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        answer: u32,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        if routed.nat.is_unknown_piece()
            && let Some((routed, answer)) = self.follow_first_fragment(cx, routed, frame)
        {
            return self.decide(cx, &routed, answer, at, frame);
        }
        match self.choose(routed, answer, frame) {
            Choice::Deliver if routed.nat.is_redirected() => Verdict::Drop(DropReason::Local),
            Choice::Deliver => self.deliver(cx, routed, at, frame),
            Choice::Forward(hop) => self.forward(cx, routed, &hop, at, frame),
            Choice::Refuse(refusal) => self.end(cx, routed, &refusal, at, frame),
        }
    }

    /// Drops a packet, and tells its sender where that is due.
    pub(super) fn end(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        refusal: &Refusal,
        at: usize,
        frame: &Frame,
    ) -> Verdict {
        let is_v4 = routed.packet.is_v4();
        let is_told = |kernel: &Kernel| !is_v4 && kernel.tells(cx.from, refusal.reason);
        if let Some(report) = refusal.report
            && !self.kernel.as_ref().is_some_and(is_told)
        {
            self.report(cx, routed, report, at, frame);
        }
        Verdict::Drop(refusal.reason)
    }

    /// What is to be done with a packet, by its header and its route.
    #[inline]
    fn choose(&self, routed: &Routed, answer: u32, frame: &Frame) -> Choice {
        let target = self.table.vrf(routed.arrival.interface).target(answer);
        if matches!(target, Some(Target::Local)) && !routed.arrival.to_group {
            return Choice::Deliver;
        }
        let hops = match self.check(routed, target) {
            Ok(hops) => hops,
            Err(refusal) => return Choice::Refuse(refusal),
        };
        let hash = match hops.is_several() {
            true => routed.packet.flow(frame.bytes()),
            false => 0,
        };
        match hops.of_flow(hash) {
            Some(hop) => Choice::Forward(*hop),
            None => Choice::Refuse(Refusal::silent(DropReason::NoRoute)),
        }
    }

    /// Whether a packet may be forwarded, and by which hops, as far as its header and its route
    /// decide; the order is that of the kernel.
    #[inline]
    fn check<'t>(
        &self,
        routed: &Routed,
        target: Option<&'t Target>,
    ) -> Result<&'t super::HopSet, Refusal> {
        let packet = &routed.packet;
        if routed.arrival.to_group {
            return Err(Refusal::silent(DropReason::OtherStation));
        }
        packet.check_options()?;
        let is_ours = self.table.vrf(routed.arrival.interface).is_ours(packet);
        let is_of_host = is_ours && self.is_of_host(routed);
        if is_ours && !is_of_host {
            return Err(Refusal::silent(DropReason::MartianSource));
        }
        if !is_of_host && !self.reverse_path_holds(routed) {
            return Err(Refusal::silent(DropReason::ReversePath));
        }
        let hops = match target {
            Some(Target::Via(hops)) => hops,
            other => return Err(Refusal::of_target(other)),
        };
        if packet.hops <= 1 && !is_of_host {
            return Err(Refusal::told(DropReason::TtlExpired, Report::TimeExceeded));
        }
        Ok(hops)
    }

    /// Makes a packet ready for its next hop.
    fn forward(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        hop: &Hop,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        let packet = &routed.packet;
        let mtu = self.table.link(hop.interface).mtu;
        let is_long = packet.len > mtu;
        if is_long
            && !matches!(
                packet.kind,
                Kind::V4 {
                    dont_fragment: false,
                    ..
                }
            )
        {
            let report = Report::TooBig { mtu: mtu as u16 };
            self.report(cx, routed, report, at, frame);
            return Verdict::Drop(DropReason::TooBig);
        }
        let is_translated = match self.leave_nat(cx, routed, hop, frame) {
            Ok(is_translated) => is_translated,
            Err(reason) => return Verdict::Drop(reason),
        };
        trim(frame, packet);
        if !self.is_of_host(routed) {
            count_hop(frame, packet);
        }
        let leaving = Leaving::new(packet, hop);
        if is_long {
            return self.fragment(cx, routed, &leaving, at, frame);
        }
        match self.send(cx, &leaving, frame) {
            Sent::Unresolved => {
                if is_translated {
                    self.undo_nat(cx, packet.l3, frame);
                }
                self.report(cx, routed, Report::HostUnreachable, at, frame);
                Verdict::Drop(DropReason::Unresolved)
            }
            sent => self.verdict(cx, routed, &leaving, sent),
        }
    }

    /// The verdict on a frame of the burst.
    #[inline]
    pub(super) fn verdict(
        &mut self,
        cx: &Forwarding<'_>,
        routed: &Routed,
        leaving: &Leaving,
        sent: Sent,
    ) -> Verdict {
        match sent {
            Sent::By(port) => {
                if leaving.is_forwarded {
                    self.counts.count_forwarded(routed.packet.is_v4());
                }
                Verdict::Forward(port)
            }
            Sent::Waits(key) => {
                self.waiting.expect(Ticket {
                    key,
                    from: cx.from,
                    arrival: routed.arrival,
                    origin: Origin::Held,
                    is_forwarded: leaving.is_forwarded,
                });
                Verdict::Hold
            }
            // Senders are not told while the next hop may answer yet.
            Sent::Unresolved | Sent::Full => Verdict::Drop(DropReason::Unresolved),
            Sent::NoRoom => Verdict::Drop(DropReason::NoFrameRoom),
        }
    }

    /// Gives a packet the link header of its next hop.
    #[inline]
    pub(super) fn send(
        &mut self,
        cx: &Forwarding<'_>,
        leaving: &Leaving,
        frame: &mut Frame,
    ) -> Sent {
        let (to, sent) = match self.neighbours.lookup(&leaving.key, cx.now) {
            Lookup::Known(mac) => (mac, Sent::By(self.table.link(leaving.hop.interface).port)),
            Lookup::Unknown
                if self.neighbours.want(leaving.key, cx.now)
                    && self.waiting.has_room(&leaving.key) =>
            {
                (MacAddress::default(), Sent::Waits(leaving.key))
            }
            Lookup::Unknown => return Sent::Full,
            Lookup::Failed => return Sent::Unresolved,
        };
        match self
            .table
            .link(leaving.hop.interface)
            .put_on(frame, leaving.l3, to)
        {
            true => sent,
            false => Sent::NoRoom,
        }
    }
}

impl Leaving {
    #[inline]
    pub(super) fn new(packet: &Packet, hop: &Hop) -> Self {
        Self {
            hop: *hop,
            l3: packet.l3,
            key: Key {
                interface: hop.interface.0,
                address: hop.gateway.unwrap_or_else(|| packet.destination()),
            },
            is_forwarded: true,
        }
    }
}

/// What is to be done with a packet.
enum Choice {
    /// It is for the router itself.
    Deliver,
    /// It goes to this next hop.
    Forward(Hop),
    /// It goes no further.
    Refuse(Refusal),
}

/// Why a packet is not forwarded, and what its sender is told.
pub(super) struct Refusal {
    reason: DropReason,
    report: Option<Report>,
}

impl Refusal {
    fn silent(reason: DropReason) -> Self {
        Self {
            reason,
            report: None,
        }
    }

    fn told(reason: DropReason, report: Report) -> Self {
        Self {
            reason,
            report: Some(report),
        }
    }

    /// By the route to it, which is none with hops.
    fn of_target(target: Option<&Target>) -> Self {
        match target {
            Some(Target::Blackhole) => Self::silent(DropReason::Blackhole),
            Some(Target::Unreachable) => {
                Self::told(DropReason::RouteUnreachable, Report::Unreachable)
            }
            Some(Target::Prohibited) => Self::told(DropReason::RouteProhibited, Report::Prohibited),
            Some(Target::Broadcast) => Self::silent(DropReason::LinkScope),
            Some(Target::Local | Target::Via(_)) => Self::silent(DropReason::Local),
            None => Self::told(DropReason::NoRoute, Report::NoRoute),
        }
    }
}

impl Packet {
    /// Whether the options of its header let it go on.
    #[inline]
    pub(super) fn check_options(&self) -> Result<(), Refusal> {
        let Kind::V4 { options, .. } = self.kind else {
            return Ok(());
        };
        match options {
            Options::Plain => Ok(()),
            Options::SourceRoute => Err(Refusal::silent(DropReason::SourceRoute)),
            Options::Malformed(at) => Err(Refusal::told(
                DropReason::HeaderOption,
                Report::ParameterProblem { at: at.into() },
            )),
        }
    }
}

/// Cuts what follows the packet in its frame.
#[inline]
fn trim(frame: &mut Frame, packet: &Packet) {
    let end = packet.l3 + packet.len;
    if frame.len() > end {
        // Shorter always fits.
        let _fits = frame.set_len(end);
    }
    if original_len(frame) > end {
        frame.meta_mut().original_len = end as u32;
    }
}

/// Takes 1 from the TTL or hop limit.
#[inline]
fn count_hop(frame: &mut Frame, packet: &Packet) {
    let Some(bytes) = frame.bytes_mut().get_mut(packet.l3..) else {
        return;
    };
    match packet.kind {
        Kind::V4 { .. } => {
            if let Ok(mut view) = Ipv4View::new_checked(bytes) {
                view.decrement_ttl();
            }
        }
        Kind::V6 => {
            if let Ok(mut view) = Ipv6View::new_checked(bytes) {
                view.set_hop_limit(packet.hops - 1);
            }
        }
    }
}
