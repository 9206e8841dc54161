//! A client of UDP: what it sends when and from where, and what came back.

use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::Sender;

use frame::Nanos;
use traffic::{Echoes, Histogram, Pacer};

use crate::host::config::{CLIENT_PORTS, UdpClientConfig};
use crate::host::sources::Sources;
use crate::router::Prefix;

/// Datagrams that are due at once, at most.
const AT_ONCE: usize = 256;
const LINK_HEADER: usize = 14;
/// The shortest Ethernet frame, without FCS.
const FRAME_BYTES_MIN: usize = 60;

/// The sender of a host.
#[derive(Debug)]
pub(in crate::host) struct Client {
    config: UdpClientConfig,
    sources: Sources,
    source_port: u16,
    /// None until the first may leave.
    pacer: Option<Pacer>,
    /// What payloads are, but for their label.
    pattern: Vec<u8>,
    pub(super) echoes: Echoes,
    /// Who gets the times at the end.
    pub(in crate::host) times: Option<Sender<Histogram>>,
}

impl Client {
    pub(super) fn new(
        config: UdpClientConfig,
        own: impl Iterator<Item = Prefix>,
        key: [u64; 2],
    ) -> Self {
        Self {
            sources: Sources::new(own, config.server.is_ipv4()),
            source_port: *CLIENT_PORTS.start(),
            pacer: None,
            pattern: (0..config.size).map(|at| at as u8).collect(),
            echoes: Echoes::new(key),
            times: None,
            config,
        }
    }

    /// Both ends of the datagram that would be next.
    pub(super) fn next_pair(&self) -> Option<(SocketAddr, SocketAddr)> {
        let source: IpAddr = self.sources.peek()?;
        let source = SocketAddr::new(source, self.source_port);
        Some((source, self.config.server))
    }

    /// How many may leave now.
    pub(super) fn due(&mut self, now: Nanos) -> usize {
        let (rate, frame_bytes) = (self.config.rate, self.frame_bytes());
        let pacer = self.pacer.get_or_insert_with(|| {
            let mut pacer = Pacer::new(rate, AT_ONCE, now);
            pacer.set_frame_bytes(frame_bytes as f64);
            pacer
        });
        pacer.due(now)
    }

    /// Bytes of a frame, without FCS.
    fn frame_bytes(&self) -> u64 {
        (LINK_HEADER + self.config.headers() + self.pattern.len()).max(FRAME_BYTES_MIN) as u64
    }

    pub(super) fn payload_len(&self) -> usize {
        self.pattern.len()
    }

    /// Writes the payload that is next, and goes on to the next address, and behind the last one
    /// to the next port.
    pub(super) fn fill(&mut self, now: Nanos, payload: &mut [u8]) {
        payload.copy_from_slice(&self.pattern);
        self.echoes.write(now, payload);
        let frame_bytes = self.frame_bytes();
        if let Some(pacer) = &mut self.pacer {
            pacer.sent(1, frame_bytes);
        }
        if self.sources.advance() {
            let is_last = self.source_port == *CLIENT_PORTS.end();
            self.source_port = match is_last {
                true => *CLIENT_PORTS.start(),
                false => self.source_port + 1,
            };
        }
    }

    /// Accounts for a datagram that came from the server.
    pub(super) fn take(&mut self, now: Nanos, payload: &[u8]) {
        match payload.len() == self.pattern.len() {
            true => self.echoes.take(now, payload),
            false => self.echoes.reject(),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(times) = self.times.take() {
            // Who has gone does not want them.
            let _ = times.send(self.echoes.times().clone());
        }
    }
}
