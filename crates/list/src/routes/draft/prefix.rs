//! The prefix of a route, and of which family `default` is.

use super::super::RouteKind;
use super::super::fault::{FaultKind, RouteFault};
use super::{Gateway, HopDraft, set};
use crate::entry::{Entry, Span};
use crate::fault::Fault;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use table::Address;

/// Where packets of a route go to in the end, as far as it was read.
#[derive(Default)]
pub(super) struct Destination {
    /// `None`: `default`.
    prefix: Option<(IpAddr, u8)>,
    /// What the machine's own packets have as their source.
    source: Option<IpAddr>,
    /// Whether it was said how well a router advertised itself.
    pub(super) has_preference: bool,
    pub(super) has_scope: bool,
}

const DEFAULT_IPV4: (IpAddr, u8) = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
const DEFAULT_IPV6: (IpAddr, u8) = (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0);

impl Destination {
    /// Reads `default`, an address, or a prefix.
    pub(super) fn read(word: &str) -> Result<Self, RouteFault> {
        let prefix = match word {
            "default" => None,
            _ => Some(prefix(word)?),
        };
        Ok(Self {
            prefix,
            ..Self::default()
        })
    }

    /// Takes an address of the family of the route.
    pub(super) fn set_source(&mut self, source: IpAddr, word: &str) -> Result<(), RouteFault> {
        set(&mut self.source, source, word)
    }

    /// The prefix and its length.
    pub(super) fn resolve(
        &self,
        gateways: impl Iterator<Item = Gateway>,
        hops: &[HopDraft],
    ) -> Result<(IpAddr, u8), RouteFault> {
        let prefix = match self.prefix {
            Some(prefix) => prefix,
            None => self.default_prefix(gateways, hops)?,
        };
        match self.source {
            Some(source) if source.is_ipv4() != prefix.0.is_ipv4() => {
                Err(FaultKind::SourceFamily.at(&source.to_string()))
            }
            _ => Ok(prefix),
        }
    }

    /// Of which family `default` is.
    ///
    /// `ip` prints a gateway with its family where it is not that of the route. It prints `pref` in
    /// IPv6 alone, and the scope in IPv4 routes to a link. What is dropped has a device in IPv6.
    fn default_prefix(
        &self,
        mut gateways: impl Iterator<Item = Gateway>,
        hops: &[HopDraft],
    ) -> Result<(IpAddr, u8), RouteFault> {
        let of_gateway = gateways.next().map(|gateway| {
            // `via inet6` makes an IPv4 route, `via inet` an IPv6 one.
            gateway.address.is_ipv4() != gateway.has_family
        });
        let of_preference = self.has_preference.then_some(false);
        let of_source = self.source.map(|source| source.is_ipv4());
        let has_device = hops.iter().any(|hop| hop.device.is_some());
        match of_gateway.or(of_preference).or(of_source) {
            Some(true) => Ok(DEFAULT_IPV4),
            Some(false) => Ok(DEFAULT_IPV6),
            None if has_device && !self.has_scope => Err(FaultKind::DefaultOfEither.at("default")),
            None => Ok(DEFAULT_IPV4),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.prefix {
            Some((prefix, len)) => write!(f, "{prefix}/{len}"),
            None => f.write_str("default"),
        }
    }
}

fn prefix(word: &str) -> Result<(IpAddr, u8), RouteFault> {
    match Entry::parse(word.as_bytes()) {
        Ok(Entry::V4(span)) => {
            let (first, len) = network(span).ok_or_else(|| FaultKind::Range.at(word))?;
            Ok((Ipv4Addr::from_bits(first).into(), len))
        }
        Ok(Entry::V6(span)) => {
            let (first, len) = network(span).ok_or_else(|| FaultKind::Range.at(word))?;
            Ok((Ipv6Addr::from_bits(first).into(), len))
        }
        Err(fault) => Err(no_prefix(word, fault).at(word)),
    }
}

fn network<A: Address>(span: Span<A>) -> Option<(A, u8)> {
    match span {
        Span::Address(address) => Some((address, A::BITS as u8)),
        Span::Network(network) => Some((network.first(), network.prefix_len())),
        Span::Range(_) => None,
    }
}

/// What is wrong with the first word of a route.
fn no_prefix(word: &str, fault: Fault) -> FaultKind {
    match word {
        "ip" | "route" | "add" | "replace" | "append" | "change" => FaultKind::Command,
        "nat" | "xresolve" => FaultKind::ObsoleteKind,
        // Of `route -n`, of a routing daemon, of `ip monitor`.
        "Kernel" | "Destination" | "Deleted" => FaultKind::Printed,
        _ if word.contains(">*") => FaultKind::Printed,
        _ if word.starts_with(['[', '{']) => FaultKind::Json,
        _ if RouteKind::of_word(word).is_some() => FaultKind::NotAPrefix,
        _ if matches!(fault, Fault::NotAnEntry | Fault::HostName) => FaultKind::NotAPrefix,
        _ => FaultKind::Prefix(fault),
    }
}
