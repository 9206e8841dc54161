//! The table of the published experiment: heads, each of which names an array of addresses.
//!
//! The arrays lie side by side in one piece of memory, and a head is where its array begins and
//! ends: 8 bytes. Separate allocations, as published, could only be slower.

use frame::HugeSlice;

use super::{Design, ask, bucket};
use crate::LabError;
use crate::contest::refused;

/// Heads of the published table at first.
pub(crate) const HEADS: usize = 524_288;
/// Heads of the published table at last.
pub(crate) const HEADS_MORE: usize = 2_097_152;

#[derive(Clone, Copy)]
struct Span {
    begin: usize,
    end: usize,
}

/// Heads and arrays.
pub(crate) struct ArrayTable {
    heads: HugeSlice<[u32; 2]>,
    addresses: HugeSlice<u32>,
}

impl ArrayTable {
    /// Of addresses that differ, with this many heads.
    pub(crate) fn new(
        addresses: impl Iterator<Item = u32> + Clone,
        heads: usize,
    ) -> Result<Self, LabError> {
        let mut spans = HugeSlice::<[u32; 2]>::zeroed(heads).map_err(refused)?;
        let mut count = 0;
        for address in addresses.clone() {
            spans[bucket(address, heads)][1] += 1;
            count += 1;
        }
        let mut begin = 0;
        for span in spans.iter_mut() {
            let end = begin + span[1];
            *span = [begin, begin];
            begin = end;
        }
        let mut stored = HugeSlice::zeroed(count).map_err(refused)?;
        for address in addresses {
            let span = &mut spans[bucket(address, heads)];
            stored[span[1] as usize] = address;
            span[1] += 1;
        }
        Ok(Self {
            heads: spans,
            addresses: stored,
        })
    }

    #[inline(always)]
    fn span(&self, address: u32) -> Span {
        let [begin, end] = self.heads[bucket(address, self.heads.len())];
        Span {
            begin: begin as usize,
            end: end as usize,
        }
    }

    /// Whether the address is there.
    #[inline(always)]
    pub(crate) fn contains(&self, address: u32) -> bool {
        let Span { begin, end } = self.span(address);
        self.addresses[begin..end].contains(&address)
    }

    /// Asks for the head of an address.
    #[inline(always)]
    pub(crate) fn ask_head(&self, address: u32) {
        ask(&self.heads, bucket(address, self.heads.len()));
    }

    /// Asks for the array of an address, both ends of it; reads the head.
    #[inline(always)]
    pub(crate) fn ask_array(&self, address: u32) {
        let Span { begin, end } = self.span(address);
        if begin < end {
            ask(&self.addresses, begin);
            ask(&self.addresses, end - 1);
        }
    }
}

impl Design for ArrayTable {
    fn bytes(&self) -> usize {
        size_of_val(&self.heads[..]) + size_of_val(&self.addresses[..])
    }

    /// One after the other, as first published.
    fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize {
        let mut hits = 0;
        for (&key, found) in keys.iter().zip(found) {
            *found = self.contains(key);
            hits += usize::from(*found);
        }
        hits
    }
}

/// The same table in batches: heads are asked for, then arrays, then all are compared. In batches
/// of one nothing is.
pub(crate) struct Batched {
    pub(crate) table: std::rc::Rc<ArrayTable>,
    pub(crate) batch: usize,
}

impl Design for Batched {
    fn bytes(&self) -> usize {
        self.table.bytes()
    }

    fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize {
        if self.batch == 1 {
            return self.table.contains_burst(keys, found);
        }
        let mut hits = 0;
        for (keys, found) in keys.chunks(self.batch).zip(found.chunks_mut(self.batch)) {
            keys.iter().for_each(|&key| self.table.ask_head(key));
            keys.iter().for_each(|&key| self.table.ask_array(key));
            hits += self.table.contains_burst(keys, found);
        }
        hits
    }
}
