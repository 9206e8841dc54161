//! A route as answers have it.

use plane::router::{InterfaceId, Prefix, RouterTable, Target};

use crate::rpc::answers::{HopFacts, RouteFacts};

/// A route of a table: its prefix, and where it leads.
#[must_use]
pub fn route_facts(route: (Prefix, &Target), table: &RouterTable) -> RouteFacts {
    let (prefix, target) = route;
    let (kind, hops) = match target {
        Target::Local => ("local", &[][..]),
        Target::Broadcast => ("broadcast", &[][..]),
        Target::Via(hops) => ("unicast", hops.hops()),
        Target::Blackhole => ("blackhole", &[][..]),
        Target::Unreachable => ("unreachable", &[][..]),
        Target::Prohibited => ("prohibit", &[][..]),
    };
    let hops = hops.iter().map(|hop| HopFacts {
        gateway: hop.gateway.map(|gateway| gateway.to_string()),
        interface: name_of(hop.interface, table),
    });
    RouteFacts {
        prefix: prefix.to_string(),
        kind: kind.to_owned(),
        hops: hops.collect(),
    }
}

/// The name of an interface of the table.
pub(crate) fn name_of(interface: InterfaceId, table: &RouterTable) -> String {
    let own = table.config().interfaces.get(usize::from(interface.0));
    own.map_or_else(String::new, |own| own.name.clone())
}
