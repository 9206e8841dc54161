//! What a router goes by: its settings, compiled.

use std::collections::TryReserveError;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use frame::PortId;
use table::CompileError;
use table::fib::Fib;

use super::link::Link;
use super::packet::Packet;
use super::prefix::is_on_each_link;
use super::{
    Hop, HopSet, InterfaceId, InterfaceTags, NextHop, Prefix, RouteAction, RouteBook, RouterConfig,
    RouterConfigError, VrfId, Way,
};
use crate::nat::NatTable;

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The router itself has the address.
    Local,
    /// All stations of one of its links.
    Broadcast,
    /// One of these hops.
    Via(HopSet),
    /// Nowhere, in silence.
    Blackhole,
    /// Nowhere; the sender is told that it cannot be reached.
    Unreachable,
    /// Nowhere; the sender is told that it is prohibited.
    Prohibited,
}

/// The settings of a router and what follows from them; never changed.
#[derive(Debug)]
pub struct RouterTable {
    config: RouterConfig,
    /// What NAT goes by.
    pub(super) nat: Option<NatTable>,
    links: Vec<Link>,
    /// By [`VrfId`]; there is one at least.
    vrfs: Vec<VrfTable>,
    /// By port: the tags of its interfaces.
    by_port: Vec<Vec<(InterfaceTags, InterfaceId)>>,
}

/// What packets go by that came by an interface of one VRF.
#[derive(Debug)]
pub(super) struct VrfTable {
    /// Own addresses and those of all stations, with whether they are of IPv4, sorted.
    ours: Vec<(bool, u128)>,
    /// By answer, from 1.
    targets: Arc<[Target]>,
    /// The routes, where they are those of the settings.
    book: Option<RouteBook>,
    pub(super) fib_v4: Fib<u32>,
    pub(super) fib_v6: Fib<u128>,
}

/// Why there is no table.
#[derive(Debug)]
pub enum RouterTableError {
    /// The settings are wrong.
    Config(Vec<RouterConfigError>),
    /// There is no memory for the routes.
    Memory(CompileError),
    /// There is no memory for the flows of NAT.
    NatMemory(TryReserveError),
    /// NAT is asked of more workers than one.
    NatWorkers,
}

impl fmt::Display for RouterTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(errors) => {
                let sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&sentences.join("; "))
            }
            Self::Memory(error) => write!(f, "there is no memory for the routes ({error})"),
            Self::NatMemory(error) => write!(
                f,
                "there is no memory for the flows of NAT ({error}): fewer `flows` in its file"
            ),
            Self::NatWorkers => f.write_str(
                "NAT runs with one worker: answers to a translated flow may come to another one, \
                 which does not know it; ask for one worker",
            ),
        }
    }
}

impl std::error::Error for RouterTableError {}

impl RouterTable {
    /// Compiles settings.
    ///
    /// # Errors
    /// See [`RouterTableError`].
    pub fn new(config: RouterConfig) -> Result<Self, RouterTableError> {
        config.check().map_err(RouterTableError::Config)?;
        let vrfs = (0..=u16::MAX).map(VrfId).take(1 + config.vrfs.len());
        let vrfs: Result<_, _> = vrfs.map(|vrf| VrfTable::new(&config, vrf)).collect();
        Ok(Self::versioned(
            config,
            vrfs.map_err(RouterTableError::Memory)?,
        ))
    }

    /// A version of routes that are kept elsewhere. `config` is not checked, and has no routes of
    /// its own; packets from an address in `own` are martians.
    #[must_use]
    pub fn of_book(config: RouterConfig, book: &RouteBook, own: &[IpAddr]) -> Self {
        let ours = sorted(own.iter().copied());
        Self::versioned(config, vec![VrfTable::of_book(book, ours)])
    }

