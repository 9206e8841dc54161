//! A limit of what a port may have flooded: a token bucket.

use frame::Nanos;

/// Nanoseconds of a second, and the price of a frame: a bucket gains its limit in a second.
const SECOND: u64 = 1_000_000_000;

/// The bucket of one port: it holds the frames of one second and is full at first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storm {
    /// Frames a second; `None`: any number.
    limit: Option<u32>,
    /// Frames that may go now, times [`SECOND`].
    level: u64,
    filled: Nanos,
}

impl Storm {
    /// One worker's share of a limit.
    pub(super) fn new(limit: Option<u32>, workers: u32) -> Self {
        let limit = limit.map(|limit| limit.div_ceil(workers));
        Self {
            limit,
            level: full(limit),
            filled: Nanos::ZERO,
        }
    }

    /// Whether one more frame may be flooded.
    #[inline]
    pub(super) fn take(&mut self, now: Nanos) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        let gained = now.since(self.filled).min(SECOND) * u64::from(limit);
        self.level = (self.level + gained).min(full(self.limit));
        self.filled = now.max(self.filled);
        match self.level.checked_sub(SECOND) {
            Some(rest) => {
                self.level = rest;
                true
            }
            None => false,
        }
    }
}

fn full(limit: Option<u32>) -> u64 {
    u64::from(limit.unwrap_or(0)) * SECOND
}
