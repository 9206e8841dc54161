//! Every bound of the control socket, in one place: what a peer may send, hold and wait for.

use std::time::Duration;

/// The protocol's version. It goes up when something that worked would no longer work.
pub const PROTOCOL: u32 = 1;

/// Where the daemon listens unless its configuration says otherwise.
pub const SOCKET_DEFAULT: &str = "/run/linerate/control.sock";

/// Longest line either side sends, bytes, its newline among them: [`ENTRIES_MAX`] entries, and
/// 4,000 of the longest (IPv6 ranges).
pub const LINE_BYTES_MAX: usize = 384 << 10;

/// Most entries of one request; a client with more sends several, without waiting in between.
pub const ENTRIES_MAX: usize = 8192;

/// Arrays and objects within each other. The deepest request has four.
pub const DEPTH_MAX: usize = 8;

/// Longest `id` of a request, bytes as JSON: it is sent back as it came.
pub const ID_BYTES_MAX: usize = 128;

/// Streams that one connection may have at a time.
pub const STREAMS_MAX: usize = 8;

/// Requests answered together at most, when they came without waiting in between.
pub const PIPELINED_MAX: usize = 256;

/// Shortest and longest time between two notifications of `watch`.
pub const WATCH_EVERY: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(3600);

/// What the server grants its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time. Each costs a thread and at most some 2 MB while it is spoken on.
    pub connections: usize,
    /// Of those, how many are for root and the daemon's own user alone, so that others cannot
    /// lock them out.
    pub reserved: usize,
    /// From the first byte of a line to its last.
    pub line: Duration,
    /// How long a connection may say nothing while nothing is sent to it.
    pub silence: Duration,
    /// How long a peer may leave what is sent to it unread.
    pub unread: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            reserved: 8,
            line: Duration::from_secs(10),
            silence: Duration::from_secs(600),
            unread: Duration::from_secs(10),
        }
    }
}
