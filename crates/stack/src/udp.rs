//! UDP of a host: which socket a datagram is for, and which an ICMP error is about (RFC 768,
//! RFC 1122 section 4.1, RFC 8085).
//!
//! A [`Udp`] is owned by one worker. It keeps sockets alone: a datagram takes no memory. Payloads
//! are read where they lie and written where they leave.

mod datagram;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use frame::Nanos;
use wire::{IcmpErrorKind, protocol};

use crate::Limiter;
use crate::icmp::{ErrorAbout, Report, may_be_reported};

pub use datagram::{BadDatagram, Datagram, HEADER_BYTES, fill_header};

/// Sockets at most: each datagram is held against all of them.
pub const SOCKETS_MAX: usize = 16;
/// ICMP errors that are sent a second, to all; a tenth of it to each.
const ERRORS_PER_SECOND: u32 = 1000;

/// A socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// Its own ports, at all own addresses.
    pub ports: RangeInclusive<u16>,
    /// The other end of a connected socket, which gets datagrams of that end alone.
    pub remote: Option<SocketAddr>,
}

/// Which socket, by the order of [`Udp::bind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketId(usize);

/// Why there is no socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindError {
    /// There are as many as there may be.
    Full,
    /// No port, or port 0, which nobody can have.
    Port,
    /// Another socket has a port of it and the same other end.
    Taken,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(f, "there are {SOCKETS_MAX} UDP sockets: close one first"),
            Self::Port => f.write_str("a UDP socket needs a port from 1 to 65535"),
            Self::Taken => f.write_str("another UDP socket has this port: choose another one"),
        }
    }
}

impl std::error::Error for BindError {}

/// What became of a datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// It is for a socket.
    Taken(SocketId, Datagram<'a>),
    /// It is for none: its sender is to be told that the port is unreachable.
    Unreachable,
    /// It is for none, and its sender is not told, or it is bad.
    Ignored,
}

/// What was counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpCounts {
    /// Datagrams that arrived.
    pub received: u64,
    /// Those that are bad: see [`BadDatagram`].
    pub bad: u64,
    /// Those for a port without a socket, or for a socket that is connected to another end.
    pub no_socket: u64,
    /// ICMP errors that were to be sent: of [`UdpCounts::no_socket`], those that may be told.
    pub unreachable: u64,
    /// ICMP errors about a datagram of a socket: nobody has the port.
    pub refused: u64,
    /// Those that say something else.
    pub errors: u64,
    /// ICMP errors about a datagram of no socket: they are not believed.
    pub strange_errors: u64,
}

/// The sockets of one host.
#[derive(Debug)]
pub struct Udp {
    sockets: Vec<Socket>,
    limiter: Limiter,
    counts: UdpCounts,
}

impl Udp {
    /// Without sockets. `key` chooses whose errors share an allowance: it must be drawn at random.
    #[must_use]
    pub fn new(key: [u64; 2]) -> Self {
        Self {
            sockets: Vec::new(),
            limiter: Limiter::new(ERRORS_PER_SECOND, key),
            counts: UdpCounts::default(),
        }
    }

    /// Adds a socket.
    ///
    /// # Errors
    /// See [`BindError`].
    pub fn bind(&mut self, socket: Socket) -> Result<SocketId, BindError> {
        if socket.ports.is_empty() || *socket.ports.start() == 0 {
            return Err(BindError::Port);
        }
        if self.sockets.iter().any(|other| other.collides(&socket)) {
            return Err(BindError::Taken);
        }
        if self.sockets.len() >= SOCKETS_MAX {
            return Err(BindError::Full);
        }
        self.sockets.push(socket);
        Ok(SocketId(self.sockets.len() - 1))
    }

    /// Takes a packet for an own address, which begins with its IP header; its transport part, of
    /// UDP, is at `header_len`.
    pub fn receive<'a>(
        &mut self,
        (source, destination): (IpAddr, IpAddr),
        packet: &'a [u8],
        header_len: usize,
        now: Nanos,
    ) -> Arrival<'a> {
        self.counts.received += 1;
        let bytes = packet.get(header_len..).unwrap_or_default();
        let Ok(datagram) = Datagram::read(source, destination, bytes) else {
            self.counts.bad += 1;
            return Arrival::Ignored;
        };
        if let Some(id) = self.find(datagram.destination.port(), datagram.source) {
            return Arrival::Taken(id, datagram);
        }
        self.counts.no_socket += 1;
        let may_be_told = may_be_reported(Report::PortUnreachable, packet);
        if may_be_told && self.limiter.take(source, now) {
            self.counts.unreachable += 1;
            return Arrival::Unreachable;
        }
        Arrival::Ignored
    }

    /// Takes an ICMP error; the socket whose datagram it is about. One about a datagram that no
    /// socket can have sent is not believed (RFC 8085 section 5.2).
    pub fn receive_error(&mut self, error: &ErrorAbout) -> Option<SocketId> {
        if error.protocol != protocol::UDP {
            return None;
        }
        let found = self.find(error.local.port(), error.remote);
        let counts = &mut self.counts;
        let count = match (found, error.kind) {
            (None, _) => &mut counts.strange_errors,
            (Some(_), IcmpErrorKind::PortUnreachable) => &mut counts.refused,
            (Some(_), _) => &mut counts.errors,
        };
        *count += 1;
        found
    }

    /// The socket of an own port that is connected to `remote`, or else the one that is not
    /// connected.
    fn find(&self, port: u16, remote: SocketAddr) -> Option<SocketId> {
        let with = |wanted: Option<SocketAddr>| {
            let is_it = |socket: &Socket| socket.remote == wanted && socket.ports.contains(&port);
            self.sockets.iter().position(is_it).map(SocketId)
        };
        with(Some(remote)).or_else(|| with(None))
    }

    /// What was counted since the start.
    #[must_use]
    pub fn counts(&self) -> UdpCounts {
        self.counts
    }
}

impl Socket {
    /// Whether a datagram could be for both.
    fn collides(&self, other: &Self) -> bool {
        let starts_before_end = |a: &Self, b: &Self| a.ports.start() <= b.ports.end();
        let overlap = starts_before_end(self, other) && starts_before_end(other, self);
        overlap && self.remote == other.remote
    }
}
