//! Flows that are replaced as time passes.

use frame::Nanos;

use crate::random::Random;

/// Where the flows of a worker begin, each apart from the others'.
const WORKER_SHIFT: u32 = 48;

/// A window over the numbers of all flows a worker will ever have: the oldest leaves as a new one
/// comes.
pub(super) struct Renewal {
    /// The first number of this worker.
    base: u64,
    /// Flows at a time.
    count: u64,
    /// New flows in so many seconds: `per_second / workers`.
    per_second: u64,
    workers: u64,
    start: Option<Nanos>,
    /// Flows that have left.
    gone: u64,
}

impl Renewal {
    /// Of worker `worker` of `workers`, `count` flows of its own at a time and its share of
    /// `per_second` new ones.
    pub(super) const fn new(count: u64, per_second: u32, worker: u64, workers: u64) -> Self {
        Self {
            base: worker << WORKER_SHIFT,
            count,
            per_second: per_second as u64,
            workers,
            start: None,
            gone: 0,
        }
    }

    /// Counts time from its first call on.
    pub(super) fn advance(&mut self, now: Nanos) {
        let start = *self.start.get_or_insert(now);
        let flows = u128::from(now.since(start)) * u128::from(self.per_second)
            / (1_000_000_000 * u128::from(self.workers));
        self.gone = flows as u64 & ((1 << WORKER_SHIFT) - 1);
    }

    /// A flow of those there are, drawn evenly: its number, and its number within the worker.
    #[inline(always)]
    pub(super) fn draw(&self, random: &mut Random) -> (u64, u64) {
        let index = self.gone + random.below(self.count);
        (self.base + index, index)
    }
}
