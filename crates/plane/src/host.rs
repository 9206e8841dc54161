//! A host: it owns addresses and whole prefixes on its ports, answers for them by ARP, neighbour
//! discovery and ICMP echo, and has TCP connections or a UDP socket. It forwards nothing.
//!
//! A worker owns a [`Host`], with the connections whose flows are in its buckets ([`Share`]).
//! Frames are taken in [`Node::process`]; segments leave in [`Node::poll`], which is called in
//! every step. The next hop of a packet is its destination, or the gateway of the port where there
//! is one. Packets wait for a next hop as bytes, outside of frames, so that a host never holds a
//! frame.

mod application;
mod client;
mod config;
mod counts;
mod hear;
mod queries;
mod send;
mod share;
mod sources;
#[cfg(test)]
mod tests;
mod udp;
mod waiting;

use std::any::Any;
use std::sync::mpsc::Sender;

use frame::{Burst, Nanos, PortId, Producer};
use stack::neighbours::{Heard, NeighbourSettings, Neighbours};
use stack::tcp::Tcp;
use traffic::Histogram;

use crate::links::Taken;
use crate::{Forwarding, LinkDown, Links, Node, Verdict, Verdicts};
use application::Role;
use counts::HostCounts;
use udp::UdpEnd;
use waiting::Waiting;

pub use config::{
    CLIENT_PORTS, ClientConfig, End, HostConfig, HostConfigError, HostPort, Pace, QueryShape,
    RoleConfig, UdpClientConfig, UdpConfig,
};
pub use queries::QueryTimes;
pub use share::Share;
pub use sources::{host_at, host_count};
pub use udp::Datagrams;

/// How far a host's queries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Connections that were complete so far.
    pub established: u64,
    /// Queries that were done whole so far.
    pub done: u64,
}

/// The host of one worker.
#[derive(Debug)]
pub struct Host {
    ports: Vec<HostPort>,
    tcp: Tcp,
    role: Role,
    udp: UdpEnd,
    neighbours: Neighbours,
    waiting: Waiting,
    /// What workers tell each other of neighbours.
    links: Links<Heard>,
    /// Where a segment is written before its frame.
    segment: Vec<u8>,
    counts: HostCounts,
}

impl Host {
    /// A host of one worker, as it is set. `key` hides sequence numbers and chooses places in its
    /// tables: it must be drawn at random.
    ///
    /// # Errors
    /// The settings are wrong.
    pub fn new(config: HostConfig, key: [u64; 2]) -> Result<Self, HostConfigError> {
        Self::of_worker(config, key, Share::whole())
    }

    /// A worker's part of a host. All parts get the same settings and the same key: an end of a
    /// connection shows no other clock or numbers because another worker has it.
    ///
    /// # Errors
    /// The settings are wrong.
    pub fn of_worker(
        config: HostConfig,
        key: [u64; 2],
        share: Share,
    ) -> Result<Self, HostConfigError> {
        config.check()?;
        let Share { links, flows } = share;
        let settings = flows.limits(&config.tcp_settings());
        let segment_max = config.ports.iter().map(|port| usize::from(port.mtu)).max();
        let mut tcp = Tcp::new(settings, key);
        Ok(Self {
            role: Role::new(&config, flows, &mut tcp),
            udp: UdpEnd::new(&config, key),
            tcp,
            neighbours: Neighbours::new(NeighbourSettings::default(), Vec::new(), key),
            waiting: Waiting::default(),
            links,
            segment: vec![0; segment_max.unwrap_or(0)],
            counts: HostCounts::default(),
            ports: config.ports,
        })
    }

    /// Sends the times from a datagram's sending to its coming back, of a client of UDP, to who
    /// asks for them, when the host ends.
    pub fn send_times_to(&mut self, whom: Sender<Histogram>) {
        if let Some(client) = self.udp.client_mut() {
            client.times = Some(whom);
        }
    }

    /// Has the times of queries told that are done; one that finds no room is counted as untimed.
    pub fn tell_times(&mut self, to: Producer<QueryTimes>) {
        self.role.tell_times(to);
    }

    /// How far its queries are.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let counts = self.role.counts();
        Progress {
            established: counts.established,
            done: counts.done,
        }
    }

    /// The port that has an address as its own.
    fn port_of(&self, address: std::net::IpAddr) -> Option<PortId> {
        let at = self.ports.iter().position(|port| port.owns(address))?;
        u8::try_from(at).ok().map(PortId)
    }
}

impl Node for Host {
    const NAME: &'static str = "host";
    const COUNTS: &'static [&'static str] = counts::NAMES;

    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        for at in 0..burst.len() {
            if matches!(verdicts.as_slice().get(at), Some(Verdict::Forward(_))) {
                let verdict = self.take(cx, at, &burst.frames()[at]);
                verdicts.set(at, verdict);
            }
        }
    }

    fn poll(&mut self, cx: &mut Forwarding<'_>) {
        self.role.at(cx.now);
        self.take_told(cx.now);
        self.run_neighbours(cx);
        self.tcp.run(cx.now, &mut self.role);
        self.role.end_overdue(&mut self.tcp, cx.now);
        self.begin_queries(cx.now);
        self.transmit(cx);
        self.send_datagrams(cx);
    }

    fn counts(&self, out: &mut [u64]) {
        let counts = self.counts.all(self.role.counts(), &self.tcp, &self.udp);
        for (shown, count) in out.iter_mut().zip(counts) {
            *shown = count;
        }
    }

    fn control(&mut self, request: &mut dyn Any) {
        if let Some(&LinkDown(port)) = request.downcast_ref() {
            self.neighbours.forget(port.0.into());
        }
    }
}

impl Host {
    /// Takes over what other workers heard of neighbours.
    fn take_told(&mut self, now: Nanos) {
        let mut taken = Taken::default();
        while let Some(heard) = self.links.take(&mut taken) {
            self.neighbours.hear(&heard, now);
        }
    }

    /// Begins the connections that are due, once frames to the server can leave.
    fn begin_queries(&mut self, now: Nanos) {
        let Some((source, server)) = self.role.next_pair() else {
            return;
        };
        if self.is_reachable(source, server, now) {
            self.role.begin_due(&mut self.tcp, now);
        }
    }
}
