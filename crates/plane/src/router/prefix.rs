//! A prefix of either family, as settings have it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses that have their first bits in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    /// The first address.
    pub first: IpAddr,
    /// How many bits.
    pub len: u8,
}

impl Prefix {
    /// The prefix of this length that holds an address. A length above that of addresses is that
    /// of one address.
    #[must_use]
    pub fn holding(address: IpAddr, len: u8) -> Self {
        let len = len.min(bits(&address));
        let first = match address {
            IpAddr::V4(own) => {
                let host = u32::MAX.checked_shr(len.into()).unwrap_or(0);
                Ipv4Addr::from_bits(own.to_bits() & !host).into()
            }
            IpAddr::V6(own) => {
                let host = u128::MAX.checked_shr(len.into()).unwrap_or(0);
                Ipv6Addr::from_bits(own.to_bits() & !host).into()
            }
        };
        Self { first, len }
    }

    /// That of one address.
    #[must_use]
    pub fn of_one(address: IpAddr) -> Self {
        Self {
            first: address,
            len: bits(&address),
        }
    }

    /// Whether the address is one of it.
    #[must_use]
    pub fn holds(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.first.is_ipv4()
            && Self::holding(address, self.len).first == self.first
    }

    /// The address of all stations of the prefix, its last one (RFC 919); none of IPv6, nor of
    /// prefixes with two addresses or one (RFC 3021).
    #[must_use]
    pub fn broadcast(&self) -> Option<IpAddr> {
        let IpAddr::V4(first) = self.first else {
            return None;
        };
        let host = u32::MAX.checked_shr(self.len.into()).unwrap_or(0);
        (self.len <= 30).then(|| Ipv4Addr::from_bits(first.to_bits() | host).into())
    }

    /// Whether it names no station: the first or the last address of an IPv4 prefix of four
    /// addresses or more.
    pub(crate) fn is_reserved(&self, address: IpAddr) -> bool {
        let broadcast = self.broadcast();
        broadcast.is_some() && (address == self.first || Some(address) == broadcast)
    }
}

/// Bits of an address of the same family.
pub(super) fn bits(address: &IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Whether it is of `fe80::/10`: the same address may be there on each link.
pub(super) fn is_on_each_link(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(own) if own.is_unicast_link_local())
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.len)
    }
}
