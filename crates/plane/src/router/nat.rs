//! Where a router calls NAT.

use std::net::IpAddr;

use frame::{Burst, Frame};

use super::process::{Columns, Routed, Seen};
use super::{Hop, Router};
use crate::nat::{Arrival, Departure};
use crate::{DropReason, Forwarding};

impl Router {
    /// Looks the flows of a burst up, before its routes are.
    pub(super) fn arrive_all_at_nat(&mut self, cx: &Forwarding<'_>, burst: &Burst) {
        let (Some(nat), Some(table)) = (&mut self.nat, &self.table.nat) else {
            return;
        };
        let Columns {
            seen, asked, v4, ..
        } = &mut self.columns;
        asked.clear();
        for (seen, frame) in seen.iter().zip(burst.frames()) {
            if let Seen::Routed(routed, _) = seen
                && routed.packet.is_v4()
            {
                asked.push(nat.ask(routed.packet.bytes(frame.bytes())));
            }
        }
        for asked in &*asked {
            nat.prefetch(asked);
        }
        let mut asked = asked.iter();
        for (seen, frame) in seen.iter_mut().zip(burst.frames()) {
            if let Seen::Routed(routed, index) = seen
                && routed.packet.is_v4()
                && let Some(asked) = asked.next()
            {
                let packet = routed.packet.bytes(frame.bytes());
                routed.nat = nat.answer(table, &nat_arrival(cx, routed), asked, packet);
                if let Some(to) = routed.nat.destination() {
                    routed.packet.dst = to.into();
                    v4[*index] = to;
                }
            }
        }
    }

    /// Looks a packet's flow up, before its route is.
    pub(super) fn arrive_at_nat(
        &mut self,
        cx: &Forwarding<'_>,
        routed: &mut Routed,
        frame: &Frame,
    ) {
        let (Some(nat), Some(table)) = (&mut self.nat, &self.table.nat) else {
            return;
        };
        if !routed.packet.is_v4() {
            return;
        }
        let packet = routed.packet.bytes(frame.bytes());
        routed.nat = nat.arrive(table, &nat_arrival(cx, routed), packet);
        if let Some(to) = routed.nat.destination() {
            routed.packet.dst = to.into();
        }
    }

    /// A fragment whose first one came in the same burst: with its destination, and where that is.
    #[cold]
    pub(super) fn follow_first_fragment(
        &mut self,
        cx: &Forwarding<'_>,
        routed: &Routed,
        frame: &Frame,
    ) -> Option<(Routed, u32)> {
        let mut again = *routed;
        self.arrive_at_nat(cx, &mut again, frame);
        let vrf = self.table.vrf(again.arrival.interface);
        let answer = vrf.fib_v4.lookup(again.packet.dst as u32);
        (!again.nat.is_unknown_piece()).then_some((again, answer))
    }

    /// Makes a packet what it leaves as by a next hop. Whether it was translated.
    #[inline]
    pub(super) fn leave_nat(
        &mut self,
        cx: &Forwarding<'_>,
        routed: &Routed,
        hop: &Hop,
        frame: &mut Frame,
    ) -> Result<bool, DropReason> {
        let Some(nat) = &mut self.nat else {
            return Ok(false);
        };
        let Some(table) = &self.table.nat else {
            return Ok(false);
        };
        let gateway = hop.gateway.filter(IpAddr::is_ipv4);
        let next = gateway.unwrap_or_else(|| routed.packet.destination());
        // That of another interface may be hidden itself.
        let own = || match self.table.own_address_here(hop.interface, next) {
            Some(IpAddr::V4(own)) => Some(own.to_bits()),
            _ => None,
        };
        let departure = Departure {
            arrival: nat_arrival(cx, routed),
            out: hop.interface.0,
            own: &own,
        };
        let bytes = routed.packet.bytes_mut(frame.bytes_mut());
        nat.leave(table, &departure, &routed.nat, bytes)
    }

    /// Makes a packet that was translated, and goes no further, the one that came in.
    pub(super) fn undo_nat(&mut self, cx: &Forwarding<'_>, l3: usize, frame: &mut Frame) {
        let (Some(nat), Some(table)) = (&mut self.nat, &self.table.nat) else {
            return;
        };
        let Some(packet) = frame.bytes_mut().get_mut(l3..) else {
            return;
        };
        if let Some(original) = nat.original(table, cx.now, packet) {
            original.apply(packet);
        }
    }

    pub(super) fn poll_nat(&mut self, cx: &Forwarding<'_>) {
        if let (Some(nat), Some(table)) = (&mut self.nat, &self.table.nat) {
            nat.poll(table, cx.now);
        }
    }

    pub(super) fn nat_rules_changed(&mut self) {
        if let Some(nat) = &mut self.nat {
            nat.rules_changed();
        }
    }
}

fn nat_arrival(cx: &Forwarding<'_>, routed: &Routed) -> Arrival {
    Arrival {
        from: routed.arrival.interface.0,
        now: cx.now,
    }
}
