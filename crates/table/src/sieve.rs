//! A sieve: what surely is in no list falls through.
//!
//! Small enough for the kernel to ask before a frame reaches us: a program there forwards frames
//! whose addresses both fall through, and leaves all others to be judged here. It errs to one side
//! only: what it holds back may be in no list, what falls through is in none.
//!
//! Single addresses are a Bloom filter in blocks (Putze, Sanders, Singler 2007) of one line, so
//! that a question costs one line: 16 bits an address, three set in each of two words, and about
//! one address in 1,000 that is in no list is held back; four in one word held back one in 200.
//! IPv4 networks are a bit for each of the 2^24 networks of 24 bits that they touch, IPv6 networks
//! six bits for each prefix of 32 bits. `bpf/sieve.h` asks the same questions of the same words.

use crate::address::Address;
use crate::entries::{Entries, FamilyEntries};
use crate::range::Range;
use crate::secret::Secret;

/// Words of a block: 64 bytes, as the kernel's map has them.
pub const SIEVE_BLOCK_WORDS: usize = 8;

/// Bits of the filter for each address.
const BITS_AN_ADDRESS: usize = 16;
/// Below this many blocks a smaller filter saves nothing: 32 KB.
const BLOCKS_MIN: usize = 512;
/// Bits for the 24-bit networks of IPv4.
const NETWORK_WORDS: usize = (1 << 24) / 64;
/// Prefixes of 32 bits that IPv6 networks may touch; with more, all IPv6 is held back.
const PREFIXES_MAX: u64 = 1 << 20;

/// Which addresses may be in a list. See the module.
#[derive(Clone, Debug)]
pub struct Sieve {
    key: [u64; 2],
    words: Box<[u64]>,
    networks: Option<Box<[u64]>>,
    holds_v6: bool,
}

impl Sieve {
    /// Of all entries of all lists.
    pub(crate) fn of(lists: &[&Entries]) -> Self {
        Self::keyed(lists, Secret::draw().sieve_key())
    }

    fn keyed(lists: &[&Entries], key: [u64; 2]) -> Self {
        let prefixes: u64 = lists
            .iter()
            .flat_map(|list| spans(&list.v6))
            .map(prefixes)
            .sum();
        let holds_v6 = prefixes > PREFIXES_MAX;
        let singles = lists
            .iter()
            .map(|list| list.v4.addresses.len() + list.v6.addresses.len());
        let keys = singles.sum::<usize>() + if holds_v6 { 0 } else { prefixes as usize };
        let blocks = (keys * BITS_AN_ADDRESS)
            .div_ceil(64 * SIEVE_BLOCK_WORDS)
            .max(BLOCKS_MIN);
        let mut sieve = Self {
            key,
            words: vec![0; blocks * SIEVE_BLOCK_WORDS].into(),
            networks: None,
            holds_v6,
        };
        for list in lists {
            sieve.add_v4(&list.v4);
            if !holds_v6 {
                sieve.add_v6(&list.v6);
            }
        }
        sieve
    }

    fn add_v4(&mut self, entries: &FamilyEntries<u32>) {
        for &address in &entries.addresses {
            self.set(hash_v4(self.key, address));
        }
        for span in spans(entries) {
            let networks = self
                .networks
                .get_or_insert_with(|| vec![0; NETWORK_WORDS].into());
            set_bits(
                networks,
                (span.first() >> 8) as usize,
                (span.last() >> 8) as usize,
            );
        }
    }

    fn add_v6(&mut self, entries: &FamilyEntries<u128>) {
        for &address in &entries.addresses {
            self.set(hash_v6(self.key, address));
        }
        for span in spans(entries) {
            for prefix in span.first() >> 96..=span.last() >> 96 {
                self.set(hash_v4(self.key.map(u64::reverse_bits), prefix as u32));
            }
        }
    }

    fn set(&mut self, hash: u64) {
        let (block, words) = place(hash, self.words.len() / SIEVE_BLOCK_WORDS);
        for (word, bits) in words {
            self.words[block + word] |= bits;
        }
    }

