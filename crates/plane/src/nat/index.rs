//! Flows by the tuples of their packets: a hash table with open addressing, in memory that is
//! there from the start.

use std::collections::TryReserveError;

use frame::prefetch;
use stack::KeyedHash;

use super::flow::{Flow, Hit};
use super::tuple::Tuple;

/// A slot without a flow.
const EMPTY: u32 = u32::MAX;

/// Two entries a flow: one for each direction.
#[derive(Debug)]
pub(super) struct Index {
    /// The number of a flow, times 2, and 1 more for the entry of replies.
    slots: Vec<u32>,
    key: KeyedHash,
}

impl Index {
    /// An index of `flows` flows at most; half of its slots stay empty.
    pub(super) fn new(flows: usize, key: KeyedHash) -> Result<Self, TryReserveError> {
        let len = (flows * 4).next_power_of_two();
        let mut slots = Vec::new();
        slots.try_reserve_exact(len)?;
        slots.resize(len, EMPTY);
        Ok(Self { slots, key })
    }

    /// The flow that a packet with this tuple is of, whose place is `home`.
    #[inline]
    pub(super) fn find(&self, tuple: &Tuple, home: usize, flows: &[Flow]) -> Option<Hit> {
        let mut at = home;
        loop {
            match self.slots[at] {
                EMPTY => return None,
                slot => {
                    let hit = hit(slot);
                    if flows[hit.flow as usize].key(hit.is_reply) == tuple {
                        return Some(hit);
                    }
                }
            }
            at = self.behind(at);
        }
    }

    /// Adds an entry, whose tuple is in no other one.
    pub(super) fn insert(&mut self, entry: Hit, flows: &[Flow]) {
        let mut at = self.home(flows[entry.flow as usize].key(entry.is_reply));
        while self.slots[at] != EMPTY {
            at = self.behind(at);
        }
        self.slots[at] = entry.flow << 1 | u32::from(entry.is_reply);
    }

    /// Takes an entry out; those behind it move up, so that no gap parts them from their home.
    pub(super) fn remove(&mut self, entry: Hit, flows: &[Flow]) {
        let wanted = entry.flow << 1 | u32::from(entry.is_reply);
        let mut gap = self.home(flows[entry.flow as usize].key(entry.is_reply));
        while self.slots[gap] != wanted {
            if self.slots[gap] == EMPTY {
                debug_assert!(false, "a flow that is not in the index");
                return;
            }
            gap = self.behind(gap);
        }
        let mut at = self.behind(gap);
        while self.slots[at] != EMPTY {
            let own = hit(self.slots[at]);
            let home = self.home(flows[own.flow as usize].key(own.is_reply));
            if self.distance(home, at) >= self.distance(gap, at) {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
            at = self.behind(at);
        }
        self.slots[gap] = EMPTY;
    }

    /// Begins to load the slot of a place.
    #[inline]
    pub(super) fn prefetch(&self, home: usize) {
        prefetch::read((&raw const self.slots[home]).cast());
    }

    /// The flow in the slot of a place, which most packets of that place are of.
    #[inline]
    pub(super) fn first(&self, home: usize) -> Option<u32> {
        let slot = self.slots[home];
        (slot != EMPTY).then(|| hit(slot).flow)
    }

    /// The place where a tuple's entry is, or behind it.
    #[inline]
    pub(super) fn home(&self, tuple: &Tuple) -> usize {
        // The upper half of a product depends on all of its bits.
        (tuple.hash(&self.key) >> 20) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn behind(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.slots.len() - 1)
    }
}

fn hit(slot: u32) -> Hit {
    Hit {
        flow: slot >> 1,
        is_reply: slot & 1 != 0,
    }
}
