//! What a host is asked to be: its addresses, and what its connections are for.

mod udp;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use stack::tcp::TcpSettings;
use traffic::LABEL_BYTES;
use wire::MacAddress;

use crate::router::Prefix;

pub use udp::{CLIENT_PORTS, UdpClientConfig, UdpConfig};

/// Bytes of the headers of IP and TCP without options.
const HEADERS_V4: u16 = 40;
const HEADERS_V6: u16 = 60;
/// Connections at most, where no number is asked for.
const CONNECTIONS_MAX: usize = 262_144;
/// Bytes that all connections together may have to send: with long messages there are fewer.
const SENDING_MAX: usize = 1 << 30;

/// A port of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// Its Ethernet address.
    pub mac: MacAddress,
    /// Bytes of the largest IP packet.
    pub mtu: u16,
    /// Its own addresses: single ones, and whole prefixes.
    pub own: Vec<Prefix>,
    /// Prefixes whose stations are on the link, whatever the gateway.
    pub on_link: Vec<Prefix>,
    /// The station that passes on what is for others; without one, all stations are on the link.
    pub gateway: Option<IpAddr>,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The one that answers.
    #[default]
    Server,
    /// The one that asks.
    Client,
}

/// What a query is: a connection, a request, a response, and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryShape {
    /// Bytes of a request.
    pub request: usize,
    /// Bytes of a response.
    pub response: usize,
    /// What a server answers instead, when an empty line has come: the end of an HTTP request.
    pub answer: Option<Arc<[u8]>>,
    /// Who closes first.
    pub closes_first: End,
    /// Nanoseconds that a query may take from its connection's begin to its end.
    pub timeout: u64,
}

/// How many queries a client begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// So many connections are kept going.
    Connections(usize),
    /// So many are begun a second.
    Rate(f64),
}

/// What a client asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientConfig {
    /// The server.
    pub server: SocketAddr,
    /// How many queries are begun.
    pub pace: Pace,
}

/// What the connections of a host are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RoleConfig {
    /// It answers the queries that come to this port.
    Server(u16),
    /// It asks, from all own addresses in turn.
    Client(ClientConfig),
    /// There are none: it has a UDP socket.
    Udp(UdpConfig),
}

/// All that is set for a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// By [`frame::PortId`].
    pub ports: Vec<HostPort>,
    /// What its connections are for.
    pub role: RoleConfig,
    /// What queries are, for either end.
    pub query: QueryShape,
}

/// Why a host cannot be as it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostConfigError {
    /// A port has no address.
    NoAddress,
    /// This address names no host.
    NotAHost(IpAddr),
    /// This server or gateway is an own address.
    Own(IpAddr),
    /// No own address is of the family of this server.
    OtherFamily(IpAddr),
    /// An MTU is too small for IP.
    Mtu(u16),
    /// A payload of UDP has no room for its label, or does not fit the MTU.
    PayloadSize {
        /// Bytes that were asked for.
        size: usize,
        /// Bytes that fit.
        size_max: usize,
    },
}

impl fmt::Display for HostConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress => f.write_str("a host without an address hears nobody: give it one"),
            Self::NotAHost(address) => write!(
                f,
                "{address} names no single host: give an address that a station can have"
            ),
            Self::Own(address) => write!(
                f,
                "{address} is among the own addresses: a host does not talk to itself, so name \
                 another server or gateway"
            ),
            Self::OtherFamily(address) => write!(
                f,
                "no own address can reach {address}: give addresses of the same family, IPv4 or \
                 IPv6"
            ),
            Self::PayloadSize { size, size_max } => write!(
                f,
                "a payload of {size} bytes cannot be sent: the MTU of the port leaves \
                 {LABEL_BYTES} to {size_max} bytes, and datagrams are not cut into fragments"
            ),
            Self::Mtu(mtu) => write!(
                f,
                "an MTU of {mtu} bytes is too small: IPv4 takes 576 bytes and IPv6 1,280"
            ),
        }
    }
}

impl std::error::Error for HostConfigError {}

impl HostPort {
    /// Whether an address is its own. The first and the last one of an IPv4 prefix are nobody's.
    #[must_use]
    pub fn owns(&self, address: IpAddr) -> bool {
        let holds = |own: &Prefix| own.holds(address) && !own.is_reserved(address);
        self.own.iter().any(holds)
    }

