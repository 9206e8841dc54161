//! What workers did in the last second: counters only ever grow, and a single look at them says
//! nothing of now.

use crate::counters::{Count, Counters};

/// Least time between two looks that are compared, seconds.
const SPAN: f64 = 1.0;

/// One worker in the last second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LastSecond {
    pub(crate) busy: f64,
    pub(crate) rx_per_second: f64,
    pub(crate) nanos_per_frame: f64,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    workers: Vec<LastSecond>,
    /// When, and busy nanoseconds and frames of each worker then.
    before: (f64, Vec<(u64, u64)>),
}

impl Recent {
    /// Told of the counters at `now`, seconds since the start; looks once a second.
    pub(crate) fn look(&mut self, now: f64, workers: impl Iterator<Item = Counters>) {
        let span = now - self.before.0;
        if span < SPAN {
            return;
        }
        let counts = |counters: Counters| (counters.get(Count::BusyNanos), counters.get(Count::Rx));
        let counts: Vec<_> = workers.map(counts).collect();
        let last = |(place, &(busy, rx)): (usize, &(u64, u64))| {
            let before = self.before.1.get(place).copied().unwrap_or_default();
            LastSecond::new(span, busy - before.0, rx - before.1)
        };
        self.workers = counts.iter().enumerate().map(last).collect();
        self.before = (now, counts);
    }

    pub(crate) fn of(&self, worker: usize) -> LastSecond {
        self.workers.get(worker).copied().unwrap_or_default()
    }
}

impl LastSecond {
    fn new(span: f64, busy_nanos: u64, rx: u64) -> Self {
        Self {
            busy: (busy_nanos as f64 / 1e9 / span).min(1.0),
            rx_per_second: rx as f64 / span,
            nanos_per_frame: match rx {
                0 => 0.0,
                rx => busy_nanos as f64 / rx as f64,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_compared_with_the_one_before() {
        let counters = |busy, rx| {
            let mut counters = Counters::new();
            counters.add(Count::BusyNanos, busy);
            counters.add(Count::Rx, rx);
            std::iter::once(counters)
        };
        let mut recent = Recent::default();
        recent.look(2.0, counters(1_000_000_000, 10_000_000));
        let first = LastSecond {
            busy: 0.5,
            rx_per_second: 5_000_000.0,
            nanos_per_frame: 100.0,
        };
        assert_eq!(recent.of(0), first);
        recent.look(2.5, counters(9_000_000_000, 90_000_000));
        assert_eq!(recent.of(0), first, "too soon");
        recent.look(4.0, counters(1_000_000_000, 10_000_000));
        assert_eq!((recent.of(0), recent.of(1)), Default::default());
    }
}
