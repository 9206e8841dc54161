//! To whom the keeper hands what it made, and whom it asks about hits.

use plane::Policy;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use table::CompiledLists;

/// Where versions go: the workers of a run, or something that stands for them.
pub trait Publish: Send {
    /// Hands lists and the policy that speaks for them to the workers, both at once. Returns the
    /// number of the version, which grows.
    ///
    /// # Errors
    /// A sentence; then the version before stays.
    fn publish(&mut self, lists: &Arc<CompiledLists>, policy: &Arc<Policy>) -> Result<u64, String>;

    /// Waits until every worker uses `version` or a later one; false when `within` is over first.
    fn wait_seen(&mut self, version: u64, within: Duration) -> bool;
}

/// How often an address was hit lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentlyHit {
    /// In the last minute; none where it is not known.
    pub last_minute: Option<u64>,
    /// In the last hour; none where it is not known.
    pub last_hour: Option<u64>,
    /// Each of them may be too high by so many, never too low.
    pub error_max: u64,
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
