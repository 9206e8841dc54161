//! A set of entries of one family that changes.

use super::entry::{Kind, kind};
use super::shards::Shards;
use crate::address::Address;
use crate::flatten::Span;

/// Entries by kind, so that an address takes the bytes of an address.
#[derive(Clone, Debug)]
pub(super) struct EntrySet<A> {
    addresses: Shards<A, ()>,
    networks: Shards<Span<A>, ()>,
    ranges: Shards<Span<A>, ()>,
}

impl<A> Default for EntrySet<A> {
    fn default() -> Self {
        Self {
            addresses: Shards::default(),
            networks: Shards::default(),
            ranges: Shards::default(),
        }
    }
}

impl<A: Address> EntrySet<A> {
    pub(super) fn len(&self) -> usize {
        self.addresses.len() + self.networks.len() + self.ranges.len()
    }

    pub(super) fn contains(&self, span: Span<A>) -> bool {
        match kind(span) {
            Kind::Address => self.addresses.get(&span.0).is_some(),
            Kind::Network(_) => self.networks.get(&span).is_some(),
            Kind::Range => self.ranges.get(&span).is_some(),
        }
    }

    /// True when it was not there.
    pub(super) fn insert(&mut self, span: Span<A>) -> bool {
        match kind(span) {
            Kind::Address => self.addresses.insert(span.0, ()).is_none(),
            Kind::Network(_) => self.networks.insert(span, ()).is_none(),
            Kind::Range => self.ranges.insert(span, ()).is_none(),
        }
    }

    /// True when it was there.
    pub(super) fn remove(&mut self, span: Span<A>) -> bool {
        match kind(span) {
            Kind::Address => self.addresses.remove(&span.0).is_some(),
            Kind::Network(_) => self.networks.remove(&span).is_some(),
            Kind::Range => self.ranges.remove(&span).is_some(),
        }
    }

    /// Makes it be there, or not.
    pub(super) fn set(&mut self, span: Span<A>, is_there: bool) {
        match is_there {
            true => self.insert(span),
            false => self.remove(span),
        };
    }

    /// Single addresses, in no order.
    pub(super) fn addresses(&self) -> impl Iterator<Item = A> {
        self.addresses.iter().map(|(&address, ())| address)
    }

    pub(super) fn address_count(&self) -> usize {
        self.addresses.len()
    }

    /// Ranges that are no networks, in no order.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Span<A>> {
        self.ranges.iter().map(|(&span, ())| span)
    }

    /// Networks and ranges, in no order.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span<A>> {
        let networks = self.networks.iter().map(|(&span, ())| span);
        networks.chain(self.ranges())
    }
}
