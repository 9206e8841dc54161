//! Every number that came to one of several workers, kept until their sinks are joined: a number
//! that came to two of them is a duplicate which neither can see.

use std::collections::BTreeMap;

/// Numbers of a block: its bits are two pages of memory.
const NUMBERS: u64 = 1 << 16;
const WORDS: usize = NUMBERS as usize / 64;
/// A number is looked for in so many of the last blocks; further back it gets one more for the
/// same numbers, which costs memory and changes no count.
const RECENT: usize = 16;

type Block = [u64; WORDS];
/// A stream, and which of its blocks.
type Key = (u16, u64);

/// What one worker saw, a bit a number.
pub(super) struct Record {
    /// Zeros that the system maps when they are written first: what is not used takes no memory.
    bits: Box<[u64]>,
    /// Whose the blocks of `bits` are, in the order of their first use; never more than there are.
    keys: Vec<Key>,
}

impl Record {
    /// With room for so many blocks of 65,536 numbers, 8 KiB each.
    pub(super) fn new(blocks: usize) -> Self {
        Self {
            bits: vec![0; blocks * WORDS].into_boxed_slice(),
            keys: Vec::with_capacity(blocks),
        }
    }

    /// Takes note of a number; false where there is no room for it any more.
    #[inline]
    pub(super) fn take(&mut self, stream: u16, number: u64) -> bool {
        let key = (stream, number / NUMBERS);
        let place = match self.keys.last() {
            Some(last) if *last == key => self.keys.len() - 1,
            _ => match self.find(key) {
                Some(place) => place,
                None => return false,
            },
        };
        let within = (number % NUMBERS) as usize;
        if let Some(word) = self.bits.get_mut(place * WORDS + within / 64) {
            *word |= 1 << (within % 64);
        }
        true
    }

    #[cold]
    fn find(&mut self, key: Key) -> Option<usize> {
        let recent = self.keys.iter().enumerate().rev().take(RECENT);
        if let Some((place, _)) = recent.into_iter().find(|(_, own)| **own == key) {
            return Some(place);
        }
        let room = self.keys.len() < self.keys.capacity();
        room.then(|| {
            self.keys.push(key);
            self.keys.len() - 1
        })
    }

    fn blocks(&self) -> impl Iterator<Item = (Key, &Block)> {
        let blocks = self.bits.as_chunks::<WORDS>().0;
        self.keys.iter().copied().zip(blocks)
    }
}

/// What all workers saw that were joined so far.
#[derive(Default)]
pub(super) struct Joined(BTreeMap<Key, Box<Block>>);

impl Joined {
    /// Adds what one more worker saw; of each stream, how many of its numbers had come to another.
    pub(super) fn add(&mut self, record: &Record) -> BTreeMap<u16, u64> {
        // Whole first: a worker may have several blocks for the same numbers.
        let mut own: BTreeMap<Key, Box<Block>> = BTreeMap::new();
        for (key, block) in record.blocks() {
            let whole = own.entry(key).or_insert_with(|| Box::new([0; WORDS]));
            whole
                .iter_mut()
                .zip(block)
                .for_each(|(to, from)| *to |= from);
        }
        let mut twice = BTreeMap::new();
        for (key, block) in own {
            let Some(known) = self.0.get_mut(&key) else {
                self.0.insert(key, block);
                continue;
            };
            let mut both = 0;
            for (known, new) in known.iter_mut().zip(block.iter()) {
                both += u64::from((*known & new).count_ones());
                *known |= new;
            }
            *twice.entry(key.0).or_default() += both;
        }
        twice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_two_workers_are_compared_by_stream() {
        let (mut first, mut second) = (Record::new(8), Record::new(8));
        for number in [0, 63, 64, 65_535, 65_536, 200_000] {
            assert!(first.take(1, number) && first.take(2, number));
        }
        for number in [1, 63, 65_536, 200_001] {
            assert!(second.take(1, number));
        }
        assert!(second.take(2, 200_000));
        let mut joined = Joined::default();
        assert_eq!(joined.add(&first), BTreeMap::new());
        assert_eq!(joined.add(&second), BTreeMap::from([(1, 2), (2, 1)]));
        // The third is held against what either of the others saw.
        let mut third = Record::new(1);
        assert!(third.take(1, 0) && third.take(1, 1));
        assert_eq!(joined.add(&third), BTreeMap::from([(1, 2)]));
    }

    #[test]
    fn jumps_cost_memory_and_no_count() {
        let mut record = Record::new(40);
        let blocks = (0..20).chain(0..20);
        for block in blocks {
            assert!(record.take(0, block * NUMBERS + 5), "{block}");
        }
        assert!(!record.take(0, 99 * NUMBERS), "there is no room");
        let mut joined = Joined::default();
        joined.add(&record);
        assert_eq!(joined.0.len(), 20);
        let mut other = Record::new(1);
        assert!(other.take(0, 5));
        assert_eq!(joined.add(&other), BTreeMap::from([(0, 1)]));
    }
}
