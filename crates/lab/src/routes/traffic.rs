//! Routes and the destinations of packets.

use std::num::NonZeroU32;

use table::fib::{Fib, Routes};
use table::{Entries, Network};

use crate::contest::refused;
use crate::experiment::LabError;
use crate::shuffle::Seeded;
use crate::tables::routes::Dealt;

/// Destinations of many flows.
pub(super) const DESTINATIONS: usize = 1 << 17;

/// IPv4 prefixes, each a route of its own: its answer is its index and 1.
pub(super) struct Table {
    pub(super) prefixes: Vec<Network<u32>>,
    pub(super) fib: Fib<u32>,
}

impl Table {
    /// 10.0.0.0/8 in so many equal parts, which is a power of two.
    pub(super) fn split(parts: u32) -> Result<Self, LabError> {
        let len = 8 + parts.ilog2() as u8;
        let part = |index: u32| Network::holding(0x0a00_0000 | index << (32 - len), len).ok();
        Self::of((0..parts).filter_map(part).collect())
    }

    /// Each IPv4 prefix of a list.
    pub(super) fn whole(entries: &Entries) -> Result<Self, LabError> {
        Self::of(prefixes(entries)?)
    }

    fn of(prefixes: Vec<Network<u32>>) -> Result<Self, LabError> {
        let numbered = prefixes.iter().copied().zip(1..).filter_map(numbered);
        let fib = Routes::new(numbered).map_err(refused)?.fib();
        Ok(Self { prefixes, fib })
    }

    /// Where packets of so many flows go: addresses in prefixes that are drawn.
    pub(super) fn destinations(&self, count: usize, seed: u64) -> Vec<u32> {
        destinations(&self.prefixes, count, seed)
    }
}

fn numbered((network, answer): (Network<u32>, u32)) -> Option<(Network<u32>, NonZeroU32)> {
    Some((network, NonZeroU32::new(answer)?))
}

/// The IPv4 prefixes of a list, an address as /32.
pub(super) fn prefixes(entries: &Entries) -> Result<Vec<Network<u32>>, LabError> {
    let given = &entries.v4;
    let addresses = given.addresses.iter();
    let single = addresses.filter_map(|&address| Network::holding(address, 32).ok());
    let mut all: Vec<_> = given.networks.iter().copied().chain(single).collect();
    all.sort_unstable_by_key(|network| (network.first(), network.prefix_len()));
    all.dedup();
    match all.is_empty() {
        true => Err(LabError(
            "a file of routes must have IPv4 prefixes for this experiment, and this one has none"
                .to_owned(),
        )),
        false => Ok(all),
    }
}

/// Addresses, each in a prefix that is drawn.
pub(super) fn destinations(prefixes: &[Network<u32>], count: usize, seed: u64) -> Vec<u32> {
    let mut seeded = Seeded::new(seed);
    let draw = |_| {
        let network = prefixes[seeded.next() as usize % prefixes.len()];
        u32::between((network.first(), network.last()), &mut seeded)
    };
    (0..count).map(draw).collect()
}

/// Draws indices below `count` by Zipf's law: the k-th as often as 1/k.
pub(super) struct Zipf {
    /// Shares of the first, of the first two, and so on.
    shares: Vec<f64>,
}

impl Zipf {
    pub(super) fn new(count: usize) -> Self {
        let mut sum = 0.0;
        let add = |rank: usize| {
            sum += 1.0 / rank as f64;
            sum
        };
        let sums: Vec<f64> = (1..=count).map(add).collect();
        let shares = sums.iter().map(|share| share / sum);
        Self {
            shares: shares.collect(),
        }
    }

    pub(super) fn draw(&self, seeded: &mut Seeded) -> usize {
        let uniform = (seeded.next() >> 11) as f64 / (1u64 << 53) as f64;
        let index = self.shares.partition_point(|&share| share <= uniform);
        index.min(self.shares.len() - 1)
    }
}
