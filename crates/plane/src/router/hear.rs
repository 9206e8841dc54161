//! What stations of a link tell the router: ARP, neighbour discovery, and packets to groups.

use std::net::IpAddr;

use frame::Frame;
use stack::neighbours::{Heard, How, Key};
use wire::neighbour::{NeighbourKind, NeighbourMessage, Speaker};
use wire::{MacAddress, ether_type};

use super::arrive::Arrival;
use super::packet::Packet;
use super::process::Routed;
use super::scope::is_link_local;
use super::{InterfaceId, Router, Target};
use crate::{DropReason, Forwarding, Origin, Outgoing, Verdict};

/// Room for every message that is sent, bytes.
const MESSAGE_BYTES_MAX: usize = 96;

impl Router {
    /// Takes a frame that goes no further than its link.
    pub(super) fn hear(
        &mut self,
        cx: &mut Forwarding<'_>,
        arrival: Arrival,
        packet: Option<Packet>,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        if self.kernel.is_some() {
            return Verdict::Consume;
        }
        if self.take_message(cx, &arrival, at, frame) || arrival.ether_type == ether_type::ARP {
            return Verdict::Consume;
        }
        match packet {
            Some(packet) if self.is_for_us(&arrival, &packet) => {
                self.deliver(cx, &Routed::new(arrival, packet), at, frame)
            }
            _ => Verdict::Drop(DropReason::LinkScope),
        }
    }

    /// Whether a packet that goes no further than its link is for the router.
    fn is_for_us(&self, arrival: &Arrival, packet: &Packet) -> bool {
        let dst = packet.destination();
        let is_own = match is_link_local(dst) {
            true => self.table.is_own(arrival.interface, dst),
            false => self.table.vrf(arrival.interface).target_of(dst) == Some(&Target::Local),
        };
        is_own && !arrival.to_group && !packet.source().is_unspecified()
    }

    /// Takes a message of ARP or neighbour discovery; whether it is one.
    pub(super) fn take_message(
        &mut self,
        cx: &mut Forwarding<'_>,
        arrival: &Arrival,
        at: usize,
        frame: &Frame,
    ) -> bool {
        let payload = frame.bytes().get(arrival.l3..).unwrap_or_default();
        let Some(message) = NeighbourMessage::read(arrival.ether_type, payload) else {
            return false;
        };
        let of_us = self.table.is_own(arrival.interface, message.target);
        // Who says that it has an address of ours is not believed.
        if self.table.is_own(arrival.interface, message.sender) {
            return true;
        }
        self.learn(cx, arrival.interface, &message, of_us);
        if of_us && message.kind == NeighbourKind::Request {
            self.answer(cx, arrival.interface, &message, at, source(frame));
        }
        true
    }

    fn learn(
        &mut self,
        cx: &Forwarding<'_>,
        interface: InterfaceId,
        message: &NeighbourMessage,
        of_us: bool,
    ) {
        let (address, how) = match message.kind {
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
        };
        if address.is_unspecified() || !self.table.is_beside(interface, address) {
            return;
        }
        let heard = Heard {
            key: Key {
                interface: interface.0,
                address,
            },
            mac: message.mac,
            how,
        };
        self.neighbours.hear(&heard, cx.now);
        // One that has no room hears of it when it asks by itself.
        self.links.tell(&heard);
    }

    fn answer(
        &mut self,
        cx: &mut Forwarding<'_>,
        interface: InterfaceId,
        message: &NeighbourMessage,
        at: usize,
        from: MacAddress,
    ) {
        let to = message.mac.unwrap_or(from);
        let (own, asker) = (message.target, message.sender);
        let sent = self.speak(cx, interface, at, |speaker, out| {
            speaker.answer(own, asker, to, out).unwrap_or(0)
        });
        self.counts.answers += u64::from(sent);
    }

    /// Asks for the Ethernet address of a neighbour.
    pub(super) fn ask(&mut self, cx: &mut Forwarding<'_>, key: &Key, to: Option<MacAddress>) {
        let interface = InterfaceId(key.interface);
        let Some(own) = self.table.own_address(interface, key.address) else {
            return;
        };
        let sent = self.speak(cx, interface, 0, |speaker, out| {
            speaker.request(own, key.address, to, out).unwrap_or(0)
        });
        self.counts.requests += u64::from(sent);
    }

    /// Tells all stations of a link that the router has an address there.
    pub(super) fn announce(&self, cx: &mut Forwarding<'_>, interface: InterfaceId, own: IpAddr) {
        self.speak(cx, interface, 0, |speaker, out| {
            speaker.announce(own, out).unwrap_or(0)
        });
    }

    /// Sends a message on a link, as `write` writes it; whether it was sent.
    fn speak(
        &self,
        cx: &mut Forwarding<'_>,
        interface: InterfaceId,
        after: usize,
        write: impl FnOnce(&Speaker<'_>, &mut [u8]) -> usize,
    ) -> bool {
        let link = self.table.link(interface);
        let Some(mut frame) = cx.pool.alloc() else {
            return false;
        };
        let speaker = Speaker {
            mac: link.mac,
            tags: link.tags(),
            is_router: true,
        };
        let mut message = [0; MESSAGE_BYTES_MAX];
        let len = write(&speaker, &mut message);
        if len == 0 || frame.copy_from(&message[..len]).is_err() {
            cx.pool.free(frame);
            return false;
        }
        let pushed = cx.out.push(Outgoing {
            frame,
            from: link.port,
            origin: Origin::Made,
            verdict: Verdict::Forward(link.port),
            after,
        });
        match pushed {
            Ok(()) => true,
            Err(frame) => {
                cx.pool.free(frame);
                false
            }
        }
    }
}

/// The Ethernet address that a frame is from.
fn source(frame: &Frame) -> MacAddress {
    let bytes = frame.bytes().get(6..).and_then(<[u8]>::first_chunk);
    MacAddress(bytes.copied().unwrap_or_default())
}
