//! The keeper's two clocks: one that never jumps, for what is due, and the one of people.

use frame::Nanos;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Now {
    /// Since the keeper began.
    pub(super) mono: Nanos,
    /// Milliseconds since 1970, UTC.
    pub(super) wall_ms: u64,
}

/// Reads both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    begun: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            begun: Instant::now(),
        }
    }

    pub(super) fn now(self) -> Now {
        Now {
            mono: nanos(self.begun.elapsed()),
            wall_ms: wall_ms(SystemTime::now()),
        }
    }
}

impl Now {
    /// The end of a timeout that begins now.
    pub(super) fn after(self, timeout: Duration) -> Nanos {
        self.mono.after(nanos(timeout).0)
    }

    /// The wall-clock time of a moment of the other clock.
    pub(super) fn wall_of(self, mono: Nanos) -> u64 {
        let millis = |nanos: u64| nanos / 1_000_000;
        if mono >= self.mono {
            self.wall_ms.saturating_add(millis(mono.since(self.mono)))
        } else {
            self.wall_ms.saturating_sub(millis(self.mono.since(mono)))
        }
    }

    /// The moment of a wall-clock time that is to come; now where it is past.
    pub(super) fn mono_of(self, wall_ms: u64) -> Nanos {
        let left_ms = wall_ms.saturating_sub(self.wall_ms);
        self.mono.after(left_ms.saturating_mul(1_000_000))
    }

    /// The moment when what was given at `since_ms` is over. By a clock that stands before that (a
    /// machine without a battery begins in 1970) all of its time is left, and not decades.
    pub(super) fn end_of(self, since_ms: u64, expires_ms: u64) -> Nanos {
        let behind_ms = since_ms.saturating_sub(self.wall_ms);
        self.mono_of(match expires_ms > since_ms {
            true => expires_ms - behind_ms,
            false => expires_ms,
        })
    }
}

pub(super) fn wall(ms: u64) -> SystemTime {
    // Within what every clock can say: a journal may say anything.
    const LAST_MS: u64 = 1 << 45;
    UNIX_EPOCH + Duration::from_millis(ms.min(LAST_MS))
}

fn wall_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn nanos(duration: Duration) -> Nanos {
    Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_speak_of_the_same_moments() {
        let now = Now {
            mono: Nanos(5_000_000_000),
            wall_ms: 1_000_000,
        };
        assert_eq!(now.wall_of(now.after(Duration::from_secs(3))), 1_003_000);
        assert_eq!(now.wall_of(Nanos(4_000_000_000)), 999_000);
        assert_eq!(now.mono_of(1_003_000), Nanos(8_000_000_000));
        assert_eq!(now.mono_of(7), now.mono);
        assert_eq!(now.after(Duration::MAX), Nanos(u64::MAX));
    }

    #[test]
    fn an_hour_stays_an_hour_by_a_clock_that_was_set_back() {
        let given = 1_700_000_000_000;
        let hour = 3_600_000;
        let at = |wall_ms| Now {
            mono: Nanos(5_000_000_000),
            wall_ms,
        };
        let left_ms =
            |now: Now, since| (now.end_of(since, given + hour).0 - now.mono.0) / 1_000_000;
        assert_eq!(left_ms(at(given + 1000), given), hour - 1000);
        assert_eq!(left_ms(at(given + 2 * hour), given), 0);
        assert_eq!(left_ms(at(0), given), hour);
        assert_eq!(left_ms(at(given - 24 * hour), given), hour);
        // Given by a clock that was ahead then, and given anew by a right one.
        assert_eq!(left_ms(at(given), given + 24 * hour), hour);
    }
}
