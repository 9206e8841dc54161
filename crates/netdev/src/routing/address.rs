//! Addresses of interfaces (`struct ifaddrmsg`, `linux/if_addr.h`).

use std::net::IpAddr;

use super::attributes::{INET, INET6, address_of, attributes, byte, number, word};
use super::fault::Reason;

/// Bytes of `struct ifaddrmsg`.
const INFO_BYTES: usize = 8;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
const IFA_F_DADFAILED: u32 = 0x08;
const IFA_F_TENTATIVE: u32 = 0x40;

/// Which address of which link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressKey {
    /// The number of the link.
    pub link: u32,
    /// The host's own address.
    pub address: IpAddr,
    /// Bits of the prefix that lies behind the link.
    pub prefix_len: u8,
    /// The address at the other end of a point-to-point link, which the prefix is that of.
    pub peer: Option<IpAddr>,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Which it is.
    pub key: AddressKey,
    /// It can be used: no other host was found to have it, and that was looked for.
    pub is_usable: bool,
}

impl Address {
    /// From a message; `None` for one of another family.
    pub(super) fn read(body: &[u8]) -> Result<Option<Self>, Reason> {
        let family = byte(body, 0)?;
        if family != INET && family != INET6 {
            return Ok(None);
        }
        let mut flags = u32::from(byte(body, 2)?);
        let (mut local, mut far) = (None, None);
        for attribute in attributes(body, INFO_BYTES)? {
            match attribute? {
                (IFA_LOCAL, value) => local = Some(address_of(family, value)?),
                (IFA_ADDRESS, value) => far = Some(address_of(family, value)?),
                (IFA_FLAGS, value) => flags = number(value)?,
                _ => {}
            }
        }
        let address = local.or(far).ok_or(Reason::Anonymous)?;
        let key = AddressKey {
            link: word(body, 4)?,
            address,
            prefix_len: byte(body, 1)?,
            peer: far.filter(|far| *far != address),
        };
        if u32::from(key.prefix_len) > bits(address) {
            return Err(Reason::Value);
        }
        Ok(Some(Self {
            key,
            is_usable: flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED) == 0,
        }))
    }
}

/// Bits of an address.
pub(super) fn bits(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}
