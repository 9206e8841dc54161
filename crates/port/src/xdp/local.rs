//! `keep-local`: which frames are for the host itself. The XDP program knows its addresses; they
//! are read at the start and again whenever the kernel says that some have changed.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use super::maps::{LOCAL_MAX, Maps, PLACE_BYTES};
use crate::interface::{Interface, LocalAddress, VlanPort, address_news, addresses, vlan_ports};
use crate::sys::xdp_netlink::RouteNews;
use crate::{PortError, PortErrorKind};

/// An address with the VLAN it is reached in, as the program looks it up.
type Place = [u8; PLACE_BYTES];

/// By address, whether it is on the interface or on its VLAN port, so that questions for its owner
/// are for the host.
type Places = BTreeMap<Place, bool>;

/// Follows the addresses of the host on behalf of one interface.
pub(super) struct Local {
    interface: Interface,
    maps: Arc<Maps>,
    news: RouteNews,
    told: Places,
}

impl Local {
    /// Reads them for the first time.
    ///
    /// # Errors
    /// More addresses than the program has room for; the kernel does not say.
    pub(super) fn start(interface: &Interface, maps: Arc<Maps>) -> Result<Self, PortError> {
        let name = interface.name();
        let failed = |error: &io::Error| {
            let sentence = format!(
                "xdp:{name}: the addresses of this machine cannot be read: {error}; leave out \
                 keep-local"
            );
            PortError::new(PortErrorKind::Open, sentence)
        };
        // What changes between the two is told.
        let mut local = Self {
            interface: interface.again().map_err(|error| failed(&error))?,
            maps,
            news: address_news().map_err(|error| failed(&error))?,
            told: Places::new(),
        };
        let count = local.read().map_err(|error| failed(&error))?;
        if count > LOCAL_MAX as usize {
            return Err(PortError::new(
                PortErrorKind::Setting,
                format!(
                    "xdp:{name}: this machine has {count} addresses and keep-local can keep \
                     {LOCAL_MAX}; give the bridge a network namespace of its own"
                ),
            ));
        }
        Ok(local)
    }

    /// Tells the program what has changed since, if anything. The error names what is not known.
    pub(super) fn follow(&mut self) -> Result<(), String> {
        if !self.news.any() {
            return Ok(());
        }
        let read = self.read();
        let name = self.interface.name();
        match read {
            Ok(count) if count <= LOCAL_MAX as usize => Ok(()),
            Ok(count) => Err(format!(
                "xdp:{name}: this machine came to have {count} addresses, and keep-local kept the \
                 first {LOCAL_MAX}"
            )),
            Err(error) => Err(format!(
                "xdp:{name}: the addresses of this machine could not be read anew: {error}"
            )),
        }
    }

    /// How many there are.
    fn read(&mut self) -> io::Result<usize> {
        let Ok(index) = self.interface.index() else {
            // It is away; its coming back will be news.
            return Ok(0);
        };
        let (_, mac) = self.interface.hardware_address()?;
        self.maps.set_mac(mac)?;
        let mut now = places(index, &addresses()?, &vlan_ports()?);
        let count = now.len();
        // Those of this interface first.
        while now.len() > LOCAL_MAX as usize {
            let last = now
                .iter()
                .rfind(|(_, here)| !**here)
                .or(now.iter().next_back());
            let Some((&last, _)) = last else { break };
            now.remove(&last);
        }
        for gone in self.told.keys().filter(|place| !now.contains_key(*place)) {
            self.maps.remove_local(gone)?;
        }
        for (place, &here) in &now {
            self.maps.add_local(place, here)?;
        }
        self.told = now;
        Ok(count)
    }
}

/// What the interface of this number is asked for: every address without a tag, and in the VLAN of
/// each of its VLAN ports the addresses of that port.
fn places(index: u32, addresses: &[LocalAddress], vlans: &[VlanPort]) -> Places {
    let mut places = Places::new();
    for local in addresses {
        let here = local.interface == index;
        let elsewhere = link_local(local.address) && !here;
        if !elsewhere && !local.address.is_loopback() {
            *places.entry(place(local.address, 0)).or_default() |= here;
        }
        let ports = vlans.iter().filter(|port| port.below == index);
        for port in ports.filter(|port| port.interface == local.interface) {
            places.insert(place(local.address, port.vlan), true);
        }
    }
    places
}

/// Addresses that mean another machine on every link.
fn link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn place(address: IpAddr, vlan: u16) -> Place {
    let mut place = [0; PLACE_BYTES];
    match address {
        IpAddr::V4(address) => {
            place[10..12].fill(0xff);
            place[12..16].copy_from_slice(&address.octets());
        }
        IpAddr::V6(address) => place[..16].copy_from_slice(&address.octets()),
    }
    place[16..].copy_from_slice(&u64::from(vlan).to_ne_bytes());
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_where_it_can_be_asked_for() {
        let local = |address: &str, interface| LocalAddress {
            address: address.parse().unwrap(),
            interface,
        };
        let found = [
            local("127.0.0.1", 1),
            local("192.0.2.1", 4),
            local("198.51.100.1", 5),
            local("fe80::4", 4),
            local("fe80::5", 5),
            local("203.0.113.1", 9),
        ];
        let port = |interface, below| VlanPort {
            interface,
            below,
            vlan: 10,
        };
        let places = places(4, &found, &[port(9, 4), port(5, 3)]);
        let here = |address: &str, vlan| {
            let place = place(address.parse().unwrap(), vlan);
            places.get(&place).copied()
        };
        assert_eq!(here("192.0.2.1", 0), Some(true));
        assert_eq!(here("198.51.100.1", 0), Some(false));
        assert_eq!(here("fe80::4", 0), Some(true));
        assert_eq!(here("203.0.113.1", 0), Some(false));
        assert_eq!(here("203.0.113.1", 10), Some(true));
        assert_eq!(here("198.51.100.1", 10), None);
        assert_eq!(here("fe80::5", 0), None);
        assert_eq!(here("127.0.0.1", 0), None);
        assert_eq!(here("192.0.2.1", 10), None);
        assert_eq!(places.len(), 5);
    }

    #[test]
    fn places_are_what_the_program_makes_of_a_frame() {
        let four = place("1.2.3.4".parse().unwrap(), 0x102);
        let mapped = "::ffff:1.2.3.4".parse().unwrap();
        assert_eq!(four, place(mapped, 0x102));
        assert_eq!(four[8..16], [0, 0, 0xff, 0xff, 1, 2, 3, 4]);
        assert_eq!(four[16..], 0x102_u64.to_ne_bytes());
    }
}
