//! All that is known of a namespace's routing, and what an update changes.

use std::collections::BTreeMap;

use super::address::{Address, AddressKey};
use super::link::Link;
use super::message::{Listing, Update};
use super::neighbour::{Neighbour, NeighbourKey};
use super::next_hop::NextHops;
use super::routes::{Effect, Routes};
use super::{Change, RouteKey};

/// What is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) links: BTreeMap<u32, Link>,
    pub(super) addresses: BTreeMap<AddressKey, Address>,
    pub(super) next_hops: NextHops,
    pub(super) routes: Routes,
    pub(super) neighbours: BTreeMap<NeighbourKey, Neighbour>,
}

/// What updates did.
#[derive(Debug, Default)]
pub(super) struct Effects {
    pub(super) changes: Vec<Change>,
    /// What is known may be wrong: the kernel drops routes of a link or an address that is gone
    /// without a word.
    pub(super) is_doubtful: bool,
    /// What is known may be wrong, if the updates were applied to what is newer than they.
    pub(super) is_ambiguous: bool,
}

impl State {
    /// Takes an update in.
    pub(super) fn apply(&mut self, update: Update, effects: &mut Effects) {
        match update {
            Update::Link(link) => self.link(link, effects),
            Update::LinkGone(index) => {
                if self.links.remove(&index).is_some() {
                    effects.changes.push(Change::Link(index));
                    effects.is_doubtful = true;
                }
            }
            Update::Address(address) => {
                let key = address.key;
                if self.addresses.insert(key, address) != Some(address) {
                    effects.changes.push(Change::Address(key));
                }
            }
            Update::AddressGone(key) => {
                if self.addresses.remove(&key).is_some() {
                    effects.changes.push(Change::Address(key));
                    effects.is_doubtful |= key.address.is_ipv4();
                }
            }
            Update::Neighbour(neighbour) => {
                let key = neighbour.key;
                if self.neighbours.insert(key, neighbour) != Some(neighbour) {
                    effects.changes.push(Change::Neighbour(key));
                }
            }
            Update::NeighbourGone(key) => {
                if self.neighbours.remove(&key).is_some() {
                    effects.changes.push(Change::Neighbour(key));
                }
            }
            update => self.apply_to_routes(update, effects),
        }
    }

    fn apply_to_routes(&mut self, update: Update, effects: &mut Effects) {
        match update {
            Update::NextHop(id, object) => {
                let old = self.next_hops.0.insert(id, object);
                if old.as_ref() != self.next_hops.0.get(&id) {
                    self.moved(id, effects);
                }
            }
            Update::NextHopGone(id) => {
                // The kernel drops the routes that go by it, those of IPv4 without a word.
                self.next_hops.0.remove(&id);
                let dropped = self.routes.remove_by(id);
                effects.changes.extend(dropped.iter().map(Change::of));
            }
            Update::Route(mut placed, standing) => {
                let key = placed.key;
                self.next_hops.resolve(&mut placed.route);
                let effect = self.routes.insert(placed, standing);
                effects.route(key, effect);
            }
            Update::RouteGone(placed) => {
                let object = placed.route.next_hop;
                let is_dropped = object.is_some_and(|id| !self.next_hops.0.contains_key(&id));
                match self.routes.remove(&placed) {
                    Effect::Doubtful if is_dropped => {}
                    effect => effects.route(placed.key, effect),
                }
            }
            _ => {}
        }
    }

    /// A next-hop object is not what it was, nor are the groups that it is in.
    fn moved(&mut self, id: u32, effects: &mut Effects) {
        let groups: Vec<u32> = self.next_hops.groups_of(id).collect();
        for id in groups.into_iter().chain([id]) {
            let changed = self.routes.resolve(id, &self.next_hops);
            effects.changes.extend(changed.iter().map(Change::of));
        }
    }

    fn link(&mut self, link: Link, effects: &mut Effects) {
        let (index, is_up) = (link.index, link.is_up);
        let old = self.links.get(&index);
        if old == Some(&link) {
            return;
        }
        effects.is_doubtful |= old.is_some_and(|old| old.is_up && !is_up);
        effects.changes.push(Change::Link(index));
        self.links.insert(index, link);
    }

    /// Takes over what another state has of this listing; what differs is a change.
    pub(super) fn take_over(&mut self, listing: Listing, mut fresh: Self, effects: &mut Effects) {
        let changes = &mut effects.changes;
        match listing {
            Listing::Links => {
                let differing = differing(&self.links, &fresh.links);
                changes.extend(differing.map(|index| Change::Link(*index)));
                self.links = fresh.links;
            }
            Listing::Addresses => {
                let differing = differing(&self.addresses, &fresh.addresses);
                changes.extend(differing.map(|key| Change::Address(*key)));
                self.addresses = fresh.addresses;
            }
            Listing::Neighbours => {
                let differing = differing(&self.neighbours, &fresh.neighbours);
                changes.extend(differing.map(|key| Change::Neighbour(*key)));
                self.neighbours = fresh.neighbours;
            }
            Listing::Routes => {
                fresh.routes.resolve_all(&self.next_hops);
                let differing = differing(self.routes.all(), fresh.routes.all());
                changes.extend(differing.map(Change::of));
                self.routes = fresh.routes;
            }
            Listing::NextHops => {
                let moved: Vec<u32> = differing(&self.next_hops.0, &fresh.next_hops.0)
                    .copied()
                    .collect();
                self.next_hops = fresh.next_hops;
                moved.iter().for_each(|id| self.moved(*id, effects));
            }
        }
    }
}

impl Effects {
    fn route(&mut self, key: RouteKey, effect: Effect) {
        match effect {
            Effect::Nothing => {}
            Effect::Changed => self.changes.push(Change::of(&key)),
            Effect::Doubtful => self.is_doubtful = true,
            Effect::Ambiguous => {
                self.changes.push(Change::of(&key));
                self.is_ambiguous = true;
            }
        }
    }
}

/// The keys whose values are not the same in both.
fn differing<'a, K: Ord, V: PartialEq>(
    old: &'a BTreeMap<K, V>,
    new: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = &'a K> {
    let gone = old.keys().filter(|key| !new.contains_key(key));
    let changed = new
        .iter()
        .filter(|(key, value)| old.get(key) != Some(value))
        .map(|(key, _)| key);
    gone.chain(changed)
}
