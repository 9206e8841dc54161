//! Bringing the pages of tables home when changes have paused.
//!
//! A change copies the pages it touches to other places, and lookups are slower by up to a quarter
//! from then on ([`table::live::LiveLists::compact`]). While changes come one after the other
//! nothing can be done about it; some time after the last the keeper makes versions without any
//! change, until all lies where it lay.

use super::keeper::Running;
use frame::Nanos;
use std::time::Duration;
use table::live::Compacted;

/// Changes have paused when none came for so long.
const PAUSE: Duration = Duration::from_millis(100);

/// Until the next step, for which workers must have moved on from the version before.
const NEXT: Duration = Duration::from_millis(5);

/// Until the next try when somebody has the pages still: a load, or a worker that does not move on.
const RETRY: Duration = Duration::from_secs(1);

impl Running {
    /// There is a version that changes have made.
    pub(super) fn compact_pages_later(&mut self) {
        self.compact_pages_at = Some(self.now().after(PAUSE));
    }

    /// Makes and publishes one version whose pages lie better, if it is time.
    pub(super) fn compact_pages(&mut self) {
        let now = self.now();
        let is_due = self.compact_pages_at.is_some_and(|due| due <= now.mono);
        if is_due && self.bulks.is_empty() {
            self.compact_pages_at = self.step_pages();
        }
    }

    /// When to go on, unless it is done. Nobody waits for the workers: the lists are the same.
    fn step_pages(&mut self) -> Option<Nanos> {
        let done = self.sets.live.compact();
        let is_handed_over = self.hand_over().is_ok();
        let now = self.now();
        match done {
            Ok(Compacted {
                version: None,
                displaced: 0,
            }) => None,
            // Once more also when all is at home: what the version before had is given back then.
            Ok(Compacted {
                version: Some(_), ..
            }) if is_handed_over => Some(now.after(NEXT)),
            // Without memory for copies too: lookups are right as they are.
            _ => Some(now.after(RETRY)),
        }
    }
}
