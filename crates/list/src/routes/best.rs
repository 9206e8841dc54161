//! Of several routes for one prefix the one that the kernel uses.

use super::draft::HOPS_MAX;
use super::read::RouteTexts;
use super::{HopText, RouteKind, RouteText};
use crate::report::Finding;
use std::net::IpAddr;
use std::sync::Arc;

/// The best of each prefix of a table, and notes of what was left out.
pub(super) fn of(mut routes: Vec<RouteText>, file: &Arc<str>, notes_kept_max: usize) -> RouteTexts {
    let mut texts = RouteTexts::default();
    let mut notes = Notes {
        file,
        kept_max: notes_kept_max,
        texts: &mut texts,
    };
    routes.retain(|route| {
        notes.of_dead(route);
        !route.is_dead()
    });
    routes.sort_unstable_by(|a, b| {
        let key = |route: &RouteText| (route.prefix, route.prefix_len);
        let order = key(a).cmp(&key(b)).then_with(|| a.table.cmp(&b.table));
        order
            .then(a.metric.cmp(&b.metric))
            .then(a.line.cmp(&b.line))
    });
    routes.dedup_by(|route, best| {
        let is_beside = best.is_beside(route);
        if is_beside && best.joins(route) {
            best.hops.append(&mut route.hops);
        } else if is_beside {
            notes.of_other(best, route);
        }
        is_beside
    });
    texts.notes.sort_by_key(|note| note.line);
    texts.routes = routes;
    texts
}

impl RouteText {
    /// Whether a packet could be for both.
    fn is_beside(&self, other: &Self) -> bool {
        self.prefix == other.prefix
            && self.prefix_len == other.prefix_len
            && self.table == other.table
    }

    /// Whether both are one of several hops, as the kernel makes IPv6 routes of one metric that
    /// have gateways.
    fn joins(&self, other: &Self) -> bool {
        let has_gateways = |route: &Self| {
            route.kind == RouteKind::Unicast && route.hops.iter().all(|hop| hop.gateway.is_some())
        };
        let is_same = |a: &HopText, b: &HopText| a.gateway == b.gateway && a.device == b.device;
        self.prefix.is_ipv6()
            && self.metric == other.metric
            && has_gateways(self)
            && has_gateways(other)
            && self.hops.len() + other.hops.len() <= HOPS_MAX
            && !other
                .hops
                .iter()
                .any(|hop| self.hops.iter().any(|own| is_same(own, hop)))
    }

    /// Whether no router forwards for it: each interface has such a prefix.
    fn is_of_link(&self) -> bool {
        let is_of_link = match self.prefix {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        is_of_link || self.prefix.is_multicast() || self.kind != RouteKind::Unicast
    }
}

/// A route as notes name it.
pub(super) fn name(route: &RouteText) -> String {
    format!("{}/{}", route.prefix, route.prefix_len)
}

/// Gathers notes.
struct Notes<'a> {
    file: &'a Arc<str>,
    kept_max: usize,
    texts: &'a mut RouteTexts,
}

impl Notes<'_> {
    fn add(&mut self, line: u64, text: impl FnOnce() -> String) {
        self.texts.note_count += 1;
        if self.texts.notes.len() < self.kept_max {
            self.texts.notes.push(Finding {
                file: Arc::clone(self.file),
                line,
                text: text(),
            });
        }
    }

    fn of_dead(&mut self, route: &RouteText) {
        let name = || name(route);
        match route.dead_count {
            0 => {}
            _ if route.is_dead() => self.add(route.line, || {
                format!(
                    "the route to {} is left out, as it leads to dead hops alone",
                    name()
                )
            }),
            1 => self.add(route.line, || {
                format!(
                    "a hop of the route to {} is left out, as it is dead",
                    name()
                )
            }),
            count => self.add(route.line, || {
                format!(
                    "{count} hops of the route to {} are left out, as they are dead",
                    name()
                )
            }),
        }
    }

    fn of_other(&mut self, best: &RouteText, other: &RouteText) {
        if other.is_of_link() {
            return;
        }
        self.add(other.line, || {
            let than = match best.metric < other.metric {
                true => "has a lower metric",
                false => "has the same metric and comes first",
            };
            let (name, line) = (name(other), best.line);
            format!("the route to {name} is left out, as that of line {line} {than}")
        });
    }
}
