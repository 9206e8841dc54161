//! To whom the keeper hands what it made, and whom it asks about hits.

use plane::Ruleset;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Where versions go: the workers of a run, or something that stands for them.
pub trait Publish: Send {
    /// Hands lists and the policy that speaks for them to the workers, both at once. Returns the
    /// number of the version, which grows.
    fn publish(&mut self, next: Ruleset) -> u64;

    /// Waits until every worker uses `version` or a later one; false when `within` is over first.
    fn wait_seen(&mut self, version: u64, within: Duration) -> bool;
}

impl Publish for engine::Publisher {
    fn publish(&mut self, next: Ruleset) -> u64 {
        Self::publish(self, next)
    }

    fn wait_seen(&mut self, version: u64, within: Duration) -> bool {
        Self::wait_seen(self, version, within)
    }
}

/// Stands for workers that are not there yet: the keeper can begin, and lists can be loaded,
/// before the first frame is let in. Clones are the same.
#[derive(Clone, Default)]
pub struct Deferred {
    state: Arc<Mutex<DeferredState>>,
}

#[derive(Default)]
struct DeferredState {
    /// What was published last, until there are workers.
    waiting: Option<Ruleset>,
    workers: Option<engine::Publisher>,
}

impl Deferred {
    /// Begins a run with what was published last, which `start` is given, and hands it whatever
    /// comes after that. Nothing is published meanwhile.
    ///
    /// # Errors
    /// Those of `start`; then it is still deferred. None where no keeper has begun.
    pub fn attach<E>(
        &self,
        start: impl FnOnce(Ruleset) -> Result<engine::Publisher, E>,
    ) -> Option<Result<(), E>> {
        let mut state = self.lock();
        let first = state.waiting.clone()?;
        Some(start(first).map(|workers| {
            state.waiting = None;
            state.workers = Some(workers);
        }))
    }

    fn lock(&self) -> MutexGuard<'_, DeferredState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Publish for Deferred {
    fn publish(&mut self, next: Ruleset) -> u64 {
        let mut state = self.lock();
        if let Some(workers) = &state.workers {
            return workers.publish(next);
        }
        state.waiting = Some(next);
        // A run counts from 1: by then whatever was published before it is seen.
        1
    }

    fn wait_seen(&mut self, version: u64, within: Duration) -> bool {
        let workers = self.lock().workers.clone();
        workers.is_none_or(|workers| workers.wait_seen(version, within))
    }
}

/// How often an address was hit lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentlyHit {
    /// In the last minute; none where it is not known.
    pub last_minute: Option<u64>,
    /// In the last hour; none where it is not known.
    pub last_hour: Option<u64>,
    /// The count of the last minute may be too high by so many, never too low.
    pub minute_error: u64,
    /// The same of the last hour.
    pub hour_error: u64,
}

/// Who knows what was hit lately.
pub trait RecentHits: Send + Sync {
    /// Hits of an address in the set at place `set` of the configuration.
    fn recently_hit(&self, set: usize, address: IpAddr) -> RecentlyHit;
}

/// Knows nothing of hits.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHits;

impl RecentHits for NoHits {
    fn recently_hit(&self, _: usize, _: IpAddr) -> RecentlyHit {
        RecentlyHit::default()
    }
}

impl fmt::Debug for dyn RecentHits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecentHits")
    }
}
