//! Hits of single addresses, as the workers counted them.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use engine::{HitRange, Observer};

use crate::sets::{RecentHits, RecentlyHit};

/// Asks the bridge, once there is one. It counts addresses and not the sets that they were found
/// in: an address in two sets has the same hits in both.
pub(super) struct Recent(pub(super) Arc<OnceLock<Observer>>);

impl RecentHits for Recent {
    fn recently_hit(&self, _: usize, address: IpAddr) -> RecentlyHit {
        let Some(observer) = self.0.get() else {
            return RecentlyHit::default();
        };
        let hits = observer.hits_of(address);
        let off = |range: HitRange| range.at_most - range.at_least;
        RecentlyHit {
            last_minute: Some(hits.minute.at_most),
            last_hour: Some(hits.hour.at_most),
            minute_error: off(hits.minute),
            hour_error: off(hits.hour),
        }
    }
}
