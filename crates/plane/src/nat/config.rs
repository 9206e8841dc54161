//! What NAT is asked to do. Interfaces are numbered as those of the router.

use std::time::Duration;

/// A range of numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NatRange<T> {
    /// The first.
    pub first: T,
    /// The last, not below the first.
    pub last: T,
}

/// Which packets a rule is for: those that are in each of these, where one is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NatMatch {
    /// Source addresses; empty: all.
    pub sources: Vec<NatRange<u32>>,
    /// Destination addresses; empty: all, or the own addresses of the interface where the rule
    /// changes destinations.
    pub destinations: Vec<NatRange<u32>>,
    /// A protocol.
    pub protocol: Option<NatMatchProtocol>,
    /// Source ports; empty: all.
    pub source_ports: Vec<NatRange<u16>>,
    /// Destination ports; empty: all.
    pub destination_ports: Vec<NatRange<u16>>,
}

/// A protocol that a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatMatchProtocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP echo.
    Icmp,
}

/// Which source packets get that leave by an interface; the first rule that matches counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRule {
    /// The interface that they leave by.
    pub out: u16,
    /// Which of them.
    pub matches: NatMatch,
    /// What they get.
    pub action: SourceAction,
}

/// What becomes of the source of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceAction {
    /// It stays.
    Accept,
    /// It becomes another one.
    To(SourcePool),
}

/// Where new sources are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePool {
    /// The addresses; `None`: the router's own one on the interface (masquerade).
    pub addresses: Option<NatRange<u32>>,
    /// The ports; `None`: those of [`NatConfig::ports`].
    pub ports: Option<NatRange<u16>>,
    /// An inside address and port have one outside address and port, whoever they speak to, and
    /// whoever sends there reaches them (RFC 4787, endpoint-independent).
    pub endpoint_independent: bool,
}

/// Where packets go that come by an interface; the first rule that matches counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationRule {
    /// The interface that they come by.
    pub from: u16,
    /// Which of them.
    pub matches: NatMatch,
    /// Where they go; `None`: where they went.
    pub to: Option<NatTarget>,
}

/// A new destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NatTarget {
    /// The address.
    pub address: u32,
    /// The port; `None`: the one that it had.
    pub port: Option<u16>,
}

/// After which time without packets flows are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NatTimeouts {
    /// TCP, until both sides have sent.
    pub tcp_new: Duration,
    /// TCP, established.
    pub tcp: Duration,
    /// TCP, when both sides have closed or one has reset.
    pub tcp_closing: Duration,
    /// UDP, until both sides have sent.
    pub udp_new: Duration,
    /// UDP.
    pub udp: Duration,
    /// ICMP echo.
    pub icmp: Duration,
}

impl Default for NatTimeouts {
    /// What RFC 5382, RFC 4787 and RFC 5508 ask for at least, and 5 minutes for UDP, which RFC
    /// 4787 recommends.
    fn default() -> Self {
        Self {
            tcp_new: Duration::from_secs(240),
            tcp: Duration::from_secs(7440),
            tcp_closing: Duration::from_secs(240),
            udp_new: Duration::from_secs(120),
            udp: Duration::from_secs(300),
            icmp: Duration::from_secs(60),
        }
    }
}

/// All that is set for NAT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatConfig {
    /// In order.
    pub sources: Vec<SourceRule>,
    /// In order.
    pub destinations: Vec<DestinationRule>,
    /// The ports that rules mean which name none; `None`: 1 to 1,023 for those below 1,024, and
    /// 1,024 to 65,535 for the others.
    pub ports: Option<NatRange<u16>>,
    /// The identifiers of echo requests; `None`: as ports, or any where no ports are named.
    pub identifiers: Option<NatRange<u16>>,
    /// When flows are over.
    pub timeouts: NatTimeouts,
    /// Flows at most.
    pub flows_max: u32,
    /// Flows of one inside address at most.
    pub flows_per_address: u32,
    /// What is reached from outside is reached by the same address from inside, too.
    pub hairpin: bool,
}

impl NatConfig {
    /// Flows at most, unless it is said otherwise.
    pub const FLOWS_MAX: u32 = 65_536;
    /// More flows than there can be: about three gigabytes.
    pub const FLOWS_LIMIT: u32 = 1 << 25;
}

impl Default for NatConfig {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            destinations: Vec::new(),
            ports: None,
            identifiers: None,
            timeouts: NatTimeouts::default(),
            flows_max: Self::FLOWS_MAX,
            flows_per_address: Self::FLOWS_MAX,
            hairpin: true,
        }
    }
}

impl<T: PartialOrd + Copy> NatRange<T> {
    /// A range of one.
    #[must_use]
    pub fn one(value: T) -> Self {
        Self {
            first: value,
            last: value,
        }
    }

    /// Whether it has this one.
    #[must_use]
    pub fn has(&self, value: T) -> bool {
        self.first <= value && value <= self.last
    }
}
