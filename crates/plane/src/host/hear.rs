//! What a host takes: ARP and neighbour discovery, pings, segments of TCP, datagrams of UDP, and
//! ICMP errors about those.

use std::net::IpAddr;

use frame::{Frame, PortId};
use stack::icmp::{ErrorAbout, echo_reply};
use stack::neighbours::{Heard, How, Key};
use wire::neighbour::{NeighbourKind, NeighbourMessage};
use wire::{MacAddress, Malformed, ether_type, protocol};

use super::Host;
use super::waiting::Packet as Answer;
use crate::router::{Kind, Options, Packet};
use crate::{DropReason, Forwarding, Verdict, original_len};

/// Bytes of the link header of a frame without tags.
const LINK_HEADER: usize = 14;

/// What the link header of a frame for this host says.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    source: MacAddress,
    ether_type: u16,
    to_group: bool,
}

impl Host {
    /// Takes the frame at `at` of its burst.
    pub(super) fn take(&mut self, cx: &mut Forwarding<'_>, at: usize, frame: &Frame) -> Verdict {
        match self.hear(cx, at, frame) {
            Ok(()) => Verdict::Consume,
            Err(reason) => Verdict::Drop(reason),
        }
    }

    fn hear(
        &mut self,
        cx: &mut Forwarding<'_>,
        at: usize,
        frame: &Frame,
    ) -> Result<(), DropReason> {
        let bytes = frame.bytes();
        let arrival = self.arrive(cx.from, bytes)?;
        let payload = bytes.get(LINK_HEADER..).unwrap_or_default();
        if let Some(message) = NeighbourMessage::read(arrival.ether_type, payload) {
            self.hear_neighbour(cx, at, arrival.source, &message);
            return Ok(());
        }
        if arrival.ether_type == ether_type::ARP {
            return Ok(());
        }
        let wire_len = original_len(frame);
        let packet = Packet::read(arrival.ether_type, bytes, LINK_HEADER, wire_len)?;
        self.check(cx.from, &arrival, &packet)?;
        self.deliver(cx, at, &packet, bytes)
    }

