//! DIR-24-8 (Gupta, Lin, McKeown 1998): a route lookup in one read for prefixes of up to 24 bits,
//! in two for longer ones.
//!
//! The published table has entries of 16 bits; these have 32, as DPDK's have, for as many next hops
//! as routes.

use frame::HugeSlice;
use table::{ListMask, Network};

use super::ask;
use crate::LabError;
use crate::contest::refused;

/// In an entry of the first table: the rest is the number of a block of the second.
const LONGER: u32 = 1 << 31;
/// Entries of a block: one for each last byte.
const BLOCK: usize = 256;

/// The two tables.
pub(crate) struct Dir24 {
    first: HugeSlice<u32>,
    blocks: Vec<u32>,
}

impl Dir24 {
    /// Of routes whose answers are below 2^31; of two for a prefix the later counts.
    pub(crate) fn new(routes: &[(Network<u32>, u32)]) -> Result<Self, LabError> {
        let mut table = Self {
            first: HugeSlice::zeroed(1 << 24).map_err(refused)?,
            blocks: Vec::new(),
        };
        let mut sorted: Vec<_> = routes.iter().collect();
        // A longer prefix overwrites the shorter one that holds it.
        sorted.sort_by_key(|(network, _)| network.prefix_len());
        for &&(network, answer) in &sorted {
            table.add(network, answer & !LONGER);
        }
        Ok(table)
    }

    fn add(&mut self, network: Network<u32>, answer: u32) {
        let (first, last) = (network.first(), network.last());
        if network.prefix_len() <= 24 {
            self.first[(first >> 8) as usize..=(last >> 8) as usize].fill(answer);
            return;
        }
        let block = self.block(first);
        self.blocks[block + (first & 0xff) as usize..=block + (last & 0xff) as usize].fill(answer);
    }

    /// Where the block of an address begins, which is made if there is none.
    fn block(&mut self, address: u32) -> usize {
        let entry = &mut self.first[(address >> 8) as usize];
        if *entry & LONGER == 0 {
            let number = (self.blocks.len() / BLOCK) as u32;
            self.blocks.extend([*entry; BLOCK]);
            *entry = number | LONGER;
        }
        (*entry & !LONGER) as usize * BLOCK
    }

    /// The answers of keys, 0 for none. The first reads of all keys are on their way at once.
    #[inline(always)]
    pub(crate) fn lookup_burst(&self, keys: &[u32], answers: &mut [ListMask]) {
        keys.iter()
            .for_each(|&key| ask(&self.first, (key >> 8) as usize));
        for (&key, answer) in keys.iter().zip(answers) {
            let entry = self.first[(key >> 8) as usize];
            *answer = ListMask(match entry & LONGER {
                0 => entry,
                _ => self.blocks[(entry & !LONGER) as usize * BLOCK + (key & 0xff) as usize],
            });
        }
    }

    /// Bytes that lookups may touch.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.first[..]) + size_of_val(&self.blocks[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shuffle::Seeded;

    /// The longest prefix counts, whatever the order: held against a look at every route.
    #[test]
    fn answers_are_those_of_the_longest_prefixes() {
        let mut seeded = Seeded::new(5);
        let mut routes = vec![(Network::holding(0, 0).expect("a prefix"), 1)];
        for answer in 2..400 {
            let word = seeded.next();
            // Close together, so that many lie within each other.
            let address = 0x0a00_0000 | (word as u32 & 0x0003_ffff);
            let len = 14 + (word >> 40) as u8 % 19;
            routes.push((Network::holding(address, len).expect("a prefix"), answer));
        }
        seeded.shuffle(&mut routes);
        let table = Dir24::new(&routes).expect("memory");
        let keys: Vec<u32> = (0..20_000)
            .map(|_| 0x0a00_0000 | (seeded.next() as u32 & 0x0007_ffff))
            .collect();
        let mut answers = vec![ListMask::EMPTY; keys.len()];
        table.lookup_burst(&keys, &mut answers);
        for (&key, &answer) in keys.iter().zip(&answers) {
            let holding = routes.iter().filter(|(network, _)| network.contains(key));
            let longest = holding.max_by_key(|(network, _)| network.prefix_len());
            assert_eq!(
                answer.0,
                longest.map_or(0, |(_, answer)| *answer),
                "{key:#x}"
            );
        }
        assert!(table.bytes() > 64 << 20);
    }
}
