//! UDP of a host: a server that takes datagrams or sends them back, a client that sends from all
//! own addresses, and ICMP errors about either.

mod client;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use stack::icmp::{REPORT_BYTES_MAX, Report, write_report};
use stack::udp::{Arrival, Datagram, HEADER_BYTES, Socket, Udp, fill_header};
use traffic::EchoCounts;
use wire::protocol;

use super::Host;
use super::config::{CLIENT_PORTS, HostConfig, UdpConfig};
use super::send::has_frame;
use super::waiting::Packet;
use crate::router::Packet as Received;
use crate::{DropReason, Forwarding};
use client::Client;

/// Bytes in front of an ICMP message in a frame: link header, and IP header without options.
const V4_HEADERS: usize = 14 + 20;
const V6_HEADERS: usize = 14 + 40;

/// UDP of a host, and what its socket is for.
#[derive(Debug)]
pub(super) struct UdpEnd {
    pub(super) udp: Udp,
    role: UdpRole,
    /// Where a datagram, or the frame of an ICMP error, is written before its own frame.
    scratch: Vec<u8>,
    pub(super) counts: UdpEndCounts,
}

/// What the socket of a host is for.
#[derive(Debug)]
enum UdpRole {
    /// There is none.
    None,
    Server {
        responds: bool,
    },
    Client(Box<Client>),
}

/// Datagrams at the places that a host's socket sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// Made by a client.
    pub generated: u64,
    /// Received by a server.
    pub taken: u64,
    /// Sent back by it.
    pub answered: u64,
    /// Back at a client.
    pub back: u64,
}

/// What a host did with datagrams of its socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UdpEndCounts {
    /// Datagrams that the socket got.
    pub(super) taken: u64,
    /// Those that a server sent back.
    pub(super) answered: u64,
    /// Those that it could not: no frame was free, or its sender has port 0.
    pub(super) unanswered: u64,
    /// Bytes of the payloads of those that the socket got.
    pub(super) bytes: u64,
}

impl UdpEnd {
    pub(super) fn new(config: &HostConfig, key: [u64; 2]) -> Self {
        let mut udp = Udp::new(key);
        let role = match config.udp() {
            None => UdpRole::None,
            Some(UdpConfig::Server { port, responds }) => {
                bind(&mut udp, port..=port, None);
                UdpRole::Server { responds }
            }
            Some(UdpConfig::Client(client)) => {
                bind(&mut udp, CLIENT_PORTS, Some(client.server));
                let own = config.ports.iter().flat_map(|port| &port.own).copied();
                UdpRole::Client(Box::new(Client::new(client, own, key)))
            }
        };
        let packet_max = config.ports.iter().map(|port| usize::from(port.mtu)).max();
        Self {
            udp,
            role,
            scratch: vec![0; packet_max.unwrap_or(0).max(REPORT_BYTES_MAX)],
            counts: UdpEndCounts::default(),
        }
    }

    /// What became of what a client sent.
    pub(super) fn echo_counts(&self) -> EchoCounts {
        match &self.role {
            UdpRole::Client(client) => client.echoes.counts(),
            UdpRole::None | UdpRole::Server { .. } => EchoCounts::default(),
        }
    }

    fn datagrams(&self) -> Datagrams {
        let (echoes, counts) = (self.echo_counts(), &self.counts);
        Datagrams {
            generated: echoes.sent,
            taken: counts.taken,
            answered: counts.answered,
            back: echoes.back,
        }
    }

    /// The client, if it is one.
    pub(super) fn client_mut(&mut self) -> Option<&mut Client> {
        match &mut self.role {
            UdpRole::Client(client) => Some(client),
            UdpRole::None | UdpRole::Server { .. } => None,
        }
    }
}

/// The first socket of a host that was found right.
fn bind(udp: &mut Udp, ports: std::ops::RangeInclusive<u16>, remote: Option<SocketAddr>) {
    let bound = udp.bind(Socket { ports, remote });
    debug_assert!(bound.is_ok(), "the settings were found right");
}

impl Host {
    /// Datagrams at the places that its socket sees.
    #[must_use]
    pub fn datagrams(&self) -> Datagrams {
        self.udp.datagrams()
    }

