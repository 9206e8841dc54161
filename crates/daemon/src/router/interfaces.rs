//! Interfaces in words: `lan=A.10,10.0.0.1/24`.

use std::net::IpAddr;

use frame::PortId;
use plane::router::{InterfaceAddress, InterfaceTags, RouterInterface, VrfId};
use wire::MacAddress;

use crate::switch::PortNames;

/// The MTU of a port that has none of its own.
pub(super) const MTU: u16 = 1500;

/// What was written for an interface, and is not taken from its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) mac: Option<MacAddress>,
    pub(super) mtu: Option<u16>,
    pub(super) vrf: Option<String>,
}

/// `NAME=PORT[.VLAN[.INNER]],ADDRESS/LENGTH[,...][,mac=MAC][,mtu=BYTES][,vrf=NAME]`.
pub(super) fn interface(text: &str, names: &PortNames) -> Result<(RouterInterface, Given), String> {
    let (name, rest) = text.split_once('=').ok_or_else(|| {
        format!("'{text}' names no port: write NAME=PORT,ADDRESS/LENGTH, as in lan=A,10.0.0.1/24")
    })?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(format!(
            "'{name}' is no name of an interface: it has letters, digits, '-' and '_'"
        ));
    }
    let mut parts = rest.split(',');
    let (port, tags) = port_and_tags(parts.next().unwrap_or_default(), names)?;
    let mut given = Given {
        mac: None,
        mtu: None,
        vrf: None,
    };
    let mut addresses = Vec::new();
    for part in parts {
        match part.split_once('=') {
            Some(("mac", mac)) => set_once(&mut given.mac, "mac", mac_address(mac)?)?,
            Some(("mtu", mtu)) => {
                let mtu = number(mtu, "an MTU from 68 to 65535")?;
                set_once(&mut given.mtu, "mtu", mtu)?;
            }
            Some(("vrf", vrf)) => set_once(&mut given.vrf, "vrf", vrf.to_owned())?,
            Some((key, _)) => {
                return Err(format!(
                    "'{key}' is not known: there are mac=, mtu= and vrf="
                ));
            }
            None => addresses.push(address_and_length(part)?),
        }
    }
    let interface = RouterInterface {
        name: name.to_owned(),
        port,
        tags,
        vrf: VrfId::default(),
        mac: MacAddress::default(),
        addresses,
        mtu: MTU,
        is_up: true,
    };
    Ok((interface, given))
}

/// `NAME=PORT[.VLAN[.INNER]][,...]`.
pub(super) fn vrf_places(
    text: &str,
    names: &PortNames,
) -> Result<(String, Vec<(PortId, InterfaceTags)>), String> {
    let (name, rest) = text.split_once('=').ok_or_else(|| {
        format!("'{text}' names no port: write NAME=PORT or NAME=PORT.VLAN, as in guests=A.20")
    })?;
    let places = rest.split(',').map(|place| port_and_tags(place, names));
    Ok((name.to_owned(), places.collect::<Result<_, _>>()?))
}

fn set_once<T>(place: &mut Option<T>, key: &str, value: T) -> Result<(), String> {
    match place.replace(value) {
        Some(_) => Err(format!("{key}= is there twice: leave one")),
        None => Ok(()),
    }
}

/// `A`, `A.10` or `A.10.20`.
fn port_and_tags(text: &str, names: &PortNames) -> Result<(PortId, InterfaceTags), String> {
    let mut parts = text.split('.');
    let port = names.port(parts.next().unwrap_or_default())?;
    let mut vlan = || {
        parts
            .next()
            .map(|text| number(text, "a VLAN from 1 to 4094"))
    };
    let tags = match (vlan().transpose()?, vlan().transpose()?) {
        (None, _) => InterfaceTags::None,
        (Some(one), None) => InterfaceTags::Vlan(one),
        (Some(outer), Some(inner)) => InterfaceTags::Double { outer, inner },
    };
    match parts.next() {
        Some(_) => Err(format!(
            "'{text}' has more than two VLANs: write PORT.OUTER.INNER"
        )),
        None => Ok((port, tags)),
    }
}

fn address_and_length(text: &str) -> Result<InterfaceAddress, String> {
    let read = || {
        let (address, len) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let prefix_len: u8 = number(len, "").ok()?;
        Some(InterfaceAddress {
            address,
            prefix_len,
        })
    };
    read().ok_or_else(|| {
        format!("'{text}' is no address with a length: write it as in 10.0.0.1/24 or fd00::1/64")
    })
}

pub(super) fn mac_address(text: &str) -> Result<MacAddress, String> {
    text.parse().map_err(|_| {
        format!("'{text}' is no MAC address: write six pairs of digits, as in 02:00:00:00:00:01")
    })
}

fn number<T: std::str::FromStr>(text: &str, wanted: &str) -> Result<T, String> {
    // A sign is no digit here.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = text.parse().ok().filter(|_| digits);
    parsed.ok_or_else(|| format!("'{text}' is not {wanted}"))
}
