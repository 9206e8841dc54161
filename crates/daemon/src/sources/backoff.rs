//! When to try again: jitter, so that a thousand machines do not ask one server in the same second,
//! and longer waits the more tries have failed.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// The longest wait a server's `Retry-After` is obeyed for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3600);

/// Draws waits.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    state: u64,
    /// The wait after the first failure.
    pub(crate) first: Duration,
    /// The wait that failures grow to.
    pub(crate) max: Duration,
}

impl Backoff {
    /// Waits of `first` after one failure, doubled with each more up to `max`.
    pub(crate) fn new(first: Duration, max: Duration) -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Self::seeded(first, max, seed)
    }

    fn seeded(first: Duration, max: Duration, seed: u64) -> Self {
        let state = seed;
        Self { state, first, max }
    }

    /// SplitMix64 (Steele, Lea, Flood 2014): draws for jitter need no secrecy.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number of `low..low + width`.
    fn within(&mut self, low: f64, width: f64) -> f64 {
        low + width * ((self.draw() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// The wait between two reads of a source that is well: a tenth more or less.
    pub(crate) fn regular(&mut self, every: Duration) -> Duration {
        every.mul_f64(self.within(0.9, 0.2))
    }

    /// The wait after so many failures in a row: between half and all of the doubled wait. What the
    /// server asked for is the least.
    pub(crate) fn after_failures(&mut self, count: u32, asked: Option<Duration>) -> Duration {
        let doublings = count.saturating_sub(1).min(20);
        let full = self.first.saturating_mul(1 << doublings).min(self.max);
        let wait = full.mul_f64(self.within(0.5, 0.5));
        match asked {
            // All who were turned away together must not come back together.
            Some(asked) => {
                let asked = asked.min(RETRY_AFTER_MAX);
                wait.max(asked + asked.mul_f64(self.within(0.0, 0.1)))
            }
            None => wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn failures_wait_longer_and_never_too_long() {
        let mut backoff = Backoff::seeded(SECOND, 60 * SECOND, 7);
        for _ in 0..1000 {
            for count in 0..40 {
                let wait = backoff.after_failures(count, None);
                let full = SECOND.saturating_mul(1 << count.saturating_sub(1).min(20));
                let full = full.min(60 * SECOND);
                assert!(
                    full / 2 <= wait && wait <= full,
                    "{count} failures: {wait:?}"
                );
            }
            let wait = backoff.regular(100 * SECOND);
            assert!(90 * SECOND <= wait && wait <= 110 * SECOND, "{wait:?}");
        }
    }

    #[test]
    fn a_server_is_obeyed_within_reason() {
        let mut backoff = Backoff::seeded(SECOND, 60 * SECOND, 7);
        let wait = backoff.after_failures(1, Some(600 * SECOND));
        assert!(600 * SECOND <= wait && wait <= 660 * SECOND, "{wait:?}");
        let wait = backoff.after_failures(1, Some(Duration::MAX));
        assert!(wait <= RETRY_AFTER_MAX.mul_f64(1.1), "{wait:?}");
        let wait = backoff.after_failures(8, Some(Duration::ZERO));
        assert!(
            wait >= 30 * SECOND,
            "the server's zero does not undo ours: {wait:?}"
        );
    }

    #[test]
    fn two_do_not_go_in_step() {
        let mut one = Backoff::new(SECOND, SECOND);
        let mut other = Backoff::new(SECOND, SECOND);
        let draws = |backoff: &mut Backoff| [(); 4].map(|()| backoff.regular(SECOND));
        assert_ne!(draws(&mut one), draws(&mut other));
    }
}
