//! What is set for neighbours.

use std::net::IpAddr;

use wire::MacAddress;

use super::Key;

const SECOND: u64 = 1_000_000_000;

/// Times and limits; those of RFC 4861 section 10 unless they are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourSettings {
    /// Neighbours that are known, or asked for, at most.
    pub max: usize,
    /// Requests for unknown neighbours that are sent in a second at most, by each interface; and as
    /// many to neighbours that are known, by all interfaces together.
    pub requests_per_second: u32,
    /// Requests before one counts as not there.
    pub asks: u8,
    /// Nanoseconds from one request to the next.
    pub ask_every: u64,
    /// Nanoseconds that an answer holds.
    pub reachable_for: u64,
    /// Nanoseconds from the first packet for a stale neighbour to the request.
    pub delay: u64,
    /// Nanoseconds after which a stale neighbour that gets no packets is forgotten.
    pub forget_after: u64,
    /// Nanoseconds that one which did not answer is not asked again.
    pub failed_for: u64,
}

impl Default for NeighbourSettings {
    fn default() -> Self {
        Self {
            max: 65_536,
            requests_per_second: 1000,
            asks: 3,
            ask_every: SECOND,
            reachable_for: 30 * SECOND,
            delay: 5 * SECOND,
            forget_after: 600 * SECOND,
            failed_for: 3 * SECOND,
        }
    }
}

impl NeighbourSettings {
    /// Unknown neighbours that are looked for in a second at most: each takes all its requests.
    pub(super) fn attempts_per_second(&self) -> u32 {
        self.requests_per_second
            .div_ceil(u32::from(self.asks.max(1)))
    }

    /// Those that never answered are so many at most.
    pub(super) fn incomplete_max(&self) -> usize {
        (self.max / 4).max(1)
    }
}

/// Neighbours with one Ethernet address that is set, and not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticRange {
    /// The interface that they are behind.
    pub interface: u16,
    /// The first address.
    pub first: IpAddr,
    /// The last address, of the same family.
    pub last: IpAddr,
    /// Their Ethernet address.
    pub mac: MacAddress,
}

impl StaticRange {
    pub(super) fn holds(&self, key: &Key) -> bool {
        let is_one_family = self.first.is_ipv4() == key.address.is_ipv4();
        key.interface == self.interface
            && is_one_family
            && (self.first..=self.last).contains(&key.address)
    }
}
