//! What decides where frames leave, and its start.

use std::sync::{Arc, Mutex};

use engine::{Engine, Plan, Running};
use plane::router::RouterTable;
use plane::switch::SwitchTable;
use port::PortSpec;

use super::StartError;
use crate::router::{self, KernelFollowing, KernelShared, RouterSettings};
use crate::switch::switches;

/// What decides where frames leave.
#[derive(Debug)]
pub enum Stage {
    /// The other of two ports.
    Pair,
    /// A switch.
    Switch(Arc<SwitchTable>),
    /// A router.
    Router(Box<RouterSettings>),
}

/// What a router goes by, while it runs.
pub(super) enum Routing {
    /// Its settings.
    Own(Mutex<Arc<RouterTable>>),
    /// What the kernel has.
    Kernel(Arc<KernelShared>),
}

/// Workers that run, and what follows the kernel's routes for them.
pub struct Started {
    /// The workers.
    pub running: Running,
    pub(super) routing: Option<Routing>,
    /// Follows the kernel until it is dropped; none where no router goes by its routes.
    pub following: Option<KernelFollowing>,
}

impl Stage {
    pub(super) fn new(switch: Option<Arc<SwitchTable>>, router: Option<RouterSettings>) -> Self {
        match (switch, router) {
            (Some(table), _) => Self::Switch(table),
            (None, Some(settings)) => Self::Router(Box::new(settings)),
            (None, None) => Self::Pair,
        }
    }

    /// Starts the workers of these ports.
    ///
    /// # Errors
    /// The settings are wrong, or the machine has no memory or threads for them.
    pub fn start(&self, plan: Plan, specs: &[PortSpec]) -> Result<Started, StartError> {
        let running = match self {
            Self::Pair => Engine::start(plan)?,
            Self::Switch(table) => start_switch(plan, table)?,
            Self::Router(settings) => return start_router(plan, settings, specs),
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
