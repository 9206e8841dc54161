//! Who a port is to those at the other end of its wire.

use std::net::IpAddr;

use wire::MacAddress;

use crate::interface::{Interface, addresses};

/// The addresses that a port has on its link, and who answers for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The Ethernet address of its interface; `None` where the port has none of its own.
    pub mac: Option<MacAddress>,
    /// The IP addresses of its interface, as they were when this was asked.
    pub addresses: Vec<IpAddr>,
    /// The host's own stack sees requests for these addresses, too, and answers them.
    pub host_answers: bool,
}

impl Identity {
    /// That of an interface of the kernel.
    pub(crate) fn of(interface: &Interface, host_answers: bool) -> Self {
        let mac = interface.hardware_address().ok();
        let index = interface.index().unwrap_or(0);
        let all = addresses().unwrap_or_default();
        let own = all.into_iter().filter(|local| local.interface == index);
        Self {
            mac: mac.map(|(_, mac)| MacAddress(mac)),
            addresses: own.map(|local| local.address).collect(),
            host_answers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_has_its_own_addresses_and_no_others() {
        let loopback = Interface::named("lo").unwrap();
        let identity = Identity::of(&loopback, true);
        assert!(identity.mac.is_some() && identity.host_answers);
        let is_loopback = |address: &IpAddr| address.is_loopback();
        assert!(identity.addresses.iter().all(is_loopback), "{identity:?}");
        let absent = Interface::named("absent0").unwrap();
        assert_eq!(Identity::of(&absent, false), Identity::default());
    }
}
