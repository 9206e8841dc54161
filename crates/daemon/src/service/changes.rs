//! What a new configuration changes, in sentences.

use super::keep;
use crate::config::Config;
use crate::sets::{SetConfig, SetFacts};
use plane::Action;

/// Sets that came and went, settings that are others, and live actions that ended by it: `before`
/// and `after` are the sets as they were and are.
pub(super) fn of_sets(
    (old, new): (&Config, &Config),
    before: &[SetFacts],
    after: &[SetFacts],
) -> Vec<String> {
    let mut changes = came_and_went(old, new);
    let (old, new) = (keep::sets(old), keep::sets(new));
    for new in &new {
        let name = &new.rule.name;
        let Some(old) = old.iter().find(|old| old.rule.name == *name) else {
            continue;
        };
        changes.extend(settings(old, new));
        let facts = |all: &[SetFacts]| {
            let mut all = all.iter();
            all.find(|facts| facts.name.as_str() == name).cloned()
        };
        if let Some((before, after)) = facts(before).zip(facts(after)) {
            changes.extend(ended(&Side::of(old, &before), &Side::of(new, &after)));
        }
    }
    changes
}

/// Sets that are in one of two configurations alone.
fn came_and_went(old: &Config, new: &Config) -> Vec<String> {
    let names = |config: &Config| -> Vec<String> {
        config.sets.iter().map(|set| set.name.clone()).collect()
    };
    let (old, new) = (names(old), names(new));
    let came = new.iter().filter(|name| !old.contains(name));
    let went = old.iter().filter(|name| !new.contains(name));
    let came = came.map(|name| format!("set {name} is new"));
    came.chain(went.map(|name| format!("set {name} is gone")))
        .collect()
}

fn settings(old: &SetConfig, new: &SetConfig) -> Option<String> {
    let name = &new.rule.name;
    let (was, is) = (old.rule.action, new.rule.action);
    match old == new {
        true => None,
        false if was == is => Some(format!("set {name} has other settings")),
        false => Some(format!(
            "set {name} has other settings: its configured action was {was} and is {is}"
        )),
    }
}

/// A set as it is configured and as it is.
struct Side<'a> {
    config: &'a SetConfig,
    facts: &'a SetFacts,
}

impl<'a> Side<'a> {
    fn of(config: &'a SetConfig, facts: &'a SetFacts) -> Self {
        Self { config, facts }
    }

    /// Its live action, where it has one.
    fn action(&self) -> Option<Action> {
        self.facts.configured.map(|_| self.facts.rule.action)
    }

    /// Whether live actions for sides and ports are in force.
    fn has_exceptions(&self) -> bool {
        self.facts.rule.exceptions.len() > self.config.rule.exceptions.len()
    }
}

/// Live actions that were in force before and are not after.
fn ended(before: &Side<'_>, after: &Side<'_>) -> Vec<String> {
    let name = &after.config.rule.name;
    let mut told = Vec::new();
    if let (Some(action), None) = (before.action(), after.action())
        && action != after.config.rule.action
    {
        told.push(format!(
            "set {name}: the live action {action} has ended for good"
        ));
    }
    if before.has_exceptions() && !after.has_exceptions() {
        told.push(format!(
            "set {name}: the live actions for sides and ports have ended for good"
        ));
    }
    told
}

/// Sets whose entries come from elsewhere, or at other times.
pub(super) fn of_sources(old: &Config, new: &Config) -> Vec<String> {
    let mut changes = Vec::new();
    for set in &new.sets {
        let before = old.sets.iter().find(|before| before.name == set.name);
        if let Some(before) = before
            && (before.source != set.source || before.refresh != set.refresh)
        {
            changes.push(format!("set {} has another source", set.name));
        }
        if let Some(before) = before
            && ((&before.columns, before.skip_bad_lines) != (&set.columns, set.skip_bad_lines)
                || before.json_paths != set.json_paths)
        {
            changes.push(format!("set {} reads its source otherwise", set.name));
        }
        if let Some(before) = before
            && before.required != set.required
        {
            let name = &set.name;
            changes.push(format!(
                "set {name} has another 'required', for the next start"
            ));
        }
    }
    if old.limits != new.limits {
        changes.push("[limits] are others: sources are read again".to_owned());
    }
    if old.crowdsec != new.crowdsec {
        changes.push("[crowdsec] is another".to_owned());
    }
    changes
}
