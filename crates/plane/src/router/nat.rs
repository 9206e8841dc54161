//! Where a router calls NAT.

use std::net::IpAddr;

use frame::Frame;

use super::process::Routed;
use super::{Hop, Router};
use crate::nat::{Arrival, Departure, Rewrite};
use crate::{DropReason, Forwarding};

impl Router {
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
        let arrival = nat_arrival(cx, routed);
        routed.nat = nat.arrive(table, &arrival, routed.packet.bytes(frame.bytes()));
        if let Some(to) = nat.destination(&routed.nat) {
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

    /// What a packet becomes that is to leave by a next hop; `None`: it stays as it is.
    #[inline]
    pub(super) fn leave_nat(
        &mut self,
        cx: &Forwarding<'_>,
        routed: &Routed,
        hop: &Hop,
        frame: &Frame,
    ) -> Result<Option<Rewrite>, DropReason> {
        let Some(nat) = &mut self.nat else {
            return Ok(None);
        };
        let Some(table) = &self.table.nat else {
            return Ok(None);
        };
        let gateway = hop.gateway.filter(IpAddr::is_ipv4);
        let next = gateway.unwrap_or_else(|| routed.packet.destination());
        // That of another interface may be hidden itself.
        let own = self.table.own_address_here(hop.interface, next);
        let departure = Departure {
            arrival: nat_arrival(cx, routed),
            out: hop.interface.0,
            own: own.and_then(|own| match own {
                IpAddr::V4(own) => Some(own.to_bits()),
                IpAddr::V6(_) => None,
            }),
        };
        let bytes = routed.packet.bytes(frame.bytes());
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
