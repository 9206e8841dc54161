//! Which IP addresses this network namespace has, and on what: two questions to route netlink
//! (`linux/if_addr.h`, `linux/if_link.h`), answered by bytes from a stranger.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::netlink::{Attributes, u16_at, u32_at};
use crate::sys::xdp_netlink::{RouteNews, ask_route_netlink_all};

const HEADER_BYTES: usize = 16;
/// `struct ifaddrmsg` and `struct ifinfomsg`.
const ADDRESS_BYTES: usize = 8;
const LINK_BYTES: usize = 16;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_GETADDR: u16 = 22;
const NLM_F_REQUEST_ALL: u16 = 0x301;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFLA_LINK: u16 = 5;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_VLAN_ID: u16 = 1;
/// The type of 802.1Q tags, in network byte order; a port without it has no other.
const IFLA_VLAN_PROTOCOL: u16 = 5;
const TAG_8021Q: [u8; 2] = [0x81, 0];

/// One address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocalAddress {
    pub(crate) address: IpAddr,
    /// The number of the interface that has it.
    pub(crate) interface: u32,
}

/// A VLAN port of the kernel's on an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VlanPort {
    pub(crate) interface: u32,
    /// The number of the interface that its frames come by.
    pub(crate) below: u32,
    pub(crate) vlan: u16,
}

/// All addresses.
pub(crate) fn addresses() -> io::Result<Vec<LocalAddress>> {
    all(RTM_GETADDR, ADDRESS_BYTES, RTM_NEWADDR, address)
}

/// All VLAN ports of 802.1Q.
pub(crate) fn vlan_ports() -> io::Result<Vec<VlanPort>> {
    all(RTM_GETLINK, LINK_BYTES, RTM_NEWLINK, vlan_port)
}

/// Tells when addresses or interfaces change.
pub(crate) fn address_news() -> io::Result<RouteNews> {
    let groups = libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;
    RouteNews::of(groups as u32)
}

/// Tells when addresses of this network namespace or its routes change.
#[derive(Debug)]
pub struct AddressNews(RouteNews);

impl AddressNews {
    /// From now on.
    ///
    /// # Errors
    /// The kernel gives no socket of route netlink.
    pub fn open() -> io::Result<Self> {
        let groups = libc::RTMGRP_IPV4_IFADDR
            | libc::RTMGRP_IPV6_IFADDR
            | libc::RTMGRP_IPV4_ROUTE
            | libc::RTMGRP_IPV6_ROUTE;
        RouteNews::of(groups as u32).map(Self)
    }

    /// Whether anything changed since the last call. Never waits.
    #[must_use]
    pub fn any(&self) -> bool {
        self.0.any()
    }
}

/// What `read` makes of the body of each message of `kind` in the answer.
pub(super) fn all<T>(
    question: u16,
    body_bytes: usize,
    kind: u16,
    read: impl Fn(&[u8]) -> Option<T>,
) -> io::Result<Vec<T>> {
    let length = HEADER_BYTES + body_bytes;
    let mut request = (length as u32).to_ne_bytes().to_vec();
    request.extend(question.to_ne_bytes());
    request.extend(NLM_F_REQUEST_ALL.to_ne_bytes());
    request.resize(length, 0);
    let mut found = Vec::new();
    ask_route_netlink_all(&request, |datagram| {
        take(datagram, kind, |body| found.extend(read(body)))
    })?;
    Ok(found)
}

/// Gives the bodies of the messages of `kind` in one datagram; whether it was the last one.
pub(super) fn take(
    mut datagram: &[u8],
    kind: u16,
    mut give: impl FnMut(&[u8]),
) -> io::Result<bool> {
    let broken = || io::Error::from(io::ErrorKind::InvalidData);
    while !datagram.is_empty() {
        let length = u32_at(datagram, 0).ok_or_else(broken)? as usize;
        let message = datagram.get(..length).ok_or_else(broken)?;
        let body = message.get(HEADER_BYTES..).ok_or_else(broken)?;
        match u16_at(message, 4) {
            Some(NLMSG_DONE) => return Ok(true),
            Some(NLMSG_ERROR) => {
                let code = u32_at(body, 0).unwrap_or_default().cast_signed();
                return Err(io::Error::from_raw_os_error(code.saturating_neg()));
            }
            Some(this) if this == kind => give(body),
            _ => {}
        }
        datagram = datagram
            .get(length.next_multiple_of(4)..)
            .unwrap_or_default();
    }
    Ok(false)
}

fn address(body: &[u8]) -> Option<LocalAddress> {
    let family = i32::from(*body.first()?);
    let interface = u32_at(body, 4)?;
    let attributes = body.get(ADDRESS_BYTES..)?;
    let value = |wanted| Attributes(attributes).find(|&(kind, _)| kind == wanted);
    // On a point-to-point link the other one is the peer's.
    let (_, bytes) = value(IFA_LOCAL).or_else(|| value(IFA_ADDRESS))?;
    let address = match family {
        libc::AF_INET => Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into(),
        libc::AF_INET6 => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into(),
        _ => return None,
    };
    Some(LocalAddress { address, interface })
}

