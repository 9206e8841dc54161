//! The health of a daemon that runs, and its drain.

use std::sync::atomic::Ordering;
use std::time::SystemTime;

use engine::Observer;

use super::inner::Inner;
use crate::config::Config;
use crate::health::{Seen, SeenRun, WatchedPort, judge as judge_seen};
use crate::notify::Notifier;
use crate::rpc::answers::Health;

/// The ports whose links count.
pub(super) fn watched_ports(config: &Config) -> Vec<WatchedPort> {
    let ports = config.ports.iter().map(|port| WatchedPort {
        name: port.name.clone(),
        required: port.required,
    });
    ports.collect()
}

/// The verdict now. It takes neither the lock of a reload nor a turn of the keeper: a health check
/// that waits would take a daemon out of its group that is well.
pub(super) fn judge(inner: &Inner) -> Health {
    let status = inner.observer.get().map(Observer::status);
    let running = status.map(|status| SeenRun::of(&status, &inner.watched_ports));
    judge_seen(&Seen {
        running,
        sources: &inner.asking.states(),
        draining: inner.draining.load(Ordering::Relaxed),
        now: SystemTime::now(),
    })
}

/// Begins to drain, or ends that.
pub(super) fn drain(inner: &Inner, on: bool) -> Health {
    let was = inner.draining.swap(on, Ordering::Relaxed);
    match (was, on) {
        (false, true) => tracing::warn!(
            "draining: not ready for traffic any more, what comes is forwarded all the same"
        ),
        (true, false) => tracing::info!("draining has ended"),
        _ => {}
    }
    judge(inner)
}

/// What the service manager was told of the drain.
#[derive(Debug, Default)]
pub(super) struct DrainTold(bool);

impl DrainTold {
    /// Tells it when that has changed.
    pub(super) fn look(&mut self, notifier: &Notifier, inner: &Inner) {
        let draining = inner.draining.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.0, draining) != draining {
            notifier.status(if draining { "Draining" } else { "Forwarding" });
        }
    }
}
