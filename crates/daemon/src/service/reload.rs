//! Taking a new configuration over while frames go by: all of it, or nothing.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::inner::{Inner, Live};
use super::{changes, check_lists, exchange, keep, sets};
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
    let before = facts(inner);
    let names = |config: &Config| -> Vec<String> {
        let sets = config.sets.iter().map(|set| set.name.clone());
        sets.collect()
    };
    if names(&live.config) == names(&next) {
        settings(inner, &next)?;
    } else {
        exchange::exchange(inner, live, &next)?;
    }
    let mut changes = changes::of_sets((&live.config, &next), &before, &facts(inner));
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

/// Gives the sets their new settings, where they are the same sets.
fn settings(inner: &Inner, next: &Config) -> Result<(), String> {
    let sets = keep::sets(next);
    let reply = sets::handle(&inner.keeping).ask(Request::Reload { sets });
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
        ("[[pipeline]]", old.pipelines == new.pipelines),
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
    let changed = checks.iter().find(|(_, same)| !same);
    changed.map(|&(what, _)| what)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Every section and key that there is.
    const ALL: &str = r#"
[[port]]
name = "outside"
spec = "xdp:eth1"
[[port]]
name = "inside"
spec = "xdp:eth2"
[[pipeline]]
keep = ["private"]
hash = "inner"
[[set]]
name = "feed"
source = "https://example.net/drop.json"
ca_file = "/etc/ssl/own.pem"
action = "count"
column = 2
[[set.on]]
port = "inside"
sides = "source"
action = "block"
[[set]]
name = "made"
source = { command = ["/usr/bin/env"], timeout = "1m" }
action = "count"
columns = "1-2"
[[set]]
name = "document"
source = "/etc/linerate/cloud.json"
action = "count"
json_path = "prefixes[].ip_prefix"
[stateful]
allow_new = ["inside"]
flow_log = "/var/log/flows.jsonl"
[workers]
count = 2
cpus = "0-1"
burst = 32
[memory]
stride = 2048
pool = 4096
[control]
group = "netops"
[metrics]
address = "127.0.0.1:9177"
[crowdsec]
url = "http://127.0.0.1:8080/"
key_file = "/key"
set = "made"
ca_file = "/etc/ssl/own.pem"
[user]
name = "linerate"
"#;

    /// Another value for each key, by its section.
    const OTHERS: &[(&str, &str)] = &[
        ("port.name", "\"other\""),
        ("port.spec", "\"null:\""),
        ("pipeline.kind", "\"router\""),
        ("pipeline.ports", "[\"inside\", \"outside\"]"),
        ("pipeline.default", "\"drop\""),
        ("pipeline.non_ip", "\"drop\""),
        ("pipeline.malformed", "\"forward\""),
        ("pipeline.pass", "[\"nd\"]"),
        ("pipeline.router", "[\"inside\"]"),
        ("pipeline.hash", "\"outer\""),
        ("pipeline.tunnel_ports", "[\"vxlan=8472\"]"),
        ("pipeline.keep", "[]"),
        ("set.name", "\"other\""),
        ("set.source", "\"https://example.net/other\""),
        ("set.ca_file", "\"/other\""),
        ("set.action", "\"block\""),
        ("set.sides", "\"source\""),
        ("set.match", "\"inner\""),
        ("set.ports", "[\"inside\"]"),
        ("set.refresh", "\"7m\""),
        ("set.required", "true"),
        ("set.max_change", "0.125"),
        ("set.max_change_floor", "7"),
        ("set.allow_empty", "true"),
        ("set.allow_private", "true"),
        ("set.column", "\"src_ip\""),
        ("set.columns", "\"1/2\""),
        ("set.json_path", "\"a[].ip\""),
        ("set.skip_bad_lines", "true"),
        ("set.source.command", "[\"/usr/bin/true\"]"),
        ("set.source.timeout", "\"77s\""),
        ("set.on.port", "\"outside\""),
        ("set.on.sides", "\"destination\""),
        ("set.on.action", "\"allow\""),
        ("stateful.allow_new", "[\"outside\"]"),
        ("stateful.flows", "1000"),
        ("stateful.full", "\"evict\""),
        ("stateful.answers_from_any", "true"),
        ("stateful.flow_log", "\"/var/log/other.jsonl\""),
        ("stateful.flow_log_interval", "\"7s\""),
        ("fragments.follow", "false"),
        ("fragments.datagrams", "1000"),
        ("fragments.pieces", "16"),
        ("fragments.held", "9"),
        ("fragments.timeout", "\"3s\""),
        ("fragments.source_part", "2"),
        ("workers.count", "1"),
        ("workers.cpus", "\"2-3\""),
        ("workers.idle", "\"spin\""),
        ("workers.pin_irqs", "true"),
        ("workers.burst", "16"),
        ("workers.dispatch", "\"deferred\""),
        ("workers.dispatch_limit", "64"),
        ("workers.balance", "false"),
        ("memory.stride", "4096"),
        ("memory.pool", "8192"),
        ("limits.list_bytes", "1024"),
        ("limits.set_entries", "7"),
        ("limits.list_time", "\"7s\""),
        ("limits.connections", "7"),
        ("control.socket", "\"/run/other.sock\""),
        ("control.group", "\"other\""),
        ("metrics.address", "\"127.0.0.1:9178\""),
        ("state.keep", "false"),
        ("state.dir", "\"/other\""),
        ("crowdsec.url", "\"http://127.0.0.1:8081/\""),
        ("crowdsec.key_file", "\"/other\""),
        ("crowdsec.set", "\"feed\""),
        ("crowdsec.interval", "\"7s\""),
        ("crowdsec.resync", "\"7h\""),
        ("crowdsec.types", "[\"captcha\"]"),
        ("crowdsec.origins", "[\"cscli\"]"),
        ("crowdsec.scopes", "[\"range\"]"),
        ("crowdsec.ca_file", "\"/other\""),
        ("log.level", "\"debug\""),
        ("log.format", "\"human\""),
        ("user.name", "\"other\""),
    ];

    /// Of these the configuration refuses another value alone: there is one kind of pipeline,
    /// workers are as many as their CPUs, where no fragment waits there are no bounds, and two
    /// workers cannot find the answers of anybody.
    const AGREE: &[&str] = &[
        "pipeline.kind",
        "workers.count",
        "fragments.follow",
        "stateful.answers_from_any",
    ];

    fn parse(text: &str) -> Config {
        let read = Config::parse(Path::new("/etc/linerate/a.toml"), text);
        read.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// The whole text with one line changed, and which key that was.
    fn changed(text: &str, number: usize) -> Option<(String, String)> {
        let mut section = "";
        for line in text.lines().take(number + 1) {
            if line.starts_with('[') {
                section = line.trim_matches(['[', ']']);
            }
        }
        let line = text.lines().nth(number)?;
        let key = line.split_once(" = ").map(|(key, _)| key)?;
        let name = format!("{section}.{key}");
        let other = OTHERS.iter().find(|(known, _)| *known == name);
        let (_, other) = other.unwrap_or_else(|| panic!("no other value is known for {name}"));
        let lines = text.lines().enumerate();
        let lines = lines.map(|(at, line)| match at == number {
            true => format!("{key} = {other}\n"),
            false => format!("{line}\n"),
        });
        Some((name, lines.collect()))
    }

    /// Whether what a reload does sees the difference.
    fn is_applied(old: &Config, new: &Config) -> bool {
        let sources = |config: &Config| Sources::planned(config).expect("sources");
        keep::sets(old) != keep::sets(new)
            || sources(old) != sources(new)
            || old.log.level != new.log.level
    }

    /// Without this a key is taken over by name and nothing happens.
    #[test]
    fn every_key_is_applied_or_refused() {
        let old = parse(ALL);
        let text = old.resolved();
        let mut seen = Vec::new();
        for number in 0..text.lines().count() {
            let Some((name, other)) = changed(&text, number) else {
                continue;
            };
            seen.push(name.clone());
            // Names are spoken of elsewhere: a set or port of another name is another.
            if name == "port.name" || name == "set.name" || name == "crowdsec.set" {
                continue;
            }
            if AGREE.contains(&&name[..]) {
                let read = Config::parse(Path::new("/etc/linerate/a.toml"), &other);
                assert!(read.is_err(), "{name} has another value after all");
                continue;
            }
            let new = parse(&other);
            if new == old {
                // The other of two sections had this value already.
                assert!(
                    seen.iter().filter(|one| **one == name).count() > 1,
                    "{name}"
                );
                continue;
            }
            let refused = fixed(&old, &new);
            let at_start = name == "set.required" && !changes::of_sources(&old, &new).is_empty();
            let done = refused.is_some() || is_applied(&old, &new) || at_start;
            assert!(done, "{name} is neither applied nor refused");
        }
        for (name, _) in OTHERS {
            assert!(seen.iter().any(|one| one == name), "{name} is no key");
        }
    }
}
