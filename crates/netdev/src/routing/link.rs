//! Interfaces (`struct ifinfomsg`, `linux/if_link.h`).

use std::ffi::OsString;

use wire::MacAddress;

use super::attributes::{attributes, byte, mac, name, nested, number, short, word};
use super::fault::Reason;

/// Bytes of `struct ifinfomsg`.
const INFO_BYTES: usize = 16;
const IFF_UP: u32 = 1;
const IFF_LOWER_UP: u32 = 1 << 16;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINK: u16 = 5;
const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_LINK_NETNSID: u16 = 37;
const IFLA_PROP_LIST: u16 = 52;
const IFLA_ALT_IFNAME: u16 = 53;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_VLAN_ID: u16 = 1;
const IFLA_VLAN_PROTOCOL: u16 = 5;
/// EtherType of an 802.1Q tag.
const DOT1Q: u16 = 0x8100;

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number, which nothing else in the namespace has while it is there.
    pub index: u32,
    /// Its first name; any bytes.
    pub name: OsString,
    /// Its other names (`ip link property add dev LINK altname NAME`).
    pub other_names: Vec<OsString>,
    /// Its Ethernet address, where it has one.
    pub mac: Option<MacAddress>,
    /// Bytes of its longest IP packet.
    pub mtu: u32,
    /// An administrator wants it up.
    pub is_up: bool,
    /// It is up and its driver has a carrier.
    pub has_carrier: bool,
    /// What it is made of.
    pub kind: LinkKind,
    /// The number of the link that it is a part of: a bridge, a bond, a VRF.
    pub master: Option<u32>,
}

/// What an interface is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// A device, or another one of which the kernel does not say it.
    Device,
    /// A VLAN of another link.
    Vlan {
        /// The number of that link; `None` where that is in another namespace.
        parent: Option<u32>,
        /// The VLAN.
        id: u16,
        /// The EtherType of its tags: 0x8100 or 0x88a8.
        protocol: u16,
    },
    /// Any other, by the kernel's word for it: `veth`, `bridge`, `vrf`.
    Other(OsString),
}

impl Link {
    /// From a message; `None` for one that is about something else of the link, as a bridge's
    /// about its port.
    pub(super) fn read(body: &[u8]) -> Result<Option<Self>, Reason> {
        let Some(index) = index(body)? else {
            return Ok(None);
        };
        let flags = word(body, 8)?;
        let mut link = Self {
            index,
            name: OsString::new(),
            other_names: Vec::new(),
            mac: None,
            mtu: 0,
            is_up: flags & IFF_UP != 0,
            has_carrier: flags & IFF_UP != 0 && flags & IFF_LOWER_UP != 0,
            kind: LinkKind::Device,
            master: None,
        };
        let mut below = Below::default();
        for attribute in attributes(body, INFO_BYTES)? {
            let (kind, value) = attribute?;
            link.take(kind, value, &mut below)?;
        }
        if let LinkKind::Vlan { parent, .. } = &mut link.kind {
            *parent = below.index.filter(|_| !below.is_outside);
        }
        match link.name.is_empty() {
            true => Err(Reason::Anonymous),
            false => Ok(Some(link)),
        }
    }

    fn take(&mut self, kind: u16, value: &[u8], below: &mut Below) -> Result<(), Reason> {
        match kind {
            IFLA_ADDRESS => self.mac = mac(value),
            IFLA_IFNAME => self.name = name(value)?,
            IFLA_MTU => self.mtu = number(value)?,
            IFLA_LINK => below.index = Some(number(value)?),
            IFLA_LINK_NETNSID => below.is_outside = true,
            IFLA_MASTER => self.master = Some(number(value)?),
            IFLA_LINKINFO => self.kind = LinkKind::read(value)?,
            IFLA_PROP_LIST => {
                for property in nested(value) {
                    if let (IFLA_ALT_IFNAME, value) = property? {
                        self.other_names.push(name(value)?);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The link that another one stands on.
#[derive(Default)]
struct Below {
    index: Option<u32>,
    is_outside: bool,
}

impl LinkKind {
    fn read(information: &[u8]) -> Result<Self, Reason> {
        let mut kind = None;
        let mut data = &[][..];
        for attribute in nested(information) {
            match attribute? {
                (IFLA_INFO_KIND, value) => kind = Some(name(value)?),
                (IFLA_INFO_DATA, value) => data = value,
                _ => {}
            }
        }
        match kind {
            None => Ok(Self::Device),
            Some(kind) if kind == "vlan" => Self::vlan(data),
            Some(kind) => Ok(Self::Other(kind)),
        }
    }

    fn vlan(data: &[u8]) -> Result<Self, Reason> {
        let mut found = None;
        let mut protocol = DOT1Q;
        for attribute in nested(data) {
            match attribute? {
                (IFLA_VLAN_ID, value) => found = Some(short(value)?),
                // Its bytes are in the order of the wire.
                (IFLA_VLAN_PROTOCOL, value) => protocol = u16::from_be(short(value)?),
                _ => {}
            }
        }
        Ok(Self::Vlan {
            parent: None,
            id: found.ok_or(Reason::Anonymous)?,
            protocol,
        })
    }
}

/// The number of the link that a message is about; `None` as for [`Link::read`].
pub(super) fn index(body: &[u8]) -> Result<Option<u32>, Reason> {
    let family = byte(body, 0)?;
    match word(body, 4)? {
        _ if family != 0 => Ok(None),
        0 => Err(Reason::Anonymous),
        index => Ok(Some(index)),
    }
}
