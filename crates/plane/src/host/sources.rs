//! The own addresses that connections come from, one after another.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::router::Prefix;

/// Addresses of prefixes of one family, each used as often as the others.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    prefixes: Vec<Prefix>,
    count: u64,
    next: u64,
}

impl Sources {
    /// Those of `prefixes` that are of the family.
    pub(super) fn new(prefixes: impl Iterator<Item = Prefix>, is_v4: bool) -> Self {
        let prefixes: Vec<Prefix> = prefixes
            .filter(|prefix| prefix.first.is_ipv4() == is_v4)
            .collect();
        let counts = prefixes.iter().map(host_count);
        Self {
            count: counts.fold(0, u64::saturating_add),
            prefixes,
            next: 0,
        }
    }

    /// How many there are, as far as can be counted.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The one that is next.
    pub(super) fn peek(&self) -> Option<IpAddr> {
        let mut at = self.next;
        for prefix in &self.prefixes {
            let count = host_count(prefix);
            if at < count {
                return Some(host_at(prefix, at));
            }
            at -= count;
        }
        None
    }

    /// Goes on to the next one; whether that is the first again.
    pub(super) fn advance(&mut self) -> bool {
        self.next = (self.next + 1) % self.count.max(1);
        self.next == 0
    }
}

/// Addresses in a prefix that a host can have, as far as they can be counted.
#[must_use]
pub fn host_count(prefix: &Prefix) -> u64 {
    let all = 1u64.checked_shl(host_bits(prefix)).unwrap_or(u64::MAX);
    match is_reserving(prefix) {
        true => all - 2,
        false => all,
    }
}

fn host_bits(prefix: &Prefix) -> u32 {
    let bits = if prefix.first.is_ipv4() { 32 } else { 128 };
    bits - u32::from(prefix.len)
}

/// Whether the first and the last address are left out: those of IPv4 name no host, and the first
/// one of IPv6 is that of any router (RFC 4291 section 2.6.1).
fn is_reserving(prefix: &Prefix) -> bool {
    host_bits(prefix) > 1
}

/// The address at place `at` of those that a host can have in a prefix, below [`host_count`].
#[must_use]
pub fn host_at(prefix: &Prefix, at: u64) -> IpAddr {
    let at = at + u64::from(is_reserving(prefix));
    match prefix.first {
        IpAddr::V4(first) => Ipv4Addr::from_bits(first.to_bits() | at as u32).into(),
        IpAddr::V6(first) => Ipv6Addr::from_bits(first.to_bits() | u128::from(at)).into(),
    }
}

/// The first host of a prefix.
pub(super) fn first_host(prefix: &Prefix) -> IpAddr {
    host_at(prefix, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_of_the_prefixes_is_used_once_a_round() {
        for (prefixes, is_v4, expected) in [
            (&["192.0.2.9/32"][..], true, &["192.0.2.9"][..]),
            (&["192.0.2.8/30"], true, &["192.0.2.9", "192.0.2.10"]),
            (&["192.0.2.8/31"], true, &["192.0.2.8", "192.0.2.9"]),
            (&["fd00::8/127"], false, &["fd00::8", "fd00::9"]),
            (&["fd00::8/126"], false, &["fd00::9", "fd00::a"]),
            (
                &["192.0.2.1/32", "fd00::1/128", "198.18.0.0/30"],
                true,
                &["192.0.2.1", "198.18.0.1", "198.18.0.2"],
            ),
            (&["fd00::1/128"], true, &[]),
        ] {
            let parsed = prefixes.iter().map(|text| {
                let (address, len) = text.split_once('/').expect("a prefix");
                let address = address.parse().expect("an address");
                Prefix::holding(address, len.parse().expect("a length"))
            });
            let mut sources = Sources::new(parsed, is_v4);
            assert_eq!(sources.count(), expected.len() as u64, "{prefixes:?}");
            for _ in 0..2 {
                for expected in expected {
                    let found = sources.peek().map(|address| address.to_string());
                    assert_eq!(found.as_deref(), Some(*expected), "{prefixes:?}");
                    sources.advance();
                }
            }
            assert_eq!(sources.peek().is_none(), expected.is_empty());
        }
    }

    #[test]
    fn whole_families_can_be_counted() {
        for (text, len, count) in [("10.0.0.0", 8, (1 << 24) - 2), ("fd00::", 8, u64::MAX - 2)] {
            let prefix = Prefix::holding(text.parse().expect("an address"), len);
            let sources = Sources::new([prefix].into_iter(), prefix.first.is_ipv4());
            assert_eq!(sources.count(), count, "{text}/{len}");
            assert!(sources.peek().is_some(), "{text}/{len}");
        }
    }
}
