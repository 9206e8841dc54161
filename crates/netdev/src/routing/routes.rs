//! The routes there are, kept in order as the kernel keeps its own.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::message::Standing;
use super::next_hop::NextHops;
use super::route::{Hop, Route, RouteKey, RouteKind, in_order};
use super::route_message::Placed;

/// What a message did to the routes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Changed,
    /// It is about a route that is not known, so others may be missing too.
    Doubtful,
    /// It may have replaced another one, if it was applied to what is newer than it.
    Ambiguous,
}

/// Routes by where they stand. Several may stand in one place: of those the first is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Routes {
    by_key: BTreeMap<RouteKey, Vec<Route>>,
    /// Where the routes stand that go by a next-hop object.
    by_object: BTreeMap<u32, BTreeSet<RouteKey>>,
}

impl Routes {
    /// All, in order.
    pub(super) fn all(&self) -> &BTreeMap<RouteKey, Vec<Route>> {
        &self.by_key
    }

    /// There is this route now.
    pub(super) fn insert(&mut self, placed: Placed, standing: Standing) -> Effect {
        let Placed { key, route } = placed;
        let is_ipv4 = key.prefix.address.is_ipv4();
        self.edit(key, |here| match (standing, is_ipv4) {
            (Standing::Listed, _) => match here.iter().any(|other| other.is_same(&route)) {
                true => Effect::Nothing,
                false => put(here, usize::MAX, route),
            },
            (_, true) => insert_ipv4(here, route, standing),
            (_, false) if route.can_have_hops() => insert_hops(here, route, standing),
            (_, false) => insert_ipv6(here, route, standing),
        })
    }

    /// This route, or this hop of it, is gone.
    pub(super) fn remove(&mut self, placed: &Placed) -> Effect {
        let Placed { key, route: gone } = placed;
        if !self.by_key.contains_key(key) {
            return Effect::Nothing;
        }
        self.edit(*key, |here| {
            if let Some(at) = here.iter().position(|route| route.is_same(gone)) {
                here.remove(at);
                return Effect::Changed;
            }
            let larger = here.iter_mut().find(|route| gone.is_part_of(route));
            match larger.filter(|_| !key.prefix.address.is_ipv4()) {
                None => Effect::Doubtful,
                Some(route) => {
                    route.lose(&gone.hops);
                    Effect::Changed
                }
            }
        })
    }

    /// Gives the routes that go by this next-hop object anew what it says. Returns where that
    /// changed one.
    pub(super) fn resolve(&mut self, id: u32, objects: &NextHops) -> Vec<RouteKey> {
        let mut changed = Vec::new();
        for key in self.by_object.get(&id).into_iter().flatten() {
            let Some(here) = self.by_key.get_mut(key) else {
                continue;
            };
            for route in here.iter_mut().filter(|route| route.next_hop == Some(id)) {
                let before = route.clone();
                objects.resolve(route);
                if *route != before {
                    changed.push(*key);
                }
            }
        }
        changed
    }

    /// The same for all next-hop objects.
    pub(super) fn resolve_all(&mut self, objects: &NextHops) {
        let ids: Vec<u32> = self.by_object.keys().copied().collect();
        for id in ids {
            self.resolve(id, objects);
        }
    }

    /// Removes the routes that go by this next-hop object. Returns where they stood.
    pub(super) fn remove_by(&mut self, id: u32) -> BTreeSet<RouteKey> {
        let keys = self.by_object.get(&id).cloned().unwrap_or_default();
        for key in &keys {
            self.edit(*key, |here| {
                here.retain(|route| route.next_hop != Some(id));
                Effect::Changed
            });
        }
        keys
    }

    /// Changes the routes of a key, whatever they become.
    fn edit(&mut self, key: RouteKey, change: impl FnOnce(&mut Vec<Route>) -> Effect) -> Effect {
        let here = self.by_key.entry(key).or_default();
        let ids = |here: &[Route]| here.iter().filter_map(|route| route.next_hop).collect();
        let before: Vec<u32> = ids(here);
        let effect = change(here);
        let after: Vec<u32> = ids(here);
        if here.is_empty() {
            self.by_key.remove(&key);
        }
        for id in before.iter().filter(|id| !after.contains(id)) {
            if let Entry::Occupied(mut keys) = self.by_object.entry(*id) {
                keys.get_mut().remove(&key);
                if keys.get().is_empty() {
                    keys.remove();
                }
            }
        }
        for id in after.iter().filter(|id| !before.contains(id)) {
            self.by_object.entry(*id).or_default().insert(key);
        }
        effect
    }
}

