//! The router under the daemon: its settings at the start and at a reload.

use std::sync::{Arc, PoisonError};

use plane::nat::NatConfig;
use plane::router::{RouteBook, RouterConfig, RouterRequest, RouterTable};

use super::StartError;
use super::inner::Inner;
use super::stage::Routing;
use crate::config::Config;
use crate::router::{RouterSettings, RouterWords};

/// The settings that the daemon begins with; what was left out of files is told.
pub(super) fn first(config: &Config) -> Result<Option<RouterSettings>, StartError> {
    let settings = config.router_settings().map_err(StartError::Other)?;
    let notes = settings.iter().flat_map(|settings| &settings.notes);
    notes.for_each(|note| tracing::warn!("{note}"));
    Ok(settings)
}

/// The key of a router that a new configuration changes and that cannot change, as a reload names
/// it. Routes can.
pub(super) fn changed(old: &Config, new: &Config) -> Option<&'static str> {
    let [Some(old), Some(new)] = [old.router_words(), new.router_words()] else {
        return None;
    };
    changed_word(old, new)
}

fn changed_word(old: &RouterWords, new: &RouterWords) -> Option<&'static str> {
    let keys = [
        ("kernel of [[pipeline]]", old.kernel == new.kernel),
        ("on_exit of [[pipeline]]", old.on_exit == new.on_exit),
        ("interface of [[pipeline]]", old.interface == new.interface),
        ("vrf of [[pipeline]]", old.vrf == new.vrf),
        ("neighbour of [[pipeline]]", old.neighbour == new.neighbour),
        (
            "reverse_path of [[pipeline]]",
            old.reverse_path == new.reverse_path,
        ),
        ("icmp_rate of [[pipeline]]", old.icmp_rate == new.icmp_rate),
        (
            "neighbours of [[pipeline]]",
            old.neighbours == new.neighbours,
        ),
        ("punt of [[pipeline]]", old.punt == new.punt),
        // The rules of the file can change.
        (
            "nat of [[pipeline]]",
            old.nat.is_some() == new.nat.is_some(),
        ),
    ];
    let mut changed = keys.iter().filter(|(_, same)| !same);
    changed.next().map(|(key, _)| *key)
}

/// What workers route by, where they do.
pub(super) fn table(inner: &Inner) -> Option<Arc<RouterTable>> {
    Some(match inner.router.get()? {
        Routing::Own(own) => Arc::clone(&own.lock().unwrap_or_else(PoisonError::into_inner)),
        Routing::Kernel(shared) => shared.table(),
    })
}

/// Has every worker go by the routes and NAT rules of `new`, where they are others; says so. Files
/// are read again.
pub(super) fn replace(inner: &Inner, new: &Config) -> Result<Option<String>, String> {
    let (Some(before), Some(settings)) = (table(inner), new.router_settings()?) else {
        return Ok(None);
    };
    // The kernel's are followed all the time.
    if settings.kernel().is_some() {
        return replace_nat(inner, before.config(), &settings);
    }
    let mut config = settings.config(&[]);
    // These have what was taken from ports.
    config.interfaces.clone_from(&before.config().interfaces);
    let has_routes = config.routes != before.config().routes;
    let has_nat = config.nat != before.config().nat;
    if !has_routes && !has_nat {
        return Ok(None);
    }
    check_flows(config.nat.as_ref(), before.config().nat.as_ref())?;
    let after = Arc::new(RouterTable::new(config).map_err(|error| error.to_string())?);
    let counts = [&before, &after].map(|table| {
        let counts = table.books().map(RouteBook::counts);
        counts.map(|(v4, v6)| v4 + v6).sum::<usize>()
    });
    if let Some(worker) = publish(inner, &after) {
        publish(inner, &before);
        return Err(format!(
            "worker {worker} does not take the routes over: try again"
        ));
    }
    let of_routes = format!(
        "the routes are others: {}, and {} before",
        counts[1], counts[0]
    );
    Ok(Some(match (has_routes, has_nat) {
        (true, true) => format!("{of_routes}; {OF_NAT}"),
        (true, false) => of_routes,
        (false, _) => OF_NAT.to_owned(),
    }))
}

/// What is said where NAT has other rules.
const OF_NAT: &str = "the rules for NAT are others: flows go on where these allow them";

/// The memory of flows is taken at the start.
fn check_flows(after: Option<&NatConfig>, before: Option<&NatConfig>) -> Result<(), String> {
    let flows = |nat: Option<&NatConfig>| nat.map(|nat| nat.flows_max);
    match flows(after) == flows(before) {
        true => Ok(()),
        false => Err(
            "flows of the nat file cannot change while the daemon runs: put it back, or restart"
                .to_owned(),
        ),
    }
}

/// Has a router by the kernel's routes go by other NAT rules, where they are others; says so.
fn replace_nat(
    inner: &Inner,
    before: &RouterConfig,
    settings: &RouterSettings,
) -> Result<Option<String>, String> {
    let (Some(Routing::Kernel(shared)), Some(file)) = (inner.router.get(), &settings.nat) else {
        return Ok(None);
    };
    let nat = shared.nat_config(file)?;
    if before.nat.as_ref() == Some(&nat) {
        return Ok(None);
    }
    check_flows(Some(&nat), before.nat.as_ref())?;
    shared.set_nat(nat);
    Ok(Some(OF_NAT.to_owned()))
}

/// Has every worker route by a table that they had before.
pub(super) fn put_back(inner: &Inner, before: Option<Arc<RouterTable>>) {
    let Some(before) = before else {
        return;
    };
    match (inner.router.get(), &before.config().nat) {
        (Some(Routing::Kernel(shared)), Some(nat)) => shared.set_nat(nat.clone()),
        (Some(Routing::Kernel(_)), None) => {}
        _ => {
            publish(inner, &before);
        }
    }
}

/// Gives all workers a table; the first that does not answer, if one does not.
fn publish(inner: &Inner, table: &Arc<RouterTable>) -> Option<usize> {
    let (Some(observer), Some(Routing::Own(own))) = (inner.observer.get(), inner.router.get())
    else {
        return None;
    };
    let request = || RouterRequest::Replace(Arc::clone(table));
    let has_failed = |worker: &usize| observer.ask_node(*worker, request()).is_none();
    let workers = 0..observer.workers_len();
    let failed = workers.filter(has_failed).reduce(|first, _| first);
    *own.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(table);
    failed
}
