//! From what engine, keeper and sources say to one observation.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::{PortStatus, SetCounts, Status, WorkerStatus};
use plane::NodeCount;
use port::interface::Link;

use super::observation::{
    BurstSizes, Captured, Hits, Observation, Pool, Port, Refreshes, Reloads, RuleFigures, Set,
    Worker,
};
use crate::rpc::answers::{Health, Vlans};
use crate::sets::SetFacts;
use crate::sources::SourceState;

/// What the engine does not know of the daemon.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The program's version.
    pub version: String,
    /// The commit it was built from; empty where that is unknown.
    pub commit: String,
    /// Whether traffic may be sent to it.
    pub health: Health,
    /// When the daemon started.
    pub started: Option<SystemTime>,
    /// Names of ports by their numbers; a port without one goes by its spec.
    pub port_names: Vec<String>,
    /// Sets as the keeper has them.
    pub sets: Vec<SetFacts>,
    /// Sources, and how they fare.
    pub sources: Vec<SourceState>,
    /// What the switch did, where there is one.
    pub switch: Option<Vlans>,
    /// There is a router.
    pub routes: bool,
    /// Rules of packets, where there are some.
    pub rules: Option<RuleFigures>,
    /// Changes of the configuration.
    pub reloads: Reloads,
    /// What captures were given.
    pub captured: Captured,
}

impl Observation {
    /// Of a daemon that starts: there are no ports and no workers yet.
    #[must_use]
    pub fn starting(around: &Around) -> Self {
        Self {
            version: around.version.clone(),
            commit: around.commit.clone(),
            started_at: around.started.map_or(0.0, seconds),
            health: around.health.clone(),
            reloads: around.reloads,
            switch: around.switch.clone(),
            rules: around.rules.clone(),
            captured: around.captured,
            ..Self::default()
        }
    }

    /// Everything at one moment, of what its parts say.
    #[must_use]
    pub fn of(status: &Status, around: &Around) -> Self {
        let names = status.ports.iter().enumerate();
        let ports = names.map(|(place, port)| {
            let name = around.port_names.get(place);
            self::port(port, name.unwrap_or(&port.spec))
        });
        Self {
            ports: ports.collect(),
            workers: status.workers.iter().map(worker).collect(),
            drops: status.drops.iter().map(|&(_, frames)| frames).collect(),
            passed: status.passed.iter().map(|&(_, frames)| frames).collect(),
            fragments: status.fragments.as_ref().map(Into::into),
            sets: sets(&status.sets, around),
            would_drop: status.would_drop,
            router: match around.routes {
                true => status.node.iter().map(event).collect(),
                false => Vec::new(),
            },
            pools: status.workers.iter().map(pool).collect(),
            frame_memory_bytes: status.memory.bytes as u64,
            published_version: status.seen,
            ..Self::starting(around)
        }
    }
}

fn event(count: &NodeCount) -> (String, u64) {
    (count.name.to_owned(), count.count)
}

/// Seconds since 1970, as Prometheus has times.
pub fn seconds(time: SystemTime) -> f64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

fn port(port: &PortStatus, name: &str) -> Port {
    let passed = &port.passed;
    Port {
        name: name.to_owned(),
        spec: port.spec.clone(),
        mode: port.mode.clone(),
        // What is no interface of the kernel is always there.
        up: port.link.is_none_or(|link| matches!(link, Link::Up(_))),
        rx_frames: passed.rx_frames,
        rx_bytes: passed.rx_bytes,
        tx_frames: passed.tx_frames,
        tx_bytes: passed.tx_bytes,
        rx_dropped: port.rx_dropped,
        tx_dropped: port.tx_dropped,
        missed: passed.missed,
        shortcut: passed.shortcut,
        unfiltered: passed.unfiltered,
        to_host: passed.to_host,
    }
}

fn worker(worker: &WorkerStatus) -> Worker {
    let bounds = (0..).map(|power| 1_u32 << power);
    let counts = bounds.zip(worker.burst_sizes).collect();
    Worker {
        id: worker.id.0,
        cpu: worker.cpu.0,
        rx_frames: worker.rx,
        tx_frames: worker.tx,
        dropped: worker.dropped,
        handed_off: worker.handed_off,
        busy_seconds: worker.busy_nanos as f64 / 1e9,
        cpu_seconds: worker.cpu_seconds,
        sleeps: worker.sleeps,
        bursts: BurstSizes {
            counts,
            bursts: worker.bursts,
            frames: worker.rx,
        },
        silent_seconds: Some(worker.silent_seconds),
    }
}

fn pool(worker: &WorkerStatus) -> Pool {
    Pool {
        worker: worker.id.0,
        frames: worker.pool.total.into(),
        free: worker.pool.free.into(),
    }
}

/// What hits are counted of, with what the keeper and the sources know of it: address space that
/// the configuration keeps from being blocked is a set, too, that neither knows.
fn sets(counts: &[SetCounts], around: &Around) -> Vec<Set> {
    let facts = |name: &str| around.sets.iter().find(|set| set.name.as_str() == name);
    let of_set = |counts: &SetCounts| {
        let name = counts.rule.name.as_str();
        let mut set = Set {
            name: name.to_owned(),
            action: counts.rule.action.name().to_owned(),
            hits: hits(counts, around),
            would_drop: counts.would_drop,
            ..Set::default()
        };
        if let Some(facts) = facts(name) {
            let dynamic = facts.counts.dynamic;
            set.dynamic_entries = Some(dynamic as u64);
            set.file_entries = Some(facts.loaded.as_ref().map_or(0, |list| list.entries));
            set.loaded_at = facts.loaded.as_ref().map(|list| seconds(list.since));
        }
        for source in around.sources.iter().filter(|source| &*source.set == name) {
            add_source(&mut set, source);
        }
        set
    };
    counts.iter().map(of_set).collect()
}

fn add_source(set: &mut Set, source: &SourceState) {
    let results = set.refreshes.get_or_insert_with(Refreshes::default);
    results.loaded += source.loads;
    results.unchanged += source.unchanged;
    results.failed += source.failures;
    results.refused += source.refusals;
    set.stale |= source.last_error.is_some();
    set.never_read |= source.is_never_read() && set.loaded_at.is_none();
    let now = SystemTime::now();
    set.required |= source.freshness.required;
    set.current = Some(set.current.unwrap_or(true) && source.is_current(now));
    let age = source.age(now).map(|age| age.as_secs_f64());
    set.age_seconds = match (set.age_seconds, age) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    };
    // Of several sources the oldest speaks for the set.
    let confirmed = source.last_success.map(seconds);
    set.confirmed_at = match (set.confirmed_at, confirmed) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
}

/// Hits by ingress port, side and action, in the order of their numbers.
fn hits(counts: &SetCounts, around: &Around) -> Vec<Hits> {
    let mut sums: BTreeMap<(u8, &str, &str), u64> = BTreeMap::new();
    for hit in &counts.hits {
        let of = (hit.port.0, hit.side.name(), hit.action.name());
        *sums.entry(of).or_default() += hit.frames;
    }
    let named = |number: u8| {
        let name = around.port_names.get(usize::from(number));
        name.map_or_else(|| number.to_string(), Clone::clone)
    };
    let sums = sums.into_iter();
    sums.map(|((port, side, action), frames)| Hits {
        port: named(port),
        side: side.to_owned(),
        action: action.to_owned(),
        frames,
    })
    .collect()
}