    fn versioned(config: RouterConfig, vrfs: Vec<VrfTable>) -> Self {
        let mut by_port = vec![Vec::new(); config.ports];
        let numbered = (0..=u16::MAX).map(InterfaceId).zip(&config.interfaces);
        for (id, interface) in numbered.filter(|(_, interface)| interface.is_up) {
            if let Some(of_port) = by_port.get_mut(interface.port.index()) {
                of_port.push((interface.tags, id));
            }
        }
        Self {
            nat: config.nat_table(),
            links: config.interfaces.iter().map(Link::of).collect(),
            vrfs,
            by_port,
            config,
        }
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &RouterConfig {
        &self.config
    }

    /// The routes of the settings for one VRF, those to its own addresses and prefixes included;
    /// none where they are kept elsewhere.
    #[must_use]
    pub fn book(&self, vrf: VrfId) -> Option<&RouteBook> {
        self.vrfs.get(vrf.index())?.book.as_ref()
    }

    /// The books of all VRFs, by [`VrfId`].
    pub fn books(&self) -> impl Iterator<Item = &RouteBook> {
        self.vrfs.iter().filter_map(|vrf| vrf.book.as_ref())
    }

    /// The VRF of a frame that comes in by a port; none where no interface takes it.
    #[must_use]
    pub fn vrf_of_frame(&self, port: PortId, bytes: &[u8]) -> Option<VrfId> {
        let arrival = self.arrive(port, bytes).ok()?;
        Some(self.link(arrival.interface).vrf)
    }

    /// What packets go by that came by an interface.
    #[inline]
    pub(super) fn vrf(&self, interface: InterfaceId) -> &VrfTable {
        match &self.vrfs[..] {
            [only] => only,
            several => &several[self.link(interface).vrf.index()],
        }
    }

    /// The table of all packets, where there is one alone.
    #[inline]
    pub(super) fn only_vrf(&self) -> Option<&VrfTable> {
        match &self.vrfs[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn link(&self, interface: InterfaceId) -> &Link {
        &self.links[interface.index()]
    }

    /// The interface of a port's frames with these tags.
    #[inline]
    pub(super) fn interface_of(&self, port: PortId, tags: InterfaceTags) -> Option<InterfaceId> {
        let all = self.by_port.get(port.index())?;
        let mut own = all.iter().filter(|(known, _)| *known == tags);
        own.next().map(|(_, id)| *id)
    }

    /// The router's own address on an interface that speaks to `peer`: of its family, and of the
    /// prefix that the peer is in where there is one.
    pub(super) fn own_address(&self, interface: InterfaceId, peer: IpAddr) -> Option<IpAddr> {
        let here = self.own_address_here(interface, peer);
        here.or_else(|| self.any_address(self.link(interface).vrf, peer))
    }

    /// The same, of this interface alone.
    pub(super) fn own_address_here(&self, interface: InterfaceId, peer: IpAddr) -> Option<IpAddr> {
        let addresses = &self.config.interfaces[interface.index()].addresses;
        let family = addresses
            .iter()
            .filter(|own| own.address.is_ipv4() == peer.is_ipv4());
        let beside = family.clone().find(|own| own.holds(peer));
        beside.or(family.clone().next()).map(|own| own.address)
    }

    /// An address of the router in a VRF, of the family of `peer`, that is good on every link.
    fn any_address(&self, vrf: VrfId, peer: IpAddr) -> Option<IpAddr> {
        let of_vrf = self.config.interfaces.iter().filter(|one| one.vrf == vrf);
        let all = of_vrf.flat_map(|one| &one.addresses);
        let mut all = all.map(|own| own.address);
        all.find(|own| own.is_ipv4() == peer.is_ipv4() && !is_on_each_link(own))
    }

    /// Whether an address may be a neighbour's on an interface.
    pub(super) fn is_beside(&self, interface: InterfaceId, address: IpAddr) -> bool {
        let addresses = &self.config.interfaces[interface.index()].addresses;
        is_on_each_link(&address)
            || addresses.iter().any(|own| own.holds(address))
            || self.is_punted(interface, address)
    }

    /// Whether an address is the router's own, and a host behind this interface has it too.
    fn is_punted(&self, interface: InterfaceId, address: IpAddr) -> bool {
        self.config.punt == Some(interface)
            && self.vrf(interface).target_of(address) == Some(&Target::Local)
    }

    /// Whether an interface has an address.
    pub(super) fn is_own(&self, interface: InterfaceId, address: IpAddr) -> bool {
        let addresses = &self.config.interfaces[interface.index()].addresses;
        addresses.iter().any(|own| own.address == address)
    }
}

impl VrfTable {
    fn new(config: &RouterConfig, vrf: VrfId) -> Result<Self, CompileError> {
        let book = RouteBook::new(ways(config, vrf))?;
        let mut table = Self::of_book(&book, ours(config, vrf));
        table.book = Some(book);
        Ok(table)
    }

    fn of_book(book: &RouteBook, ours: Vec<(bool, u128)>) -> Self {
        let (fib_v4, fib_v6) = book.fibs();
        Self {
            ours,
            targets: book.targets(),
            book: None,
            fib_v4,
            fib_v6,
        }
    }

    /// Where an answer of the lookup leads; `None` for 0, no route.
    #[inline]
    pub(super) fn target(&self, answer: u32) -> Option<&Target> {
        self.targets.get((answer as usize).wrapping_sub(1))
    }

    /// Where packets to an address go.
    pub(super) fn target_of(&self, address: IpAddr) -> Option<&Target> {
        self.target(match address {
            IpAddr::V4(address) => self.fib_v4.lookup(address.to_bits()),
            IpAddr::V6(address) => self.fib_v6.lookup(address.to_bits()),
        })
    }

    /// Whether a packet claims to be from the router, or from all stations of one of its links.
    #[inline]
    pub(super) fn is_ours(&self, packet: &Packet) -> bool {
        self.ours
            .binary_search(&(packet.is_v4(), packet.src))
            .is_ok()
    }
}

/// The interfaces of a VRF.
fn of_vrf(
    config: &RouterConfig,
    vrf: VrfId,
) -> impl Iterator<Item = (InterfaceId, &super::RouterInterface)> {
    let numbered = (0..=u16::MAX).map(InterfaceId).zip(&config.interfaces);
    numbered.filter(move |(_, one)| one.vrf == vrf)
}

/// The routes of settings for one VRF. What is set explicitly counts for more than what follows
/// from interfaces, and the router's own addresses more than both: of two routes for a prefix the
/// later counts.
fn ways(config: &RouterConfig, vrf: VrfId) -> Vec<(Prefix, Way)> {
    let mut ways = Vec::new();
    for (id, interface) in of_vrf(config, vrf) {
        let hop = Hop {
            gateway: None,
            interface: id,
        };
        for own in &interface.addresses {
            ways.push((own.prefix(), Way::Via(vec![(hop, 1)])));
            let broadcast = own.broadcast().map(Prefix::of_one);
            ways.extend(broadcast.map(|prefix| (prefix, Way::Broadcast)));
        }
    }
    let explicit = config.routes.iter().filter(|route| route.vrf == vrf);
    let explicit = explicit.map(|route| {
        let way = match &route.action {
            RouteAction::Via(hops) => Way::Via(resolved(hops, config, vrf)),
            RouteAction::Blackhole => Way::Blackhole,
            RouteAction::Unreachable => Way::Unreachable,
            RouteAction::Prohibit => Way::Prohibited,
        };
        (route.network(), way)
    });
    ways.extend(explicit);
    let own = of_vrf(config, vrf).flat_map(|(_, one)| &one.addresses);
    ways.extend(own.map(|own| (Prefix::of_one(own.address), Way::Local)));
    ways
}

/// Addresses that no packet from elsewhere is from.
fn ours(config: &RouterConfig, vrf: VrfId) -> Vec<(bool, u128)> {
    let addresses = of_vrf(config, vrf).flat_map(|(_, one)| &one.addresses);
    let both = addresses.flat_map(|own| [Some(own.address), own.broadcast()]);
    sorted(both.flatten())
}

fn sorted(addresses: impl Iterator<Item = IpAddr>) -> Vec<(bool, u128)> {
    let mut all: Vec<(bool, u128)> = addresses
        .map(|address| match address {
            IpAddr::V4(address) => (true, address.to_bits().into()),
            IpAddr::V6(address) => (false, address.to_bits()),
        })
        .collect();
    all.sort_unstable();
    all
}

/// The hops with the interfaces that their gateways are behind.
fn resolved(hops: &[NextHop], config: &RouterConfig, vrf: VrfId) -> Vec<(Hop, u16)> {
    let hop = |hop: &NextHop| {
        let interface = hop.interface.or_else(|| config.behind(vrf, hop.gateway?))?;
        let gateway = hop.gateway;
        Some((Hop { gateway, interface }, hop.weight))
    };
    hops.iter().filter_map(hop).collect()
}
