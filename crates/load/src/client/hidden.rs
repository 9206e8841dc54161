//! What coordinated omission hides: how long requests would have waited that were left out.

use frame::Nanos;
use traffic::Histogram;

/// Into so many steps the waits of one stall are divided at most.
const STEPS_MAX: u64 = 100;

/// Requests that a closed loop with a rate left out since a connection was last free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hidden {
    /// The first of them was due then.
    since: Nanos,
    count: u64,
}

impl Hidden {
    /// Further ones, of which the first was due at a time.
    pub(super) fn add(&mut self, since: Nanos, count: u64) {
        if self.count == 0 {
            self.since = since;
        }
        self.count += count;
    }

    /// A connection is free: each would have waited at least from when it was due until now. They
    /// were due at equal distances, as far as this knows.
    pub(super) fn record(&mut self, now: Nanos, waits: &mut Histogram) {
        let span = u128::from(now.since(self.since));
        let steps = self.count.min(STEPS_MAX);
        for step in 0..steps {
            let of_step = self.count / steps + u64::from(step < self.count % steps);
            let wait = span * u128::from(steps - step) / u128::from(steps);
            waits.record_many(u64::try_from(wait).unwrap_or(u64::MAX), of_step);
        }
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_when_a_connection_is_free() {
        for (adds, now, expected) in [
            (&[][..], 1000, (0, 0, 0)),
            (&[(100, 1)], 1100, (1, 1000, 1000)),
            (&[(100, 2), (600, 2)], 1100, (4, 250, 1000)),
            (&[(0, 100_000)], 1_000_000, (100_000, 10_000, 1_000_000)),
            (&[(0, 101)], 1_000_000, (101, 10_000, 1_000_000)),
        ] {
            let (mut hidden, mut waits) = (Hidden::default(), Histogram::new());
            for (since, count) in adds {
                hidden.add(Nanos(*since), *count);
            }
            hidden.record(Nanos(now), &mut waits);
            hidden.record(Nanos(now), &mut waits);
            let report = waits.report();
            assert_eq!((report.count, report.min, report.max), expected, "{adds:?}");
        }
    }
}
