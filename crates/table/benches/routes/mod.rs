//! Networks with the lengths of a routing table, crowded and nested.

use crate::random::Random;
use table::{Address, Network};

/// Networks, and where they may lie.
pub(crate) struct Shape {
    /// Prefix lengths and how many there are of each, short ones first.
    pub(crate) lengths: &'static [(u8, u32)],
    /// Longer networks lie within networks of about this length.
    pub(crate) chunk_len: u8,
}

/// A routing table. Half of the networks lie beside the last of their length, the others anywhere
/// within what shorter ones hold, the first of them more often.
pub(crate) fn networks<A: Address>(shape: &Shape, random: &mut Random) -> Vec<Network<A>> {
    let mut all: Vec<Network<A>> = Vec::new();
    let mut chunks = 0;
    for &(len, count) in shape.lengths {
        let mut last: A = random.address();
        for _ in 0..count {
            last = place(len, last, &all[..chunks], random);
            all.extend(Network::holding(last, len));
        }
        if len <= shape.chunk_len {
            chunks = all.len();
        }
    }
    all
}

fn place<A: Address>(len: u8, last: A, chunks: &[Network<A>], random: &mut Random) -> A {
    let word = random.address::<u128>();
    if word & 1 == 0 {
        return last.last_in(len).successor().unwrap_or_default();
    }
    if chunks.is_empty() {
        return random.address();
    }
    let share = (word >> 64) as u64 as f64 / u64::MAX as f64;
    let chunk = (share * share * chunks.len() as f64) as usize;
    within(chunks[chunk.min(chunks.len() - 1)], random)
}

/// An address of a network.
pub(crate) fn within<A: Address>(network: Network<A>, random: &mut Random) -> A {
    let (first, last) = (network.first().widen(), network.last().widen());
    A::narrow(first | random.address::<u128>() & (last ^ first))
}
