//! Which addresses are hit most, counted in bounded memory.
//!
//! Space-Saving (Metwally, Agrawal and El Abbadi, 2005) in buckets of eight: an address that is not
//! held takes the place of the least of its bucket and inherits its count as its error. Of an
//! address that is held, `count - error` is a lower bound and `count` an upper one; one that is
//! not held was hit at most as often as the least of its bucket. So an address with more than an
//! eighth of its bucket's hits is held for sure, whatever else comes.
//!
//! Buckets are picked by a keyed hash: nobody outside can choose addresses that crowd one.

use wire::{Family, Parsed};

use crate::Side;
use crate::ruleset::Matched;

const WAYS: usize = 8;
const BUCKETS: usize = 256;

/// Addresses held at most, source and destination counted apart.
pub const HIT_ADDRESSES_MAX: usize = BUCKETS * WAYS;

/// Bits of a tag that say what is counted; the others are of the hash.
const HELD: u16 = 1;
const IS_V4: u16 = 2;
const IS_DST: u16 = 4;

/// Hits that wait for their buckets to come from memory.
const WAITING: usize = 8;

/// Four lines, and in this order: a hit that is held touches the first and that of its address.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Bucket {
    /// 0 where nothing is held.
    tags: [u16; WAYS],
    counts: [u32; WAYS],
    errors: [u32; WAYS],
    addresses: [u128; WAYS],
}

const _: () = assert!(size_of::<Bucket>() == 256);

impl Bucket {
    const EMPTY: Self = Self {
        tags: [0; WAYS],
        counts: [0; WAYS],
        errors: [0; WAYS],
        addresses: [0; WAYS],
    };

    /// Asks for what is read of it; what an address that is new is written over need not be there.
    /// Asking for all four lines held up the requests of others: a third of what a hit costs.
    #[inline]
    fn prefetch(&self) {
        frame::prefetch::read(self.tags.as_ptr().cast());
    }

    #[inline]
    fn count(&mut self, tag: u16, address: u128) {
        let mut same = 0_u32;
        for (way, &held) in self.tags.iter().enumerate() {
            same |= u32::from(held == tag) << way;
        }
        while same != 0 {
            let way = same.trailing_zeros() as usize % WAYS;
            if self.addresses[way] == address {
                self.counts[way] = self.counts[way].saturating_add(1);
                return;
            }
            same &= same - 1;
        }
        self.admit(tag, address);
    }

    /// Replaces the least. A free place has a count of 0. Counts and ways are compared as one
    /// number: which way has the least is as good as random, and a branch on it mispredicted.
    #[inline(never)]
    fn admit(&mut self, tag: u16, address: u128) {
        let key = |way: usize| u64::from(self.counts[way]) << 3 | way as u64;
        let pairs: [u64; WAYS / 2] =
            std::array::from_fn(|pair| key(2 * pair).min(key(2 * pair + 1)));
        let least = pairs[0].min(pairs[1]).min(pairs[2].min(pairs[3]));
        let (way, least) = (least as usize % WAYS, (least >> 3) as u32);
        self.tags[way] = tag;
        self.addresses[way] = address;
        self.errors[way] = least;
        self.counts[way] = least.saturating_add(1);
    }
}

/// The addresses that were hit most since the counts were cleared. Owned by one worker; never
/// allocates after it was made.
#[derive(Clone, Debug)]
pub struct HitAddresses {
    buckets: Box<[Bucket; BUCKETS]>,
    key: [u64; 2],
    /// The last hits, in a ring whose oldest is at `oldest`.
    waiting: [Hit; WAITING],
    oldest: usize,
}

/// A hit and where it is counted.
#[derive(Clone, Copy, Debug)]
struct Hit {
    address: u128,
    /// 0 where there is none.
    tag: u16,
    bucket: usize,
}

impl Hit {
    const NONE: Self = Self {
        address: 0,
        tag: 0,
        bucket: 0,
    };
}

