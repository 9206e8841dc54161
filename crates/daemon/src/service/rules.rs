//! From the sets of a configuration to the rules of a policy.

use frame::PortId;
use plane::{Action, Exception, Ports, SetRule, Sides};

use crate::config::{Config, SetConfig, Space};

/// One rule a set, in the order of the configuration; then those of address space to keep.
pub(crate) fn rules(config: &Config) -> Vec<SetRule> {
    let sets = config.sets.iter().map(|set| rule(set, config));
    let keep = kept(config).map(|space| SetRule::new(space.set_name(), Action::Allow, Sides::BOTH));
    sets.chain(keep).collect()
}

/// The address space that no set may block.
pub(crate) fn kept(config: &Config) -> impl Iterator<Item = Space> {
    config
        .pipelines
        .iter()
        .flat_map(|pipeline| pipeline.keep.iter().copied())
}

fn rule(set: &SetConfig, config: &Config) -> SetRule {
    let exceptions = set.exceptions.iter().map(|exception| Exception {
        sides: exception.sides,
        ports: match &exception.port {
            Some(name) => ports(config, [name]),
            None => Ports::ALL,
        },
        action: exception.action,
    });
    SetRule {
        ports: match set.ports.is_empty() {
            true => Ports::ALL,
            false => ports(config, &set.ports),
        },
        headers: set.headers,
        exceptions: exceptions.collect(),
        ..SetRule::new(set.name.clone(), set.action, set.sides)
    }
}

/// Ports by their names; their numbers are their places in the configuration.
pub(crate) fn ports<'a>(config: &Config, names: impl IntoIterator<Item = &'a String>) -> Ports {
    let number = |name: &String| config.ports.iter().position(|port| port.name == *name);
    let numbers = names.into_iter().filter_map(number);
    let numbers = numbers.filter_map(|place| u8::try_from(place).ok());
    numbers.fold(Ports::NONE, |ports, number| ports.with(PortId(number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plane::Side;
    use std::path::Path;

    #[test]
    fn actions_by_side_and_ingress_port() {
        let text = "[[port]]\nname='out'\nspec='gen:'\n[[port]]\nname='in'\nspec='null:'\n\
                    [[pipeline]]\nkeep=['local']\n\
                    [[set]]\nname='a'\naction='block'\nports=['out']\nsides='source'\n\
                    [[set.on]]\nport='in'\nsides='destination'\naction='count'\n";
        let config = Config::parse(Path::new("/a.toml"), text).expect("a configuration");
        let rules = rules(&config);
        let at = |side, port| rules[0].action_at(side, PortId(port));
        assert_eq!(at(Side::Src, 0), Some(Action::Block));
        assert_eq!(at(Side::Dst, 0), None);
        assert_eq!(at(Side::Src, 1), None);
        assert_eq!(at(Side::Dst, 1), Some(Action::Count));
        assert_eq!(
            (rules[1].name.as_str(), rules[1].action),
            ("keep-local", Action::Allow)
        );
    }
}
