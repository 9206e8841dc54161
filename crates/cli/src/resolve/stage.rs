//! What decides where frames leave, in lines of a dry run.

use daemon::Stage;
use plane::switch::{SwitchConfig, VlanMode};

use super::router::DryRouter;
use crate::report::number::{count, plural, seconds};

/// Lines for a dry run; none between two ports.
pub(super) fn facts(stage: &Stage, names: &[Option<String>]) -> Vec<(&'static str, String)> {
    match stage {
        Stage::Pair => Vec::new(),
        Stage::Switch(table) => vec![("switch", switch_fact(table.config()))],
        Stage::Router(settings) => {
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
