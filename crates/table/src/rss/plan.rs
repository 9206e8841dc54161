//! Which source address falls into which bucket.

use super::RssHash;
use crate::address::Address;
use crate::network::Network;
use crate::range::Range;

/// Addresses tried at most: a thousand times as many as 128 buckets need on average.
const TRIED_MAX: usize = 1 << 20;

/// What a search for one source a bucket is about.
#[derive(Clone, Copy, Debug)]
pub struct SourcePlan<A> {
    /// Where sources are taken from, the lowest first.
    pub network: Network<A>,
    /// The destination of all.
    pub dst: A,
    /// `src_port << 16 | dst_port`; 0 where the ports do not count.
    pub ports: u32,
    /// Buckets of the indirection table.
    pub buckets: usize,
}

impl RssHash {
    /// The first source of the network that falls into each bucket, `hash % buckets`; none for
    /// buckets that no source falls into among the first million.
    #[must_use]
    pub fn sources<A: Address>(&self, plan: &SourcePlan<A>) -> Vec<Option<A>> {
        let mut found = vec![None; plan.buckets];
        let mut missing = plan.buckets;
        let range = Range::from(plan.network);
        let mut next = Some(range.first());
        for _ in 0..TRIED_MAX {
            let Some(src) = next.filter(|&src| missing > 0 && src <= range.last()) else {
                break;
            };
            let bucket = self.hash_one(src, plan.dst, plan.ports) as usize % plan.buckets;
            missing -= usize::from(found[bucket].is_none());
            found[bucket].get_or_insert(src);
            next = src.successor();
        }
        found
    }

    fn hash_one<A: Address>(&self, src: A, dst: A, ports: u32) -> u32 {
        let (src, dst) = (src.widen(), dst.widen());
        if A::BITS == 32 {
            self.one().hash_v4(src as u32, dst as u32, ports)
        } else {
            self.one().hash_v6(src, dst, ports)
        }
    }
}
