//! What NAT is to do, in words like those of nft: `oif "wan" masquerade`, `iif "wan" tcp dport 8080
//! dnat to 10.0.0.5:80`, and settings: `timeout udp 300s`.
//!
//! [`read`] reads a file as a whole: `words` cuts it into words, each with its line and column, and
//! `parse` reads statements. What was read displays as it is written canonically.

mod fault;
mod parse;
mod show;
#[cfg(test)]
mod tests;
mod words;

pub use fault::{NatFault, NatTextError};
pub use parse::{read, read_text};

use std::net::Ipv4Addr;

/// A range of addresses, both ends included.
pub type AddressRange = (Ipv4Addr, Ipv4Addr);
/// A range of ports, both ends included.
pub type PortRange = (u16, u16);

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NatText {
    /// Rules, in order.
    pub rules: Vec<NatRule>,
    /// Settings, each once.
    pub settings: Vec<NatSetting>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatRule {
    /// The line that it begins on, the first being 1.
    pub line: u64,
    /// Where the name of the interface stands in the line, the first character being 1.
    pub column: u64,
    /// Whether packets come or leave by the interface.
    pub side: NatSide,
    /// The name of the interface.
    pub interface: String,
    /// Source addresses; empty: all.
    pub sources: Vec<AddressRange>,
    /// Destination addresses; empty: all.
    pub destinations: Vec<AddressRange>,
    /// The protocol; one stands beside ports.
    pub protocol: Option<NatProtocolWord>,
    /// Source ports; empty: all.
    pub source_ports: Vec<PortRange>,
    /// Destination ports; empty: all.
    pub destination_ports: Vec<PortRange>,
    /// What is done: `masquerade` and `snat` where packets leave, `dnat` where they come.
    pub action: NatAction,
}

/// Where a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatSide {
    /// Packets come by the interface.
    In,
    /// Packets leave by the interface.
    Out,
}

/// A protocol by its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatProtocolWord {
    /// `tcp`
    Tcp,
    /// `udp`
    Udp,
    /// `icmp`
    Icmp,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatAction {
    /// Nothing: packets stay as they are, and no further rule is looked at.
    Accept,
    /// The source becomes another one.
    Source {
        /// Addresses; `None`: the interface's own (`masquerade`).
        addresses: Option<AddressRange>,
        /// Ports, where they are limited.
        ports: Option<PortRange>,
        /// An inside address and port have the same ones outside, whoever they speak to.
        endpoint_independent: bool,
    },
    /// The destination becomes another one.
    Destination {
        /// The address.
        address: Ipv4Addr,
        /// The port; `None`: the one that it was.
        port: Option<u16>,
    },
}

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatSetting {
    /// After how many seconds without packets flows in a state are over.
    Timeout(NatTimeout, u32),
    /// Flows at most.
    Flows(u32),
    /// Flows of one inside address at most.
    FlowsPerAddress(u32),
    /// Whether inside hosts reach each other by outside addresses.
    Hairpin(bool),
}

/// A state of flows, by its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatTimeout {
    /// `tcp-new`
    TcpNew,
    /// `tcp`
    Tcp,
    /// `tcp-closing`
    TcpClosing,
    /// `udp-new`
    UdpNew,
    /// `udp`
    Udp,
    /// `icmp`
    Icmp,
}

impl NatTimeout {
    const WORDS: [(&'static str, Self); 6] = [
        ("tcp-new", Self::TcpNew),
        ("tcp", Self::Tcp),
        ("tcp-closing", Self::TcpClosing),
        ("udp-new", Self::UdpNew),
        ("udp", Self::Udp),
        ("icmp", Self::Icmp),
    ];
}

impl NatSetting {
    /// Whether two settings are of the same thing.
    fn is_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Timeout(own, _), Self::Timeout(other, _)) => own == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}
