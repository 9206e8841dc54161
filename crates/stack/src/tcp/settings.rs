//! What is set for a host's TCP, and its limits.

use super::CongestionControl;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// When a silent connection is asked for life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Nanoseconds of silence before.
    pub idle: u64,
    /// Nanoseconds between probes.
    pub interval: u64,
    /// Probes without an answer after which the connection is closed.
    pub probes: u32,
}

/// What is set for TCP. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct TcpSettings {
    /// Connections at most, half-open ones included.
    pub connections_max: usize,
    /// Connections at most that were asked for and are not complete.
    pub half_open_max: usize,
    /// Connections in TIME_WAIT at most; the oldest make room.
    pub time_wait_max: usize,
    /// Bytes at most that wait for what precedes them, over all connections.
    pub out_of_order_max: usize,
    /// Bytes of a connection at most that are sent or are to be, and not acknowledged.
    pub send_queue_max: usize,
    /// Bytes that the other end may send ahead, 1 GiB at most.
    pub receive_window: u32,
    /// The largest segment without options that fits a packet: the MTU without IP and TCP headers.
    pub mss: u16,
    /// How the congestion window grows.
    pub congestion: CongestionControl,
    /// Offers and takes SACK.
    pub sack: bool,
    /// Offers and takes timestamps.
    pub timestamps: bool,
    /// Small data waits while other data is not acknowledged (Nagle's algorithm).
    pub nagle: bool,
    /// How long an acknowledgment may wait.
    pub delayed_ack: u64,
    /// How long the other end may acknowledge nothing.
    pub user_timeout: u64,
    /// How long a connection may take to be complete.
    pub connect_timeout: u64,
    /// How long a closed connection is remembered.
    pub time_wait: u64,
    /// Whether silent connections are asked for life. Without it, one whose other end is gone
    /// without a word stays until data is sent.
    pub keep_alive: Option<KeepAlive>,
}

impl Default for TcpSettings {
    fn default() -> Self {
        Self {
            connections_max: 65_536,
            half_open_max: 4_096,
            time_wait_max: 262_144,
            out_of_order_max: 64 << 20,
            send_queue_max: 256 << 10,
            receive_window: 256 << 10,
            mss: 1460,
            congestion: CongestionControl::default(),
            sack: true,
            timestamps: true,
            nagle: true,
            delayed_ack: 40 * MS,
            user_timeout: 120 * SECOND,
            connect_timeout: 30 * SECOND,
            time_wait: 60 * SECOND,
            keep_alive: Some(KeepAlive {
                idle: 7_200 * SECOND,
                interval: 75 * SECOND,
                probes: 9,
            }),
        }
    }
}

impl TcpSettings {
    /// The shift of the windows that this end names (RFC 7323 section 2).
    pub(super) fn window_scale(&self) -> u8 {
        let window = self.receive_window.min(1 << 30);
        (0..14)
            .find(|shift| window >> shift <= 0xFFFF)
            .unwrap_or(14)
    }
}
