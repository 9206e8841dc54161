//! One entry of a list: an address, a network or a range, of either family.

use crate::fault::Fault;
use crate::{diagnosis, ipv4, ipv6};
use std::fmt;
use std::net::IpAddr;
use table::{Address, Entries, FamilyEntries, Network, NetworkError, Range};

/// One entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// IPv4, host order.
    V4(Span<u32>),
    /// IPv6, host order.
    V6(Span<u128>),
}

/// What one entry spans. A network of one address (`/32`, `/128`) and a range whose ends are
/// equal are that address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span<A> {
    /// One address.
    Address(A),
    /// A CIDR network.
    Network(Network<A>),
    /// A range, both ends inside.
    Range(Range<A>),
}

/// The IPv4-mapped IPv6 space, `::ffff:0:0/96` (RFC 4291 section 2.5.5.2), without its low 32 bits.
const MAPPED_PREFIX: u128 = 0xffff;

impl<A: Address> Span<A> {
    /// The first address inside.
    #[must_use]
    pub fn first(self) -> A {
        match self {
            Self::Address(address) => address,
            Self::Network(network) => network.first(),
            Self::Range(range) => range.first(),
        }
    }

    /// The last address inside.
    #[must_use]
    pub fn last(self) -> A {
        match self {
            Self::Address(address) => address,
            Self::Network(network) => network.last(),
            Self::Range(range) => range.last(),
        }
    }

    /// True when `address` lies inside.
    #[must_use]
    pub fn contains(self, address: A) -> bool {
        self.first() <= address && address <= self.last()
    }

    fn is_everything(self) -> bool {
        self.first() == A::default() && self.last() == A::MAX
    }

    fn network(network: Network<A>) -> Self {
        if u32::from(network.prefix_len()) == A::BITS {
            Self::Address(network.first())
        } else {
            Self::Network(network)
        }
    }

    fn range(first: A, last: A) -> Result<Self, Fault> {
        if first == last {
            return Ok(Self::Address(first));
        }
        Range::new(first, last)
            .map(Self::Range)
            .map_err(|_| Fault::RangeReversed)
    }

    fn push_to(self, entries: &mut FamilyEntries<A>) {
        match self {
            Self::Address(address) => entries.addresses.push(address),
            Self::Network(network) => entries.networks.push(network),
            Self::Range(range) => entries.ranges.push(range),
        }
    }
}

impl Entry {
    /// Reads `address`, `address/length` or `first-last`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(field: &[u8]) -> Result<Self, Fault> {
        match Self::parse_known(field) {
            Some(entry) => entry,
            None => Err(diagnosis::of(field)),
        }
    }

    /// `None` when the field has not the form of an entry at all; `Some(Err)` when it has one and
    /// its parts do not go together.
    pub(crate) fn parse_known(field: &[u8]) -> Option<Result<Self, Fault>> {
        match field.iter().position(|byte| matches!(byte, b'/' | b'-')) {
            None => Some(Ok(Self::address(parse_address(field)?))),
            Some(at) if field[at] == b'/' => {
                let address = parse_address(&field[..at])?;
                let length = parse_prefix_len(&field[at + 1..])?;
                Some(Self::network(address, length))
            }
            Some(at) => {
                let first = parse_address(&field[..at])?;
                let last = parse_address(&field[at + 1..])?;
                Some(Self::range(first, last))
            }
        }
    }

    /// The entry that is one address.
    #[must_use]
    pub fn address(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(v4) => Self::V4(Span::Address(v4.to_bits())),
            IpAddr::V6(v6) => Self::V6(Span::Address(v6.to_bits())),
        }
    }

    /// The network of `prefix_len` bits at `address`.
    ///
    /// # Errors
    /// Host bits are set, or the prefix is longer than an address.
    pub fn network(address: IpAddr, prefix_len: u8) -> Result<Self, Fault> {
        match address {
            IpAddr::V4(v4) => Network::new(v4.to_bits(), prefix_len)
                .map(|network| Self::V4(Span::network(network)))
                .map_err(|error| network_fault(error, |meant| Self::V4(Span::network(meant)))),
            IpAddr::V6(v6) => Network::new(v6.to_bits(), prefix_len)
                .map(|network| Self::V6(Span::network(network)))
                .map_err(|error| network_fault(error, |meant| Self::V6(Span::network(meant)))),
        }
    }

    /// The range from `first` to `last`.
    ///
    /// # Errors
    /// The ends are of two families, or `first > last`.
    pub fn range(first: IpAddr, last: IpAddr) -> Result<Self, Fault> {
        match (first, last) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                Span::range(first.to_bits(), last.to_bits()).map(Self::V4)
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                Span::range(first.to_bits(), last.to_bits()).map(Self::V6)
            }
            _ => Err(Fault::RangeOfTwoFamilies),
        }
    }

    /// The IPv4 entry that an IPv4-mapped IPv6 entry stands for (`::ffff:192.0.2.1`), or the entry
    /// itself. Dual-stack programs write IPv4 peers this way; on the wire they are IPv4. Wherever
    /// people write an entry or ask for an address it is taken so.
    ///
    /// `::ffff:0:0/96` and what is larger stay IPv6: lists of networks that must never be seen hold
    /// the mapped space itself, and do not mean all of IPv4.
    #[must_use]
    pub fn unmapped(self) -> Self {
        let Self::V6(span) = self else { return self };
        let (first, last) = (span.first(), span.last());
        let mapped = |address: u128| address >> 32 == MAPPED_PREFIX;
        if !mapped(first) || !mapped(last) {
            return self;
        }
        let span = match span {
            Span::Address(_) => Span::Address(first as u32),
            Span::Network(network) if network.prefix_len() > 96 => {
                match Network::new(first as u32, network.prefix_len() - 96) {
                    Ok(network) => Span::Network(network),
                    Err(_) => return self,
                }
            }
            Span::Range(_) if (first as u32, last as u32) != (0, u32::MAX) => {
                match Range::new(first as u32, last as u32) {
                    Ok(range) => Span::Range(range),
                    Err(_) => return self,
                }
            }
            _ => return self,
        };
        Self::V4(span)
    }

    /// True for all of IPv4 or all of IPv6.
    #[must_use]
    pub fn is_everything(self) -> bool {
        match self {
            Self::V4(span) => span.is_everything(),
            Self::V6(span) => span.is_everything(),
        }
    }

    /// True when `address` lies inside.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        match (self, address) {
            (Self::V4(span), IpAddr::V4(address)) => span.contains(address.to_bits()),
            (Self::V6(span), IpAddr::V6(address)) => span.contains(address.to_bits()),
            _ => false,
        }
    }

    /// Appends it to its column.
    pub fn push_to(self, entries: &mut Entries) {
        match self {
            Self::V4(span) => span.push_to(&mut entries.v4),
            Self::V6(span) => span.push_to(&mut entries.v6),
        }
    }
}

