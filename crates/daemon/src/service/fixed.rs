//! What of the configuration holds as long as the daemon runs, for the control socket.

use super::{keep, rules};
use crate::config::Config;
use crate::rpc::{ErrorKind, RpcError};
use crate::sets::Defaults;

/// Ports, defaults and address space to keep: a reload that would change them is refused.
pub(super) struct Fixed {
    /// The ports' names, by their numbers.
    pub(super) ports: Vec<String>,
    /// For frames that no set decides on.
    pub(super) defaults: Defaults,
    /// Whether the bridge follows connections.
    pub(super) stateful: bool,
    /// The sets of address space to keep.
    kept: Vec<&'static str>,
}

impl Fixed {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            ports: config.ports.iter().map(|port| port.name.clone()).collect(),
            defaults: keep::defaults(config),
            stateful: config.stateful.is_some(),
            kept: rules::kept(config).map(|space| space.set_name()).collect(),
        }
    }

    /// Refuses a change of a set of address space to keep, unless it is forced: whoever lets such
    /// a set block, or takes entries out, cuts off the networks that it exempts, and whoever adds
    /// entries exempts others from all sets.
    pub(super) fn guard(&self, set: &str, force: bool) -> Result<(), RpcError> {
        if force || !self.kept.contains(&set) {
            return Ok(());
        }
        let message = format!(
            "set '{set}' exempts address space for 'keep' of [[pipeline]] and stays as it is: \
             change a set of your own whose action is allow, or force this with --force"
        );
        let mut error = RpcError::new(ErrorKind::Guarded, message);
        error.reason = "keep-set".to_owned();
        Err(error)
    }
}
