//! Packets for own addresses that a host behind a port takes: routing daemons, SSH.
//!
//! The host has the router's addresses on its end of the link. A packet for it leaves as it came,
//! but for the link header: the host is asked for the Ethernet address of the packet's
//! destination. What the host sends from an own address is forwarded as if the router had sent it.

use frame::Frame;
use stack::neighbours::Key;

use super::forward::Leaving;
use super::process::Routed;
use super::{Hop, InterfaceId, Router};
use crate::{DropReason, Forwarding, Verdict};

impl Router {
    /// Where the host is that takes a packet for an own address, if one does.
    pub(super) fn punt_of(&self, routed: &Routed) -> Option<InterfaceId> {
        let punt = self.table.config().punt?;
        let arrival = routed.arrival.interface;
        let vrf = |interface| self.table.link(interface).vrf;
        // What the host sends to itself by the router would come back for ever.
        (punt != arrival && vrf(punt) == vrf(arrival)).then_some(punt)
    }

    /// Whether the host that has the router's addresses sent a packet.
    #[inline]
    pub(super) fn is_of_host(&self, routed: &Routed) -> bool {
        let arrival = routed.arrival.interface;
        self.table.config().punt == Some(arrival) && self.table.vrf(arrival).is_ours(&routed.packet)
    }

    /// Hands a packet for an own address to the host.
    pub(super) fn punt(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        punt: InterfaceId,
        frame: &mut Frame,
    ) -> Verdict {
        let packet = &routed.packet;
        if packet.len > self.table.link(punt).mtu {
            return Verdict::Drop(DropReason::TooBig);
        }
        let hop = Hop {
            gateway: None,
            interface: punt,
        };
        let leaving = Leaving {
            hop,
            l3: packet.l3,
            key: Key {
                interface: punt.0,
                address: packet.destination(),
            },
            is_forwarded: false,
        };
        self.counts.punted += 1;
        let sent = self.send(cx, &leaving, frame);
        self.verdict(cx, routed, &leaving, sent)
    }
}
