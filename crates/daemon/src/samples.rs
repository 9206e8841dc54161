//! Addresses of the sets for the traffic generator, which draws its hits from them.

use std::sync::Arc;

use table::{Address, Entries, FamilyEntries};

/// Host order; empty where the sets hold none of a family.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// IPv4.
    pub v4: Arc<[u32]>,
    /// IPv6.
    pub v6: Arc<[u128]>,
}

impl Samples {
    /// Every address of the lists as it is, and of each network and range its first and its last.
    #[must_use]
    pub fn of(lists: &[&Entries]) -> Self {
        let v4: Vec<_> = lists.iter().map(|list| &list.v4).collect();
        let v6: Vec<_> = lists.iter().map(|list| &list.v6).collect();
        Self {
            v4: gather(&v4).into(),
            v6: gather(&v6).into(),
        }
    }
}

fn gather<A: Address>(lists: &[&FamilyEntries<A>]) -> Vec<A> {
    let mut samples = Vec::with_capacity(lists.iter().map(|list| list.count()).sum());
    for list in lists {
        samples.extend_from_slice(&list.addresses);
        samples.extend(
            list.networks
                .iter()
                .flat_map(|net| [net.first(), net.last()]),
        );
        samples.extend(
            list.ranges
                .iter()
                .flat_map(|range| [range.first(), range.last()]),
        );
    }
    samples
}
