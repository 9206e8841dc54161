//! A network as given: address and prefix length.

use crate::address::Address;
use std::fmt;

/// A CIDR network. The host bits are zero: only [`Network::new`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network<A> {
    address: A,
    prefix_len: u8,
}

/// Why something is not a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkError<A> {
    /// The prefix is longer than an address.
    PrefixTooLong {
        /// As given.
        prefix_len: u8,
        /// 32 or 128.
        prefix_len_max: u8,
    },
    /// Bits below the prefix are set.
    HostBits {
        /// The network that holds the address given.
        meant: Network<A>,
    },
}

impl<A: Address> Network<A> {
    /// A network; refused when the prefix is longer than an address or host bits are set.
    ///
    /// # Errors
    /// [`NetworkError`], which names the network probably meant when host bits are set.
    pub fn new(address: A, prefix_len: u8) -> Result<Self, NetworkError<A>> {
        let meant = Self::holding(address, prefix_len)?;
        if meant.address == address {
            Ok(meant)
        } else {
            Err(NetworkError::HostBits { meant })
        }
    }

    /// The network of `prefix_len` bits that holds `address`; host bits are cleared.
    ///
    /// # Errors
    /// [`NetworkError::PrefixTooLong`].
    pub fn holding(address: A, prefix_len: u8) -> Result<Self, NetworkError<A>> {
        let prefix_len_max = A::BITS as u8;
        if prefix_len > prefix_len_max {
            return Err(NetworkError::PrefixTooLong {
                prefix_len,
                prefix_len_max,
            });
        }
        Ok(Self {
            address: address.first_in(prefix_len),
            prefix_len,
        })
    }

    /// The first address.
    #[inline]
    #[must_use]
    pub fn first(self) -> A {
        self.address
    }

    /// The last address.
    #[inline]
    #[must_use]
    pub fn last(self) -> A {
        self.address.last_in(self.prefix_len)
    }

    /// Bits of the prefix.
    #[inline]
    #[must_use]
    pub fn prefix_len(self) -> u8 {
        self.prefix_len
    }

    /// True when `address` lies in the network.
    #[inline]
    #[must_use]
    pub fn contains(self, address: A) -> bool {
        address.first_in(self.prefix_len) == self.address
    }
}

impl<A: Address> fmt::Display for Network<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address.text(), self.prefix_len)
    }
}

impl<A: Address> fmt::Display for NetworkError<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PrefixTooLong {
                prefix_len,
                prefix_len_max,
            } => {
                write!(
                    f,
                    "a prefix of {prefix_len} bits; at most {prefix_len_max} are possible"
                )
            }
            Self::HostBits { meant } => write!(f, "host bits are set; probably {meant} is meant"),
        }
    }
}

impl<A: Address> std::error::Error for NetworkError<A> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_host_bits_and_names_the_network() {
        let error = Network::new(0x0a00_0001u32, 8).unwrap_err();
        assert_eq!(
            error.to_string(),
            "host bits are set; probably 10.0.0.0/8 is meant"
        );
        assert!(Network::new(0u32, 33).is_err());
        assert!(Network::new(0u128, 129).is_err());
    }

    #[test]
    fn edges() {
        let all = Network::new(0u128, 0).unwrap();
        assert_eq!((all.first(), all.last()), (0, u128::MAX));
        let one = Network::new(u32::MAX, 32).unwrap();
        assert_eq!((one.first(), one.last()), (u32::MAX, u32::MAX));
        assert!(one.contains(u32::MAX) && !one.contains(0));
    }
}
