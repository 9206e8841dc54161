//! What the control socket is told of the daemon: the engine's status in the protocol's words.

use engine::{
    DispatchPolicy, DispatchPort, DispatchRow, Observer, PortStatus, SetCounts, Status, TopHit,
    WorkerStatus,
};
use frame::PortId;
use plane::Side;
use port::interface::Link;

use crate::rpc::answers::{
    self, DropFacts, HitAddress, PassFacts, PortFacts, SetHits, WorkerFacts,
};
use crate::sets::SetName;

/// All counts at one moment; ports go by the names of the configuration.
pub(super) fn status(status: &Status, names: &[String]) -> answers::Status {
    let drops = status.drops.iter().filter(|(_, frames)| *frames != 0);
    let mut drops: Vec<DropFacts> = drops
        .map(|(reason, frames)| DropFacts {
            reason: reason.name().to_owned(),
            frames: *frames,
        })
        .collect();
    drops.sort_by_key(|facts| std::cmp::Reverse(facts.frames));
    let ports = status.ports.iter().enumerate();
    answers::Status {
        seconds: status.seconds,
        ports: ports
            .map(|(place, port)| self::port(port, names.get(place).unwrap_or(&port.spec)))
            .collect(),
        workers: status.workers.iter().map(worker).collect(),
        drops,
        passed: passed(status),
        sets: status.sets.iter().map(set).collect(),
        would_drop: status.would_drop,
    }
}

/// What hit one set.
pub(super) fn set(counts: &SetCounts) -> SetHits {
    SetHits {
        set: counts.rule.name.clone(),
        action: counts.rule.action.into(),
        source: counts.of(Side::Src),
        destination: counts.of(Side::Dst),
        would_drop: counts.would_drop,
    }
}

/// The rules by which something passed.
fn passed(status: &Status) -> Vec<PassFacts> {
    let passed = status.passed.iter().filter(|(_, frames)| *frames != 0);
    passed
        .map(|(rule, frames)| PassFacts {
            rule: rule.name().to_owned(),
            frames: *frames,
        })
        .collect()
}

fn port(port: &PortStatus, name: &str) -> PortFacts {
    let passed = &port.passed;
    PortFacts {
        port: name.to_owned(),
        spec: port.spec.clone(),
        state: state(port).to_owned(),
        in_frames: passed.rx_frames,
        in_bytes: passed.rx_bytes,
        in_errors: passed.missed_merged + passed.missed_too_long,
        in_drops: passed
            .missed
            .saturating_sub(passed.missed_merged + passed.missed_too_long),
        missed: passed.missed,
        in_dropped: port.rx_dropped,
        out_frames: passed.tx_frames,
        out_bytes: passed.tx_bytes,
        out_errors: port.tx_dropped,
        out_dropped: port.tx_dropped,
    }
}

/// In a word; what is no interface of the kernel is always up.
pub(super) fn state(port: &PortStatus) -> &'static str {
    match port.link {
        None | Some(Link::Up(_)) => "up",
        Some(Link::Absent) => "gone",
        Some(Link::Down(_)) => "set down",
        Some(Link::NoCarrier(_)) => "no carrier",
    }
}

fn worker(worker: &WorkerStatus) -> WorkerFacts {
    WorkerFacts {
        worker: u32::from(worker.id.0),
        cpu: u32::from(worker.cpu.0),
        frames: worker.rx,
        bursts: worker.bursts,
        busy_ns: worker.busy_nanos,
        busy_share: worker.busy,
        silent_ms: (worker.silent_seconds * 1e3) as u64,
        drops: worker.dropped,
        pool_free: u64::from(worker.pool.free),
        pool_frames: u64::from(worker.pool.total),
    }
}

/// How frames were dispatched; ports go by the names of the configuration.
pub(super) fn dispatch(status: &Status, names: &[String]) -> answers::Dispatch {
    let report = &status.dispatch;
    let name = |port: PortId| {
        let name = names.get(usize::from(port.0));
        name.map_or_else(|| port.to_string(), String::clone)
    };
    let port = |port: &DispatchPort| answers::DispatchPort {
        port: name(port.id),
        policy: port.policy.name().to_owned(),
        queues: port.queues as u64,
    };
    let cpus: Vec<u32> = report.cpus.iter().map(|cpu| u32::from(cpu.0)).collect();
    let row = |row: &DispatchRow| answers::DispatchRow {
        worker: u32::from(row.worker.0),
        cpu: cpus.get(usize::from(row.worker.0)).copied().unwrap_or(0),
        port: name(row.port),
        kind: row.kind.name().to_owned(),
        counts: (&row.counts).into(),
    };
    answers::Dispatch {
        seconds: status.seconds,
        policy: report.settings.policy_name().to_owned(),
        ring_limit: report.settings.ring_limit as u64,
        workers: cpus.len() as u64,
        bound: true,
        ports: report.ports.iter().map(port).collect(),
        rows: report.rows.iter().map(row).collect(),
        cpus,
    }
}

/// Whose each bucket is, and what it brought.
pub(super) fn rss(observer: &Observer, names: &[String]) -> answers::Rss {
    let status = observer.status();
    let dispatched = dispatch(&status, names).ports.into_iter();
    let is_uncounted = |port: &answers::DispatchPort| port.policy == DispatchPolicy::Direct.name();
    let uncounted = dispatched.filter(is_uncounted).map(|port| port.port);
    let buckets = observer.buckets().into_iter().zip(0..);
    answers::Rss {
        seconds: status.seconds,
        workers: status.workers.len() as u64,
        moved: status.dispatch.moved,
        uncounted: uncounted.collect(),
        buckets: buckets
            .map(|(own, bucket)| answers::RssBucket {
                bucket,
                worker: u32::from(own.owner.0),
                frames: own.load.frames,
                bytes: own.load.bytes,
            })
            .collect(),
    }
}

/// An address hit most, as of the last hour.
pub(super) fn hit(hit: TopHit, sets: &[SetName]) -> HitAddress {
    let (hour, minute) = (hit.hits.hour, hit.hits.minute);
    HitAddress {
        address: hit.address,
        side: hit.side.into(),
        last_minute: minute.at_most,
        last_minute_error: minute.at_most.saturating_sub(minute.at_least),
        frames: hour.at_most,
        error: hour.at_most.saturating_sub(hour.at_least),
        sets: sets.iter().map(ToString::to_string).collect(),
    }
}
