//! What `show.neighbours` and `show.routes` answer.

use std::sync::Arc;

use plane::router::{
    KnownNeighbour, RouteBook, RouterRequest, RouterTable, StaticNeighbours, VrfId,
};

use super::inner::Inner;
use super::router;
use super::stage::Routing;
use crate::router::{name_of, route_facts};
use crate::rpc::answers::{
    Neighbour, Neighbours, NeighboursParams, RouteFacts, Routes, RoutesParams,
};
use crate::rpc::{ErrorKind, RpcError, no_router};

/// Routes of one answer at most.
const ROUTES_PAGE: usize = 512;

/// What workers route by; none while they are started.
fn table(inner: &Inner) -> Result<Arc<RouterTable>, RpcError> {
    inner.observer()?;
    router::table(inner).ok_or_else(no_router)
}

/// What `show.neighbours` answers: a page of the first worker's. The others are told what it hears.
pub(super) fn neighbours(inner: &Inner, params: &NeighboursParams) -> Result<Neighbours, RpcError> {
    let table = &*table(inner)?;
    let observer = inner.observer()?;
    let from = usize::try_from(params.from.unwrap_or(0)).unwrap_or(usize::MAX);
    let answer = observer.ask_node(0, RouterRequest::neighbours(from));
    let Some(RouterRequest::Neighbours { from, entries }) = answer else {
        return Err(RpcError::new(
            ErrorKind::Busy,
            "the worker that knows the neighbours does not answer: try again",
        ));
    };
    let statics = table.config().neighbours.iter();
    let statics = statics.filter(|_| params.from.is_none());
    let mut neighbours: Vec<Neighbour> = statics.map(|one| of_static(one, table)).collect();
    neighbours.extend(entries.iter().map(|one| of_known(one, table)));
    Ok(Neighbours {
        seconds: observer.snapshot().seconds,
        neighbours,
        next: from.map(|next| next as u64),
    })
}

fn of_static(one: &StaticNeighbours, table: &RouterTable) -> Neighbour {
    Neighbour {
        interface: name_of(one.interface, table),
        address: match one.first == one.last {
            true => one.first.to_string(),
            false => format!("{}-{}", one.first, one.last),
        },
        mac: Some(one.mac.to_string()),
        state: "static".to_owned(),
        age_seconds: None,
    }
}

fn of_known(one: &KnownNeighbour, table: &RouterTable) -> Neighbour {
    Neighbour {
        interface: name_of(one.interface, table),
        address: one.address.to_string(),
        mac: one.mac.map(|mac| mac.to_string()),
        state: one.state.to_owned(),
        age_seconds: Some(one.age_ms / 1000),
    }
}

/// What `show.routes` answers.
pub(super) fn routes(inner: &Inner, params: &RoutesParams) -> Result<Routes, RpcError> {
    let table = &*table(inner)?;
    let vrf = vrf(table, params.vrf.as_deref())?;
    if let Some(Routing::Kernel(shared)) = inner.router.get() {
        return Ok(page(&shared.book(), table, params));
    }
    let book = table.book(vrf).ok_or_else(no_router)?;
    Ok(page(book, table, params))
}

/// The VRF that is asked for.
fn vrf(table: &RouterTable, name: Option<&str>) -> Result<VrfId, RpcError> {
    let Some(name) = name else {
        return Ok(VrfId::default());
    };
    table.config().vrf_named(name).ok_or_else(|| {
        let names = &table.config().vrfs;
        let there = match names.is_empty() {
            true => "this router has none".to_owned(),
            false => format!("the VRFs are {}", names.join(", ")),
        };
        let sentence = format!("no VRF is called '{name}': {there}");
        RpcError::new(ErrorKind::InvalidParams, &sentence)
    })
}

fn page(book: &RouteBook, table: &RouterTable, params: &RoutesParams) -> Routes {
    let (v4, v6) = book.counts();
    let from = usize::try_from(params.from.unwrap_or(0)).unwrap_or(usize::MAX);
    let routes: Vec<RouteFacts> = match params.address {
        Some(address) => {
            let route = book.route_to(address);
            route
                .map(|route| route_facts(route, table))
                .into_iter()
                .collect()
        }
        None => {
            let page = book.routes().skip(from).take(ROUTES_PAGE);
            page.map(|route| route_facts(route, table)).collect()
        }
    };
    let next = from.saturating_add(routes.len());
    let has_next = params.address.is_none() && next < v4 + v6;
    Routes {
        count_v4: v4 as u64,
        count_v6: v6 as u64,
        vrfs: table.config().vrfs.clone(),
        routes,
        next: has_next.then_some(next as u64),
    }
}
