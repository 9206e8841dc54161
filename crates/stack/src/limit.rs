//! How often something may be done: token buckets, one for all and one for each of many.

use std::hash::{BuildHasher, Hash};

use frame::Nanos;

use crate::KeyedHash;

const SECOND: u64 = 1_000_000_000;

/// A token bucket: so many a second, and as many at once as `burst`.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Nanoseconds that one costs; `u64::MAX` where nothing is allowed.
    cost: u64,
    /// What may be saved, nanoseconds.
    burst: u64,
    /// When the bucket would be empty: what is saved is the time since.
    empty_at: u64,
}

impl Allowance {
    /// A full bucket.
    #[must_use]
    pub fn new(per_second: u32, burst: u32) -> Self {
        let cost = SECOND.checked_div(per_second.into()).unwrap_or(u64::MAX);
        Self {
            cost,
            burst: cost.saturating_mul(burst.max(1).into()),
            empty_at: 0,
        }
    }

    /// Whether it may be done once now.
    #[inline]
    pub fn take(&mut self, now: Nanos) -> bool {
        // The clock begins at 0, with a full bucket.
        let now = now.0.saturating_add(self.burst);
        let from = self.empty_at.max(now.saturating_sub(self.burst));
        match from.checked_add(self.cost) {
            Some(after) if after <= now && self.cost != u64::MAX => {
                self.empty_at = after;
                true
            }
            _ => false,
        }
    }
}

/// Buckets of many, found by hash: two that share one share what is allowed.
#[derive(Clone, Debug)]
pub struct Limiter {
    all: Allowance,
    each: Vec<Allowance>,
    hash: KeyedHash,
}

/// Buckets: a source that is flooded with errors takes theirs from one in so many others.
const BUCKETS: usize = 1024;
/// The part of what is allowed that one may have.
const SHARE: u32 = 10;

impl Limiter {
    /// So many a second to all together, a tenth of it to each.
    #[must_use]
    pub fn new(per_second: u32, key: [u64; 2]) -> Self {
        let share = per_second.div_ceil(SHARE);
        Self {
            all: Allowance::new(per_second, per_second),
            each: vec![Allowance::new(share, share); BUCKETS],
            hash: KeyedHash(key),
        }
    }

    /// Whether it may be done once now, for `whom`.
    pub fn take(&mut self, whom: impl Hash, now: Nanos) -> bool {
        let bucket = self.hash.hash_one(whom) as usize % BUCKETS;
        self.each[bucket].take(now) && self.all.take(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `tries` a nanosecond apart from each other by `apart` are allowed.
    fn allowed(mut bucket: Allowance, tries: u64, apart: u64) -> usize {
        (0..tries)
            .filter(|at| bucket.take(Nanos(at * apart)))
            .count()
    }

    #[test]
    fn a_bucket_gives_its_burst_at_once_and_its_rate_afterwards() {
        for (rate, burst, tries, apart, expected) in [
            (10, 5, 100, 0, 5),
            (10, 1, 100, SECOND / 10, 100),
            (10, 5, 1000, SECOND / 1000, 14),
            (0, 5, 100, SECOND, 0),
            (1_000_000, 1, 10, 1000, 10),
        ] {
            let bucket = Allowance::new(rate, burst);
            let found = allowed(bucket, tries, apart);
            assert_eq!(found, expected, "{rate} a second, {burst} at once");
        }
    }

    #[test]
    fn one_source_cannot_take_what_is_for_all() {
        let mut limiter = Limiter::new(100, [1, 2]);
        let greedy = (0..1000).filter(|_| limiter.take(7u32, Nanos(0))).count();
        assert_eq!(greedy, 10);
        let others = (100..1100u32).filter(|other| limiter.take(other, Nanos(0)));
        assert_eq!(others.count(), 90, "the rest of what is allowed");
    }
}
