//! The router of each worker, and the rings over which they tell each other what they hear.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use plane::Links;
use plane::router::{Router, RouterConfig, RouterTable, RouterTableError};
use port::Port;

use super::words::PortFacts;

/// Messages that wait between two workers.
const HEARD_MAX: usize = 1024;

/// What a router needs to know of ports that are open.
pub(super) fn port_facts(ports: &[Box<dyn Port>]) -> Vec<PortFacts> {
    let facts = ports.iter().map(|port| PortFacts {
        mac: port.identity().and_then(|identity| identity.mac),
        mtu: port.mtu(),
    });
    facts.collect()
}

/// One router a worker, each with a key of its own, drawn from the system's random source.
///
/// # Errors
/// The settings are wrong, NAT is asked of several workers, or there is no memory.
pub(super) fn routers(
    config: RouterConfig,
    workers: usize,
) -> Result<Vec<Router>, RouterTableError> {
    let table = Arc::new(RouterTable::new(config)?);
    of_table(&table, workers)
}

/// The routers of so many workers.
///
/// # Errors
/// NAT is asked of several workers, or there is no memory.
pub(super) fn of_table(
    table: &Arc<RouterTable>,
    workers: usize,
) -> Result<Vec<Router>, RouterTableError> {
    if table.config().nat.is_some() && workers > 1 {
        return Err(RouterTableError::NatWorkers);
    }
    let workers = u16::try_from(workers).unwrap_or(u16::MAX);
    let key = || [(); 2].map(|()| RandomState::new().hash_one(()));
    let links = Links::mesh(workers, HEARD_MAX).into_iter();
    links
        .map(|links| Router::new(Arc::clone(table), key(), links))
        .collect::<Result<_, _>>()
        .map_err(RouterTableError::NatMemory)
}
