//! Taking a new configuration over while frames go by: all of it, or nothing.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use plane::RuleTable;

use super::inner::{Inner, Live};
use super::{changes, check_lists, exchange, keep, packet_rules, router, sets, switch};
use crate::config::{Config, ConfigError, SetConfig};
use crate::metrics;
use crate::sets::{Reply, Request, SetFacts};
use crate::sources::{Asking, Source, SourceSpec, Sources};

/// A file is read before the answer; this ends the wait for one that does not come to rest.
const READ_WITHIN: Duration = Duration::from_secs(600);

/// Reads the configuration again and changes what it changed; says what that was.
pub(super) fn reload(inner: &Inner) -> Result<Vec<String>, String> {
    let mut live = inner.live();
    let outcome = take_over(inner, &mut live);
    match &outcome {
        Ok(changes) => {
            live.reloads.applied += 1;
            live.reloads.applied_at = Some(metrics::since_1970(SystemTime::now()));
            tracing::info!(changes = changes.len(), "the configuration was read again");
            changes.iter().for_each(|change| tracing::info!("{change}"));
        }
        Err(sentence) => {
            live.reloads.refused += 1;
            tracing::error!("the configuration stays as it was: {sentence}");
        }
    }
    outcome
}

/// Lists that a reload brings.
#[derive(Default)]
struct Brought<'s> {
    specs: Vec<&'s SourceSpec>,
    /// What is told of those that are not taken.
    without: Vec<String>,
    /// Their sets.
    refused: Vec<Arc<str>>,
}

fn take_over(inner: &Inner, live: &mut Live) -> Result<Vec<String>, String> {
    let Some(file) = &inner.file else {
        return Err("this daemon was started without a file: there is nothing to read".to_owned());
    };
    let next = Config::read(file).map_err(|error: ConfigError| error.to_string())?;
    if let Some(what) = fixed(&live.config, &next) {
        return Err(format!(
            "{what} cannot change while the daemon runs: put it back, or restart"
        ));
    }
    let (lists, apis) = Sources::planned(&next).map_err(|error| error.to_string())?;
    let brought = brought(inner, (&live.config, &next), &lists)?;
    let rules = packet_rules::next(inner, &next)?;
    let before = facts(inner);
    let names = |config: &Config| -> Vec<String> {
        let sets = config.sets.iter().map(|set| set.name.clone());
        sets.collect()
    };
    // What is likely to be refused was looked at before: no frame leaves by a VLAN that is not.
    let mut changes = switch::replace(inner, &live.config, &next)?;
    let routes = router::table(inner);
    changes.extend(router::replace(inner, &next)?);
    let taken = if names(&live.config) == names(&next) {
        settings(inner, &next, rules.table)
    } else {
        exchange::exchange(inner, live, &next, rules.table)
    };
    if let Err(sentence) = taken {
        switch::replace(inner, &next, &live.config)?;
        router::put_back(inner, routes);
        return Err(sentence);
    }
    changes.extend(changes::of_sets(
        (&live.config, &next),
        &before,
        &facts(inner),
    ));
    changes.extend(rules.said);
    changes.extend(changes::of_sources(&live.config, &next));
    let replaced = live.sources.replace(&lists, &apis);
    replaced.map_err(|error| format!("a source cannot be started ({error})"))?;
    changes.extend(awaited(inner, &brought));
    changes.extend(brought.without);
    if live.config.log.level != next.log.level {
        crate::log::set_level(next.log.level);
        changes.push("the log has another level".to_owned());
    }
    offer_again(&inner.asking, &live.config, &next);
    live.config = next;
    Ok(changes)
}

/// Reads the lists of sets that are new, are read from elsewhere, or must have a list from now on
/// and have none, and refuses the reload where a start would refuse them: a set must not stay empty
/// unnoticed until then.
fn brought<'s>(
    inner: &Inner,
    (old, new): (&Config, &Config),
    lists: &'s [SourceSpec],
) -> Result<Brought<'s>, String> {
    let lacks = lacking(inner, old, new);
    let is_brought = |spec: &&SourceSpec| {
        let named = |set: &&SetConfig| *set.name == *spec.set;
        let before = old.sets.iter().find(named).map(read_from);
        lacks.contains(&&*spec.set) || before != new.sets.iter().find(named).map(read_from)
    };
    let brought: Vec<&SourceSpec> = lists.iter().filter(is_brought).collect();
    let read = check_lists::read(new, &brought).map_err(|error| error.to_string())?;
    let mut refused = Vec::new();
    let mut taken = Brought::default();
    refused.extend(unread(&inner.asking, &lacks, &brought));
    for list in read {
        let ends = list.refuses_start();
        match list.refusal {
            Some(why) if ends => refused.push(format!("set '{}': {why}", list.set)),
            Some(why) => {
                let set = list.set;
                let without = format!("set {set} does not take its list: {why}");
                taken.without.push(without);
                taken.refused.push(set);
            }
            None => {}
        }
    }
    taken.specs = brought;
    match refused.is_empty() {
        true => Ok(taken),
        false => Err(refused.join("; ")),
    }
}

