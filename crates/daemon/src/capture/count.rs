//! What all captures together were given.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::metrics::Captured;

/// Counts samples, from the threads of any connections.
#[derive(Debug, Default)]
pub struct Counting {
    samples: AtomicU64,
    frames: AtomicU64,
}

impl Counting {
    /// The counts so far.
    #[must_use]
    pub fn now(&self) -> Captured {
        Captured {
            samples: self.samples.load(Ordering::Relaxed),
            frames: self.frames.load(Ordering::Relaxed),
        }
    }

    pub(super) fn add(&self, stands_for: u64) {
        self.samples.fetch_add(1, Ordering::Relaxed);
        self.frames.fetch_add(stands_for, Ordering::Relaxed);
    }
}
