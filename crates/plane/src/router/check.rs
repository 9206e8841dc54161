//! What can be wrong with the settings of a router: much of it is found at once.

mod error;
mod neighbours;
mod routes;
mod sentence;

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use super::config::{
    InterfaceAddress, InterfaceId, InterfaceTags, RouterConfig, RouterInterface, VrfId,
};
use super::prefix::{Prefix, bits, is_on_each_link};

pub use error::RouterConfigError;

/// Mistakes that are named at most: a file of a million routes can have as many.
const ERRORS_MAX: usize = 20;
/// Interfaces at most: an [`InterfaceId`] numbers them.
const INTERFACES_MAX: usize = 1 << 16;
/// The greatest number of a VLAN; 0 and 4095 number none.
const VLAN_MAX: u16 = 4094;
/// The least MTU of a link with IPv4 (RFC 791) and with IPv6 (RFC 8200, section 5).
const MTU_MIN_V4: u16 = 68;
const MTU_MIN_V6: u16 = 1280;
/// VRFs at most, beside that of all others: each has tables of 512 KiB at least.
const VRFS_MAX: usize = 1000;
/// Neighbours at most: about two gigabytes a worker.
const NEIGHBOURS_MAX: u32 = 1 << 24;

/// The mistakes so far.
#[derive(Debug, Default)]
struct Errors(Vec<RouterConfigError>);

impl Errors {
    fn push(&mut self, error: RouterConfigError) {
        if !self.is_full() {
            self.0.push(error);
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() >= ERRORS_MAX
    }
}

impl RouterConfig {
    /// Looks for mistakes.
    ///
    /// # Errors
    ///
    /// Those that there are, the first twenty.
    pub fn check(&self) -> Result<(), Vec<RouterConfigError>> {
        let mut errors = Errors::default();
        self.check_router(&mut errors);
        self.check_vrfs(&mut errors);
        self.check_punt(&mut errors);
        for interface in &self.interfaces {
            self.check_interface(interface, &mut errors);
        }
        self.check_addresses(&mut errors);
        self.check_routes(&mut errors);
        self.check_neighbours(&mut errors);
        let of_nat = self.nat_table().map_or(Ok(()), |table| table.check());
        let of_nat = of_nat.err().unwrap_or_default();
        for error in of_nat {
            errors.push(RouterConfigError::Nat(error));
        }
        match errors.0.is_empty() {
            true => Ok(()),
            false => Err(errors.0),
        }
    }

    fn interface(&self, id: InterfaceId) -> Option<&RouterInterface> {
        self.interfaces.get(id.index())
    }

    /// Whether an address is the router's own in a VRF; a link-local one is its own on `link`
    /// alone.
    fn is_own(&self, vrf: VrfId, address: IpAddr, link: Option<InterfaceId>) -> bool {
        let link = link.filter(|_| is_on_each_link(&address));
        let numbered = (0..=u16::MAX).map(InterfaceId).zip(&self.interfaces);
        let meant = numbered.filter(|(id, _)| link.is_none_or(|link| link == *id));
        let mut meant = meant.filter(|(_, own)| own.vrf == vrf);
        meant.any(|(_, own)| own.addresses.iter().any(|own| own.address == address))
    }

    fn check_router(&self, errors: &mut Errors) {
        let (count, neighbours) = (self.interfaces.len(), self.neighbours_max);
        if count == 0 {
            errors.push(RouterConfigError::NoInterfaces);
        }
        if count > INTERFACES_MAX {
            errors.push(RouterConfigError::TooManyInterfaces { count });
        }
        if !(1..=NEIGHBOURS_MAX).contains(&neighbours) {
            errors.push(RouterConfigError::Neighbours { neighbours });
        }
        let mut names = HashSet::new();
        let mut places = HashMap::new();
        for own in &self.interfaces {
            let interface = own.name.clone();
            if !names.insert(&own.name) {
                errors.push(RouterConfigError::NameTwice { interface });
            } else if let Some(other) = places.insert((own.port, own.tags), &own.name) {
                let other = other.clone();
                errors.push(RouterConfigError::SamePlace { interface, other });
            }
        }
    }

    /// What is wrong with VRFs, beside what is in them.
    fn check_vrfs(&self, errors: &mut Errors) {
        let count = self.vrfs.len();
        if count > VRFS_MAX {
            errors.push(RouterConfigError::TooManyVrfs { count });
        }
        if count > 0 && self.nat.is_some() {
            errors.push(RouterConfigError::NatVrfs);
        }
        let of_interfaces = self.interfaces.iter().map(|one| one.vrf);
        let mut named = of_interfaces.chain(self.routes.iter().map(|one| one.vrf));
        if let Some(vrf) = named.find(|vrf| vrf.index() > count) {
            errors.push(RouterConfigError::NoVrf { vrf });
        }
    }

