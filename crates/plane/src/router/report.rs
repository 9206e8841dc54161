//! ICMP errors about packets that are not forwarded.

use std::net::IpAddr;

use frame::Frame;
use stack::icmp::{REPORT_BYTES_MAX, Report, may_be_reported, write_report};
use stack::neighbours::Key;

use super::forward::Leaving;
use super::process::Routed;
use super::scope::is_link_local;
use super::{Hop, InterfaceId, Router, Target};
use crate::{Forwarding, Origin};

/// Where the packet of a frame that is made begins.
const LINK: usize = 14;
/// Bytes in front of the packet that an error quotes: its IP header and that of ICMP.
const V4_HEADERS: usize = 28;
const V6_HEADERS: usize = 48;

impl Router {
    /// Tells the source of a packet why it is not forwarded, where that may be told.
    #[cold]
    pub(super) fn report(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        report: Report,
        at: usize,
        frame: &Frame,
    ) {
        let about = routed.packet.bytes(frame.bytes());
        let to = routed.packet.source();
        if routed.arrival.to_group || !may_be_reported(report, about) {
            return;
        }
        let Some(hop) = self.hop_to(to, routed.arrival.interface) else {
            return;
        };
        let Some(own) = self.table.own_address(hop.interface, to) else {
            return;
        };
        if !self.errors.take(to, cx.now) {
            self.counts.icmp_limited += 1;
            return;
        }
        let Some(mut made) = cx.pool.alloc() else {
            return;
        };
        let mtu = self.table.link(hop.interface).mtu;
        if !write(&mut made, report, own, quoted(about, mtu)) {
            return cx.pool.free(made);
        }
        self.counts.icmp_errors += 1;
        let leaving = Leaving {
            hop,
            l3: LINK,
            key: Key {
                interface: hop.interface.0,
                address: hop.gateway.unwrap_or(to),
            },
            is_forwarded: false,
        };
        let sent = self.send(cx, &leaving, &mut made);
        self.hand_out(cx, routed, (at, Origin::Made), sent, made);
    }

    /// The next hop to the source of a packet that came by an interface.
    pub(super) fn hop_to(&self, source: IpAddr, interface: InterfaceId) -> Option<Hop> {
        if is_link_local(source) {
            return Some(Hop {
                gateway: None,
                interface,
            });
        }
        match self.table.vrf(interface).target_of(source) {
            Some(Target::Via(hops)) => hops.of_flow(0).copied(),
            _ => None,
        }
    }
}

/// As much of a packet as an error about it holds that has the length of an MTU at most.
fn quoted(about: &[u8], mtu: usize) -> &[u8] {
    let is_v6 = about.first().is_some_and(|first| first >> 4 == 6);
    let headers = if is_v6 { V6_HEADERS } else { V4_HEADERS };
    about.get(..mtu.saturating_sub(headers)).unwrap_or(about)
}

/// Makes a frame the error.
fn write(made: &mut Frame, report: Report, own: IpAddr, about: &[u8]) -> bool {
    let room = made.capacity().min(REPORT_BYTES_MAX);
    if made.set_len(room).is_err() {
        return false;
    }
    let written = write_report(report, own, about, made.bytes_mut());
    let len = written.unwrap_or(0);
    len != 0 && made.set_len(len).is_ok()
}