fn vlan_port(body: &[u8]) -> Option<VlanPort> {
    let interface = u32_at(body, 4)?;
    let attributes = body.get(LINK_BYTES..)?;
    let within = |bytes, wanted| {
        let mut attributes = Attributes(bytes).filter(move |&(kind, _)| kind == wanted);
        attributes.next().map(|(_, value)| value)
    };
    let information = within(attributes, IFLA_LINKINFO)?;
    if within(information, IFLA_INFO_KIND)? != b"vlan\0" {
        return None;
    }
    let data = within(information, IFLA_INFO_DATA)?;
    if within(data, IFLA_VLAN_PROTOCOL).is_some_and(|tag| tag != TAG_8021Q) {
        return None;
    }
    Some(VlanPort {
        interface,
        below: u32_at(within(attributes, IFLA_LINK)?, 0)?,
        vlan: u16_at(within(data, IFLA_VLAN_ID)?, 0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::netlink::made::{attribute, message};

    fn address_body(family: i32, interface: u32, attributes: &[u8]) -> Vec<u8> {
        let mut body = vec![family as u8, 24, 0, 0];
        body.extend(interface.to_ne_bytes());
        body.extend(attributes);
        body
    }

    #[test]
    fn the_own_end_of_a_link_is_the_address() {
        let mut attributes = attribute(IFA_ADDRESS, &[192, 0, 2, 1]);
        attributes.extend(attribute(IFA_LOCAL, &[192, 0, 2, 2]));
        let found = address(&address_body(libc::AF_INET, 7, &attributes)).unwrap();
        let own = Ipv4Addr::new(192, 0, 2, 2);
        assert_eq!((found.address, found.interface), (own.into(), 7));
        let six = address_body(libc::AF_INET6, 7, &attribute(IFA_ADDRESS, &[1; 16]));
        assert_eq!(address(&six).unwrap().address, Ipv6Addr::from([1; 16]));
        let short = address_body(libc::AF_INET6, 7, &attribute(IFA_ADDRESS, &[1; 4]));
        assert_eq!(address(&short), None);
    }

    fn vlan_body(kind: &[u8], protocol: [u8; 2]) -> Vec<u8> {
        let mut data = attribute(IFLA_VLAN_ID, &10_u16.to_ne_bytes());
        data.extend(attribute(IFLA_VLAN_PROTOCOL, &protocol));
        let mut information = attribute(IFLA_INFO_KIND, kind);
        information.extend(attribute(IFLA_INFO_DATA, &data));
        let mut body = vec![0; LINK_BYTES];
        body[4..8].copy_from_slice(&9_u32.to_ne_bytes());
        body.extend(attribute(IFLA_LINK, &4_u32.to_ne_bytes()));
        body.extend(attribute(IFLA_LINKINFO, &information));
        body
    }

    #[test]
    fn vlan_ports_are_told_from_other_interfaces() {
        let expected = VlanPort {
            interface: 9,
            below: 4,
            vlan: 10,
        };
        assert_eq!(vlan_port(&vlan_body(b"vlan\0", TAG_8021Q)), Some(expected));
        assert_eq!(vlan_port(&vlan_body(b"vlan\0", [0x88, 0xa8])), None);
        assert_eq!(vlan_port(&vlan_body(b"veth\0", TAG_8021Q)), None);
    }

    #[test]
    fn datagrams_cut_anywhere_are_errors_or_less_never_a_panic() {
        let body = address_body(libc::AF_INET, 7, &attribute(IFA_LOCAL, &[192, 0, 2, 2]));
        let mut datagram = message(RTM_NEWADDR, &body);
        datagram.extend(message(RTM_NEWLINK, &vlan_body(b"vlan\0", TAG_8021Q)));
        datagram.extend(message(NLMSG_DONE, &[0; 4]));
        let mut count = 0;
        assert!(take(&datagram, RTM_NEWADDR, |_| count += 1).unwrap());
        assert_eq!(count, 1);
        for end in 0..datagram.len() {
            let cut = take(&datagram[..end], RTM_NEWADDR, |body| {
                let _address = address(body);
                let _port = vlan_port(body);
            });
            assert!(!cut.unwrap_or(false), "{end}");
        }
        let refused = message(NLMSG_ERROR, &(-libc::EPERM).to_ne_bytes());
        let error = take(&refused, RTM_NEWADDR, |_| {}).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
    }

    #[test]
    fn this_kernel_names_the_loopback_address() {
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        let found = addresses().unwrap();
        let here = found.iter().any(|local| local.address == loopback);
        if !here {
            println!("skipped: the loopback interface is down here");
        }
        assert!(vlan_ports().is_ok() && !address_news().unwrap().any());
    }
}