/// One address that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitAddress {
    /// An IPv4 address is the number of its 32 bits.
    pub address: u128,
    /// Whether it is an IPv4 address.
    pub is_v4: bool,
    /// Where frames had it.
    pub side: Side,
    /// Hits at most.
    pub count: u32,
    /// Of those, how many may have been of others: `count - error` is the least.
    pub error: u32,
}

impl HitAddresses {
    /// Nothing counted. The key picks buckets: draw it anew, and let nobody outside know it.
    #[must_use]
    pub fn new(key: [u64; 2]) -> Self {
        let buckets = vec![Bucket::EMPTY; BUCKETS].into_boxed_slice();
        let buckets = buckets
            .try_into()
            .unwrap_or_else(|_| Box::new([Bucket::EMPTY; BUCKETS]));
        Self {
            buckets,
            key,
            waiting: [Hit::NONE; WAITING],
            oldest: 0,
        }
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.buckets.fill(Bucket::EMPTY);
        self.waiting = [Hit::NONE; WAITING];
    }

    /// Counts the addresses of a frame that are in a set.
    #[inline]
    pub(crate) fn record(&mut self, parsed: &Parsed, matched: Matched) {
        let is_v4 = parsed.family == Family::V4;
        if !matched.src.is_empty() {
            self.count_soon(parsed.src, is_v4, Side::Src);
        }
        if !matched.dst.is_empty() {
            self.count_soon(parsed.dst, is_v4, Side::Dst);
        }
    }

    /// Counts one hit.
    #[inline]
    pub fn count(&mut self, address: u128, is_v4: bool, side: Side) {
        self.settle();
        let hit = self.place(address, is_v4, side);
        self.add(hit);
    }

    /// Asks for the line that counting the hit begins with, and counts the eighth hit before it:
    /// the lookups between two hits leave few of the table's lines in the first cache, and waiting
    /// for one was half of what a hit cost. [`HitAddresses::settle`] counts the rest.
    #[inline]
    pub fn count_soon(&mut self, address: u128, is_v4: bool, side: Side) {
        let hit = self.place(address, is_v4, side);
        self.buckets[hit.bucket % BUCKETS].prefetch();
        let oldest = std::mem::replace(&mut self.waiting[self.oldest % WAITING], hit);
        self.oldest = (self.oldest + 1) % WAITING;
        self.add(oldest);
    }

    /// Counts what still waits: before anyone asks what is held.
    pub fn settle(&mut self) {
        for place in 0..WAITING {
            let waiting = &mut self.waiting[(self.oldest + place) % WAITING];
            let hit = std::mem::replace(waiting, Hit::NONE);
            self.add(hit);
        }
    }

    #[inline]
    fn place(&self, address: u128, is_v4: bool, side: Side) -> Hit {
        let (v4, dst) = (u16::from(is_v4), u16::from(side == Side::Dst));
        let what = HELD | (v4 * IS_V4) | (dst * IS_DST);
        let hash = self.hash(address, what);
        Hit {
            address,
            tag: ((hash >> 48) as u16 & !7) | what,
            bucket: hash as usize % BUCKETS,
        }
    }

    #[inline]
    fn add(&mut self, hit: Hit) {
        if hit.tag != 0 {
            self.buckets[hit.bucket % BUCKETS].count(hit.tag, hit.address);
        }
    }

    /// Both halves of a product of the address and the key, folded.
    #[inline]
    fn hash(&self, address: u128, what: u16) -> u64 {
        let low = address as u64;
        let high = (address >> 64) as u64 ^ u64::from(what) << 40;
        let product = u128::from(low ^ self.key[0]) * u128::from(high ^ self.key[1] | 1);
        let folded = product as u64 ^ (product >> 64) as u64;
        folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ folded >> 32
    }

