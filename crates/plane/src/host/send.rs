//! What a host sends: packets to their next hops, and what it says to neighbours.

use std::net::IpAddr;

use frame::{Nanos, PortId};
use stack::neighbours::{Event, Key, Lookup};
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};
use wire::neighbour::Speaker;
use wire::{MacAddress, protocol};

use super::Host;
use super::sources::first_host;
use super::waiting::Packet;
use crate::{Forwarding, Origin, Outgoing, Verdict};

/// Room for every message to neighbours, bytes.
const MESSAGE_BYTES_MAX: usize = 96;
/// The shortest Ethernet frame, without FCS, and the longest headers in front of a payload.
const FRAME_BYTES_MIN: usize = 60;
const HEADERS: usize = 14 + 40;
/// The hop limit of what a host sends.
const HOPS: u8 = 64;

impl Host {
    /// Sends the segments that may leave, as far as there is room.
    pub(super) fn transmit(&mut self, cx: &mut Forwarding<'_>) {
        let mut segment = std::mem::take(&mut self.segment);
        while cx.out.room() > 0 && has_frame(cx) {
            let Some(next) = self.tcp.transmit(cx.now, &mut segment) else {
                break;
            };
            let packet = Packet {
                source: next.source,
                destination: next.destination,
                protocol: protocol::TCP,
                payload: &segment[..next.len],
            };
            self.send(cx, 0, &packet);
        }
        self.segment = segment;
        if cx.out.room() == 0 && self.tcp.due() == Some(Nanos::ZERO) {
            cx.out.ask_for_room();
        }
    }

    /// Sends a packet behind the frame `after` of the burst, or has it wait for its next hop.
    pub(super) fn send(&mut self, cx: &mut Forwarding<'_>, after: usize, packet: &Packet<'_>) {
        let Some(key) = self.hop(packet.source, packet.destination) else {
            return;
        };
        match self.neighbours.lookup(&key, cx.now) {
            Lookup::Known(mac) => {
                let port = PortId(key.interface as u8);
                self.send_to(cx, (port, mac), after, packet);
            }
            Lookup::Unknown if self.neighbours.want(key, cx.now) => {
                let waits = self.waiting.add(key, packet);
                self.counts.unresolved += u64::from(!waits);
            }
            Lookup::Unknown | Lookup::Failed => self.counts.unresolved += 1,
        }
    }

    /// Whether frames from an own address to another one can leave; the next hop is asked for
    /// where nobody knows.
    pub(super) fn is_reachable(&mut self, source: IpAddr, to: IpAddr, now: Nanos) -> bool {
        let Some(key) = self.hop(source, to) else {
            return false;
        };
        match self.neighbours.lookup(&key, now) {
            Lookup::Known(_) => true,
            Lookup::Unknown | Lookup::Failed => {
                self.neighbours.want(key, now);
                false
            }
        }
    }

    /// Whom a packet is given to.
    fn hop(&self, source: IpAddr, to: IpAddr) -> Option<Key> {
        let port = self.port_of(source)?;
        Some(Key {
            interface: port.0.into(),
            address: self.ports[port.index()].next_hop(to),
        })
    }

