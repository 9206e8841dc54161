//! A list as given: columns of addresses, networks and ranges, nothing merged.
//!
//! The control side keeps these. Merging exists only in the compiled form, so that a network
//! can be deleted later and what lay beneath it still holds.

use crate::network::Network;
use crate::range::Range;

/// The entries of one list, both families.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// IPv4, host order.
    pub v4: FamilyEntries<u32>,
    /// IPv6, host order.
    pub v6: FamilyEntries<u128>,
}

/// The entries of one list in one address family, in the order given within each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyEntries<A> {
    /// Single addresses, host order; duplicates are allowed.
    pub addresses: Vec<A>,
    /// Networks; a host route is an address in another dress.
    pub networks: Vec<Network<A>>,
    /// Ranges.
    pub ranges: Vec<Range<A>>,
}

impl<A> Default for FamilyEntries<A> {
    fn default() -> Self {
        Self {
            addresses: Vec::new(),
            networks: Vec::new(),
            ranges: Vec::new(),
        }
    }
}

impl<A> FamilyEntries<A> {
    /// Entries of all three kinds.
    #[must_use]
    pub fn count(&self) -> usize {
        self.counts().iter().sum()
    }

    /// How many addresses, networks and ranges.
    pub(crate) fn counts(&self) -> [usize; 3] {
        [self.addresses.len(), self.networks.len(), self.ranges.len()]
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}

impl Entries {
    /// Entries of both families and all kinds.
    #[must_use]
    pub fn count(&self) -> usize {
        self.v4.count() + self.v6.count()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}
