//! Packets for the router itself: pings are answered, the rest ends here.

use std::ops::RangeInclusive;

use frame::Frame;
use stack::icmp::{Report, echo_reply};
use stack::neighbours::Key;
use wire::{checksum, protocol};

use super::Router;
use super::forward::Leaving;
use super::packet::{Kind, Packet};
use super::process::Routed;
use super::scope::is_link_local;
use crate::{DropReason, Forwarding, Verdict};

/// Where an IPv6 header names what follows it.
const NEXT_HEADER_AT: u32 = 6;
const UDP_HEADER: usize = 8;
const ICMP_ECHO_V4: u8 = 8;
const ICMP_ECHO_V6: u8 = 128;
/// Types of RFC 4861.
const NEIGHBOUR_DISCOVERY: RangeInclusive<u8> = 133..=137;

impl Router {
    /// Takes a packet for an address of the router.
    pub(super) fn deliver(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        let packet = &routed.packet;
        if self.kernel.is_some() {
            // What NAT asked for, and has no flow for, is nobody's.
            if let Some(reason) = routed.nat.refusal() {
                return Verdict::Drop(reason);
            }
            self.counts.local += 1;
            return Verdict::Consume;
        }
        if self.is_posed(routed) {
            return Verdict::Drop(DropReason::MartianSource);
        }
        if let Err(refusal) = packet.check_options() {
            return self.end(cx, routed, &refusal, at, frame);
        }
        self.counts.local += 1;
        let punt = self
            .punt_of(routed)
            .filter(|_| !is_for_router(packet, frame));
        if let Some(punt) = punt {
            return self.punt(cx, routed, punt, frame);
        }
        match packet.protocol {
            protocol::ICMP if packet.is_v4() => self.take_icmp(cx, routed, ICMP_ECHO_V4, at, frame),
            protocol::ICMPV6 if !packet.is_v4() => {
                match self.take_message(cx, &routed.arrival, at, frame) {
                    true => Verdict::Consume,
                    false => self.take_icmp(cx, routed, ICMP_ECHO_V6, at, frame),
                }
            }
            _ => self.refuse(cx, routed, at, frame),
        }
    }

    /// Answers an echo request; all else is taken and ends.
    fn take_icmp(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        request: u8,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        let packet = &routed.packet;
        let kind = packet.bytes(frame.bytes()).get(packet.header_len).copied();
        if kind != Some(request) {
            return Verdict::Consume;
        }
        let end = packet.l3 + packet.len;
        if frame.len() < end || frame.set_len(end).is_err() {
            return Verdict::Drop(DropReason::Local);
        }
        let Some(begin) = echo_reply(&mut frame.bytes_mut()[packet.l3..]) else {
            return Verdict::Drop(DropReason::Local);
        };
        let l3 = packet.l3 + begin;
        let header_len = packet.header_len - begin;
        let len = packet.len - begin;
        let packet = Packet {
            l3,
            header_len,
            len,
            ..*packet
        };
        let arrival = routed.arrival;
        self.reply(cx, &Routed::new(arrival, packet), at, frame)
    }

    /// Whether the source of a packet is an address of the router.
    fn is_posed(&self, routed: &Routed) -> bool {
        let source = routed.packet.source();
        match is_link_local(source) {
            true => self.table.is_own(routed.arrival.interface, source),
            false => {
                let vrf = self.table.vrf(routed.arrival.interface);
                vrf.is_ours(&routed.packet)
            }
        }
    }

    /// Sends an answer to the source of a packet, which its frame has become.
    fn reply(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        let packet = &routed.packet;
        let to = packet.source();
        let Some(hop) = self.hop_to(to, routed.arrival.interface) else {
            return Verdict::Drop(DropReason::NoRoute);
        };
        let key = Key {
            interface: hop.interface.0,
            address: hop.gateway.unwrap_or(to),
        };
        let leaving = Leaving {
            hop,
            l3: packet.l3,
            key,
            is_forwarded: false,
        };
        let is_long = packet.len > self.table.link(hop.interface).mtu;
        self.counts.echo_replies += 1;
        match (is_long, packet.is_v4()) {
            (true, true) => self.fragment(cx, routed, &leaving, at, frame),
            (true, false) => Verdict::Drop(DropReason::TooBig),
            (false, _) => {
                let sent = self.send(cx, &leaving, frame);
                self.verdict(cx, routed, &leaving, sent)
            }
        }
    }

    /// Tells the source that nobody here takes the packet.
    fn refuse(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        at: usize,
        frame: &Frame,
    ) -> Verdict {
        if let Some(report) = refusal(&routed.packet, frame.bytes()) {
            self.report(cx, routed, report, at, frame);
        }
        Verdict::Drop(DropReason::Local)
    }
}

/// Whether the router itself takes a packet for its own address, though a host takes the rest:
/// pings, and messages of neighbour discovery.
fn is_for_router(packet: &Packet, frame: &Frame) -> bool {
    let kind = packet.bytes(frame.bytes()).get(packet.header_len);
    match (packet.protocol, kind) {
        _ if packet.is_fragment => false,
        (protocol::ICMP, Some(&kind)) if packet.is_v4() => kind == ICMP_ECHO_V4,
        (protocol::ICMPV6, Some(&kind)) if !packet.is_v4() => {
            kind == ICMP_ECHO_V6 || NEIGHBOUR_DISCOVERY.contains(&kind)
        }
        _ => false,
    }
}

/// What the source of a packet that nobody takes is told, if anything.
fn refusal(packet: &Packet, frame: &[u8]) -> Option<Report> {
    let at = match packet.kind {
        Kind::V4 { .. } => 0,
        Kind::V6 => NEXT_HEADER_AT,
    };
    match packet.protocol {
        _ if packet.is_fragment => None,
        protocol::UDP => is_sound_udp(packet, frame).then_some(Report::PortUnreachable),
        // A reset is due, which only a host makes.
        protocol::TCP => None,
        protocol::NO_NEXT_HEADER if !packet.is_v4() => None,
        other if protocol::is_ipv6_extension(other) && !packet.is_v4() => None,
        _ => Some(Report::ProtocolUnreachable { at }),
    }
}

fn is_sound_udp(packet: &Packet, frame: &[u8]) -> bool {
    let Some(datagram) = packet.bytes(frame).get(packet.header_len..) else {
        return false;
    };
    let Some(&[_, _, _, _, high, low, sum_high, sum_low]) = datagram.first_chunk::<UDP_HEADER>()
    else {
        return false;
    };
    let len = usize::from(u16::from_be_bytes([high, low]));
    let Some(datagram) = datagram.get(..len).filter(|_| len >= UDP_HEADER) else {
        return false;
    };
    let pseudo = match packet.kind {
        // A sum of 0 is none.
        Kind::V4 { .. } if [sum_high, sum_low] == [0, 0] => return true,
        Kind::V4 { .. } => {
            let (src, dst) = (packet.src as u32, packet.dst as u32);
            checksum::pseudo_v4(src, dst, protocol::UDP, len as u16)
        }
        Kind::V6 => checksum::pseudo_v6(packet.src, packet.dst, protocol::UDP, len as u32),
    };
    checksum::transport(pseudo, datagram) == 0
}
