//! TCP (RFC 9293) for a host: segments and the time go in, segments and events come out.
//!
//! A [`Tcp`] holds all connections of one worker. [`Tcp::receive`] takes the transport part of a
//! packet, whose IP header was checked, and calls the [`Application`] with what it brings.
//! [`Tcp::transmit`] writes the next segment that may leave, and [`Tcp::run`] does what is due. All
//! memory is bounded by [`TcpSettings`].

mod acknowledge;
mod ask;
mod assemble;
mod census;
mod close;
mod congestion;
mod connect;
mod connection;
mod cookie;
mod deadlines;
mod ends;
mod in_flight;
mod listen;
mod options;
mod receive;
mod round_trip;
mod secret;
mod segment;
mod send;
mod seq;
mod settings;
mod slab;
mod table;
#[cfg(test)]
mod tests;
mod time_wait;

use std::net::{IpAddr, SocketAddr};

use frame::Nanos;

pub use census::StateCounts;
pub use congestion::CongestionControl;
pub use connection::{Pair, Socket, State};
pub use options::{Options, SackBlocks, Timestamps};
pub use segment::BadSegment;
pub use seq::Seq;
pub use settings::{KeepAlive, TcpSettings};
pub use slab::ConnectionId;
pub use table::Tcp;

/// Why a connection is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Both ends sent all they had.
    Finished,
    /// The other end refused it.
    Refused,
    /// The other end reset it.
    Reset,
    /// The other end does not answer.
    TimedOut,
    /// The application ended it.
    Aborted,
}

/// What an application hears of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// It is complete: asked for by either end.
    Connected,
    /// The next bytes, where they lie in the segment.
    Data(&'a [u8]),
    /// So many bytes that were sent have arrived.
    Acknowledged(usize),
    /// There is room again for data that found none.
    Writable,
    /// The other end sends no more.
    Ended,
    /// It is gone; the last event of a connection that was [`Event::Connected`] or asked for here.
    Closed(Cause),
}

/// What uses connections.
pub trait Application {
    /// Something happened. What it does to the connection leaves afterwards.
    fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>);
}

/// What a segment, or a deadline, meets.
#[derive(Debug)]
struct Arrival<'a, A> {
    id: ConnectionId,
    now: Nanos,
    application: &'a mut A,
    /// Bytes that may wait for what precedes them.
    room: usize,
}

/// Why no connection can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// There are as many as there may be.
    Full {
        /// How many.
        connections: usize,
    },
    /// All source ports to this other end are in use.
    NoPort {
        /// How many there are.
        ports: usize,
    },
    /// No connection can have such ends.
    Address,
}

/// A segment to be sent; it stands in the buffer given to [`Tcp::transmit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The address that it comes from.
    pub source: IpAddr,
    /// The address that it goes to.
    pub destination: IpAddr,
    /// Its length.
    pub len: usize,
}

/// What was counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounts {
    /// Segments that arrived, and those of them that are malformed or have a wrong checksum.
    pub received: u64,
    /// See [`BadSegment`].
    pub bad: u64,
    /// Segments that left.
    pub sent: u64,
    /// Those of them that were sent before: SYN, data or FIN that nobody acknowledged.
    pub retransmitted: u64,
    /// Connections that were asked for here.
    pub opened: u64,
    /// Connections that others asked for.
    pub accepted: u64,
    /// SYNs that were answered by a cookie, since too many connections are half-open.
    pub cookies: u64,
    /// SYNs that found no room.
    pub no_room: u64,
    /// Resets to segments that nobody knows.
    pub resets: u64,
    /// Answers to unknown segments that found no room.
    pub unanswered: u64,
}

/// A source port range (RFC 6335): dynamic ports.
const PORTS: std::ops::RangeInclusive<u16> = 32_768..=60_999;

/// An end of a connection.
fn end(address: IpAddr, port: u16) -> SocketAddr {
    SocketAddr::new(address, port)
}
