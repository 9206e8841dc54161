//! Another keeper for another number of sets, while frames go by.
//!
//! Tables have a place a set, so that a set more or less is another set of tables. They are made
//! beside those in use: file parts are taken from the old keeper, what was added by hand from the
//! journal, and workers get the whole in one version. Until then they judge by the old tables, and
//! changes are answered as busy.

use std::sync::Arc;

use engine::Publisher;
use table::Entries;

use super::inner::{Inner, Live};
use super::recent::Recent;
use super::{StartError, keep, sets};
use crate::config::Config;
use crate::sets::{Deferred, Handle, Keeper, LoadedList, Reply, Request, SetName};
use crate::sources::{Sources, ToKeeper};

/// A file part, and where it was read.
struct Carried {
    set: SetName,
    entries: Entries,
    list: LoadedList,
}

/// Goes over to the sets of `next`; says what came and what went.
pub(super) fn exchange(
    inner: &Inner,
    live: &mut Live,
    next: &Config,
) -> Result<Vec<String>, String> {
    let Some(publisher) = inner.publisher.get() else {
        return Err("the daemon is starting: try again".to_owned());
    };
    let changes = differences(&live.config, next);
    live.sources.stop();
    let carried = carry(&sets::handle(&inner.keeping), next);
    // The journal is the next keeper's.
    live.keeper = None;
    match replace(inner, next, &carried, publisher) {
        Ok((handle, keeper)) => {
            install(inner, live, handle, keeper);
            live.sources = sources(inner, next);
            Ok(changes)
        }
        Err(error) => {
            let back = replace(inner, &live.config, &carried, publisher);
            let (handle, keeper) = back.map_err(|worse| {
                format!("{error}; and the sets there were cannot be had back: {worse}: restart")
            })?;
            install(inner, live, handle, keeper);
            live.sources = sources(inner, &live.config);
            let planned = Sources::planned(&live.config).map_err(|error| error.to_string())?;
            let started = live.sources.replace(&planned.0, &planned.1);
            started.map_err(|error| format!("sources cannot be started ({error}): restart"))?;
            Err(error.to_string())
        }
    }
}

fn sources(inner: &Inner, config: &Config) -> Sources {
    let keeper = ToKeeper(sets::handle(&inner.keeping));
    Sources::new(
        Arc::new(keeper),
        Sources::folder(config),
        inner.asking.clone(),
    )
}

fn install(inner: &Inner, live: &mut Live, handle: Handle, keeper: Keeper) {
    live.keeper = Some(keeper);
    let mut keeping = inner.keeping.write();
    match &mut keeping {
        Ok(kept) => **kept = handle,
        Err(poisoned) => **poisoned.get_mut() = handle,
    }
}

/// Sets that are in one of two configurations alone, or in another place.
fn differences(old: &Config, new: &Config) -> Vec<String> {
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

/// The file parts of all sets that do not come back by themselves.
fn carry(handle: &Handle, next: &Config) -> Vec<Carried> {
    let is_by_hand = |name: &SetName| {
        let mut sets = next.sets.iter();
        sets.any(|set| set.name == name.as_str() && set.source.is_none())
    };
    let Ok(Reply::Sets(facts)) = handle.ask(Request::List) else {
        return Vec::new();
    };
    let carried = facts.into_iter().filter_map(|facts| {
        let mut list = facts.loaded?;
        // What was loaded by hand comes from where it is kept, unless it is about to be replaced.
        if list.from.kept.take().is_some() && is_by_hand(&facts.name) {
            return None;
        }
        let entries = keep::file_part(handle, &facts.name);
        let set = facts.name;
        Some(Carried { set, entries, list })
    });
    carried.collect()
}

/// Makes a keeper of these sets, and gives its tables to the workers.
fn replace(
    inner: &Inner,
    config: &Config,
    carried: &[Carried],
    publisher: &Publisher,
) -> Result<(Handle, Keeper), StartError> {
    let deferred = Deferred::default();
    let recent = Arc::new(Recent(Arc::clone(&inner.observer)));
    let keeper_config = keep::keeper_config(config, recent);
    let journal = keep::journal(config, false)?;
    let publish = Box::new(deferred.clone());
    let (handle, keeper) = keep::start(keeper_config, journal, publish, config, false)?;
    for part in carried {
        if !handle.has(&part.set) {
            continue;
        }
        handle.ask(Request::Load {
            set: part.set.clone(),
            entries: part.entries.clone(),
            source: part.list.from.clone(),
            origin: part.list.origin,
            // The guards have looked at it when it came.
            force: true,
        })?;
    }
    let attached = deferred.attach(|first| {
        publisher.publish(first);
        Ok::<_, StartError>(publisher.clone())
    });
    attached.unwrap_or_else(|| Err(StartError::Other("no sets were made".to_owned())))?;
    Ok((handle, keeper))
}
