//! What can be wrong with routes.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use super::super::config::{
    InterfaceAddress, InterfaceId, NextHop, Route, RouteAction, RouterConfig, RouterInterface,
    VrfId,
};
use super::super::prefix::{Prefix, bits, is_on_each_link};
use super::{Errors, RouterConfigError, named, names_no_station};

/// The greatest weight of a next hop.
pub(super) const WEIGHT_MAX: u16 = 256;
/// Next hops of one route at most.
pub(super) const HOPS_MAX: usize = 256;

/// What a next hop is named by, with the VRF and the family of its route.
type Way = (VrfId, bool, Option<IpAddr>, Option<InterfaceId>);

impl RouterConfig {
    pub(super) fn check_routes(&self, errors: &mut Errors) {
        let connected = self.connected();
        // A full table has few next hops: each is looked at once.
        let mut ways: HashSet<Way> = HashSet::new();
        let mut prefixes = HashSet::with_capacity(self.routes.len());
        for route in &self.routes {
            if errors.is_full() {
                return;
            }
            if let Some(error) = bad_prefix(route) {
                errors.push(error);
                continue;
            }
            let prefix = route.network();
            if !prefixes.insert((route.vrf, prefix)) {
                errors.push(RouterConfigError::RouteTwice { prefix });
            }
            if let Some(&interface) = connected.get(&(route.vrf, prefix))
                && !is_on_link(route, interface)
            {
                let interface = self.name(interface);
                errors.push(RouterConfigError::RouteConnected { prefix, interface });
            }
            if let RouteAction::Via(hops) = &route.action {
                self.check_hops(route, hops, &mut ways, errors);
            }
        }
    }

    /// The prefixes behind interfaces.
    fn connected(&self) -> HashMap<(VrfId, Prefix), InterfaceId> {
        let numbered = (0..=u16::MAX).map(InterfaceId).zip(&self.interfaces);
        let all = numbered.flat_map(|(id, own)| {
            let prefixes = own.addresses.iter().map(InterfaceAddress::prefix);
            prefixes.map(move |prefix| ((own.vrf, prefix), id))
        });
        all.collect()
    }

    fn check_hops(
        &self,
        route: &Route,
        hops: &[NextHop],
        ways: &mut HashSet<Way>,
        errors: &mut Errors,
    ) {
        let (prefix, count) = (route.network(), hops.len());
        if !(1..=HOPS_MAX).contains(&count) {
            errors.push(RouterConfigError::HopCount { prefix, count });
        }
        for hop in hops {
            let weight = hop.weight;
            if !(1..=WEIGHT_MAX).contains(&weight) {
                errors.push(RouterConfigError::Weight { prefix, weight });
            }
            let family = prefix.first.is_ipv4();
            if ways.insert((route.vrf, family, hop.gateway, hop.interface))
                && let Err(error) = self.check_way(route, hop)
            {
                errors.push(error);
            }
        }
    }

    fn check_way(&self, route: &Route, hop: &NextHop) -> Result<(), RouterConfigError> {
        let prefix = route.network();
        if let Some(id) = hop.interface {
            let Some(interface) = self.interface(id) else {
                return Err(RouterConfigError::RouteInterface { prefix, id });
            };
            self.check_vrf(route, interface)?;
        }
        match (hop.gateway, hop.interface) {
            (Some(gateway), interface) => self.check_gateway(route, gateway, interface),
            (None, Some(id)) if !self.has_family(id, &prefix.first) => {
                let interface = self.name(id);
                Err(RouterConfigError::NoSource { prefix, interface })
            }
            (None, Some(_)) => Ok(()),
            (None, None) => Err(RouterConfigError::NoWay { prefix }),
        }
    }

    /// Routes lead from a VRF to its own interfaces.
    fn check_vrf(
        &self,
        route: &Route,
        interface: &RouterInterface,
    ) -> Result<(), RouterConfigError> {
        let name = |vrf| self.vrf_name(vrf).map(str::to_owned);
        match interface.vrf == route.vrf {
            true => Ok(()),
            false => Err(RouterConfigError::RouteVrf {
                prefix: route.network(),
                vrf: name(route.vrf),
                interface: interface.name.clone(),
                other: name(interface.vrf),
            }),
        }
    }

    fn check_gateway(
        &self,
        route: &Route,
        gateway: IpAddr,
        interface: Option<InterfaceId>,
    ) -> Result<(), RouterConfigError> {
        let prefix = route.network();
        if gateway.is_ipv4() != prefix.first.is_ipv4() {
            return Err(RouterConfigError::GatewayFamily { prefix, gateway });
        }
        if self.is_own(route.vrf, gateway, interface) {
            return Err(RouterConfigError::GatewayOwn { prefix, gateway });
        }
        if names_no_station(gateway) {
            return Err(RouterConfigError::GatewayAddress { prefix, gateway });
        }
        if is_on_each_link(&gateway) {
            return match interface {
                None => Err(RouterConfigError::GatewayLink { prefix, gateway }),
                Some(id) if !self.has_family(id, &gateway) => Err(RouterConfigError::NoSource {
                    prefix,
                    interface: self.name(id),
                }),
                Some(_) => Ok(()),
            };
        }
        let prefixes: Vec<Prefix> = match interface {
            Some(id) => self.prefixes_of(id).collect(),
            None => self.prefixes_in(route.vrf).collect(),
        };
        match prefixes.iter().find(|own| own.holds(gateway)) {
            Some(own) if own.is_reserved(gateway) => {
                Err(RouterConfigError::GatewayAddress { prefix, gateway })
            }
            Some(_) => Ok(()),
            None => Err(RouterConfigError::GatewayElsewhere {
                prefix,
                gateway,
                interface: interface.map(|id| self.name(id)),
                prefixes: named(prefixes.into_iter()),
            }),
        }
    }

    /// The prefixes behind one interface.
    pub(super) fn prefixes_of(&self, interface: InterfaceId) -> impl Iterator<Item = Prefix> {
        let own = self.interface(interface).into_iter();
        own.flat_map(|own| own.addresses.iter().map(InterfaceAddress::prefix))
    }

    /// The prefixes behind all interfaces of a VRF.
    fn prefixes_in(&self, vrf: VrfId) -> impl Iterator<Item = Prefix> {
        let meant = self.interfaces.iter().filter(move |own| own.vrf == vrf);
        meant.flat_map(|own| own.addresses.iter().map(InterfaceAddress::prefix))
    }

    /// Whether the interface has an address of the family: requests for neighbours need one.
    pub(super) fn has_family(&self, id: InterfaceId, like: &IpAddr) -> bool {
        let mut families = self.prefixes_of(id).map(|own| own.first.is_ipv4());
        families.any(|is_v4| is_v4 == like.is_ipv4())
    }

    pub(super) fn name(&self, id: InterfaceId) -> String {
        self.interface(id)
            .map_or_else(String::new, |own| own.name.clone())
    }
}

fn bad_prefix(route: &Route) -> Option<RouterConfigError> {
    let (address, len) = (route.prefix, route.prefix_len);
    let most = bits(&address);
    if len > most {
        return Some(RouterConfigError::RouteLen { address, len, most });
    }
    let right = route.network();
    (right.first != address).then_some(RouterConfigError::HostBits { address, right })
}

/// Whether a route says what follows from the interface's prefix: listings name such routes.
fn is_on_link(route: &Route, interface: InterfaceId) -> bool {
    let RouteAction::Via(hops) = &route.action else {
        return false;
    };
    let mut hops = hops.iter();
    hops.all(|hop| hop.gateway.is_none() && hop.interface == Some(interface))
}
