//! What a router begins with: by its settings, or by what the kernel has.

use plane::router::Router;
use port::{Port, PortSpec};

use super::kernel::{Beginning, KernelRouter};
use super::words::RouterSettings;
use super::workers::{port_facts, routers};

/// Routers, and what follows the kernel for them where they go by its routes.
///
/// # Errors
/// The settings are wrong, or the kernel does not let a router be.
pub(crate) fn started(
    settings: &RouterSettings,
    ports: &[Box<dyn Port>],
    specs: &[PortSpec],
    workers: usize,
) -> Result<(Vec<Router>, Option<KernelRouter>), String> {
    let config = settings.config(&port_facts(ports));
    let Some(on_exit) = settings.kernel() else {
        let nodes = routers(config, workers).map_err(|error| error.to_string())?;
        return Ok((nodes, None));
    };
    let mut kernel = KernelRouter::begin(Beginning {
        specs,
        ports,
        config,
        on_exit,
        nat: settings.nat.as_ref(),
    })?;
    let nodes = kernel.nodes(workers).map_err(|error| error.to_string())?;
    Ok((nodes, Some(kernel)))
}
