//! Frames that arrive on another worker than their flow's: none is lost that is not counted, and
//! no flow is reordered, whatever the policy, the queues and the room between workers.
//!
//! `LINERATE_DISPATCH_FRAMES` frames are sent in the test of that name, 200,000 without it.

mod flows;
mod fragments;
mod moves;
mod pieces;
#[path = "../ports/mod.rs"]
mod ports;
mod tracked_flows;
mod tunnels;

use std::sync::Arc;

use engine::{
    DEFAULT_POOL_FRAMES, DispatchKind, DispatchPolicy, DispatchSettings, EndedBy, Engine,
    EngineError, IdleMode, Limits, Plan, RunReport, Running, allowed_cpus,
};
use frame::PortId;
use plane::{DropReason, Policy, Ports, StatefulConfig, Timeouts};
use table::flows::WhenFull;
use table::{CompiledLists, Entries};
use wire::HashHeader;

use flows::{FlowPort, Judge, Make, judge_port};

const FLOWS: usize = 1000;
const SEED: u64 = 7;

/// Who receives, who transmits, and what is between.
#[derive(Clone, Copy, Debug)]
struct Shape {
    workers: usize,
    rx_queues: usize,
    tx_queues: usize,
    settings: DispatchSettings,
    lossless: bool,
    make: Make,
    hash: Option<HashHeader>,
    /// The bridge remembers flows.
    stateful: bool,
    /// Packets in fragments are put together.
    reassembles: bool,
}

impl Shape {
    fn new(workers: usize, policy: DispatchPolicy) -> Self {
        Self {
            workers,
            rx_queues: workers,
            tx_queues: workers,
            settings: DispatchSettings {
                policy: Some(policy),
                balance: false,
                ..DispatchSettings::default()
            },
            lossless: true,
            make: flows::plain,
            hash: None,
            stateful: false,
            reassembles: false,
        }
    }

    fn plan(self, frames: u64, judge: &Arc<Judge>) -> Plan {
        let nothing = Entries::default();
        let lists: &[&Entries] = &[&nothing];
        let rule = plane::SetRule::new("none", plane::Action::Block, plane::Sides::BOTH);
        let mut source = FlowPort::new(self.rx_queues, frames, SEED, judge);
        (source.lossless, source.make) = (self.lossless, self.make);
        let sink = judge_port(self.tx_queues, judge);
        // More workers than CPUs share them: slower, and as right.
        let mut policy = Policy::new(vec![rule]).expect("one rule");
        policy.tunnels.hash = self.hash;
        policy.stateful = self.stateful.then(|| StatefulConfig {
            allow_new: Ports::only(PortId(0)),
            flows: 64 * 128,
            full: WhenFull::Refuse,
            answers_from_any: false,
            timeouts: Timeouts::default(),
            log: None,
        });
        let cpus = allowed_cpus().into_iter().cycle().take(self.workers);
        Plan {
            ports: vec![Box::new(source.port()), Box::new(sink)],
            policy,
            lists: Arc::new(CompiledLists::compile(lists).expect("one list")),
            cpus: cpus.collect(),
            burst: 64,
            stride_bytes: 2112,
            pool_frames: DEFAULT_POOL_FRAMES,
            dispatch: self.settings,
            idle: IdleMode::Doze,
            limits: Limits::default(),
        }
    }

    /// Runs until all frames are sent. Whatever happens, no flow is reordered, and the frames that
    /// did not arrive are those that were dropped, by name.
    fn run(self, frames: u64) -> RunReport {
        self.run_with(frames, |_| {})
    }

    /// The same, with something done while it runs.
    fn run_with(self, frames: u64, overlap: impl FnOnce(&Running)) -> RunReport {
        let judge = Judge::new(FLOWS);
        let running = Engine::start(self.plan(frames, &judge)).expect("a run");
        overlap(&running);
        let report = running.join().expect("a report");
        assert!(report.balanced, "{self:?}: {report:#?}");
        assert_eq!(report.ended_by, EndedBy::Sources, "{self:?}");
        assert_eq!(judge.reordered(), 0, "{self:?}, seed {SEED}");
        assert_eq!(judge.sent(), report.accounting.rx, "{self:?}");
        let dropped = report.accounting.dropped_total();
        assert_eq!(judge.arrived() + dropped, judge.sent(), "{self:?}");
        for (reason, frames) in &report.accounting.dropped {
            assert_eq!(*reason, DropReason::HandoffRingFull, "{frames} frames");
        }
        assert_eq!(full_rings(&report), dropped, "{self:?}: {report:#?}");
        report
    }
}

/// Frames dropped because a ring was full, as the report of dispatching has them.
fn full_rings(report: &RunReport) -> u64 {
    let rows = report.dispatch.rows.iter();
    rows.map(|row| row.counts.dropped).sum()
}

/// The counts of all workers together of frames to be decided on: direct, hybrid, queued, handled.
fn decided(report: &RunReport) -> [u64; 4] {
    let rows = report.dispatch.rows.iter();
    rows.filter(|row| row.kind == DispatchKind::Decide && row.port.0 == 0)
        .fold([0; 4], |sum, row| {
            let counts = row.counts;
            let more = [counts.direct, counts.hybrid, counts.queued, counts.handled];
            std::array::from_fn(|place| sum[place] + more[place])
        })
}

