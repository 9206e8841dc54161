//! The keeper of the sets of a configuration, with what survived the last run.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use table::live::Entry;
use table::{Address, Entries, FamilyEntries, Range};

use super::{StartError, hand, rules};
use crate::Samples;
use crate::config::{self, Config, Space};
use crate::journal::{Journal, OpenOptions, Restart};
use crate::sets::{
    Defaults, Handle, Keeper, KeeperConfig, Keeps, LoadedFrom, Origin, Publish, RecentHits,
    Refusal, Reply, Request, SetConfig, SetName,
};

/// The sets of a configuration and of the address space it keeps, as the keeper has them.
pub(super) fn sets(config: &Config) -> Vec<SetConfig> {
    let mut rules = rules::rules(config).into_iter();
    let guarded = |(set, rule): (&config::SetConfig, _)| SetConfig {
        max_change: set.guards.max_change,
        max_change_floor: set.guards.max_change_floor,
        allow_empty: set.guards.allow_empty,
        allow_private: set.guards.allow_private,
        ..SetConfig::new(rule)
    };
    let of_lists = config.sets.iter().zip(rules.by_ref()).map(guarded);
    let mut sets: Vec<SetConfig> = of_lists.collect();
    let kept = rules::kept(config).zip(rules);
    sets.extend(kept.map(|(space, rule)| SetConfig {
        keeps: Some(match space {
            Space::Private => Keeps::Private,
            Space::Local => Keeps::Local,
        }),
        ..SetConfig::new(rule)
    }));
    sets
}

/// For frames that no set decides on.
pub(super) fn defaults(config: &Config) -> Defaults {
    let mut defaults = Defaults::default();
    for pipeline in &config.pipelines {
        defaults = Defaults {
            ip: pipeline.default,
            non_ip: pipeline.non_ip,
            malformed: pipeline.malformed,
            tunnels: pipeline.tunnels,
            pass: pipeline.pass,
            router: rules::ports(config, &pipeline.router),
        };
    }
    defaults
}

/// What the keeper is told.
pub(super) fn keeper_config(config: &Config, hits: Arc<dyn RecentHits>) -> KeeperConfig {
    KeeperConfig {
        defaults: defaults(config),
        ports: config.ports.iter().map(|port| port.name.clone()).collect(),
        recent_hits: hits,
        ..KeeperConfig::new(sets(config))
    }
}

/// What survived the last run; none where nothing is to survive.
pub(super) fn journal(config: &Config, recover: bool) -> Result<Restart, StartError> {
    let Some(dir) = &config.state.dir else {
        tracing::warn!("no state is kept: what is added by hand is gone after a restart");
        return Ok(Restart::default());
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let (journal, kept, report) = Journal::open(dir, OpenOptions { recover }, now_ms)?;
    if report.cut_bytes != 0 {
        tracing::warn!(
            bytes = report.cut_bytes,
            "the journal's damaged end was cut off"
        );
    }
    for (file, at, bytes) in &report.skipped {
        let file = file.display();
        tracing::warn!(%file, at, bytes, "a damaged part of the journal was left out");
    }
    if let Some(error) = &report.no_room {
        tracing::error!(
            error,
            "there is no room for the journal: what is changed will not survive a restart until \
             there is"
        );
    }
    tracing::info!(dir = %dir.display(), records = report.records, "state is kept");
    Ok(Restart {
        journal: Some(journal),
        kept,
    })
}

/// Starts the keeper, and fills the sets of address space to keep and those that were filled by
/// hand.
pub(super) fn start(
    config: KeeperConfig,
    restart: Restart,
    publish: Box<dyn Publish>,
    whole: &Config,
    recover: bool,
) -> Result<(Handle, Keeper), StartError> {
    let by_hand = hand::lists_of(&restart.kept, whole);
    let (handle, keeper) = Keeper::start(config, restart, publish)?;
    for space in rules::kept(whole) {
        keep_space(&handle, space, space.entries())?;
    }
    hand::restore(&handle, whole, by_hand, recover)?;
    Ok((handle, keeper))
}

/// Makes these entries the set of address space that no other set may block.
pub(super) fn keep_space(handle: &Handle, space: Space, entries: Entries) -> Result<(), Refusal> {
    let Ok(set) = SetName::new(space.set_name()) else {
        return Ok(());
    };
    let source = LoadedFrom::named(format!("keep = \"{}\"", space.name()));
    let request = Request::Load {
        set,
        entries,
        source,
        origin: Origin::Hand,
        force: true,
    };
    handle.ask(request).map(|_| ())
}

/// The file part of a set, as it is.
pub(super) fn file_part(handle: &Handle, set: &SetName) -> Entries {
    let mut entries = Entries::default();
    let Ok(Reply::Saved(saved)) = handle.ask(Request::Save { set: set.clone() }) else {
        return entries;
    };
    saved.listing().file().for_each(|entry| match entry {
        Entry::V4(range) => push(&mut entries.v4, range),
        Entry::V6(range) => push(&mut entries.v6, range),
    });
    entries
}

fn push<A: Address>(entries: &mut FamilyEntries<A>, range: Range<A>) {
    if range.first() == range.last() {
        entries.addresses.push(range.first());
    } else {
        entries.ranges.push(range);
    }
}

/// Addresses of all sets, for generators to draw hits from.
pub(super) fn samples(handle: &Handle, config: &Config) -> Samples {
    let names = config
        .sets
        .iter()
        .filter_map(|set| SetName::new(&set.name).ok());
    let lists: Vec<Entries> = names.map(|set| file_part(handle, &set)).collect();
    Samples::of(&lists.iter().collect::<Vec<_>>())
}
