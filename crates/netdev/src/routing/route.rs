//! Routes, as the tables of the kernel have them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// The table that the kernel looks up for all hosts (`ip route show table main`).
pub const MAIN_TABLE: u32 = 254;
/// The table with the host's own addresses.
pub const LOCAL_TABLE: u32 = 255;

/// The addresses that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    /// The first of them; bits past `length` are zero.
    pub address: IpAddr,
    /// Bits that they have in common.
    pub length: u8,
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// Where a route stands. In this order, that which is in force comes first of those for the same
/// addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteKey {
    /// The number of the table.
    pub table: u32,
    /// The destinations that it is for.
    pub prefix: Prefix,
    /// The sources that it is for, where not all (IPv6 alone).
    pub source: Option<Prefix>,
    /// The type of service (DSCP) that it is for; 0 is any.
    pub tos: u8,
    /// Of routes that differ in nothing else, that with the least is in force.
    pub metric: u32,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// What becomes of packets that it is for.
    pub kind: RouteKind,
    /// Who made it (`RTPROT_KERNEL` and so on, `linux/rtnetlink.h`).
    pub protocol: u8,
    /// The source address of packets that the host itself makes.
    pub preferred_source: Option<IpAddr>,
    /// The next-hop object that it goes by (`ip nexthop`); `hops` are those of the object.
    pub next_hop: Option<u32>,
    /// Where it leads, in ascending order; empty where packets are dropped.
    pub hops: Arc<[Hop]>,
}

/// What becomes of packets that a route is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// They go to one of its hops.
    Unicast,
    /// They are for the host itself.
    Local,
    /// They are for all on the link.
    Broadcast,
    /// They are for the host itself, which is one of several.
    Anycast,
    /// They are for a group.
    Multicast,
    /// They are dropped in silence.
    Blackhole,
    /// They are dropped, and the sender is told that the destination cannot be reached.
    Unreachable,
    /// They are dropped, and the sender is told that an administrator forbids it.
    Prohibit,
    /// The search ends in this table and goes on by the next rule (`ip rule`).
    Throw,
    /// One that this version does not know, by the kernel's number.
    Other(u8),
}

impl RouteKind {
    /// By the kernel's number (`RTN_UNICAST` and so on).
    pub(super) fn of(number: u8) -> Self {
        match number {
            1 => Self::Unicast,
            2 => Self::Local,
            3 => Self::Broadcast,
            4 => Self::Anycast,
            5 => Self::Multicast,
            6 => Self::Blackhole,
            7 => Self::Unreachable,
            8 => Self::Prohibit,
            9 => Self::Throw,
            other => Self::Other(other),
        }
    }

    /// Packets end in the table: a link that the kernel names with it (`lo`) means nothing.
    pub(super) fn is_without_hops(self) -> bool {
        matches!(
            self,
            Self::Blackhole | Self::Unreachable | Self::Prohibit | Self::Throw
        )
    }
}

/// One of the ways that a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// The router that packets go to; `None`: the destination is on the link.
    pub gateway: Option<IpAddr>,
    /// The number of the link that they leave by.
    pub link: Option<u32>,
    /// Its share among the hops of the route, from 1.
    pub weight: u16,
    /// The gateway counts as being on the link, whatever the addresses of the link are.
    pub is_onlink: bool,
    /// Packets get another header around them (MPLS, SRv6, tunnels).
    pub is_encapsulated: bool,
}

/// Why packets of a route cannot be forwarded by a plain IP router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// It is for some types of service alone.
    TypeOfService,
    /// It is for some sources alone.
    Source,
    /// It leads from IPv4 to an IPv6 gateway (`via inet6`, RFC 8950), or the reverse.
    GatewayOfOtherFamily,
    /// It puts another header around packets.
    Encapsulation,
    /// Its kind is `throw` or unknown.
    Kind,
    /// Where it leads is not known: its next-hop object is not.
    NoHop,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TypeOfService => "it is for one type of service alone",
            Self::Source => "it is for some source addresses alone",
            Self::GatewayOfOtherFamily => "its gateway is of the other address family",
            Self::Encapsulation => "it encapsulates packets",
            Self::Kind => "its kind is not supported",
            Self::NoHop => "its next hop is not known",
        })
    }
}

impl RouteKey {
    /// The least that a route of this table can have.
    pub(super) fn first_of(table: u32) -> Self {
        Self {
            table,
            prefix: Prefix {
                address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                length: 0,
            },
            source: None,
            tos: 0,
            metric: 0,
        }
    }

    /// It is for all packets to its prefix.
    #[must_use]
    pub fn is_for_all(&self) -> bool {
        self.tos == 0 && self.source.is_none()
    }
}

impl Route {
    /// Why a plain IP router cannot follow it, where that is so.
    #[must_use]
    pub fn unsupported(&self, key: &RouteKey) -> Option<Unsupported> {
        let crosses = |hop: &Hop| {
            let gateway = hop.gateway.map(|gateway| gateway.is_ipv4());
            gateway.is_some_and(|is_ipv4| is_ipv4 != key.prefix.address.is_ipv4())
        };
        if key.tos != 0 {
            Some(Unsupported::TypeOfService)
        } else if key.source.is_some() {
            Some(Unsupported::Source)
        } else if matches!(self.kind, RouteKind::Throw | RouteKind::Other(_)) {
            Some(Unsupported::Kind)
        } else if self.hops.iter().any(crosses) {
            Some(Unsupported::GatewayOfOtherFamily)
        } else if self.hops.iter().any(|hop| hop.is_encapsulated) {
            Some(Unsupported::Encapsulation)
        } else if self.kind == RouteKind::Unicast && self.hops.is_empty() {
            Some(Unsupported::NoHop)
        } else {
            None
        }
    }

    /// The same route of the kernel, whatever state its hops are in.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same = self.protocol == other.protocol
            && self.preferred_source == other.preferred_source
            && self.next_hop == other.next_hop;
        same && match self.next_hop {
            Some(_) => true,
            None => self.kind == other.kind && self.hops == other.hops,
        }
    }
}

/// Hops as a route has them. The share of a single one means nothing, and the kernel does not
/// always say it.
pub(super) fn in_order(mut hops: Vec<Hop>) -> Arc<[Hop]> {
    if let [hop] = &mut hops[..] {
        hop.weight = 1;
    }
    hops.sort_unstable();
    hops.into()
}