#[test]
fn each_policy_handles_every_frame_its_own_way() {
    let frames = 100_000;
    for workers in [1, 2, 3] {
        for policy in DispatchPolicy::ALL {
            let report = Shape::new(workers, policy).run(frames);
            let sent = report.accounting.rx;
            assert_eq!(report.accounting.tx, sent, "sources that wait lose nothing");
            let [direct, hybrid, queued, handled] = decided(&report);
            assert_eq!(handled, sent);
            match policy {
                DispatchPolicy::Direct => assert_eq!((direct, queued), (sent, 0)),
                DispatchPolicy::Deferred => assert_eq!((direct, queued), (0, sent)),
                DispatchPolicy::Hybrid => {
                    // Each flow came by a queue drawn at random.
                    assert_eq!(hybrid + queued, sent);
                    let share = queued as f64 / sent as f64;
                    let expected = 1.0 - 1.0 / workers as f64;
                    assert!(
                        (share - expected).abs() < 0.1,
                        "{share} of {workers} workers"
                    );
                }
            }
            let ports = &report.dispatch.ports;
            assert!(ports.iter().all(|port| port.policy == policy), "{ports:?}");
        }
    }
}

#[test]
fn fewer_queues_than_workers_still_use_all_of_them() {
    for (rx_queues, tx_queues) in [(1, 3), (2, 3), (3, 1), (1, 1), (2, 2)] {
        let shape = Shape {
            rx_queues,
            tx_queues,
            settings: DispatchSettings::default(),
            ..Shape::new(3, DispatchPolicy::Hybrid)
        };
        let report = shape.run(60_000);
        assert_eq!(report.accounting.tx, report.accounting.rx, "{shape:?}");
        let policy = report.dispatch.ports[0].policy;
        let rows = report.dispatch.rows.iter();
        let deciding = rows.filter(|row| row.kind == DispatchKind::Decide && row.port.0 == 0);
        let handled: Vec<u64> = deciding.map(|row| row.counts.handled).collect();
        assert!(handled.iter().all(|&frames| frames > 0), "{handled:?}");
        let chosen = match rx_queues {
            3 => DispatchPolicy::Direct,
            _ => DispatchPolicy::Hybrid,
        };
        assert_eq!(policy, chosen, "{shape:?}");
    }
}

/// Two workers hand over to each other, both rings full: each must go on taking.
#[test]
fn rings_of_one_frame_hold_nobody_up_for_ever() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for workers in [2, 3] {
            let mut shape = Shape::new(workers, policy);
            shape.settings.ring_limit = 1;
            let report = shape.run(4_000);
            assert_eq!(report.accounting.tx, report.accounting.rx, "{shape:?}");
            shape.tx_queues = 1;
            assert_eq!(shape.run(4_000).accounting.dropped, [], "{shape:?}");
        }
    }
}

#[test]
fn a_full_ring_drops_by_name_where_the_source_cannot_wait() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        let mut shape = Shape::new(2, policy);
        shape.lossless = false;
        // A burst of 64 has some 32 frames for the other worker.
        shape.settings.ring_limit = 4;
        let report = shape.run(100_000);
        assert!(full_rings(&report) > 0, "{report:#?}");
        let rows = report.dispatch.rows.iter();
        assert!(rows.clone().all(|row| row.counts.len == 0), "{report:#?}");
        let most = rows.map(|row| row.counts.watermark).max();
        assert!(most.is_some_and(|most| (1..=8).contains(&most)), "{most:?}");
    }
}

/// Each flow on one random queue of two, wrong for half of them.
#[test]
fn linerate_dispatch_frames() {
    let given = std::env::var("LINERATE_DISPATCH_FRAMES").ok();
    let frames = given.map_or(200_000, |text| text.parse().expect("a number"));
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for lossless in [true, false] {
            let shape = Shape {
                lossless,
                ..Shape::new(2, policy)
            };
            let report = shape.run(frames);
            let [_, hybrid, queued, _] = decided(&report);
            println!(
                "{} frames of {FLOWS} flows by 2 workers, {}, {}: {hybrid} at once, {queued} over \
                 rings, {} dropped because a ring was full, 0 reordered, {:.0} ns a frame",
                report.accounting.rx,
                policy.name(),
                if lossless {
                    "the source waits"
                } else {
                    "the source does not wait"
                },
                full_rings(&report),
                report.seconds * 1e9 / report.accounting.rx as f64,
            );
        }
    }
}

#[test]
fn rings_without_room_are_refused() {
    for limit in [0, (1 << 16) + 1] {
        let mut shape = Shape::new(2, DispatchPolicy::Hybrid);
        shape.settings.ring_limit = limit;
        let refused = Engine::start(shape.plan(1000, &Judge::new(FLOWS)));
        assert!(matches!(refused, Err(EngineError::RingLimit(given)) if given == limit));
    }
}
