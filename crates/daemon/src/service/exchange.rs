//! Another keeper for another number of sets, while frames go by.
//!
//! Tables have a place a set, so that a set more or less is another set of tables. They are made
//! beside those in use: file parts and what is known of sets come from the old keeper, what was
//! added by hand from the journal, and workers get the whole in one version. Until then they judge
//! by the old tables, and changes are answered as busy.

use std::sync::Arc;
use std::time::Duration;

use engine::Publisher;
use plane::RuleTable;
use table::Entries;

use super::inner::{Inner, Live};
use super::recent::Recent;
use super::{StartError, keep, packet_rules, sets};
use crate::config::Config;
use crate::journal::{KeptSets, Restart};
use crate::rpc::ANSWER_WITHIN;
use crate::sets::{Deferred, Handle, Keeper, KeeperConfig, Past, Refusal, Request, SetName};

/// How long a list that is being read may hold a reload up: whoever asked hears of it before he
/// gives the daemon up.
const HOLD_WITHIN: Duration = Duration::from_secs(10);
const _: () = assert!(HOLD_WITHIN.as_secs() < ANSWER_WITHIN.as_secs());

/// A set that stays: its past, and its file part where that does not come back by itself.
struct Carried {
    entries: Option<Entries>,
    past: Past,
}

/// Goes over to the sets of `next`. Sources go on; what they deliver meanwhile waits.
pub(super) fn exchange(
    inner: &Inner,
    live: &mut Live,
    next: &Config,
    packet_rules: Option<Arc<RuleTable>>,
) -> Result<(), String> {
    let Some(publisher) = inner.publisher.get() else {
        return Err("the daemon is starting: try again".to_owned());
    };
    let Some(_held) = inner.deliveries.hold(HOLD_WITHIN) else {
        return Err(format!(
            "a list is still being read into a set after {} s: nothing was changed, try again",
            HOLD_WITHIN.as_secs()
        ));
    };
    let handle = sets::handle(&inner.keeping);
    let carried = carry(&handle, next).map_err(|refusal| refusal.to_string())?;
    // Without a journal it passes in memory.
    let passing = live.config.state.dir.is_none().then(|| handle.kept());
    let kept = passing.transpose().map_err(|refusal| refusal.to_string())?;
    // The journal is the next keeper's.
    live.keeper = None;
    // Workers that have had the next rules take them as others.
    let before = packet_rules::in_force(inner).map(|table| Arc::new(table.anew()));
    let with = |config, packet_rules| With {
        config,
        packet_rules,
        carried: &carried,
    };
    match replace(&with(next, packet_rules), kept.clone(), inner, publisher) {
        Ok((handle, keeper)) => {
            install(inner, live, handle, keeper);
            Ok(())
        }
        Err(error) => {
            let back = replace(&with(&live.config, before), kept, inner, publisher);
            let (handle, keeper) = back.map_err(|worse| {
                format!("{error}; and the sets there were cannot be had back: {worse}: restart")
            })?;
            install(inner, live, handle, keeper);
            Err(error.to_string())
        }
    }
}

fn install(inner: &Inner, live: &mut Live, handle: Handle, keeper: Keeper) {
    live.keeper = Some(keeper);
    let mut keeping = inner.keeping.write();
    match &mut keeping {
        Ok(kept) => **kept = handle,
        Err(poisoned) => **poisoned.get_mut() = handle,
    }
}

/// What all sets are given again by the next keeper.
fn carry(handle: &Handle, next: &Config) -> Result<Vec<Carried>, Refusal> {
    let is_by_hand = |name: &SetName| {
        let mut sets = next.sets.iter();
        sets.any(|set| set.name == name.as_str() && set.source.is_none())
    };
    let carried = handle.past()?.into_iter().map(|mut past| {
        let is_by_hand = is_by_hand(&past.set);
        // What was loaded by hand comes from where it is kept, unless it is about to be replaced.
        let comes_back = past.loaded.as_mut().is_none_or(|list| match is_by_hand {
            true => list.from.kept.is_some(),
            false => {
                list.from.kept = None;
                false
            }
        });
        let entries = (!comes_back).then(|| keep::file_part(handle, &past.set));
        Carried { entries, past }
    });
    Ok(carried.collect())
}

/// What the next keeper begins with.
struct With<'a> {
    config: &'a Config,
    packet_rules: Option<Arc<RuleTable>>,
    carried: &'a [Carried],
}

/// Makes a keeper of these sets, and gives its tables to the workers.
fn replace(
    with: &With<'_>,
    kept: Option<KeptSets>,
    inner: &Inner,
    publisher: &Publisher,
) -> Result<(Handle, Keeper), StartError> {
    let deferred = Deferred::default();
    let recent = Arc::new(Recent(Arc::clone(&inner.observer)));
    let config = with.config;
    let keeper_config = KeeperConfig {
        packet_rules: with.packet_rules.clone(),
        ..keep::keeper_config(config, recent)
    };
    let restart = match kept {
        Some(kept) => Restart {
            journal: None,
            kept,
        },
        None => keep::journal(config, false)?,
    };
    let publish = Box::new(deferred.clone());
    let (handle, keeper) = keep::start(keeper_config, restart, publish, config, false)?;
    for part in with
        .carried
        .iter()
        .filter(|part| handle.has(&part.past.set))
    {
        put_back(&handle, part)?;
    }
    let attached = deferred.attach(|first| {
        publisher.publish(first);
        Ok::<_, StartError>(publisher.clone())
    });
    attached.unwrap_or_else(|| Err(StartError::Other("no sets were made".to_owned())))?;
    Ok((handle, keeper))
}

fn put_back(handle: &Handle, part: &Carried) -> Result<(), Refusal> {
    let past = part.past.clone();
    if let Some((entries, list)) = part.entries.as_ref().zip(past.loaded.as_ref()) {
        handle.ask(Request::Load {
            set: past.set.clone(),
            entries: entries.clone(),
            source: list.from.clone(),
            origin: list.origin,
            // The guards have looked at it when it came.
            force: true,
        })?;
    }
    handle.resume(past)
}