/// Sets that must have a list from now on, and have none.
fn lacking<'c>(inner: &Inner, old: &Config, new: &'c Config) -> Vec<&'c str> {
    let was_required = |set: &SetConfig| {
        let mut before = old.sets.iter();
        before.any(|before| before.name == set.name && before.required)
    };
    let Ok(Reply::Sets(facts)) = sets::handle(&inner.keeping).ask(Request::List) else {
        return Vec::new();
    };
    let has_list = |set: &SetConfig| {
        let mut facts = facts.iter();
        facts.any(|facts| facts.name.as_str() == set.name && facts.loaded.is_some())
    };
    let required = new.sets.iter().filter(|set| set.required);
    let lacking = required.filter(|set| !was_required(set) && !has_list(set));
    lacking.map(|set| set.name.as_str()).collect()
}

/// Of those sets, the ones whose lists are no files here, which are not read for a reload, and that
/// their source runs and has given nothing.
fn unread(asking: &Asking, lacking: &[&str], brought: &[&SourceSpec]) -> Vec<String> {
    let states = asking.states();
    let is_file = |spec: &SourceSpec| matches!(spec.source, Source::File { .. });
    let others = brought
        .iter()
        .filter(|spec| !is_file(spec) && lacking.contains(&&*spec.set));
    let told = others.filter_map(|spec| {
        let state = states.iter().find(|state| state.set == spec.set)?;
        let error = state.last_error.as_ref().map(|error| error.text.as_str());
        let why = error.unwrap_or("its source has given nothing yet");
        Some(format!(
            "set '{}' is required and has no list: {why}",
            spec.set
        ))
    });
    told.collect()
}

/// Where a set's list comes from, and how it is read.
fn read_from(set: &SetConfig) -> impl PartialEq + '_ {
    let rules = (&set.columns, &set.json_paths, set.skip_bad_lines);
    (&set.source, rules)
}

/// Has lists that a guard refused read again, where the set is held against other guards now.
fn offer_again(asking: &Asking, old: &Config, new: &Config) {
    let guarded = |set: &SetConfig| (set.guards, set.action, set.exceptions.clone());
    let is_other = |set: &SetConfig| {
        let before = old.sets.iter().find(|before| before.name == set.name);
        before.is_none_or(|before| guarded(before) != guarded(set))
    };
    for state in asking.states() {
        let mut sets = new.sets.iter();
        let is_refused = state.last_error.is_some_and(|error| error.refused);
        if is_refused && sets.any(|set| *set.name == *state.set && is_other(set)) {
            // What comes of it is in the log.
            let _ = asking.ask(&state.set, false, Duration::ZERO);
        }
    }
}

/// Gives the sets their new settings, where they are the same sets, and workers the rules.
fn settings(
    inner: &Inner,
    next: &Config,
    packet_rules: Option<Arc<RuleTable>>,
) -> Result<(), String> {
    let sets = keep::sets(next);
    let reply = sets::handle(&inner.keeping).ask(Request::Reload { sets, packet_rules });
    reply.map(|_| ()).map_err(|refusal| refusal.to_string())
}

/// The sets as they are; none where nobody keeps them.
fn facts(inner: &Inner) -> Vec<SetFacts> {
    match sets::handle(&inner.keeping).ask(Request::List) {
        Ok(Reply::Sets(facts)) => facts,
        _ => Vec::new(),
    }
}

/// Waits until lists that are files are in force, and says what the others still lack.
fn awaited(inner: &Inner, brought: &Brought<'_>) -> Vec<String> {
    let name = |spec: &&SourceSpec| spec.set.to_string();
    let is_file = |spec: &&&SourceSpec| matches!(spec.source, Source::File { .. });
    let (files, others): (Vec<&SourceSpec>, Vec<&SourceSpec>) = brought
        .specs
        .iter()
        .copied()
        .partition(|spec| is_file(&spec));
    let files: Vec<String> = files.iter().map(name).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let mut told = Vec::new();
    for state in inner.asking.tried(&files, READ_WITHIN) {
        let set = &state.set;
        let is_told = brought.refused.contains(set);
        match &state.last_error {
            _ if is_told => {}
            Some(error) => told.push(format!("set {set} does not take its list: {}", error.text)),
            None if state.is_tried() => {}
            None => told.push(later(set, &state.name)),
        }
    }
    let others = others.iter();
    told.extend(others.map(|spec| later(&spec.set, &spec.source.name())));
    told
}

fn later(set: &str, source: &str) -> String {
    format!("set {set}: its list comes later, from {source}; see 'linerate set show {set}'")
}

/// What a new configuration changes that cannot change.
fn fixed(old: &Config, new: &Config) -> Option<&'static str> {
    let checks = [
        ("[[port]]", old.ports == new.ports),
        ("[[pipeline]]", switch::are_alike(old, new)),
        (
            "stations of [[pipeline]]",
            switch::stations(old) == switch::stations(new),
        ),
        ("[stateful]", old.stateful == new.stateful),
        ("[fragments]", old.fragments == new.fragments),
        ("[workers]", old.workers == new.workers),
        ("[memory]", old.memory == new.memory),
        ("[control]", old.control == new.control),
        ("[metrics]", old.metrics == new.metrics),
        ("[state]", old.state == new.state),
        ("[user]", old.user == new.user),
        ("format of [log]", old.log.format == new.log.format),
        (
            "connections of [limits]",
            old.limits.connections_max == new.limits.connections_max,
        ),
    ];
    let mut changed = checks.iter().filter(|(_, same)| !same);
    router::changed(old, new).or(changed.next().map(|&(what, _)| what))
}

#[cfg(test)]
mod etcd_tests;
#[cfg(test)]
mod key_tests;
#[cfg(test)]
mod switch_tests;
