//! What decides where frames leave, and its lines of a dry run.

use std::sync::Arc;

use daemon::router::RouterSettings;
use plane::switch::{SwitchConfig, SwitchTable, VlanMode};

use super::router::DryRouter;
use crate::report::number::{count, plural, seconds};

/// What decides where frames leave.
#[derive(Debug)]
pub(crate) enum Stage {
    /// By the other of two ports.
    Pair,
    Switch(Arc<SwitchTable>),
    Router(Box<RouterSettings>),
}

impl Stage {
    /// Lines for a dry run; none between two ports.
    pub(super) fn facts(&self, names: &[Option<String>]) -> Vec<(&'static str, String)> {
        match self {
            Self::Pair => Vec::new(),
            Self::Switch(table) => vec![("switch", switch_fact(table.config()))],
            Self::Router(settings) => {
                let config = &settings.config(&[]);
                let router = DryRouter {
                    config,
                    names,
                    nat: settings.nat.as_ref().map(|file| &file.text),
                    is_by_kernel: settings.kernel().is_some(),
                };
                router.facts()
            }
        }
    }
}

fn switch_fact(config: &SwitchConfig) -> String {
    let between = match config.mode {
        VlanMode::Default => "all ports talk to each other".to_owned(),
        VlanMode::Port => plural(
            config.groups.len() as u64,
            "group of ports",
            "groups of ports",
        ),
        VlanMode::Dot1q => plural(config.vlans.len() as u64, "VLAN", "VLANs"),
    };
    let stations = count(u64::from(config.stations));
    let age = seconds(config.age.as_secs_f64());
    format!("{between}; {stations} stations, forgotten after {age}")
}
