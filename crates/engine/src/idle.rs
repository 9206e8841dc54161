//! What a worker does when a step moved nothing.

use std::time::Duration;

/// Steps that only spin, some 8 us: about what a sleep and waking up cost, so that a worker uses
/// at most twice the CPU that one would that knew when the next frame comes. With 256, and as many
/// that gave the CPU away, 13,000 single frames a second kept a whole CPU busy.
const SPINS: u32 = 48;
/// Then steps that give the CPU away; then short sleeps.
const YIELDS: u32 = 2;
/// A sleep's length, growing to the bound while nothing comes: a frame waits at most this long.
const SLEEP_STEP_US: u64 = 5;
const SLEEP_MAX_US: u64 = 100;

/// What workers do while nothing comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdleMode {
    /// They spin for some 8 us, then give their CPU away, then sleep until a frame comes, or for
    /// as long as [`Plan`](crate::Plan) allows where nothing can tell them.
    #[default]
    Doze,
    /// They go on looking: nothing wakes faster, and each takes its CPU whole.
    Spin,
}

/// Counts idle steps and rests accordingly.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    mode: IdleMode,
    steps: u32,
}

impl Idle {
    pub(crate) fn new(mode: IdleMode) -> Self {
        Self { mode, steps: 0 }
    }

    /// A step moved a frame.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.steps = 0;
    }

    /// A step moved nothing. `sleep` is called when it is time to. Whether that was a system call.
    pub(crate) fn rest(&mut self, sleep: impl FnOnce(Duration)) -> bool {
        self.steps = self.steps.saturating_add(1);
        if self.mode == IdleMode::Spin || self.steps <= SPINS {
            std::hint::spin_loop();
            return false;
        }
        if self.steps <= SPINS + YIELDS {
            std::thread::yield_now();
        } else {
            let sleeps = u64::from(self.steps - SPINS - YIELDS);
            sleep(Duration::from_micros(
                (sleeps * SLEEP_STEP_US).min(SLEEP_MAX_US),
            ));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dozing_begins_after_spinning_and_anew_after_a_frame() {
        let mut idle = Idle::new(IdleMode::Doze);
        for round in 0..2 {
            let calls = (0..SPINS).filter(|_| idle.rest(|_| panic!("too soon")));
            assert_eq!(calls.count(), 0, "round {round}");
            let mut naps = Vec::new();
            for _ in 0..YIELDS + 40 {
                assert!(idle.rest(|nap| naps.push(nap)));
            }
            assert_eq!(naps.len(), 40);
            assert_eq!(naps[0], Duration::from_micros(SLEEP_STEP_US));
            assert_eq!(naps[39], Duration::from_micros(SLEEP_MAX_US));
            idle.reset();
        }
    }

    #[test]
    fn spinning_never_calls_the_kernel() {
        let mut idle = Idle::new(IdleMode::Spin);
        assert!((0..4 * (SPINS + YIELDS)).all(|_| !idle.rest(|_| panic!("it sleeps"))));
    }
}
