//! How long a search still takes.

use std::time::{Duration, Instant};

/// How much longer trials take than frames are sent in them.
pub(super) struct Pace {
    begun: Instant,
    sending: Duration,
    simulated: bool,
}

impl Pace {
    pub(super) fn new(begun: Instant, simulated: bool) -> Self {
        Self {
            begun,
            sending: Duration::ZERO,
            simulated,
        }
    }

    pub(super) fn add(&mut self, sending: Duration) {
        self.sending += sending;
    }

    pub(super) fn left(&self, sending: Duration) -> f64 {
        let done = self.sending.as_secs_f64();
        let stretch = if done > 0.0 {
            self.begun.elapsed().as_secs_f64() / done
        } else {
            1.0
        };
        // Waiting between trials makes none shorter.
        let stretch = if self.simulated {
            stretch
        } else {
            stretch.max(1.0)
        };
        sending.as_secs_f64() * stretch
    }
}
