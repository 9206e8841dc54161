//! What a router would go by, for `--dry-run`.

use list::nat::NatText;
use plane::nat::NatConfig;
use plane::router::{
    InterfaceTags, NextHop, ReversePath, Route, RouteAction, RouterConfig, RouterInterface,
    StaticNeighbours, VrfId,
};
use serde_json::{Value, json};

use super::dry_run::port_name;
use crate::report::number::count;

/// Routes, and ranges of neighbours, that people are shown.
const SHOWN_MAX: usize = 10;

/// A router's settings, and what its ports are called.
pub(super) struct DryRouter<'a> {
    pub(super) config: &'a RouterConfig,
    pub(super) names: &'a [Option<String>],
    pub(super) nat: Option<&'a NatText>,
    /// Interfaces, routes and neighbours are the kernel's.
    pub(super) is_by_kernel: bool,
}

impl DryRouter<'_> {
    /// Lines for people.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let config = self.config;
        let interfaces = config.interfaces.iter();
        let mut facts: Vec<_> = interfaces
            .map(|one| ("interface", self.interface(one)))
            .collect();
        let routes = config.routes.iter().map(|route| self.route(route));
        add("route", routes, &mut facts);
        let neighbours = config.neighbours.iter();
        let neighbours = neighbours.map(|range| self.neighbours(range));
        add("neighbour", neighbours, &mut facts);
        let limits = format!(
            "reverse path {}; {} ICMP errors a second, {} neighbours at most",
            reverse_path(config.reverse_path),
            count(config.errors_per_second.into()),
            count(config.neighbours_max.into())
        );
        if let Some(punt) = config.punt {
            let host = format!(
                "what is for it goes to a host behind {}",
                self.named(punt.index())
            );
            facts.push(("router", host));
        }
        if self.is_by_kernel {
            let kernel = "the kernel's interfaces, routes and neighbours, and their changes";
            facts.push(("router", kernel.to_owned()));
        }
        facts.push(("router", limits));
        let rules = self.nat.map_or(&[][..], |nat| &nat.rules);
        add("nat", rules.iter().map(ToString::to_string), &mut facts);
        facts.extend(config.nat.iter().map(|nat| ("nat", nat_limits(nat))));
        facts
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let config = self.config;
        let interface = |one: &RouterInterface| {
            json!({
                "name": one.name,
                "port": port_name(self.names, one.port.0),
                "vlans": vlans(one.tags),
                "vrf": config.vrf_name(one.vrf),
                "addresses": addresses(one),
            })
        };
        let neighbour = |range: &StaticNeighbours| {
            json!({
                "first": range.first.to_string(),
                "last": range.last.to_string(),
                "mac": range.mac.to_string(),
                "interface": self.named(range.interface.index()),
            })
        };
        json!({
            "interfaces": config.interfaces.iter().map(interface).collect::<Vec<_>>(),
            "routes": config.routes.iter().map(|route| self.route(route)).collect::<Vec<_>>(),
            "neighbours": config.neighbours.iter().map(neighbour).collect::<Vec<_>>(),
            "kernel": self.is_by_kernel,
            "punt": config.punt.map(|punt| self.named(punt.index())),
            "reverse_path": reverse_path(config.reverse_path),
            "icmp_rate": config.errors_per_second,
            "neighbours_max": config.neighbours_max,
            "nat": self.nat.map(|nat| {
                let text = nat.to_string();
                text.lines().map(str::to_owned).collect::<Vec<_>>()
            }),
        })
    }

    fn named(&self, interface: usize) -> &str {
        let interface = self.config.interfaces.get(interface);
        interface.map_or("?", |one| one.name.as_str())
    }

    fn interface(&self, one: &RouterInterface) -> String {
        let tags = match one.tags {
            InterfaceTags::None => String::new(),
            InterfaceTags::Vlan(vlan) => format!(" VLAN {vlan}"),
            InterfaceTags::Double { outer, inner } => format!(" VLAN {outer}, inner {inner}"),
        };
        let addresses = match addresses(one) {
            own if own.is_empty() => "no address".to_owned(),
            own => own.join(", "),
        };
        let port = port_name(self.names, one.port.0);
        let vrf = self.config.vrf_name(one.vrf);
        let vrf = vrf.map_or_else(String::new, |name| format!(" (VRF {name})"));
        format!("{} on port {port}{tags}{vrf}: {addresses}", one.name)
    }

    /// As `ip route` prints it.
    fn route(&self, route: &Route) -> String {
        let text = self.route_of_table(route);
        match self.config.vrf_name(route.vrf) {
            Some(name) => format!("{text} table {name}"),
            None => text,
        }
    }

    fn route_of_table(&self, route: &Route) -> String {
        let prefix = format!("{}/{}", route.prefix, route.prefix_len);
        match &route.action {
            RouteAction::Blackhole => format!("blackhole {prefix}"),
            RouteAction::Unreachable => format!("unreachable {prefix}"),
            RouteAction::Prohibit => format!("prohibit {prefix}"),
            RouteAction::Via(hops) => match &hops[..] {
                [hop] => format!("{prefix}{}", self.hop(route.vrf, hop)),
                hops => hops.iter().fold(prefix, |text, hop| {
                    format!(
                        "{text} nexthop{} weight {}",
                        self.hop(route.vrf, hop),
                        hop.weight
                    )
                }),
            },
        }
    }

    fn hop(&self, vrf: VrfId, hop: &NextHop) -> String {
        let via = hop.gateway.map(|gateway| format!(" via {gateway}"));
        // The settings are right, so that a gateway is behind an interface.
        let of_gateway = || {
            hop.gateway
                .and_then(|gateway| self.config.behind(vrf, gateway))
        };
        let dev = hop.interface.or_else(of_gateway);
        let dev = dev.map(|id| format!(" dev {}", self.named(id.index())));
        via.unwrap_or_default() + &dev.unwrap_or_default()
    }

    fn neighbours(&self, range: &StaticNeighbours) -> String {
        let last = match range.first == range.last {
            true => String::new(),
            false => format!("-{}", range.last),
        };
        let interface = self.named(range.interface.index());
        format!("{}{last} is {} behind {interface}", range.first, range.mac)
    }
}

