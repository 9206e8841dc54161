//! Whether traffic may be sent to this daemon: one verdict, with a sentence for each reason.
//!
//! It is healthy when its workers go round, its ports are up and its required sets are current. It
//! is ready when it is healthy and does not drain. Nothing here asks anybody: it judges what was
//! seen, so that a health check never waits for a reload or for the keeper of sets.

use std::time::{Duration, SystemTime};

use engine::Status;
use port::interface::Link;

use crate::rpc::answers::{Health, HealthKind, HealthReason};
use crate::sources::SourceState;

/// A worker shows every few milliseconds that it goes round. One that was silent for so long hangs,
/// however busy the machine is.
pub(crate) const SILENT_MAX: Duration = Duration::from_secs(5);

/// What a verdict is made of.
pub(crate) struct Seen<'a> {
    /// What runs; none while the daemon starts.
    pub(crate) running: Option<SeenRun>,
    /// The sources of sets.
    pub(crate) sources: &'a [SourceState],
    /// Whether the daemon drains.
    pub(crate) draining: bool,
    /// The time by the wall clock.
    pub(crate) now: SystemTime,
}

/// Workers and ports at one moment.
#[derive(Default)]
pub(crate) struct SeenRun {
    pub(crate) workers: Vec<SeenWorker>,
    pub(crate) ports: Vec<SeenPort>,
}

/// A worker, and since when it was silent.
pub(crate) struct SeenWorker {
    pub(crate) id: u16,
    pub(crate) cpu: u16,
    pub(crate) silent: Duration,
}

/// A port, and its link where an interface of the kernel is behind it.
pub(crate) struct SeenPort {
    pub(crate) port: WatchedPort,
    pub(crate) spec: String,
    pub(crate) link: Option<Link>,
}

impl SeenRun {
    /// What the engine shows of `ports`, which are in the order of their numbers.
    pub(crate) fn of(status: &Status, ports: &[WatchedPort]) -> Self {
        let workers = status.workers.iter().map(|worker| SeenWorker {
            id: worker.id.0,
            cpu: worker.cpu.0,
            silent: Duration::try_from_secs_f64(worker.silent_seconds).unwrap_or_default(),
        });
        let ports = ports.iter().zip(&status.ports).map(|(port, now)| SeenPort {
            port: port.clone(),
            spec: now.spec.clone(),
            link: now.link,
        });
        Self {
            workers: workers.collect(),
            ports: ports.collect(),
        }
    }
}

/// A port as the configuration has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchedPort {
    pub(crate) name: String,
    /// Whether the daemon is not healthy while this port is down.
    pub(crate) required: bool,
}

/// The verdict.
pub(crate) fn judge(seen: &Seen<'_>) -> Health {
    let mut reasons = Vec::new();
    match &seen.running {
        None => reasons.push(HealthReason {
            kind: HealthKind::Start,
            name: String::new(),
            text: "the daemon is starting: it forwards nothing yet".to_owned(),
        }),
        Some(running) => {
            reasons.extend(running.workers.iter().filter_map(worker));
            reasons.extend(running.ports.iter().filter_map(port));
        }
    }
    let sources = seen.sources.iter();
    reasons.extend(sources.filter_map(|source| set(source, seen.now)));
    let healthy = reasons.is_empty();
    if seen.draining {
        reasons.push(HealthReason {
            kind: HealthKind::Drain,
            name: String::new(),
            text: "the daemon drains: 'linerate drain --off' ends that".to_owned(),
        });
    }
    Health {
        healthy,
        ready: healthy && !seen.draining,
        draining: seen.draining,
        reasons,
    }
}

fn worker(worker: &SeenWorker) -> Option<HealthReason> {
    (worker.silent > SILENT_MAX).then(|| HealthReason {
        kind: HealthKind::Worker,
        name: worker.id.to_string(),
        text: format!(
            "worker {} on CPU {} has not gone round for {} s: restart the daemon",
            worker.id,
            worker.cpu,
            worker.silent.as_secs()
        ),
    })
}

fn port(seen: &SeenPort) -> Option<HealthReason> {
    let what = match seen.link {
        // What is no interface of the kernel is always up.
        None | Some(Link::Up(_)) => return None,
        Some(Link::Absent) => "is gone: its interface was removed or renamed",
        Some(Link::Down(_)) => "is set down: 'ip link set dev ... up' sets it up",
        Some(Link::NoCarrier(_)) => "has no carrier: look at the cable and the other end",
    };
    let WatchedPort { name, required } = &seen.port;
    required.then(|| HealthReason {
        kind: HealthKind::Port,
        name: name.clone(),
        text: format!("port {name} ({}) {what}", seen.spec),
    })
}

