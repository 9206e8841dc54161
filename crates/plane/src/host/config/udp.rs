//! What the UDP socket of a host is for.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use traffic::Rate;

/// Source ports of a client, each of which it uses with all of its addresses.
pub const CLIENT_PORTS: RangeInclusive<u16> = 32_768..=60_999;
/// Bytes of the headers of IP and UDP.
const HEADERS_V4: usize = 28;
const HEADERS_V6: usize = 48;

/// What the UDP socket of a host is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UdpConfig {
    /// It takes datagrams.
    Server {
        /// The port it listens at.
        port: u16,
        /// It sends each back to where it came from.
        responds: bool,
    },
    /// It sends datagrams from all own addresses in turn.
    Client(UdpClientConfig),
}

/// What a client sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UdpClientConfig {
    /// Where to.
    pub server: SocketAddr,
    /// Bytes of a payload, [`traffic::LABEL_BYTES`] or more.
    pub size: usize,
    /// How many a second.
    pub rate: Rate,
}

impl UdpClientConfig {
    /// Bytes of the headers of IP and UDP.
    pub(in crate::host) fn headers(&self) -> usize {
        match self.server.is_ipv4() {
            true => HEADERS_V4,
            false => HEADERS_V6,
        }
    }
}
