//! Routes of text, with the router's own interfaces.

use std::net::IpAddr;

use list::routes::{HopText, RouteKind, RouteText};
use plane::router::{InterfaceId, NextHop, Route, RouteAction, RouterInterface, VrfId};

use super::words::interface_named;

/// What routes of text may name.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) interfaces: &'a [RouterInterface],
    /// Names of VRFs, from number 1 on.
    pub(super) vrfs: &'a [String],
}

/// The prefix of a route.
pub(super) fn shown(text: &RouteText) -> String {
    format!("{}/{}", text.prefix, text.prefix_len)
}

/// The routes meant; `place` says where a wrong one is. Those that the kernel has for itself are
/// left out: a router has them by its interfaces.
pub(super) fn meant(
    texts: &[RouteText],
    known: Known<'_>,
    place: impl Fn(&RouteText) -> String,
) -> Result<Vec<Route>, String> {
    let routes = texts.iter().map(|text| {
        let named = |sentence| format!("{}: {sentence}", place(text));
        route(text, known).map_err(named)
    });
    routes.filter_map(Result::transpose).collect()
}

/// The route of a text; none where it is the kernel's for itself, or of an interface's own prefix.
fn route(text: &RouteText, known: Known<'_>) -> Result<Option<Route>, String> {
    let interfaces = known.interfaces;
    let action = match text.kind {
        RouteKind::Blackhole => RouteAction::Blackhole,
        RouteKind::Unreachable => RouteAction::Unreachable,
        RouteKind::Prohibit => RouteAction::Prohibit,
        RouteKind::Unicast => {
            let hops = text.hops.iter().map(|hop| next_hop(hop, interfaces));
            RouteAction::Via(hops.collect::<Result<_, _>>()?)
        }
        RouteKind::Throw => {
            return Err(
                "a route of the kind throw leads to another table: leave it out".to_owned(),
            );
        }
        _ => return Ok(None),
    };
    let route = Route {
        vrf: known.vrf(text.table.as_deref())?,
        prefix: text.prefix,
        prefix_len: text.prefix_len,
        action,
    };
    Ok((!is_of_interface(&route, interfaces)).then_some(route))
}

impl Known<'_> {
    /// The VRF whose routes a table of the kernel has.
    fn vrf(self, table: Option<&str>) -> Result<VrfId, String> {
        let Some(table) = table else {
            return Ok(VrfId::default());
        };
        let mut numbered = (1..=u16::MAX).map(VrfId).zip(self.vrfs);
        let found = numbered.find(|(_, name)| *name == table);
        found.map(|(vrf, _)| vrf).ok_or_else(|| match self.vrfs {
            [] => format!(
                "it is of the table {table}, and there is one alone: print main (`ip route show`), \
                 or give interfaces a VRF of that name"
            ),
            names => format!(
                "it is of the table {table}, and no VRF is called so: the VRFs are {}",
                names.join(", ")
            ),
        })
    }
}

fn next_hop(hop: &HopText, interfaces: &[RouterInterface]) -> Result<NextHop, String> {
    let named = |name| interface_named(name, interfaces);
    let interface = hop.device.as_deref().map(named).transpose();
    // A gateway is behind one interface, whatever the kernel calls that, unless it is link-local.
    let is_told_by_gateway = match hop.gateway {
        Some(IpAddr::V6(gateway)) => !gateway.is_unicast_link_local(),
        Some(IpAddr::V4(_)) => true,
        None => false,
    };
    let interface = match interface {
        Err(_) if is_told_by_gateway => None,
        interface => interface?,
    };
    Ok(NextHop {
        gateway: hop.gateway,
        interface,
        weight: hop.weight,
    })
}

/// Whether a route says what follows from an interface's address.
fn is_of_interface(route: &Route, interfaces: &[RouterInterface]) -> bool {
    let RouteAction::Via(hops) = &route.action else {
        return false;
    };
    let [
        NextHop {
            gateway: None,
            interface: Some(InterfaceId(id)),
            ..
        },
    ] = hops[..]
    else {
        return false;
    };
    let own = interfaces.get(usize::from(id)).into_iter();
    let own = own.filter(|one| one.vrf == route.vrf);
    let mut addresses = own.flat_map(|one| &one.addresses);
    addresses.any(|own| own.prefix_len == route.prefix_len && own.holds(route.prefix))
}
