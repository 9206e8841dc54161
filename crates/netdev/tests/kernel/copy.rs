//! A copy of a mirror that takes over no more than what changes name.

use std::collections::BTreeMap;

use netdev::routing::{
    Address, AddressKey, Change, Link, Mirror, Neighbour, NeighbourKey, Prefix, Route, RouteKey,
};

/// What the changes so far say that there is.
#[derive(Default)]
pub(crate) struct Copy {
    links: BTreeMap<u32, Link>,
    addresses: BTreeMap<AddressKey, Address>,
    neighbours: BTreeMap<NeighbourKey, Neighbour>,
    routes: BTreeMap<(u32, Prefix), Vec<(RouteKey, Route)>>,
}

impl Copy {
    /// Takes over what these changes name.
    pub(crate) fn follow(&mut self, changes: &[Change], mirror: &Mirror) {
        let routes = by_prefix(mirror);
        for change in changes {
            match change {
                Change::Link(index) => put(&mut self.links, *index, mirror.link(*index).cloned()),
                Change::Address(key) => {
                    put(&mut self.addresses, *key, mirror.address(key).copied());
                }
                Change::Neighbour(key) => {
                    put(&mut self.neighbours, *key, mirror.neighbour(key).copied());
                }
                Change::Route { table, prefix } => {
                    let place = (*table, *prefix);
                    put(&mut self.routes, place, routes.get(&place).cloned());
                }
                Change::Unreadable(fault) => panic!("{fault}"),
            }
        }
    }

    /// The copy is the mirror: no change was left out.
    pub(crate) fn must_be(&self, mirror: &Mirror, when: &str) {
        assert!(self.links.values().eq(mirror.links()), "links, {when}");
        assert!(
            self.addresses.values().eq(mirror.addresses()),
            "addresses, {when}"
        );
        assert!(
            self.neighbours.values().eq(mirror.neighbours()),
            "neighbours, {when}"
        );
        assert_eq!(self.routes, by_prefix(mirror), "routes, {when}");
    }
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
}

fn by_prefix(mirror: &Mirror) -> BTreeMap<(u32, Prefix), Vec<(RouteKey, Route)>> {
    let mut routes = BTreeMap::<_, Vec<_>>::new();
    for (key, route) in mirror.routes() {
        let here = routes.entry((key.table, key.prefix)).or_default();
        here.push((*key, route.clone()));
    }
    routes
}

/// All that a mirror has, as changes.
pub(crate) fn everything(mirror: &Mirror) -> Vec<Change> {
    let links = mirror.links().map(|link| Change::Link(link.index));
    let addresses = mirror
        .addresses()
        .map(|address| Change::Address(address.key));
    let neighbours = mirror
        .neighbours()
        .map(|neighbour| Change::Neighbour(neighbour.key));
    let routes = mirror.routes().map(|(key, _)| Change::Route {
        table: key.table,
        prefix: key.prefix,
    });
    links
        .chain(addresses)
        .chain(neighbours)
        .chain(routes)
        .collect()
}
