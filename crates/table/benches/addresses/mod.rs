//! Streams over a set of addresses: all hits, all misses, pairs of either.

use crate::random::Random;
use crate::streams::{KEYS, Stream};
use table::Address;

/// The three streams over `addresses`.
pub(crate) fn streams<A: Address>(addresses: &[A], random: &mut Random) -> [Stream<A>; 3] {
    let miss: Vec<A> = random.column(KEYS);
    let index = |random: &mut Random| random.address::<u32>() as usize % addresses.len();
    let hit: Vec<A> = (0..KEYS).map(|_| addresses[index(random)]).collect();
    let either = |at: usize, random: &mut Random| match random.address::<u32>() % 2 {
        0 => hit[at],
        _ => miss[at],
    };
    let pair = (0..KEYS).map(|at| either(at, random)).collect();
    [("hit", hit, 1), ("miss", miss, 1), ("pair", pair, 2)].map(|(name, keys, each)| Stream {
        name,
        keys,
        each,
    })
}
