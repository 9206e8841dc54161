//! The next hops of a route, and which of them a flow takes.

use std::hash::{BuildHasher, Hash};
use std::net::IpAddr;
use std::sync::Arc;

use stack::KeyedHash;

use super::InterfaceId;

/// Slots of a route with several hops. With eight hops each has its share within 6 %.
const SLOTS: usize = 256;
/// What chooses among hops, the same for all routers: machines beside each other then choose alike.
const CHOICE: KeyedHash = KeyedHash([0x6c69_6e65_7261_7465, 0x9e37_79b9_7f4a_7c15]);

/// One way that a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The router that packets go to; `None`: the destination is on the link.
    pub gateway: Option<IpAddr>,
    /// The interface that they leave by.
    pub interface: InterfaceId,
}

/// The hops of a route. A flow always takes the same one, and when one hop goes, only the flows
/// that took it take others: each slot takes the hop with the greatest weighted random number
/// (rendezvous hashing, Thaler and Ravishankar 1998).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopSet {
    hops: Arc<[Hop]>,
    /// By the hash of a flow: an index of `hops`. Empty where there is one hop.
    slots: Arc<[u8]>,
}

impl HopSet {
    /// A set of hops, each with its weight; at most 256 of them count.
    #[must_use]
    pub fn new(weighted: &[(Hop, u16)]) -> Self {
        let weighted = weighted.get(..SLOTS).unwrap_or(weighted);
        let slots = match weighted.len() {
            0 | 1 => Arc::default(),
            _ => (0..SLOTS).map(|slot| winner(slot, weighted)).collect(),
        };
        Self {
            hops: weighted.iter().map(|(hop, _)| *hop).collect(),
            slots,
        }
    }

    /// All hops.
    #[must_use]
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// Whether which hop depends on the flow.
    #[must_use]
    #[inline]
    pub fn is_several(&self) -> bool {
        !self.slots.is_empty()
    }

    /// The hop of a flow with this hash; `None` in an empty set.
    #[must_use]
    #[inline]
    pub fn of_flow(&self, hash: u64) -> Option<&Hop> {
        let slot = self.slots.get(hash as usize % SLOTS);
        self.hops.get(slot.map_or(0, |&index| usize::from(index)))
    }
}

/// The hop of a slot.
fn winner(slot: usize, weighted: &[(Hop, u16)]) -> u8 {
    let score = |(hop, weight): &(Hop, u16)| {
        // A number between 0 and 1; -weight / ln(it) is greatest with odds like the weights.
        let drawn = (CHOICE.hash_one((hop, slot)) >> 11) as f64 + 0.5;
        f64::from(*weight) / -(drawn / (1u64 << 53) as f64).ln()
    };
    let numbered = (0..=u8::MAX).zip(weighted);
    let best = numbered.max_by(|(_, one), (_, other)| score(one).total_cmp(&score(other)));
    best.map_or(0, |(index, _)| index)
}

/// The hash of a flow: whoever looks at its addresses, protocol and ports.
#[must_use]
pub(super) fn flow_hash(flow: impl Hash) -> u64 {
    CHOICE.hash_one(flow)
}