    /// A host is asked for its Ethernet address, which takes an address of the router's.
    fn check_punt(&self, errors: &mut Errors) {
        let Some(id) = self.punt else {
            return;
        };
        match self.interface(id) {
            None => errors.push(RouterConfigError::NoPunt { id }),
            Some(own) if own.addresses.is_empty() => {
                let interface = own.name.clone();
                errors.push(RouterConfigError::PuntAddress { interface });
            }
            Some(_) => {}
        }
    }

    /// What is wrong with one interface alone.
    fn check_interface(&self, own: &RouterInterface, errors: &mut Errors) {
        let name = || own.name.clone();
        if own.port.index() >= self.ports {
            errors.push(RouterConfigError::NoPort {
                interface: name(),
                port: own.port,
            });
        }
        if let Some(vlan) = bad_vlan(own.tags) {
            let interface = name();
            errors.push(RouterConfigError::Vlan { interface, vlan });
        }
        let mac = own.mac;
        if mac.is_multicast() || mac.0 == [0; 6] {
            let interface = name();
            errors.push(RouterConfigError::Mac { interface, mac });
        }
        let has_v6 = own.addresses.iter().any(|own| own.address.is_ipv6());
        let least = if has_v6 { MTU_MIN_V6 } else { MTU_MIN_V4 };
        if own.mtu < least {
            errors.push(RouterConfigError::Mtu {
                interface: name(),
                mtu: own.mtu,
                least,
            });
        }
    }

    /// What is wrong with addresses, of one interface or of two.
    fn check_addresses(&self, errors: &mut Errors) {
        let mut addresses = HashMap::new();
        let mut prefixes = HashMap::new();
        for (at, own) in self.interfaces.iter().enumerate() {
            for &given in &own.addresses {
                let (interface, address) = (own.name.clone(), given.address);
                if let Some(error) = bad_address(&own.name, given) {
                    errors.push(error);
                    continue;
                }
                // Link-local addresses are told apart by their links.
                let link = is_on_each_link(&address).then_some(at);
                if let Some(other) = addresses.insert((own.vrf, link, address), &own.name) {
                    errors.push(RouterConfigError::AddressTwice {
                        address,
                        interface,
                        other: other.clone(),
                    });
                    continue;
                }
                let (first, other) = *prefixes
                    .entry((own.vrf, link, given.prefix()))
                    .or_insert((at, &own.name));
                if first != at {
                    errors.push(RouterConfigError::PrefixTwice {
                        prefix: given.prefix(),
                        interface,
                        other: other.clone(),
                    });
                }
            }
        }
    }
}

/// What is wrong with an address alone.
fn bad_address(interface: &str, given: InterfaceAddress) -> Option<RouterConfigError> {
    let (interface, address) = (interface.to_owned(), given.address);
    let (len, most) = (given.prefix_len, bits(&address));
    if len > most {
        return Some(RouterConfigError::AddressLen {
            interface,
            address,
            len,
            most,
        });
    }
    let is_bad = names_no_station(address) || given.prefix().is_reserved(address);
    is_bad.then_some(RouterConfigError::Address {
        interface,
        address,
        len,
    })
}

/// Whether no station of a link can have this address.
fn names_no_station(address: IpAddr) -> bool {
    let is_reserved = |own: IpAddr| match own {
        IpAddr::V4(own) => own.octets()[0] == 0 || own.octets()[0] >= 240,
        IpAddr::V6(own) => own.to_ipv4_mapped().is_some(),
    };
    address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_reserved(address)
}

/// The number in the tags that is no VLAN's.
fn bad_vlan(tags: InterfaceTags) -> Option<u16> {
    let vlans = match tags {
        InterfaceTags::None => return None,
        InterfaceTags::Vlan(vlan) => [vlan, vlan],
        InterfaceTags::Double { outer, inner } => [outer, inner],
    };
    vlans
        .into_iter()
        .find(|vlan| !(1..=VLAN_MAX).contains(vlan))
}

/// Prefixes as a sentence names them.
fn named(prefixes: impl Iterator<Item = Prefix>) -> String {
    const NAMED_MAX: usize = 8;
    let all: Vec<String> = prefixes.map(|own| own.to_string()).collect();
    match all.len() {
        0 => "none".to_owned(),
        count if count > NAMED_MAX => {
            format!(
                "{} and {} more",
                all[..NAMED_MAX].join(", "),
                count - NAMED_MAX
            )
        }
        _ => all.join(", "),
    }
}
