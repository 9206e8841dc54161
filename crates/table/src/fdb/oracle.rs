//! What a database should answer, worked out the slow and obvious way: a map, and every rule
//! written down once more. It has no limits.

use std::collections::BTreeMap;

use super::entry::Mac;
use super::{Learned, PortId};

pub(super) type Station = (u16, Mac);

/// When and by whom a station was seen: the greater one counts more, and of equals the newer.
pub(super) type Stamp = (u64, std::cmp::Reverse<u16>);

#[derive(Clone, Copy, Debug)]
struct Known {
    port: PortId,
    /// `None` of static ones.
    seen: Option<Stamp>,
}

#[derive(Debug, Default)]
pub(super) struct Oracle {
    pub(super) age_ms: u64,
    pub(super) now_ms: u64,
    pub(super) worker: u16,
    stations: BTreeMap<Station, Known>,
    gone: BTreeMap<PortId, u64>,
}

impl Oracle {
    pub(super) fn new(age_ms: u32, now_ms: u64) -> Self {
        Self {
            age_ms: u64::from(age_ms),
            now_ms,
            ..Self::default()
        }
    }

    pub(super) fn lookup(&self, station: Station) -> Option<PortId> {
        let known = self.stations.get(&station)?;
        let Some((seen, _)) = known.seen else {
            return Some(known.port);
        };
        let is_gone = self.gone.get(&known.port).is_some_and(|&at| seen <= at);
        (self.now_ms < seen + self.age_ms && !is_gone).then_some(known.port)
    }

    pub(super) fn learn(&mut self, station: Station, port: PortId) -> Learned {
        let stamp = (self.now_ms, std::cmp::Reverse(self.worker));
        let before = self.lookup(station);
        let known = self.stations.get(&station).copied();
        if let (Some(at), Some(Known { seen: None, .. })) = (before, known) {
            return match at == port {
                true => Learned::Same,
                false => Learned::Fixed { at },
            };
        }
        let taken = self.see(station, port, stamp);
        match before {
            None => Learned::New,
            Some(at) if at == port => Learned::Same,
            Some(from) if taken => Learned::Moved { from },
            Some(_) => Learned::Outdated,
        }
    }

    /// Whether the sighting is what is known now.
    pub(super) fn see(&mut self, station: Station, port: PortId, stamp: Stamp) -> bool {
        if self.now_ms >= stamp.0 + self.age_ms {
            return false;
        }
        let fresh = self.lookup(station).is_some();
        let known = self.stations.get(&station).filter(|_| fresh);
        let taken = known.is_none_or(|known| known.seen.is_some_and(|seen| seen <= stamp));
        if taken {
            let seen = Some(stamp);
            self.stations.insert(station, Known { port, seen });
        }
        taken
    }

    pub(super) fn set_static(&mut self, station: Station, port: PortId) {
        let seen = None;
        self.stations.insert(station, Known { port, seen });
    }

    pub(super) fn forget(&mut self, station: Station) -> bool {
        let known = self.lookup(station).is_some();
        self.stations.remove(&station);
        known
    }

    pub(super) fn forget_port(&mut self, port: PortId) {
        self.gone.insert(port, self.now_ms);
    }

    pub(super) fn all(&self) -> Vec<(Station, PortId)> {
        let stations = self.stations.keys();
        stations
            .filter_map(|&station| Some((station, self.lookup(station)?)))
            .collect()
    }
}