    fn may_hold(&self, hash: u64) -> bool {
        let (block, words) = place(hash, self.words.len() / SIEVE_BLOCK_WORDS);
        words
            .iter()
            .all(|&(word, bits)| self.words[block + word] & bits == bits)
    }

    /// False when no list holds the address.
    #[must_use]
    pub fn may_hold_v4(&self, address: u32) -> bool {
        let block = (address >> 8) as usize;
        let network = self
            .networks
            .as_ref()
            .is_some_and(|bits| bits[block / 64] >> (block % 64) & 1 != 0);
        network || self.may_hold(hash_v4(self.key, address))
    }

    /// False when no list holds the address.
    #[must_use]
    pub fn may_hold_v6(&self, address: u128) -> bool {
        let prefix = hash_v4(self.key.map(u64::reverse_bits), (address >> 96) as u32);
        self.holds_v6 || self.may_hold(prefix) || self.may_hold(hash_v6(self.key, address))
    }

    /// The secret of its hash: an odd factor and a sum.
    #[must_use]
    pub fn key(&self) -> [u64; 2] {
        self.key
    }

    /// The filter, a whole number of blocks.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// A bit for each 24-bit network of IPv4, lowest first; none where there are no networks.
    #[must_use]
    pub fn networks(&self) -> Option<&[u64]> {
        self.networks.as_deref()
    }

    /// Whether all IPv6 addresses are held back.
    #[must_use]
    pub fn holds_v6(&self) -> bool {
        self.holds_v6
    }
}

/// Networks and ranges, by first and last address.
fn spans<A: Address>(entries: &FamilyEntries<A>) -> impl Iterator<Item = Range<A>> + '_ {
    let networks = entries.networks.iter();
    let networks = networks.map(|network| Range::between(network.first(), network.last()));
    networks.chain(entries.ranges.iter().copied())
}

/// Prefixes of 32 bits that a span touches.
fn prefixes(span: Range<u128>) -> u64 {
    ((span.last() >> 96) - (span.first() >> 96)) as u64 + 1
}

/// The block of a hash, and its bits in two words there. The upper half picks the block, so that
/// any number of them will do; the lower bits of that half, which say little about the block,
/// serve twice.
#[inline]
fn place(hash: u64, blocks: usize) -> (usize, [(usize, u64); 2]) {
    let block = (((hash >> 32) * blocks as u64) >> 32) as usize;
    let word = |shift: u32| {
        let bits = [0, 6, 12].map(|more| 1 << (hash >> (shift + more) & 63));
        let all = bits.into_iter().fold(0, |all, bit: u64| all | bit);
        ((hash >> (shift + 18)) as usize % SIEVE_BLOCK_WORDS, all)
    };
    (block * SIEVE_BLOCK_WORDS, [word(0), word(21)])
}

#[inline]
fn hash_v4([factor, sum]: [u64; 2], address: u32) -> u64 {
    let hash = (u64::from(address) ^ sum).wrapping_mul(factor | 1);
    (hash ^ hash >> 32).wrapping_mul(factor | 1)
}

#[inline]
fn hash_v6([factor, sum]: [u64; 2], address: u128) -> u64 {
    let hash = ((address >> 64) as u64 ^ sum).wrapping_mul(factor | 1);
    let hash = (hash ^ hash >> 32 ^ address as u64).wrapping_mul(factor | 1);
    (hash ^ hash >> 32).wrapping_mul(factor | 1)
}