/// How many flows there may be and for how long.
fn nat_limits(config: &NatConfig) -> String {
    let timeouts = &config.timeouts;
    let [new, tcp, closing, udp_new, udp, icmp] = [
        timeouts.tcp_new,
        timeouts.tcp,
        timeouts.tcp_closing,
        timeouts.udp_new,
        timeouts.udp,
        timeouts.icmp,
    ]
    .map(|timeout| timeout.as_secs());
    format!(
        "{} flows at most, {} an address; seconds: tcp {tcp}, new {new}, closing {closing}, \
         udp {udp}, new {udp_new}, icmp {icmp}; hairpin {}",
        count(config.flows_max.into()),
        count(config.flows_per_address.into()),
        if config.hairpin { "on" } else { "off" },
    )
}

/// Adds a line for each of the first, and one for how many more there are.
fn add(
    name: &'static str,
    lines: impl ExactSizeIterator<Item = String>,
    facts: &mut Vec<(&'static str, String)>,
) {
    let more = lines.len().saturating_sub(SHOWN_MAX);
    facts.extend(lines.take(SHOWN_MAX).map(|line| (name, line)));
    if more != 0 {
        facts.push((name, format!("and {} more", count(more as u64))));
    }
}

fn addresses(one: &RouterInterface) -> Vec<String> {
    let own = one.addresses.iter();
    own.map(|own| format!("{}/{}", own.address, own.prefix_len))
        .collect()
}

fn vlans(tags: InterfaceTags) -> Vec<u16> {
    match tags {
        InterfaceTags::None => Vec::new(),
        InterfaceTags::Vlan(vlan) => vec![vlan],
        InterfaceTags::Double { outer, inner } => vec![outer, inner],
    }
}

fn reverse_path(mode: ReversePath) -> &'static str {
    match mode {
        ReversePath::Off => "off",
        ReversePath::Loose => "loose",
        ReversePath::Strict => "strict",
    }
}
