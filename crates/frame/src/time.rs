//! Time as a value: nobody here reads a clock.

use core::fmt;

/// A point on a worker's monotonic clock, in nanoseconds since an origin of that clock's choosing.
///
/// Points of two clocks cannot be compared; durations can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The origin of the clock.
    pub const ZERO: Nanos = Nanos(0);

    /// Nanoseconds from `earlier` to this point; 0 when `earlier` is in fact later, since clocks of
    /// two CPUs may disagree by a few.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Nanos) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The point `nanos` later; the last point there is when that would be past it.
    #[inline]
    #[must_use]
    pub const fn after(self, nanos: u64) -> Nanos {
        Nanos(self.0.saturating_add(nanos))
    }
}

/// Seconds with nanoseconds behind the point: `1.000000005 s`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PER_SECOND: u64 = 1_000_000_000;
        write!(f, "{}.{:09} s", self.0 / PER_SECOND, self.0 % PER_SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_never_wraps() {
        assert_eq!(Nanos(30).since(Nanos(10)), 20);
        assert_eq!(Nanos(10).since(Nanos(30)), 0);
        assert_eq!(Nanos(u64::MAX).after(1), Nanos(u64::MAX));
        assert_eq!(Nanos::ZERO.after(5), Nanos(5));
    }

    #[test]
    fn shown_in_seconds() {
        assert_eq!(Nanos(1_000_000_005).to_string(), "1.000000005 s");
    }
}