/// Puts a route at this position, in place of one that is there.
fn put(here: &mut Vec<Route>, at: usize, route: Route) -> Effect {
    match here.get_mut(at) {
        Some(old) if *old == route => return Effect::Nothing,
        Some(old) => *old = route,
        None => here.push(route),
    }
    Effect::Changed
}

/// The kernel sends no message about a route that it has, but where its next-hop object changed.
/// There may be such a route all the same: in a listing that is newer than the message.
fn insert_ipv4(here: &mut Vec<Route>, route: Route, standing: Standing) -> Effect {
    let same = here.iter().position(|other| other.is_same(&route));
    match (standing, same) {
        (Standing::Instead, None | Some(0)) => put(here, 0, route),
        (Standing::Instead, Some(at)) if route.next_hop.is_none() => {
            here.remove(at);
            put(here, 0, route)
        }
        (Standing::Instead, Some(at)) => {
            put(here, at, route);
            Effect::Ambiguous
        }
        (_, Some(at)) => put(here, at, route),
        (Standing::First, None) => {
            here.insert(0, route);
            Effect::Changed
        }
        (Standing::Last | Standing::Listed, None) => put(here, usize::MAX, route),
    }
}

/// An IPv6 route to gateways: a place has one, and each message about it names all its hops.
fn insert_hops(here: &mut Vec<Route>, route: Route, standing: Standing) -> Effect {
    let at = here.iter().position(Route::can_have_hops);
    let otherwise = match standing {
        Standing::Instead => 0,
        _ => here.len(),
    };
    put(here, at.unwrap_or(otherwise), route)
}

/// Any other IPv6 route. In place of which the kernel puts one: the first of its sort, else the
/// first of all.
fn insert_ipv6(here: &mut Vec<Route>, route: Route, standing: Standing) -> Effect {
    let same = here.iter().position(|other| other.is_same(&route));
    let of_its_sort = here.iter().position(|old| !old.can_have_hops());
    match (standing, same) {
        (Standing::Instead, Some(at)) if here.len() > 1 => {
            put(here, at, route);
            Effect::Ambiguous
        }
        (_, Some(at)) => put(here, at, route),
        (Standing::Instead, None) => put(here, of_its_sort.unwrap_or(0), route),
        (_, None) => put(here, usize::MAX, route),
    }
}

impl Route {
    /// An IPv6 route that a further gateway can be added to. (`rt6_qualify_for_ecmp`)
    fn can_have_hops(&self) -> bool {
        const REDIRECT: u8 = 1;
        const ADVERTISED: u8 = 9;
        let is_learnt = matches!(self.protocol, REDIRECT | ADVERTISED);
        let has_gateway = self.hops.iter().any(|hop| hop.gateway.is_some());
        has_gateway && !is_learnt && self.next_hop.is_none()
    }

    /// The other one has all hops of this one, and is alike otherwise.
    fn is_part_of(&self, other: &Self) -> bool {
        if self.kind != RouteKind::Unicast
            || other.kind != RouteKind::Unicast
            || self.next_hop.or(other.next_hop).is_some()
            || self.hops.is_empty()
        {
            return false;
        }
        let mut rest = other.hops.to_vec();
        self.hops.iter().all(|hop| take(&mut rest, hop))
    }

    fn lose(&mut self, gone: &[Hop]) {
        let mut rest = self.hops.to_vec();
        for hop in gone {
            take(&mut rest, hop);
        }
        self.hops = in_order(rest);
    }
}

/// Takes a hop out, whatever its share is: the kernel does not say that of a single one.
fn take(hops: &mut Vec<Hop>, hop: &Hop) -> bool {
    let leads = |hop: &Hop| (hop.gateway, hop.link);
    let at = hops.iter().position(|other| leads(other) == leads(hop));
    at.map(|at| hops.remove(at)).is_some()
}
