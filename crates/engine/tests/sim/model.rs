//! What a switch should do, one frame after another, as if there were one worker and a map.

use std::collections::HashMap;

use frame::PortId;
use plane::Ports;

use crate::shape::Shape;

type Mac = [u8; 6];

/// That a station was seen.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    port: PortId,
    at_ms: u64,
}

/// Where a frame should leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// By these ports; by none where it is dropped.
    By(Ports),
    /// By one of the first or by all of the second: what workers know of a station differs until
    /// it settles.
    Either(Ports, Ports),
}

/// A frame that a worker decides on.
pub(crate) struct Asked<'a> {
    pub(crate) from: PortId,
    pub(crate) now_ms: u64,
    pub(crate) bytes: &'a [u8],
}

pub(crate) struct Model {
    shape: Shape,
    /// By VLAN and address: the last sighting behind each port.
    stations: HashMap<(u16, Mac), Vec<Sighting>>,
    /// Addresses whose packets are dropped, as the last version of the lists has them.
    pub(crate) blocked: Vec<u32>,
}

impl Model {
    pub(crate) fn new(shape: &Shape) -> Self {
        Self {
            shape: shape.clone(),
            stations: HashMap::new(),
            blocked: Vec::new(),
        }
    }

    /// Whether the policy lets a frame pass.
    pub(crate) fn passes(&self, bytes: &[u8]) -> bool {
        let source = u32::from_be_bytes(bytes[26..30].try_into().expect("four bytes"));
        !self.blocked.contains(&source)
    }

    /// Where a frame should leave that may pass.
    pub(crate) fn decide(&mut self, asked: &Asked<'_>) -> Expected {
        let to: Mac = asked.bytes[..6].try_into().expect("six bytes");
        let source: Mac = asked.bytes[6..12].try_into().expect("six bytes");
        let from = asked.from.index();
        let vlan = self.shape.ports[from].vlan;
        let all = self.shape.others(from);
        self.learn((vlan, source), asked);
        // It teaches, and goes no further.
        if to[..5] == [1, 0x80, 0xC2, 0, 0] {
            return Expected::By(Ports::NONE);
        }
        let only = |port| all.minus(all.without(port));
        let all_seen = self
            .stations
            .get(&(vlan, to))
            .filter(|_| to[0].is_multiple_of(2));
        let Some(seen) = all_seen else {
            return Expected::By(all);
        };
        let age = |one: &Sighting| asked.now_ms - one.at_ms;
        let fresh: Vec<&Sighting> = seen
            .iter()
            .filter(|one| age(one) < self.shape.age_ms)
            .collect();
        let Some(last) = fresh.last() else {
            return Expected::By(all);
        };
        let others = &fresh[..fresh.len() - 1];
        let is_settled = others.iter().all(|one| one.at_ms < last.at_ms);
        // Others are told of a station again after an eighth of its age.
        let told_ms = self.shape.age_ms - self.shape.age_ms * 10 / 64 - 2;
        if self.shape.workers == 1 || is_settled && age(last) < told_ms {
            return Expected::By(only(last.port));
        }
        let any = fresh.iter().map(|one| only(one.port));
        let any = any.fold(Ports::NONE, |sum, port| port.iter().fold(sum, Ports::with));
        Expected::Either(any, all)
    }

    /// The last sighting is the last of the list.
    fn learn(&mut self, station: (u16, Mac), asked: &Asked<'_>) {
        let seen = self.stations.entry(station).or_default();
        seen.retain(|one| one.port != asked.from);
        seen.push(Sighting {
            port: asked.from,
            at_ms: asked.now_ms,
        });
    }
}

impl Expected {
    pub(crate) fn allows(self, ports: Ports) -> bool {
        match self {
            Self::By(expected) => ports == expected,
            Self::Either(any, all) => {
                let is_one = ports.iter().count() <= 1 && ports.minus(any) == Ports::NONE;
                is_one || ports == all
            }
        }
    }
}