    /// Takes a packet of UDP.
    pub(super) fn take_datagram(
        &mut self,
        cx: &mut Forwarding<'_>,
        at: usize,
        packet: &Received,
        bytes: &[u8],
    ) -> Result<(), DropReason> {
        let ends = (packet.source(), packet.destination());
        let udp = &mut self.udp.udp;
        match udp.receive(ends, bytes, packet.header_len, cx.now) {
            Arrival::Taken(_, datagram) => self.use_datagram(cx, at, &datagram),
            Arrival::Unreachable => self.tell_unreachable(cx, at, packet, bytes),
            // It is counted there.
            Arrival::Ignored => {}
        }
        Ok(())
    }

    fn use_datagram(&mut self, cx: &mut Forwarding<'_>, at: usize, datagram: &Datagram<'_>) {
        self.udp.counts.taken += 1;
        self.udp.counts.bytes += datagram.payload.len() as u64;
        match &mut self.udp.role {
            UdpRole::Client(client) => client.take(cx.now, datagram.payload),
            UdpRole::Server { responds: true } => self.send_back(cx, at, datagram),
            UdpRole::Server { responds: false } | UdpRole::None => {}
        }
    }

    /// Answers a datagram with its payload.
    fn send_back(&mut self, cx: &mut Forwarding<'_>, at: usize, datagram: &Datagram<'_>) {
        // A sender with port 0 expects no answer (RFC 768).
        let may_leave = datagram.source.port() != 0 && cx.out.room() > 0 && has_frame(cx);
        let ends = (datagram.destination, datagram.source);
        let fill = |payload: &mut [u8]| payload.copy_from_slice(datagram.payload);
        let len = datagram.payload.len();
        let is_sent = may_leave && self.send_datagram(cx, at, ends, len, fill);
        self.udp.counts.answered += u64::from(is_sent);
        self.udp.counts.unanswered += u64::from(!is_sent);
    }

    /// Sends a datagram whose payload of `len` bytes `fill` writes; whether it was made.
    fn send_datagram(
        &mut self,
        cx: &mut Forwarding<'_>,
        after: usize,
        (source, destination): (SocketAddr, SocketAddr),
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> bool {
        let mut scratch = std::mem::take(&mut self.udp.scratch);
        let mut is_made = false;
        if let Some(datagram) = scratch.get_mut(..HEADER_BYTES + len) {
            fill(&mut datagram[HEADER_BYTES..]);
            is_made = fill_header(source, destination, datagram);
            let packet = Packet {
                source: source.ip(),
                destination: destination.ip(),
                protocol: protocol::UDP,
                payload: datagram,
            };
            if is_made {
                self.send(cx, after, &packet);
            }
        }
        self.udp.scratch = scratch;
        is_made
    }

    /// Tells the sender of a packet that nobody has the port.
    #[cold]
    fn tell_unreachable(
        &mut self,
        cx: &mut Forwarding<'_>,
        at: usize,
        packet: &Received,
        bytes: &[u8],
    ) {
        let (from, to) = (packet.destination(), packet.source());
        let mut scratch = std::mem::take(&mut self.udp.scratch);
        let written = write_report(Report::PortUnreachable, from, bytes, &mut scratch);
        let (protocol, headers) = match from.is_ipv4() {
            true => (protocol::ICMP, V4_HEADERS),
            false => (protocol::ICMPV6, V6_HEADERS),
        };
        if let Some(payload) = scratch.get(headers..written.unwrap_or(0)) {
            let answer = Packet {
                source: from,
                destination: to,
                protocol,
                payload,
            };
            self.send(cx, at, &answer);
        }
        self.udp.scratch = scratch;
    }

    /// Sends the datagrams of a client that are due, once frames to the server can leave.
    pub(super) fn send_datagrams(&mut self, cx: &mut Forwarding<'_>) {
        let Some(client) = self.udp.client_mut() else {
            return;
        };
        let Some(pair) = client.next_pair() else {
            return;
        };
        if !self.is_reachable(pair.0.ip(), pair.1.ip(), cx.now) {
            return;
        }
        let due = self.udp.client_mut().map_or(0, |client| client.due(cx.now));
        for _ in 0..due {
            if cx.out.room() == 0 || !has_frame(cx) {
                return cx.out.ask_for_room();
            }
            self.send_next(cx);
        }
    }

    /// Sends the next datagram of a client.
    fn send_next(&mut self, cx: &mut Forwarding<'_>) {
        let now = cx.now;
        let mut role = std::mem::replace(&mut self.udp.role, UdpRole::None);
        if let UdpRole::Client(client) = &mut role
            && let Some(ends) = client.next_pair()
        {
            let len = client.payload_len();
            self.send_datagram(cx, 0, ends, len, |payload| client.fill(now, payload));
        }
        self.udp.role = role;
    }
}
