//! How many flows each inside address has.

use std::collections::TryReserveError;
use std::hash::BuildHasher;

use stack::KeyedHash;

/// Counts by address: a hash table with open addressing, in memory that is there from the start.
#[derive(Debug)]
pub(super) struct Hosts {
    /// Addresses with their counts; a count of 0 is an empty slot.
    slots: Vec<(u32, u32)>,
    key: KeyedHash,
}

impl Hosts {
    /// Counts of `max` addresses at most.
    pub(super) fn new(max: usize, key: KeyedHash) -> Result<Self, TryReserveError> {
        let len = (max * 2).next_power_of_two();
        let mut slots = Vec::new();
        slots.try_reserve_exact(len)?;
        slots.resize(len, (0, 0));
        Ok(Self { slots, key })
    }

    pub(super) fn count(&self, address: u32) -> u32 {
        self.slots[self.slot(address)].1
    }

    pub(super) fn add(&mut self, address: u32) {
        let slot = self.slot(address);
        let (known, count) = &mut self.slots[slot];
        *known = address;
        *count += 1;
    }

    pub(super) fn take(&mut self, address: u32) {
        let slot = self.slot(address);
        let count = &mut self.slots[slot].1;
        debug_assert!(*count > 0, "more flows end than there are");
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.close_gap(slot);
        }
    }

    /// The slot of an address, or the empty one that it would have.
    fn slot(&self, address: u32) -> usize {
        let mut at = self.home(address);
        while self.slots[at].1 != 0 && self.slots[at].0 != address {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.slots.len() - 1;
        let mut at = (gap + 1) & mask;
        while self.slots[at].1 != 0 {
            let home = self.home(self.slots[at].0);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(gap) & mask {
                self.slots[gap] = self.slots[at];
                self.slots[at].1 = 0;
                gap = at;
            }
            at = (at + 1) & mask;
        }
    }

    fn home(&self, address: u32) -> usize {
        (self.key.hash_one(u64::from(address)) >> 20) as usize & (self.slots.len() - 1)
    }
}
