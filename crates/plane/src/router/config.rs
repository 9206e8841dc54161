//! What a router is asked to do: its interfaces, routes, neighbours and checks.

use std::net::IpAddr;

use frame::PortId;
use wire::MacAddress;

use super::prefix::Prefix;
use crate::nat::{NatConfig, NatTable};

/// The number of an interface: its index in [`RouterConfig::interfaces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(pub u16);

impl InterfaceId {
    /// As an index.
    #[must_use]
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The number of a VRF, a table of routes with interfaces of its own: 0 is that of interfaces and
/// routes that name none, 1 the first of [`RouterConfig::vrfs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VrfId(pub u16);

impl VrfId {
    /// As an index of all tables.
    #[must_use]
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The VLAN tags of an interface's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InterfaceTags {
    /// None. Priority tags (VLAN 0) are taken off.
    #[default]
    None,
    /// One with this VLAN, of type 0x8100.
    Vlan(u16),
    /// Two: the outer of type 0x88a8, the inner of type 0x8100 (IEEE 802.1Q, Q-in-Q).
    Double {
        /// The VLAN of the outer tag.
        outer: u16,
        /// The VLAN of the inner tag.
        inner: u16,
    },
}

/// An address of an interface, and how long the prefix is that lies behind the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The router's own address.
    pub address: IpAddr,
    /// Bits of the prefix, up to 32 or 128.
    pub prefix_len: u8,
}

/// One interface: a port, or a VLAN of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterInterface {
    /// As messages and reports name it.
    pub name: String,
    /// The port that its frames come and leave by.
    pub port: PortId,
    /// The tags of its frames.
    pub tags: InterfaceTags,
    /// Its Ethernet address.
    pub mac: MacAddress,
    /// The routes that packets go by which came by it.
    pub vrf: VrfId,
    /// Its own addresses.
    pub addresses: Vec<InterfaceAddress>,
    /// Bytes of the largest IP packet that leaves whole, 68 to 65,535; 1,280 at least where it
    /// has IPv6 addresses (RFC 8200, section 5).
    pub mtu: u16,
    /// Frames come and leave by it. One that went away keeps its number.
    pub is_up: bool,
}

/// One of the ways that a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The router that packets go to; `None`: the destination is on the link.
    pub gateway: Option<IpAddr>,
    /// The interface that they leave by; `None`: the one whose prefix holds the gateway.
    pub interface: Option<InterfaceId>,
    /// Its share among the hops of the route, 1 to 256.
    pub weight: u16,
}

/// What becomes of packets that a route is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteAction {
    /// They go to one of these, each flow to the same one. There is one at least.
    Via(Vec<NextHop>),
    /// They are dropped in silence.
    Blackhole,
    /// They are dropped; the sender is told that the host cannot be reached.
    Unreachable,
    /// They are dropped; the sender is told that an administrator forbids it.
    Prohibit,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whose packets go by it.
    pub vrf: VrfId,
    /// An address of the prefix; bits past `prefix_len` are zero.
    pub prefix: IpAddr,
    /// Bits of the prefix.
    pub prefix_len: u8,
    /// What becomes of packets for it.
    pub action: RouteAction,
}

/// Neighbours whose Ethernet address is set, and not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticNeighbours {
    /// The interface that they are behind.
    pub interface: InterfaceId,
    /// The first address.
    pub first: IpAddr,
    /// The last address, of the same family.
    pub last: IpAddr,
    /// The Ethernet address of all of them.
    pub mac: MacAddress,
}

/// Whether a packet's source must be one that packets could be sent to (RFC 3704).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReversePath {
    /// Not checked.
    #[default]
    Off,
    /// There must be a route to the source.
    Loose,
    /// The route to the source must lead back by the interface that the packet came in by.
    Strict,
}

/// All that is set for a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterConfig {
    /// The ports there are; interfaces name them.
    pub ports: usize,
    /// Names of VRFs, from number 1 on.
    pub vrfs: Vec<String>,
    /// By [`InterfaceId`].
    pub interfaces: Vec<RouterInterface>,
    /// Routes, beside those to the prefixes of the interfaces.
    pub routes: Vec<Route>,
    /// Neighbours that are not asked for.
    pub neighbours: Vec<StaticNeighbours>,
    /// What must hold for the source of a packet.
    pub reverse_path: ReversePath,
    /// ICMP errors that are sent in a second at most, to all together; RFC 4443 2.4 (f) asks for
    /// a limit.
    pub errors_per_second: u32,
    /// Neighbours that are known at most, of all interfaces.
    pub neighbours_max: u32,
    /// What NAT is asked to do, if anything; its interfaces are numbered as these.
    pub nat: Option<NatConfig>,
    /// The interface of a host that takes what is for the router's own addresses and the router
    /// does not answer itself.
    pub punt: Option<InterfaceId>,
    /// The router tells stations of its links its own addresses when it starts.
    pub announces: bool,
}

impl InterfaceAddress {
    /// Whether an address is of the prefix.
    #[must_use]
    pub fn holds(&self, address: IpAddr) -> bool {
        self.prefix().holds(address)
    }

    /// The address of all stations of the prefix: see [`Prefix::broadcast`].
    #[must_use]
    pub fn broadcast(&self) -> Option<IpAddr> {
        self.prefix().broadcast()
    }

    /// The prefix that lies behind the interface.
    #[must_use]
    pub fn prefix(&self) -> Prefix {
        Prefix::holding(self.address, self.prefix_len)
    }
}

impl Route {
    /// The prefix that it is for.
    #[must_use]
    pub fn network(&self) -> Prefix {
        Prefix::holding(self.prefix, self.prefix_len)
    }
}

impl RouterConfig {
    /// What NAT goes by, where it is asked for.
    #[must_use]
    pub fn nat_table(&self) -> Option<NatTable> {
        let v4 = |own: &InterfaceAddress| match own.address {
            IpAddr::V4(address) => Some(address.to_bits()),
            IpAddr::V6(_) => None,
        };
        let own = self.interfaces.iter();
        let own = own.map(|one| one.addresses.iter().filter_map(v4).collect());
        Some(NatTable::new(self.nat.clone()?, own.collect()))
    }

    /// The VRF of this name.
    #[must_use]
    pub fn vrf_named(&self, name: &str) -> Option<VrfId> {
        let mut numbered = (1..=u16::MAX).map(VrfId).zip(&self.vrfs);
        numbered.find(|(_, own)| *own == name).map(|(id, _)| id)
    }

    /// The name of a VRF; none of the one that needs no name.
    #[must_use]
    pub fn vrf_name(&self, vrf: VrfId) -> Option<&str> {
        let index = vrf.index().checked_sub(1)?;
        self.vrfs.get(index).map(String::as_str)
    }

    /// The interface of a VRF whose prefix holds an address; of several the longest prefix's.
    #[must_use]
    pub fn behind(&self, vrf: VrfId, address: IpAddr) -> Option<InterfaceId> {
        let numbered = (0..=u16::MAX).map(InterfaceId).zip(&self.interfaces);
        let numbered = numbered.filter(|(_, one)| one.vrf == vrf);
        let own = numbered.flat_map(|(id, one)| one.addresses.iter().map(move |own| (own, id)));
        let holding = own.filter(|(own, _)| own.holds(address));
        holding
            .max_by_key(|(own, _)| own.prefix_len)
            .map(|(_, id)| id)
    }
}