/// Why a required set is not current.
fn set(source: &SourceState, now: SystemTime) -> Option<HealthReason> {
    if !source.freshness.required || source.is_current(now) {
        return None;
    }
    let (set, name) = (&source.set, &source.name);
    let why = source.last_error.as_ref();
    let why = why.map_or_else(String::new, |failure| format!(" ({})", failure.text));
    let text = match source.age(now) {
        None => format!("set {set} has nothing of its source {name} yet{why}"),
        Some(age) => format!(
            "set {set} is {} s old and may be {} s old: {name} was not confirmed since{why}",
            age.as_secs(),
            source.freshness.max_age.as_secs()
        ),
    };
    Some(HealthReason {
        kind: HealthKind::Set,
        name: set.to_string(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{Freshness, Kind};

    const HOUR: Duration = Duration::from_secs(3600);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + 1_000_000 * HOUR
    }

    fn source(required: bool) -> SourceState {
        let mut state = SourceState::new("bad".into(), "/a.txt".to_owned(), Kind::File);
        state.freshness = Freshness {
            required,
            max_age: 3 * HOUR,
        };
        state
    }

    fn read(required: bool, hours_ago: u32) -> SourceState {
        let mut state = source(required);
        state.loads = 1;
        state.last_success = Some(now() - hours_ago * HOUR);
        state
    }

    fn copy(hours_ago: u32) -> SourceState {
        let mut state = source(true);
        state.loads = 1;
        state.from_copy = true;
        state.list_at = Some(now() - hours_ago * HOUR);
        state
    }

    #[test]
    fn required_sets_are_current_or_named() {
        for (what, state, is_current, required) in [
            ("never read", source(true), false, true),
            ("never read, not required", source(false), false, false),
            ("just read", read(true, 0), true, true),
            ("at its age", read(true, 3), true, true),
            ("too old", read(true, 4), false, true),
            ("too old, not required", read(false, 4), false, false),
            ("a copy that is young", copy(1), true, true),
            ("a copy that is old", copy(5), false, true),
        ] {
            assert_eq!(state.is_current(now()), is_current, "{what}");
            let said = set(&state, now()).map(|reason| reason.text);
            assert_eq!(said.is_some(), required && !is_current, "{what}: {said:?}");
        }
        let said = set(&read(true, 4), now()).expect("a reason").text;
        assert!(
            said.contains("14400 s old and may be 10800 s old"),
            "{said}"
        );
    }

    #[test]
    fn ports_and_workers_are_reasons_each_by_its_name() {
        let down = |link, required| SeenPort {
            port: WatchedPort {
                name: "uplink".to_owned(),
                required,
            },
            spec: "xdp:eth1".to_owned(),
            link,
        };
        for (link, required, part) in [
            (None, true, None),
            (Some(Link::Up(2)), true, None),
            (
                Some(Link::Absent),
                true,
                Some("port uplink (xdp:eth1) is gone"),
            ),
            (Some(Link::Down(2)), true, Some("is set down")),
            (Some(Link::NoCarrier(2)), true, Some("has no carrier")),
            (Some(Link::NoCarrier(2)), false, None),
        ] {
            let said = port(&down(link, required)).map(|reason| reason.text);
            assert_eq!(said.is_some(), part.is_some(), "{link:?}");
            assert!(part.is_none_or(|part| said.expect("a reason").contains(part)));
        }
        for (seconds, is_hanging) in [(0, false), (5, false), (6, true)] {
            let silent = Duration::from_secs(seconds);
            let one = SeenWorker {
                id: 1,
                cpu: 3,
                silent,
            };
            assert_eq!(worker(&one).is_some(), is_hanging, "{seconds}");
        }
    }

    #[test]
    fn a_start_and_a_drain_are_reasons_and_a_drain_alone_is_healthy() {
        let seen = |running, draining| {
            judge(&Seen {
                running,
                sources: &[],
                draining,
                now: now(),
            })
        };
        let health = seen(None, false);
        assert!(!health.healthy && !health.ready);
        assert_eq!(health.reasons[0].kind, HealthKind::Start);
        let run = || Some(SeenRun::default());
        let health = seen(run(), false);
        assert!(health.healthy && health.ready && health.reasons.is_empty());
        let health = seen(run(), true);
        assert!(health.healthy && !health.ready && health.draining);
        assert_eq!(health.reasons[0].kind, HealthKind::Drain);
    }
}
