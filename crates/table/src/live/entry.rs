//! What an entry is: what it covers, however it was written.

use crate::address::Address;
use crate::flatten::Span;
use crate::network::Network;
use crate::range::Range;
use std::fmt;

/// An address, a network or a range of either family.
///
/// An entry is known by what it covers: `10.0.0.5`, `10.0.0.5/32` and `10.0.0.5-10.0.0.5` are one
/// entry, and `10.0.0.0/8` is the range with the same ends. Nothing is merged: a network and the
/// addresses within it are entries of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// IPv4, host order.
    V4(Range<u32>),
    /// IPv6, host order.
    V6(Range<u128>),
}

impl Entry {
    /// A single IPv4 address, host order.
    #[must_use]
    pub fn address_v4(address: u32) -> Self {
        Self::V4(Range::single(address))
    }

    /// A single IPv6 address, host order.
    #[must_use]
    pub fn address_v6(address: u128) -> Self {
        Self::V6(Range::single(address))
    }
}

impl From<Network<u32>> for Entry {
    fn from(network: Network<u32>) -> Self {
        Self::V4(network.into())
    }
}

impl From<Network<u128>> for Entry {
    fn from(network: Network<u128>) -> Self {
        Self::V6(network.into())
    }
}

/// The shortest way to write it: an address, else a network, else a range.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::V4(range) => write_span((range.first(), range.last()), f),
            Self::V6(range) => write_span((range.first(), range.last()), f),
        }
    }
}

fn write_span<A: Address>((first, last): Span<A>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind((first, last)) {
        Kind::Address => write!(f, "{}", first.text()),
        Kind::Network(prefix_len) => write!(f, "{}/{prefix_len}", first.text()),
        Kind::Range => write!(f, "{}-{}", first.text(), last.text()),
    }
}

/// The shortest way to write a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Address,
    /// With its prefix length, which is shorter than an address.
    Network(u8),
    Range,
}

pub(super) fn kind<A: Address>((first, last): Span<A>) -> Kind {
    let differs = first.widen() ^ last.widen();
    let aligned = first.widen() & differs == 0 && differs & differs.wrapping_add(1) == 0;
    match 128 - differs.leading_zeros() {
        0 => Kind::Address,
        host_bits if aligned => Kind::Network((A::BITS - host_bits) as u8),
        _ => Kind::Range,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(first: u32, last: u32) -> String {
        Entry::V4(Range::new(first, last).unwrap()).to_string()
    }

    fn v6(first: u128, last: u128) -> String {
        Entry::V6(Range::new(first, last).unwrap()).to_string()
    }

    #[test]
    fn one_entry_however_written() {
        assert_eq!(v4(5, 5), "0.0.0.5");
        assert_eq!(v4(4, 5), "0.0.0.4/31");
        assert_eq!(v4(5, 6), "0.0.0.5-0.0.0.6");
        assert_eq!(v4(4, 6), "0.0.0.4-0.0.0.6");
        assert_eq!(v4(0, u32::MAX), "0.0.0.0/0");
        assert_eq!(v6(0, u128::MAX), "::/0");
        assert_eq!(v6(1 << 112, (2 << 112) - 1), "1::/16");
        let host = Network::new(5u32, 32).unwrap();
        assert_eq!(Entry::from(host), Entry::address_v4(5));
    }
}