/// Sets the bits from `first` to `last`.
fn set_bits(words: &mut [u64], first: usize, last: usize) {
    let (from, to) = (first / 64, last / 64);
    let (low, high) = (u64::MAX << (first % 64), u64::MAX >> (63 - last % 64));
    if from == to {
        words[from] |= low & high;
        return;
    }
    words[from] |= low;
    words[from + 1..to].fill(u64::MAX);
    words[to] |= high;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;

    const SEED: u64 = 11;

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        Secret::from_seed(*state).sieve_key()[0]
    }

    fn random_entries(count: usize, state: &mut u64) -> Entries {
        let mut entries = Entries::default();
        for _ in 0..count {
            let (a, b) = (random(state), random(state));
            let wide = u128::from(a) << 64 | u128::from(b);
            entries.v4.addresses.push(a as u32);
            entries.v6.addresses.push(wide);
            if a % 16 == 0 {
                let network = Network::holding(b as u32, 8 + (a >> 8) as u8 % 25);
                entries.v4.networks.push(network.expect("a length of IPv4"));
                let network = Network::holding(wide, 24 + (a >> 16) as u8 % 100);
                entries.v6.networks.push(network.expect("a length of IPv6"));
                let end = (b as u32).saturating_add((a >> 40) as u32 % 5000);
                entries.v4.ranges.push(Range::between(b as u32, end));
            }
        }
        entries
    }

    #[test]
    fn what_is_listed_never_falls_through() {
        let (mut state, count) = (SEED, if cfg!(miri) { 20 } else { 5000 });
        let lists = [
            random_entries(count, &mut state),
            random_entries(count, &mut state),
        ];
        let key = Secret::from_seed(SEED).sieve_key();
        let sieve = Sieve::keyed(&[&lists[0], &lists[1]], key);
        for list in &lists {
            assert!(
                list.v4
                    .addresses
                    .iter()
                    .all(|&address| sieve.may_hold_v4(address))
            );
            assert!(
                list.v6
                    .addresses
                    .iter()
                    .all(|&address| sieve.may_hold_v6(address))
            );
            for span in spans(&list.v4) {
                let middle = span.first() + (span.last() - span.first()) / 3;
                let all = [span.first(), middle, span.last()];
                assert!(
                    all.iter().all(|&address| sieve.may_hold_v4(address)),
                    "seed {SEED}"
                );
            }
            for span in spans(&list.v6) {
                let middle = span.first() + (span.last() - span.first()) / 3;
                let all = [span.first(), middle, span.last()];
                assert!(
                    all.iter().all(|&address| sieve.may_hold_v6(address)),
                    "seed {SEED}"
                );
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many addresses for it")]
    fn nearly_all_that_is_not_listed_falls_through() {
        let mut state = SEED;
        let mut entries = random_entries(200_000, &mut state);
        entries.v4.networks.clear();
        entries.v4.ranges.clear();
        entries.v6.networks.clear();
        let sieve = Sieve::keyed(&[&entries], Secret::from_seed(3).sieve_key());
        // In sequence, as an attacker may choose them, and at random.
        let sequence = (0..200_000_u32).filter(|&low| sieve.may_hold_v4(0x0a00_0000 + low));
        assert!(sequence.count() < 600);
        let drawn = (0..200_000).filter(|_| sieve.may_hold_v4(random(&mut state) as u32));
        assert!(drawn.count() < 600);
        let wide = (0..200_000_u128).filter(|&low| sieve.may_hold_v6(0xfe80 << 112 | low));
        assert!(wide.count() < 1200, "two questions each");
        assert!(!sieve.holds_v6());
    }

    #[test]
    fn nothing_listed_holds_nothing_and_too_much_holds_all() {
        let empty = Sieve::of(&[&Entries::default()]);
        assert!(empty.networks().is_none() && !empty.may_hold_v4(7) && !empty.may_hold_v6(7));
        let mut all = Entries::default();
        all.v6
            .networks
            .push(Network::new(0, 0).expect("all of IPv6"));
        let sieve = Sieve::of(&[&all]);
        assert!(sieve.holds_v6() && sieve.may_hold_v6(12345));
        assert!(!sieve.may_hold_v4(12345));
        assert_eq!(sieve.words().len() % SIEVE_BLOCK_WORDS, 0);
    }

    #[test]
    fn bits_are_set_from_first_to_last() {
        for (first, last) in [(0, 0), (3, 63), (0, 64), (5, 300), (64, 127), (127, 128)] {
            let mut words = [0_u64; 6];
            set_bits(&mut words, first, last);
            for bit in 0..384 {
                let set = words[bit / 64] >> (bit % 64) & 1 == 1;
                assert_eq!(
                    set,
                    (first..=last).contains(&bit),
                    "{first} to {last}: {bit}"
                );
            }
        }
    }
}