    /// Whom a packet to an address is given to.
    #[must_use]
    pub fn next_hop(&self, to: IpAddr) -> IpAddr {
        let is_beside = self.on_link.iter().any(|prefix| prefix.holds(to));
        let gateway = self
            .gateway
            .filter(|gateway| gateway.is_ipv4() == to.is_ipv4());
        gateway.filter(|_| !is_beside).unwrap_or(to)
    }

    /// Whether it has an address of IPv6.
    fn is_v6(&self) -> bool {
        self.own.iter().any(|own| own.first.is_ipv6())
    }
}

impl HostConfig {
    pub(super) fn check(&self) -> Result<(), HostConfigError> {
        for port in &self.ports {
            port.check()?;
        }
        match self.role {
            RoleConfig::Client(client) => self.check_server(client.server.ip()),
            RoleConfig::Server(_) => Ok(()),
            RoleConfig::Udp(udp) => self.check_udp(&udp),
        }
    }

    fn check_udp(&self, udp: &UdpConfig) -> Result<(), HostConfigError> {
        let UdpConfig::Client(client) = udp else {
            return Ok(());
        };
        for port in &self.ports {
            check_size(client, port.mtu)?;
        }
        self.check_server(client.server.ip())
    }

    /// What a UDP socket is for, if there is one.
    pub(super) fn udp(&self) -> Option<UdpConfig> {
        match self.role {
            RoleConfig::Udp(udp) => Some(udp),
            RoleConfig::Server(_) | RoleConfig::Client(_) => None,
        }
    }

    fn check_server(&self, server: IpAddr) -> Result<(), HostConfigError> {
        check_host(server)?;
        if self.ports.iter().any(|port| port.owns(server)) {
            return Err(HostConfigError::Own(server));
        }
        let mut own = self.ports.iter().flat_map(|port| &port.own);
        match own.any(|own| own.first.is_ipv4() == server.is_ipv4()) {
            true => Ok(()),
            false => Err(HostConfigError::OtherFamily(server)),
        }
    }

    /// The settings of TCP that follow.
    pub(super) fn tcp_settings(&self) -> TcpSettings {
        let largest = |port: &HostPort| match port.is_v6() {
            true => port.mtu - HEADERS_V6,
            false => port.mtu - HEADERS_V4,
        };
        let mss = self.ports.iter().map(largest).min();
        let defaults = TcpSettings::default();
        let connections_max = match self.role {
            RoleConfig::Client(ClientConfig {
                pace: Pace::Connections(count),
                ..
            }) => count,
            RoleConfig::Client(_) => fitting(self.query.request, &defaults),
            RoleConfig::Server(_) => fitting(self.query.sends(End::Server), &defaults),
            RoleConfig::Udp(_) => 1,
        };
        TcpSettings {
            connections_max,
            mss: mss.unwrap_or(defaults.mss),
            ..defaults
        }
    }
}

impl HostPort {
    fn check(&self) -> Result<(), HostConfigError> {
        let least = if self.is_v6() { 1280 } else { 576 };
        if self.mtu < least {
            return Err(HostConfigError::Mtu(self.mtu));
        }
        if self.own.is_empty() {
            return Err(HostConfigError::NoAddress);
        }
        if let Some(gateway) = self.gateway.filter(|gateway| self.owns(*gateway)) {
            return Err(HostConfigError::Own(gateway));
        }
        let gateway = self.gateway.into_iter();
        self.own
            .iter()
            .map(|own| own.first)
            .chain(gateway)
            .try_for_each(check_host)
    }
}

fn check_host(address: IpAddr) -> Result<(), HostConfigError> {
    let is_none = address.is_unspecified()
        || address.is_multicast()
        || address.is_loopback()
        || address == IpAddr::V4(std::net::Ipv4Addr::BROADCAST);
    match is_none {
        true => Err(HostConfigError::NotAHost(address)),
        false => Ok(()),
    }
}

/// How many connections may be open that send messages of this length.
fn fitting(message: usize, settings: &TcpSettings) -> usize {
    let each = message.clamp(1, settings.send_queue_max);
    CONNECTIONS_MAX.min(SENDING_MAX / each)
}

/// Whether the datagrams of a client fit a port with this MTU.
fn check_size(client: &UdpClientConfig, mtu: u16) -> Result<(), HostConfigError> {
    let size_max = usize::from(mtu).saturating_sub(client.headers());
    match (LABEL_BYTES..=size_max).contains(&client.size) {
        true => Ok(()),
        false => Err(HostConfigError::PayloadSize {
            size: client.size,
            size_max,
        }),
    }
}
