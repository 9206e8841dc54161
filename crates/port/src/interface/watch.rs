//! When a queue looks after its interface: a queue has no clock, so it counts what it did in vain.

/// Receptions that brought nothing, and attempts to send by an interface that is not there, between
/// two looks. A worker that sleeps 100 us after each, as it does while an
/// interface is away, looks ten times a second; one that spins some thousand times, at 0.5 us a
/// look; one that sleeps in poll every four seconds, but an error of its socket wakes it each time.
const LOOK_EVERY: u32 = 1024;
/// After attempts that failed the looks become as rare as this, so that a failing one, which may
/// take milliseconds, costs little.
const LOOK_EVERY_MAX: u32 = LOOK_EVERY << 8;

/// Counts what one queue did in vain.
#[derive(Debug)]
pub(crate) struct Watch {
    count: u32,
    every: u32,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            count: 0,
            every: LOOK_EVERY,
        }
    }
}

impl Watch {
    /// Nothing came, or nothing could leave; whether it is time to look why.
    #[inline]
    pub(crate) fn in_vain(&mut self) -> bool {
        self.count += 1;
        let due = self.count >= self.every;
        if due {
            self.count = 0;
        }
        due
    }

    /// Something went wrong that a look may mend: the next one comes sooner.
    pub(crate) fn hurry(&mut self) {
        self.count = self.count.max(self.every / 2);
    }

    /// Coming back failed.
    pub(crate) fn failed(&mut self) {
        self.every = (self.every * 2).min(LOOK_EVERY_MAX);
    }

    /// All is well again.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polls_until_due(watch: &mut Watch) -> u32 {
        (1..).find(|_| watch.in_vain()).unwrap_or(0)
    }

    #[test]
    fn looks_become_rare_while_they_fail_and_sooner_when_hurried() {
        let mut watch = Watch::default();
        assert_eq!(polls_until_due(&mut watch), LOOK_EVERY);
        watch.failed();
        assert_eq!(polls_until_due(&mut watch), 2 * LOOK_EVERY);
        watch.hurry();
        assert_eq!(polls_until_due(&mut watch), LOOK_EVERY);
        (0..40).for_each(|_| watch.failed());
        assert_eq!(polls_until_due(&mut watch), LOOK_EVERY_MAX);
        watch.succeeded();
        assert_eq!(polls_until_due(&mut watch), LOOK_EVERY);
    }
}
