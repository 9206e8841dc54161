//! Routes of the kernel as routes of the router.

use std::net::IpAddr;

use netdev::routing::{
    LOCAL_TABLE, MAIN_TABLE, Mirror, Prefix as KernelPrefix, Route, RouteKey, RouteKind,
    Unsupported,
};
use plane::router::{Hop, Prefix, Way};

use super::interfaces::Interfaces;

/// Whether routes of a table are followed.
pub(super) fn is_followed(table: u32) -> bool {
    matches!(table, MAIN_TABLE | LOCAL_TABLE)
}

/// All routes; of two for one prefix the later.
pub(super) fn all(mirror: &Mirror, interfaces: &Interfaces) -> impl Iterator<Item = (Prefix, Way)> {
    let main = mirror
        .routes_in_force(MAIN_TABLE)
        .filter_map(|(key, route)| {
            let way = of_main(mirror, interfaces, key, route)?;
            Some((shown(key.prefix), way))
        });
    let local = mirror.routes_in_force(LOCAL_TABLE);
    let local = local.filter_map(|(key, route)| Some((shown(key.prefix), of_local(key, route)?)));
    main.chain(local)
}

/// The route to one prefix: the table of own addresses comes before the others.
pub(super) fn to(mirror: &Mirror, interfaces: &Interfaces, prefix: Prefix) -> Option<Way> {
    let asked = KernelPrefix {
        address: prefix.first,
        length: prefix.len,
    };
    let local = mirror.route_in_force(LOCAL_TABLE, asked);
    let local = local.and_then(|(key, route)| of_local(key, route));
    local.or_else(|| {
        let (key, route) = mirror.route_in_force(MAIN_TABLE, asked)?;
        of_main(mirror, interfaces, key, route)
    })
}

/// The addresses that packets from elsewhere do not come from.
pub(super) fn own_addresses(mirror: &Mirror) -> Vec<IpAddr> {
    let local = mirror.routes_in_force(LOCAL_TABLE);
    let own = local.filter(|(key, route)| {
        let is_own = matches!(route.kind, RouteKind::Local | RouteKind::Broadcast);
        is_own && Prefix::of_one(key.prefix.address) == shown(key.prefix)
    });
    own.map(|(key, _)| key.prefix.address).collect()
}

/// A prefix as the router has it.
pub(super) fn shown(prefix: KernelPrefix) -> Prefix {
    Prefix {
        first: prefix.address,
        len: prefix.length,
    }
}

fn of_local(key: &RouteKey, route: &Route) -> Option<Way> {
    match route.kind {
        _ if is_of_one_link(key.prefix) => None,
        RouteKind::Local | RouteKind::Anycast => Some(Way::Local),
        RouteKind::Broadcast => Some(Way::Broadcast),
        _ => None,
    }
}

/// None where the kernel passes the route over, too.
fn of_main(mirror: &Mirror, interfaces: &Interfaces, key: &RouteKey, route: &Route) -> Option<Way> {
    if is_of_one_link(key.prefix) {
        return None;
    }
    // A shorter prefix would carry packets where nobody sent them.
    if refusal(key, route).is_some() {
        return Some(Way::Unreachable);
    }
    match route.kind {
        RouteKind::Unicast => via(mirror, interfaces, route),
        RouteKind::Local | RouteKind::Anycast => Some(Way::Local),
        RouteKind::Broadcast | RouteKind::Multicast => Some(Way::Broadcast),
        RouteKind::Blackhole => Some(Way::Blackhole),
        RouteKind::Prohibit => Some(Way::Prohibited),
        RouteKind::Unreachable | RouteKind::Throw | RouteKind::Other(_) => Some(Way::Unreachable),
    }
}

/// By hops whose link is up. Those by links that the router has not cannot be taken.
fn via(mirror: &Mirror, interfaces: &Interfaces, route: &Route) -> Option<Way> {
    let mut is_alive = false;
    let mut hops = Vec::new();
    for hop in mirror.hops_alive(route) {
        is_alive = true;
        let interface = hop.link.and_then(|link| interfaces.of_link(link));
        hops.extend(interface.map(|interface| {
            let gateway = hop.gateway;
            (Hop { gateway, interface }, hop.weight)
        }));
    }
    match (is_alive, hops.is_empty()) {
        (false, _) => None,
        (true, true) => Some(Way::Unreachable),
        (true, false) => Some(Way::Via(hops)),
    }
}

/// Packets to it are never forwarded.
fn is_of_one_link(prefix: KernelPrefix) -> bool {
    match prefix.address {
        IpAddr::V4(first) => first.is_multicast(),
        IpAddr::V6(first) => first.is_multicast() || first.is_unicast_link_local(),
    }
}

/// The routes that are not followed, and why.
pub(super) fn obstacles(mirror: &Mirror) -> impl Iterator<Item = (Prefix, Unsupported)> {
    let all = mirror.routes_in_force(MAIN_TABLE);
    let of_one =
        |(key, route): (&RouteKey, &Route)| Some((shown(key.prefix), refusal(key, route)?));
    all.filter_map(of_one)
}

fn refusal(key: &RouteKey, route: &Route) -> Option<Unsupported> {
    // By an IPv6 router to IPv4 networks (RFC 8950): the next hop is found by its address.
    match route.unsupported(key)? {
        Unsupported::GatewayOfOtherFamily => {
            let encapsulates = route.hops.iter().any(|hop| hop.is_encapsulated);
            encapsulates.then_some(Unsupported::Encapsulation)
        }
        obstacle => Some(obstacle),
    }
}

/// Why a route that packets would take is not followed, where that is so.
pub(super) fn obstacle(mirror: &Mirror, prefix: Prefix) -> Option<Unsupported> {
    let asked = KernelPrefix {
        address: prefix.first,
        length: prefix.len,
    };
    let (key, route) = mirror.route_in_force(MAIN_TABLE, asked)?;
    refusal(key, route)
}
