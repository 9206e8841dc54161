//! What decides where frames leave, and its start.

use std::sync::{Arc, Mutex};

use engine::{Engine, Plan, Running};
use plane::router::RouterTable;
use plane::switch::SwitchTable;
use port::PortSpec;

use super::StartError;
use crate::router::{self, KernelFollowing, KernelShared, RouterSettings};
use crate::switch::switches;

/// A switch, a router, or, without both, a bridge.
pub(super) struct Stage {
    pub(super) switch: Option<Arc<SwitchTable>>,
    pub(super) router: Option<RouterSettings>,
}

/// What a router goes by, while it runs.
pub(super) enum Routing {
    /// Its settings.
    Own(Mutex<Arc<RouterTable>>),
    /// What the kernel has.
    Kernel(Arc<KernelShared>),
}

/// What was started.
pub(super) struct Started {
    pub(super) running: Running,
    pub(super) routing: Option<Routing>,
    /// Follows the kernel until it is dropped.
    pub(super) following: Option<KernelFollowing>,
}

impl Stage {
    /// Starts the workers of these ports.
    pub(super) fn start(self, plan: Plan, specs: &[PortSpec]) -> Result<Started, StartError> {
        let running = match (self.switch, self.router) {
            (Some(table), _) => start_switch(plan, &table)?,
            (None, Some(settings)) => return start_router(plan, &settings, specs),
            (None, None) => Engine::start(plan)?,
        };
        Ok(Started {
            running,
            routing: None,
            following: None,
        })
    }
}

fn start_switch(plan: Plan, table: &Arc<SwitchTable>) -> Result<Running, StartError> {
    let nodes = switches(table, plan.cpus.len()).map_err(|error| {
        StartError::Other(format!(
            "there is no memory for the stations ({error}): choose fewer stations"
        ))
    })?;
    Ok(Engine::start_nodes(plan, nodes)?)
}

fn start_router(
    plan: Plan,
    settings: &RouterSettings,
    specs: &[PortSpec],
) -> Result<Started, StartError> {
    let started = router::started(settings, &plan.ports, specs, plan.cpus.len());
    let (nodes, kernel) = started.map_err(StartError::Other)?;
    let table = nodes.first().map(|node| Arc::clone(node.table()));
    let running = Engine::start_nodes(plan, nodes)?;
    let following = kernel.map(|kernel| kernel.follow(running.observer()));
    let following = following.transpose().map_err(|error| {
        StartError::Other(format!("the kernel's routes cannot be followed: {error}"))
    })?;
    let routing = match &following {
        Some(following) => Some(Routing::Kernel(Arc::clone(following.shared()))),
        None => table.map(|table| Routing::Own(Mutex::new(table))),
    };
    Ok(Started {
        running,
        routing,
        following,
    })
}
