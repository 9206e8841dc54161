//! The only `now()` of the dataplane.

use std::cell::Cell;
use std::time::Instant;

use frame::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// A monotonic clock. A worker reads it once a step; everything below is given the time.
pub(crate) trait Clock {
    /// Nanoseconds since this clock's own beginning.
    fn now(&self) -> Nanos;

    /// The kernel's own monotonic clock, for what is compared with its times.
    fn kernel(&self) -> Nanos;
}

/// The operating system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OsClock {
    beginning: Instant,
}

impl OsClock {
    /// A clock that begins now. Copies share the beginning.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self {
            beginning: Instant::now(),
        }
    }
}

/// Time that is told, to workers that are stepped.
#[derive(Debug)]
pub(crate) struct Told(Cell<Nanos>);

impl Told {
    /// A clock at `now`.
    pub(crate) fn new(now: Nanos) -> Self {
        Self(Cell::new(now))
    }

    /// Since its beginning.
    pub(crate) fn seconds(&self) -> f64 {
        self.0.get().0 as f64 / 1e9
    }

    /// It is `now` from here on.
    pub(crate) fn set(&self, now: Nanos) {
        self.0.set(now);
    }
}

impl Clock for Told {
    fn now(&self) -> Nanos {
        self.0.get()
    }

    fn kernel(&self) -> Nanos {
        self.0.get()
    }
}

/// Nanoseconds since 1970, for what people read: it may be set while a run goes on.
pub(crate) fn since_1970() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// CPU time of the calling thread, nanoseconds: a system call, 100 to 200 ns. It stands still while
/// somebody else has the CPU.
#[must_use]
pub fn cpu_time_nanos() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
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

    fn kernel(&self) -> Nanos {
        let time = clock_gettime(ClockId::Monotonic);
        let nanos = time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned();
        Nanos(nanos)
    }
}
