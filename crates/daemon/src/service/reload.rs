//! Taking a new configuration over while frames go by: all of it, or nothing.

use std::time::SystemTime;

use super::inner::{Inner, Live};
use super::{exchange, keep, sets};
use crate::config::{Config, ConfigError};
use crate::metrics;
use crate::sets::{Reply, Request};
use crate::sources::Sources;

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
    let names = |config: &Config| -> Vec<String> {
        let sets = config.sets.iter().map(|set| set.name.clone());
        sets.collect()
    };
    let mut changes = if names(&live.config) == names(&next) {
        settings(inner, &next)?
    } else {
        exchange::exchange(inner, live, &next)?
    };
    changes.extend(sources_changed(&live.config, &next));
    let replaced = live.sources.replace(&lists, &apis);
    replaced.map_err(|error| format!("a source cannot be started ({error})"))?;
    if live.config.log.level != next.log.level {
        crate::log::set_level(next.log.level);
        changes.push("the log has another level".to_owned());
    }
    live.config = next;
    Ok(changes)
}

/// Gives the sets their new settings, where they are the same sets.
fn settings(inner: &Inner, next: &Config) -> Result<Vec<String>, String> {
    let sets = keep::sets(next);
    let reply = sets::handle(&inner.keeping).ask(Request::Reload { sets });
    match reply.map_err(|refusal| refusal.to_string())? {
        Reply::Reloaded(names) => {
            let changes = names
                .iter()
                .map(|name| format!("set {name} has other settings"));
            Ok(changes.collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// What a new configuration changes that cannot change.
fn fixed(old: &Config, new: &Config) -> Option<&'static str> {
    let checks = [
        ("[[port]]", old.ports == new.ports),
        ("[[pipeline]]", old.pipelines == new.pipelines),
        ("[workers]", old.workers == new.workers),
        ("[memory]", old.memory == new.memory),
        ("[control]", old.control == new.control),
        ("[metrics]", old.metrics == new.metrics),
        ("[state]", old.state == new.state),
        ("[user]", old.user == new.user),
    ];
    let changed = checks.iter().find(|(_, same)| !same);
    changed.map(|&(what, _)| what)
}

/// Sets whose entries come from elsewhere, or at other times.
fn sources_changed(old: &Config, new: &Config) -> Vec<String> {
    let mut changes = Vec::new();
    for set in &new.sets {
        let before = old.sets.iter().find(|before| before.name == set.name);
        if let Some(before) = before
            && (before.source != set.source || before.refresh != set.refresh)
        {
            changes.push(format!("set {} has another source", set.name));
        }
    }
    if old.crowdsec != new.crowdsec {
        changes.push("[crowdsec] is another".to_owned());
    }
    changes
}
