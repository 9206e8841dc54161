//! What a worker does when a step moved nothing.

use std::time::Duration;

/// Steps that only spin, about 20 us; then as many that give the CPU away; then short sleeps.
const SPINS: u32 = 256;
const YIELDS: u32 = 256;
/// A sleep's length, growing to the bound while nothing comes: a frame waits at most this long.
const SLEEP_STEP_US: u64 = 5;
const SLEEP_MAX_US: u64 = 100;

/// Counts idle steps and rests accordingly.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    steps: u32,
}

impl Idle {
    /// A step moved a frame.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.steps = 0;
    }

    /// A step moved nothing. `sleep` is called when it is time to.
    pub(crate) fn rest(&mut self, sleep: impl FnOnce(Duration)) {
        self.steps = self.steps.saturating_add(1);
        if self.steps <= SPINS {
            std::hint::spin_loop();
        } else if self.steps <= SPINS + YIELDS {
            std::thread::yield_now();
        } else {
            let sleeps = u64::from(self.steps - SPINS - YIELDS);
            sleep(Duration::from_micros(
                (sleeps * SLEEP_STEP_US).min(SLEEP_MAX_US),
            ));
        }
    }
}