fn network_fault<A>(error: NetworkError<A>, entry: impl Fn(Network<A>) -> Entry) -> Fault {
    match error {
        NetworkError::PrefixTooLong { prefix_len_max, .. } => Fault::PrefixTooLong(prefix_len_max),
        NetworkError::HostBits { meant } => Fault::HostBits(entry(meant)),
    }
}

/// Reads a whole field as an address of either family.
pub(crate) fn parse_address(field: &[u8]) -> Option<IpAddr> {
    if let Some(v4) = ipv4::parse(field) {
        return Some(IpAddr::V4(v4.into()));
    }
    ipv6::parse(field).map(|v6| IpAddr::V6(v6.into()))
}

/// Reads a prefix length: one to three digits, no leading zero, at most 255.
pub(crate) fn parse_prefix_len(field: &[u8]) -> Option<u8> {
    match field {
        [digit] if digit.is_ascii_digit() => Some(digit - b'0'),
        [b'1'..=b'9', ..] if field.len() <= 3 && field.iter().all(u8::is_ascii_digit) => {
            let value = field
                .iter()
                .fold(0u16, |sum, digit| sum * 10 + u16::from(digit - b'0'));
            // What is too long for any family stays too long.
            Some(u8::try_from(value).unwrap_or(u8::MAX))
        }
        _ => None,
    }
}

impl<A: Address> fmt::Display for Span<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.text().fmt(f),
            Self::Network(network) => network.fmt(f),
            Self::Range(range) => range.fmt(f),
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(span) => span.fmt(f),
            Self::V6(span) => span.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match Entry::parse(text.as_bytes()) {
            Ok(entry) => entry.to_string(),
            Err(fault) => format!("{fault:?}"),
        }
    }

    #[test]
    fn the_three_forms() {
        for text in [
            "192.0.2.1",
            "10.0.0.0/8",
            "0.0.0.0/0",
            "192.0.2.1-192.0.2.9",
            "2001:db8::1",
            "2001:db8::/32",
            "::/0",
            "2001:db8::1-2001:db8::9",
        ] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("192.0.2.1/32"), "192.0.2.1");
        assert_eq!(shown("192.0.2.1-192.0.2.1"), "192.0.2.1");
        assert_eq!(shown("2001:db8::1/128"), "2001:db8::1");
    }

    #[test]
    fn parts_that_do_not_go_together() {
        assert_eq!(shown("192.0.2.9-192.0.2.1"), "RangeReversed");
        assert_eq!(shown("192.0.2.9-::1"), "RangeOfTwoFamilies");
        assert_eq!(shown("192.0.2.0/33"), "PrefixTooLong(32)");
        assert_eq!(shown("192.0.2.0/999"), "PrefixTooLong(32)");
        assert_eq!(shown("2001:db8::/129"), "PrefixTooLong(128)");
        let Err(Fault::HostBits(meant)) = Entry::parse(b"10.0.0.1/8") else {
            panic!()
        };
        assert_eq!(meant.to_string(), "10.0.0.0/8");
    }

    #[test]
    fn mapped_entries_are_ipv4() {
        let unmapped = |text: &str| {
            Entry::parse(text.as_bytes())
                .unwrap()
                .unmapped()
                .to_string()
        };
        assert_eq!(unmapped("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(unmapped("::ffff:10.0.0.0/104"), "10.0.0.0/8");
        assert_eq!(
            unmapped("::ffff:10.0.0.1-::ffff:10.0.0.3"),
            "10.0.0.1-10.0.0.3"
        );
        assert_eq!(unmapped("::ffff:0:0/96"), "::ffff:0.0.0.0/96");
        assert_eq!(unmapped("::ffff:0:0/97"), "0.0.0.0/1");
        assert_eq!(unmapped("::/32"), "::/32");
        assert_eq!(
            unmapped("::ffff:0:0-::ffff:ffff:ffff"),
            "::ffff:0.0.0.0-::ffff:255.255.255.255"
        );
        assert_eq!(
            unmapped("::192.0.2.1"),
            "::192.0.2.1".parse::<IpAddr>().unwrap().to_string()
        );
    }
}
