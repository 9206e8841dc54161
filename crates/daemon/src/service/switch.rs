//! The switch under the daemon: its stations, and other settings while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use engine::Observer;
use frame::PortId;
use plane::switch::{SwitchConfig, SwitchRequest, SwitchTable, Vlan, VlanFrames, VlanMode};
use plane::{NodeCount, Ports};
use table::fdb::FdbEntry;
use wire::MacAddress;

use super::StartError;
use super::inner::Inner;
use crate::config::{Config, PipelineConfig, PipelineKind, show_duration};
use crate::rpc::answers::{Fdb, FdbParams, Station, SwitchEvent, VlanFacts, Vlans};
use crate::rpc::{ErrorKind, RpcError};

/// Stations from which on an answer asks for no further page.
const ENOUGH: usize = 512;
/// Pages that one answer looks at: where most stations are not asked for, they are many.
const PAGES_MAX: usize = 64;

/// The stations that are asked for.
struct Wanted {
    vlan: Option<u16>,
    port: Option<PortId>,
}

impl Wanted {
    fn of(params: &FdbParams, names: &[String]) -> Result<Self, RpcError> {
        let number = |name: &String| {
            let place = names.iter().position(|other| other == name);
            let port = place.and_then(|place| u8::try_from(place).ok()).map(PortId);
            port.ok_or_else(|| {
                let names = names.join(", ");
                RpcError::params(format!("there is no port '{name}'; there are {names}"))
            })
        };
        Ok(Self {
            vlan: params.vlan,
            port: params.port.as_ref().map(number).transpose()?,
        })
    }

    fn has(&self, entry: &FdbEntry) -> bool {
        let is_vlan = self.vlan.is_none_or(|vlan| vlan == entry.vlan);
        is_vlan && self.port.is_none_or(|port| port == entry.port)
    }
}

/// What `show.fdb` answers: some pages of the first worker's database. The others have the same
/// stations, as soon as they were told.
pub(super) fn fdb(inner: &Inner, params: &FdbParams) -> Result<Fdb, RpcError> {
    let observer = inner.observer()?;
    let wanted = Wanted::of(params, &inner.ports)?;
    let mut stations = Vec::new();
    let mut next = Some(params.from.unwrap_or(0) as usize);
    for _ in 0..PAGES_MAX {
        let Some(from) = next.filter(|_| stations.len() < ENOUGH) else {
            break;
        };
        let answer = observer.ask_node(0, SwitchRequest::stations(from));
        let Some(SwitchRequest::Stations { from, entries }) = answer else {
            return Err(RpcError::new(
                ErrorKind::Busy,
                "the worker that knows the stations does not answer: try again",
            ));
        };
        next = from;
        let own = entries.iter().filter(|entry| wanted.has(entry));
        stations.extend(own.map(|entry| station(entry, &inner.ports)));
    }
    Ok(Fdb {
        seconds: observer.snapshot().seconds,
        stations,
        next: next.map(|next| next as u64),
    })
}

/// Those that the daemon begins with.
pub(super) fn first(config: &Config) -> Result<Option<Mutex<Arc<SwitchTable>>>, StartError> {
    let table = config.switch_table().map_err(StartError::Other)?;
    Ok(table.map(|table| Mutex::new(Arc::new(table))))
}

/// The settings that workers switch by, where they do.
pub(super) fn table(inner: &Inner) -> Option<Arc<SwitchTable>> {
    let own = inner.switch.as_ref()?.lock();
    Some(Arc::clone(&own.unwrap_or_else(PoisonError::into_inner)))
}

/// What `show.vlans` answers. A worker that does not answer counts nothing.
pub(super) fn vlans(inner: &Inner) -> Result<Vlans, RpcError> {
    let observer = inner.observer()?;
    let mut sums = vec![VlanFrames::default(); usize::from(u16::MAX)];
    for worker in 0..observer.workers_len() {
        let answer = observer.ask_node(worker, SwitchRequest::vlans());
        let Some(SwitchRequest::Vlans(frames)) = answer else {
            continue;
        };
        for (sum, own) in sums.iter_mut().zip(frames) {
            sum.received += own.received;
            sum.sent += own.sent;
        }
    }
    let status = observer.status();
    let event = |count: NodeCount| SwitchEvent {
        event: count.name.to_owned(),
        count: count.count,
    };
    let facts = |vlan: &Vlan| {
        let frames = sums[usize::from(vlan.id)];
        VlanFacts {
            vlan: (vlan.id != 0).then_some(vlan.id),
            untagged: named(vlan.untagged, &inner.ports),
            tagged: named(vlan.tagged, &inner.ports),
            in_frames: frames.received,
            out_frames: frames.sent,
        }
    };
    let table = table(inner);
    let vlans = table.map_or_else(Vec::new, |table| vlans_of(table.config()));
    Ok(Vlans {
        seconds: status.seconds,
        events: status.node.into_iter().map(event).collect(),
        vlans: vlans.iter().map(facts).collect(),
    })
}

/// Those of the table; in modes without VLANs the one that all frames are of.
fn vlans_of(config: &SwitchConfig) -> Vec<Vlan> {
    match config.mode {
        VlanMode::Dot1q => config.vlans.clone(),
        VlanMode::Default | VlanMode::Port => vec![Vlan {
            id: 0,
            untagged: Ports::first(config.ports.len()),
            tagged: Ports::NONE,
        }],
    }
}

fn named(ports: Ports, names: &[String]) -> Vec<String> {
    let name = |port: PortId| names.get(usize::from(port.0)).cloned();
    ports.iter().filter_map(name).collect()
}