    /// Puts a packet into a frame to a station behind a port.
    fn send_to(
        &mut self,
        cx: &mut Forwarding<'_>,
        (port, mac): (PortId, MacAddress),
        after: usize,
        packet: &Packet<'_>,
    ) {
        let transport = Transport::Raw(packet.protocol);
        let network = match (packet.source, packet.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let header = Ipv4 {
                    src: source.to_bits(),
                    dst: destination.to_bits(),
                    ttl: HOPS,
                    dont_fragment: true,
                    ..Ipv4::default()
                };
                Network::Ipv4(header, transport)
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                let header = Ipv6 {
                    src: source.to_bits(),
                    dst: destination.to_bits(),
                    hop_limit: HOPS,
                    ..Ipv6::default()
                };
                Network::Ipv6(header, transport)
            }
            // A packet has addresses of one family.
            _ => return,
        };
        let recipe = Recipe {
            dst_mac: mac,
            src_mac: self.ports[port.index()].mac,
            network,
            payload: packet.payload,
            len_min: FRAME_BYTES_MIN,
            ..Recipe::default()
        };
        let room = HEADERS + packet.payload.len();
        let write = |out: &mut [u8]| recipe.emit(out).unwrap_or(0);
        let is_sent = push(cx, port, after, room.max(FRAME_BYTES_MIN), write);
        self.counts.no_frame += u64::from(!is_sent);
    }

    /// Sends a message to neighbours of a port; whether it was sent.
    pub(super) fn speak(
        &self,
        cx: &mut Forwarding<'_>,
        port: PortId,
        after: usize,
        write: impl FnOnce(&Speaker<'_>, &mut [u8]) -> usize,
    ) -> bool {
        let speaker = Speaker {
            mac: self.ports[port.index()].mac,
            tags: &[],
            is_router: false,
        };
        push(cx, port, after, MESSAGE_BYTES_MAX, |out| {
            write(&speaker, out)
        })
    }

    /// Asks for neighbours, and sends what waited for them.
    pub(super) fn run_neighbours(&mut self, cx: &mut Forwarding<'_>) {
        while self.neighbours.due().is_some_and(|due| due <= cx.now) {
            if cx.out.room() <= self.waiting.len() {
                return cx.out.ask_for_room();
            }
            match self.neighbours.poll(cx.now) {
                Some(Event::Ask { key, to }) => self.ask(cx, &key, to),
                Some(Event::Resolved { key, mac }) => {
                    let port = PortId(key.interface as u8);
                    while let Some(waiter) = self.waiting.take(&key) {
                        self.send_to(cx, (port, mac), 0, &waiter.packet());
                    }
                }
                Some(Event::Failed { key } | Event::Displaced { key }) => {
                    while self.waiting.take(&key).is_some() {
                        self.counts.unresolved += 1;
                    }
                }
                None => return,
            }
        }
    }

    /// Asks who has an address, in the name of an own one: the one that shares its prefix if any
    /// does.
    fn ask(&mut self, cx: &mut Forwarding<'_>, key: &Key, to: Option<MacAddress>) {
        let port = PortId(key.interface as u8);
        let own = &self.ports[port.index()];
        let of_family = own
            .own
            .iter()
            .filter(|prefix| prefix.first.is_ipv4() == key.address.is_ipv4());
        let beside = own.on_link.iter().find(|link| link.holds(key.address));
        let is_beside = |address: &IpAddr| beside.is_some_and(|link| link.holds(*address));
        let hosts: Vec<IpAddr> = of_family.map(first_host).collect();
        let from = hosts.iter().find(|one| is_beside(one)).or(hosts.first());
        let Some(&from) = from else {
            return;
        };
        let is_sent = self.speak(cx, port, 0, |speaker, out| {
            speaker.request(from, key.address, to, out).unwrap_or(0)
        });
        self.counts.requests += u64::from(is_sent);
    }
}

/// Whether the pool has a frame.
pub(super) fn has_frame(cx: &mut Forwarding<'_>) -> bool {
    if cx.pool.free_count() == 0 {
        cx.pool.collect();
    }
    cx.pool.free_count() != 0
}

/// Sends a frame of `room` bytes at most by a port, as `write` writes it; whether it was sent.
fn push(
    cx: &mut Forwarding<'_>,
    port: PortId,
    after: usize,
    room: usize,
    write: impl FnOnce(&mut [u8]) -> usize,
) -> bool {
    let Some(mut frame) = cx.pool.alloc() else {
        return false;
    };
    let len = match frame.set_len(room) {
        Ok(()) => write(frame.bytes_mut()),
        Err(_) => 0,
    };
    if len == 0 || frame.set_len(len).is_err() {
        cx.pool.free(frame);
        return false;
    }
    let pushed = cx.out.push(Outgoing {
        frame,
        from: port,
        origin: Origin::Made,
        verdict: Verdict::Forward(port),
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
