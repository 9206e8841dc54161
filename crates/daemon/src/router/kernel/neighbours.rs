//! Neighbours of the kernel: what workers are told of them, and which of them packets wait for.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use netdev::routing::{Mirror, Neighbour, NeighbourKey, NeighbourState, Resolver};
use plane::router::{Followed, InterfaceId, Told, Wanted};
use wire::MacAddress;

use super::interfaces::Interfaces;

/// What workers know, and whom they want.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    told: BTreeMap<(InterfaceId, IpAddr), MacAddress>,
    /// Those that packets waited for. The kernel keeps them found, since it sees no packet to them.
    used: BTreeSet<NeighbourKey>,
}

impl Neighbours {
    /// What workers are to be told, when one neighbour changed.
    pub(super) fn one(
        &mut self,
        mirror: &Mirror,
        interfaces: &Interfaces,
        key: &NeighbourKey,
    ) -> Option<Followed> {
        let interface = interfaces.of_link(key.link)?;
        let place = (interface, key.address);
        let known = mirror.neighbour(key);
        let is_failed = known.is_some_and(|known| known.state == NeighbourState::Failed);
        let told = match known.and_then(ethernet) {
            Some(mac) if self.told.insert(place, mac) == Some(mac) => return None,
            Some(mac) => Told::Known(mac),
            None if is_failed => {
                self.told.remove(&place);
                Told::Failed
            }
            None => {
                self.told.remove(&place)?;
                Told::Gone
            }
        };
        Some(followed(place, told))
    }

    /// What workers are to be told, when links are others.
    pub(super) fn all(&mut self, mirror: &Mirror, interfaces: &Interfaces) -> Vec<Followed> {
        let known = mirror.neighbours().filter_map(|known| {
            let interface = interfaces.of_link(known.key.link)?;
            Some(((interface, known.key.address), ethernet(known)?))
        });
        let now: BTreeMap<_, _> = known.collect();
        let before = std::mem::replace(&mut self.told, now);
        let gone = before.keys().filter(|place| !self.told.contains_key(place));
        let gone = gone.map(|&place| followed(place, Told::Gone));
        let new = self.told.iter();
        let new = new.filter(|(place, mac)| before.get(place) != Some(mac));
        let new = new.map(|(&place, &mac)| followed(place, Told::Known(mac)));
        gone.chain(new).collect()
    }

    /// Packets wait for a neighbour: the kernel is asked for it, or workers are told once more.
    pub(super) fn want(
        &mut self,
        mirror: &Mirror,
        interfaces: &Interfaces,
        resolver: &mut Resolver,
        wanted: &Wanted,
    ) -> Option<Followed> {
        let link = interfaces.link_of(wanted.interface)?;
        let key = NeighbourKey {
            link,
            address: wanted.address,
        };
        self.used.insert(key);
        if let Some(mac) = mirror.neighbour(&key).and_then(ethernet) {
            let place = (wanted.interface, wanted.address);
            self.told.insert(place, mac);
            self.look_after(mirror, resolver, &key);
            return Some(followed(place, Told::Known(mac)));
        }
        // A link that goes down meanwhile, or the like: who waits is given up in some seconds.
        let _refused = resolver.find(mirror, &key);
        None
    }

    /// Has the kernel keep a neighbour found that is used, and no longer look for one that is not
    /// there any more.
    pub(super) fn look_after(
        &mut self,
        mirror: &Mirror,
        resolver: &mut Resolver,
        key: &NeighbourKey,
    ) {
        if !self.used.contains(key) {
            return;
        }
        let Some(known) = mirror.neighbour(key) else {
            self.used.remove(key);
            return;
        };
        let _refused = match known.state {
            NeighbourState::Failed => {
                self.used.remove(key);
                match known.is_managed {
                    true => resolver.find(mirror, key),
                    false => Ok(()),
                }
            }
            NeighbourState::Stale | NeighbourState::Reachable if !known.is_managed => {
                resolver.keep(mirror, key)
            }
            _ => Ok(()),
        };
    }

    /// The kernel need not keep any of them found from now on.
    pub(super) fn let_go(&mut self, mirror: &Mirror, resolver: &mut Resolver) {
        for key in std::mem::take(&mut self.used) {
            let known = mirror.neighbour(&key);
            if known.is_some_and(|known| known.is_managed) {
                let _refused = resolver.find(mirror, &key);
            }
        }
    }
}

fn followed((interface, address): (InterfaceId, IpAddr), told: Told) -> Followed {
    Followed {
        interface,
        address,
        told,
    }
}

/// The Ethernet address of a neighbour, where packets can be sent to it.
fn ethernet(known: &Neighbour) -> Option<MacAddress> {
    let mac = known.mac.filter(|_| known.state.is_valid())?;
    (!mac.is_multicast() && mac.0 != [0; 6]).then_some(mac)
}