fn station(entry: &FdbEntry, names: &[String]) -> Station {
    let name = names.get(usize::from(entry.port.0));
    Station {
        vlan: (entry.vlan != 0).then_some(entry.vlan),
        mac: MacAddress(entry.mac).to_string(),
        port: name.map_or_else(|| entry.port.to_string(), String::clone),
        r#static: entry.idle_ms.is_none(),
        age_seconds: entry.idle_ms.map(|idle| idle / 1000),
    }
}

/// Whether pipelines differ in nothing but the settings of a switch or a router.
pub(super) fn are_alike(old: &Config, new: &Config) -> bool {
    let alike = |(old, new): (&PipelineConfig, &PipelineConfig)| match (&old.kind, &new.kind) {
        (PipelineKind::Switch(_), PipelineKind::Switch(_))
        | (PipelineKind::Router(_), PipelineKind::Router(_)) => {
            let kind = new.kind.clone();
            with_rules(
                PipelineConfig {
                    kind,
                    ..old.clone()
                },
                new,
            ) == *new
        }
        _ => with_rules(old.clone(), new) == *new,
    };
    let pairs = old.pipelines.iter().zip(&new.pipelines);
    old.pipelines.len() == new.pipelines.len() && pairs.into_iter().all(alike)
}

/// A pipeline with the file of rules that another has.
fn with_rules(one: PipelineConfig, other: &PipelineConfig) -> PipelineConfig {
    let rules = other.rules.clone();
    PipelineConfig { rules, ..one }
}

/// Stations that the switch of a configuration has memory for.
pub(super) fn stations(config: &Config) -> Option<u32> {
    let table = config.switch_table().ok().flatten();
    table.map(|table| table.config().stations)
}

/// Has every worker switch by the settings of `new`, where `old` has others; says what changed. A
/// worker that does not answer is given the old ones behind them, as are all.
pub(super) fn replace(inner: &Inner, old: &Config, new: &Config) -> Result<Vec<String>, String> {
    let [Some(before), Some(after)] = [old.switch_table()?, new.switch_table()?] else {
        return Ok(Vec::new());
    };
    let changes = changes((before.config(), after.config()), &inner.ports);
    if changes.is_empty() {
        return Ok(changes);
    }
    let observer = inner.observer().map_err(|error| error.to_string())?;
    let after = Arc::new(after);
    if let Some(worker) = publish(observer, &after) {
        publish(observer, &Arc::new(before));
        return Err(format!(
            "worker {worker} does not take the settings of the switch over: try again"
        ));
    }
    if let Some(own) = &inner.switch {
        *own.lock().unwrap_or_else(PoisonError::into_inner) = after;
    }
    Ok(changes)
}

/// Gives all workers a table; the first that does not answer, if one does not.
fn publish(observer: &Observer, table: &Arc<SwitchTable>) -> Option<usize> {
    let request = || SwitchRequest::Replace(Arc::clone(table));
    let has_failed = |worker: &usize| observer.ask_node(*worker, request()).is_none();
    (0..observer.workers_len())
        .filter(has_failed)
        .reduce(|first, _| first)
}

/// What other settings change, in sentences; `names` are those of the ports.
pub(super) fn changes((old, new): (&SwitchConfig, &SwitchConfig), names: &[String]) -> Vec<String> {
    let mut changes = Vec::new();
    let mut told = |differs: bool, sentence: &str| {
        if differs {
            changes.push(sentence.to_owned());
        }
    };
    told(old.mode != new.mode, "the VLAN mode is another");
    told(old.groups != new.groups, "the groups of ports are others");
    let age = show_duration(new.age);
    told(
        old.age != new.age,
        &format!("stations are forgotten after {age}"),
    );
    let lasts = match new.loop_quiet {
        Some(lasts) => format!("a port of a loop is left out for {}", show_duration(lasts)),
        None => "a port of a loop is left as it is".to_owned(),
    };
    told(old.loop_quiet != new.loop_quiet, &lasts);
    let verb = if new.forward_reserved {
        "forwarded"
    } else {
        "dropped"
    };
    let sentence = format!("frames to 01-80-C2-00-00-00 to 0F are {verb}");
    told(old.forward_reserved != new.forward_reserved, &sentence);
    changes.extend(changes_of_vlans(old, new));
    let ports = old.ports.iter().zip(&new.ports).zip(names);
    let others = ports.filter(|((old, new), _)| old != new);
    changes.extend(others.map(|(_, name)| format!("port {name} has other settings")));
    let missing = |of: &SwitchConfig, from: &SwitchConfig| {
        let statics = of.statics.iter();
        statics
            .filter(|entry| !from.statics.contains(entry))
            .count()
    };
    let (more, fewer) = (missing(new, old), missing(old, new));
    if (more, fewer) != (0, 0) {
        changes.push(format!("static stations: {more} more, {fewer} fewer"));
    }
    changes
}

/// VLANs that came, went, and have other members.
fn changes_of_vlans(old: &SwitchConfig, new: &SwitchConfig) -> Vec<String> {
    let find = |config: &SwitchConfig, id| {
        let mut vlans = config.vlans.iter();
        vlans.find(|vlan| vlan.id == id).cloned()
    };
    let news = |vlan: &Vlan| match find(old, vlan.id) {
        None => Some(format!("VLAN {} is new", vlan.id)),
        Some(before) if before != *vlan => Some(format!("VLAN {} has other members", vlan.id)),
        Some(_) => None,
    };
    let gone = old.vlans.iter().filter(|vlan| find(new, vlan.id).is_none());
    let gone = gone.map(|vlan| format!("VLAN {} is gone", vlan.id));
    new.vlans.iter().filter_map(news).chain(gone).collect()
}