    /// Reads the link header of a frame that came in by a port.
    fn arrive(&self, from: PortId, bytes: &[u8]) -> Result<Arrival, DropReason> {
        let Some(header) = bytes.first_chunk::<LINK_HEADER>() else {
            return Err(DropReason::Malformed(Malformed::EthernetTruncated));
        };
        let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, high, low] = *header;
        let port = self.ports.get(from.index());
        let own = port.ok_or(DropReason::NoInterface)?.mac;
        let destination = MacAddress([d0, d1, d2, d3, d4, d5]);
        let to_group = destination.is_multicast();
        if !to_group && destination != own {
            return Err(DropReason::OtherStation);
        }
        let ether_type = u16::from_be_bytes([high, low]);
        match ether_type::is_vlan(ether_type) {
            true => Err(DropReason::NoInterface),
            false => Ok(Arrival {
                source: MacAddress([s0, s1, s2, s3, s4, s5]),
                ether_type,
                to_group,
            }),
        }
    }

    /// Whether a packet is for this host, and from another one.
    fn check(&self, from: PortId, arrival: &Arrival, packet: &Packet) -> Result<(), DropReason> {
        let (source, destination) = (packet.source(), packet.destination());
        if arrival.to_group || destination.is_multicast() {
            return Err(DropReason::LinkScope);
        }
        if !self.ports[from.index()].owns(destination) {
            return Err(DropReason::OtherStation);
        }
        let is_nobodys = source.is_unspecified() || source.is_multicast() || source.is_loopback();
        if is_nobodys || self.port_of(source).is_some() {
            return Err(DropReason::MartianSource);
        }
        check_options(packet)?;
        match packet.is_fragment {
            true => Err(DropReason::Local),
            false => Ok(()),
        }
    }

    /// Gives a packet to who it is for.
    fn deliver(
        &mut self,
        cx: &mut Forwarding<'_>,
        at: usize,
        packet: &Packet,
        frame: &[u8],
    ) -> Result<(), DropReason> {
        let bytes = packet.bytes(frame);
        let ends = (packet.source(), packet.destination());
        match packet.protocol {
            protocol::TCP => {
                let segment = bytes.get(packet.header_len..).unwrap_or_default();
                self.role.at(cx.now);
                // What is wrong with it is counted there.
                let _ = self.tcp.receive(ends, segment, cx.now, &mut self.role);
                Ok(())
            }
            protocol::UDP => self.take_datagram(cx, at, packet, bytes),
            protocol::ICMP if packet.is_v4() => self.take_icmp(cx, at, packet, bytes),
            protocol::ICMPV6 if !packet.is_v4() => self.take_icmp(cx, at, packet, bytes),
            _ => Err(DropReason::Local),
        }
    }

    /// Takes an error, or an echo request.
    fn take_icmp(
        &mut self,
        cx: &mut Forwarding<'_>,
        at: usize,
        packet: &Packet,
        bytes: &[u8],
    ) -> Result<(), DropReason> {
        match ErrorAbout::read(bytes) {
            Some(error) if error.protocol == protocol::UDP => {
                // What it says is counted there.
                self.udp.udp.receive_error(&error);
                Ok(())
            }
            _ => self.echo(cx, at, packet, bytes),
        }
    }

    /// Answers an echo request; another message ends here.
    fn echo(
        &mut self,
        cx: &mut Forwarding<'_>,
        at: usize,
        packet: &Packet,
        bytes: &[u8],
    ) -> Result<(), DropReason> {
        let mut reply = bytes.to_vec();
        let Some(begin) = echo_reply(&mut reply) else {
            return Err(DropReason::Local);
        };
        let payload = reply.get(packet.header_len..).unwrap_or_default();
        debug_assert!(begin <= packet.header_len, "a reply has no options");
        self.counts.echo_replies += 1;
        let answer = Answer {
            source: packet.destination(),
            destination: packet.source(),
            protocol: packet.protocol,
            payload,
        };
        self.send(cx, at, &answer);
        Ok(())
    }

    /// Takes a message of ARP or neighbour discovery.
    fn hear_neighbour(
        &mut self,
        cx: &mut Forwarding<'_>,
        at: usize,
        from: MacAddress,
        message: &NeighbourMessage,
    ) {
        // Who says that it has an address of ours is not believed.
        if self.port_of(message.sender).is_some() {
            return;
        }
        let of_us = self.ports[cx.from.index()].owns(message.target);
        let (address, how) = heard(message, of_us);
        if !address.is_unspecified() && self.port_of(address).is_none() {
            let interface = cx.from.0.into();
            let key = Key { interface, address };
            let mac = message.mac;
            let heard = Heard { key, mac, how };
            self.neighbours.hear(&heard, cx.now);
            // One that has no room hears of it when it asks by itself.
            self.links.tell(&heard);
        }
        if of_us && message.kind == NeighbourKind::Request {
            let to = message.mac.unwrap_or(from);
            let is_sent = self.speak(cx, cx.from, at, |speaker, out| {
                speaker
                    .answer(message.target, message.sender, to, out)
                    .unwrap_or(0)
            });
            self.counts.answers += u64::from(is_sent);
        }
    }
}

/// Whom a message tells of, and how.
fn heard(message: &NeighbourMessage, of_us: bool) -> (IpAddr, How) {
    match message.kind {
        NeighbourKind::Request => (message.sender, How::Request { of_us }),
        NeighbourKind::Answer {
            solicited,
            overrides,
            ..
        } => (
            message.target,
            How::Answer {
                solicited,
                overrides,
            },
        ),
    }
}

/// A host takes no part in source routes, and believes no malformed options.
fn check_options(packet: &Packet) -> Result<(), DropReason> {
    match packet.kind {
        Kind::V4 { options, .. } => match options {
            Options::Plain => Ok(()),
            Options::SourceRoute => Err(DropReason::SourceRoute),
            Options::Malformed(_) => Err(DropReason::HeaderOption),
        },
        Kind::V6 => Ok(()),
    }
}
