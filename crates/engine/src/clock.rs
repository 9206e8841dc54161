//! The only `now()` of the dataplane.

use std::cell::Cell;
use std::time::Instant;

use frame::Nanos;

/// A monotonic clock. A worker reads it once a step; everything below is given the time.
pub trait Clock {
    /// Nanoseconds since this clock's own beginning.
    fn now(&self) -> Nanos;
}

/// The operating system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct OsClock {
    beginning: Instant,
}

impl OsClock {
    /// A clock that begins now. Copies share the beginning.
    #[must_use]
    pub fn new() -> Self {
        Self {
            beginning: Instant::now(),
        }
    }
}

impl Default for OsClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for OsClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.beginning.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Simulated time: stands still until it is advanced.
#[derive(Debug, Default)]
pub struct SimClock {
    now: Cell<u64>,
}

impl SimClock {
    /// Moves time forward by so many nanoseconds.
    pub fn advance(&self, nanos: u64) {
        self.now.set(self.now.get().saturating_add(nanos));
    }
}

impl Clock for SimClock {
    fn now(&self) -> Nanos {
        Nanos(self.now.get())
    }
}