    /// What is held, in no order.
    pub fn held(&self) -> impl Iterator<Item = HitAddress> + '_ {
        let ways = |bucket: &'_ Bucket| {
            let bucket = *bucket;
            (0..WAYS).filter_map(move |way| {
                let tag = bucket.tags[way];
                (tag != 0).then(|| HitAddress {
                    address: bucket.addresses[way],
                    is_v4: tag & IS_V4 != 0,
                    side: Side::EVERY[usize::from(tag & IS_DST != 0)],
                    count: bucket.counts[way],
                    error: bucket.errors[way],
                })
            })
        };
        self.buckets.iter().flat_map(ways)
    }

    /// How often an address that is not held was hit at most.
    #[must_use]
    pub fn missed_max(&self) -> u32 {
        let least = |bucket: &Bucket| bucket.counts.iter().copied().min().unwrap_or(0);
        self.buckets.iter().map(least).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const KEY: [u64; 2] = [0x1234_5678_9ABC_DEF1, 0x0FED_CBA9_8765_4321];

    /// Counts all of `hits` and holds the answers against a map that forgets nothing.
    fn check(hits: &[(u128, bool, Side)]) -> HitAddresses {
        let mut table = HitAddresses::new(KEY);
        let mut at_once = HitAddresses::new(KEY);
        let mut model: HashMap<(u128, bool, Side), u32> = HashMap::new();
        for &(address, is_v4, side) in hits {
            table.count_soon(address, is_v4, side);
            at_once.count(address, is_v4, side);
            *model.entry((address, is_v4, side)).or_default() += 1;
        }
        table.settle();
        assert!(table.held().eq(at_once.held()), "the order is the same");
        for held in table.held() {
            let true_count = model.remove(&(held.address, held.is_v4, held.side));
            let true_count = true_count.expect("something that was hit, and once");
            let bounds = held.count - held.error..=held.count;
            assert!(bounds.contains(&true_count), "{held:?} is {true_count}");
        }
        let missed = model.values().copied().max().unwrap_or(0);
        assert!(missed <= table.missed_max(), "{missed} not held");
        table
    }

    #[test]
    fn few_addresses_are_counted_exactly_and_apart_by_family_and_side() {
        let mut hits = Vec::new();
        for address in 0..100 {
            for (is_v4, side) in [(true, Side::Src), (true, Side::Dst), (false, Side::Src)] {
                let times = 1 + address as usize % 5 + usize::from(is_v4);
                hits.extend(std::iter::repeat_n((address, is_v4, side), times));
            }
        }
        let table = check(&hits);
        assert_eq!(table.held().count(), 300);
        assert!(table.held().all(|held| held.error == 0));
        assert_eq!(table.missed_max(), 0);
    }

    #[test]
    fn many_addresses_are_bounded_and_the_heavy_ones_are_held() {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut draw = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        let cases = if cfg!(miri) { 3_000 } else { 300_000 };
        let hits: Vec<_> = (0..cases)
            .map(|hit| match hit % 10 {
                // Ten addresses with a hundredth of all hits each.
                0 => (u128::from(draw() % 10), true, Side::Src),
                _ => (u128::from(draw()) << 64 | 7, false, Side::Dst),
            })
            .collect();
        let table = check(&hits);
        for heavy in 0..10 {
            assert!(table.held().any(|held| held.is_v4 && held.address == heavy));
        }
        assert!(table.held().count() <= HIT_ADDRESSES_MAX);
        let mut cleared = table;
        cleared.clear();
        assert_eq!((cleared.held().count(), cleared.missed_max()), (0, 0));
    }

    #[test]
    fn neighbours_spread_over_the_buckets() {
        let mut table = HitAddresses::new(KEY);
        let (first, others) = (0x0A00_0000_u128, HIT_ADDRESSES_MAX as u128 / 4);
        for address in first..first + others {
            table.count(address, true, Side::Src);
        }
        // A quarter full: few buckets of eight overflow, if places are as good as random.
        let held = table.held().count();
        assert!(held as u128 > others * 98 / 100, "{held} of {others}");
    }
}
