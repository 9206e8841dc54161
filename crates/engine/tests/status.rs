//! What a run says of itself while it goes on agrees with what it says at its end.

use std::sync::Arc;
use std::time::Duration;

use engine::{DEFAULT_POOL_FRAMES, Engine, IdleMode, Limits, Plan, Ruleset, Status, allowed_cpus};
use frame::PortId;
use plane::{Action, Policy, SetRule, Side, Sides};
use port::{OpenContext, PortSpec};
use table::{CompiledLists, Entries};

fn lists(sets: &[&[u32]]) -> Arc<CompiledLists> {
    let entries = |addresses: &&[u32]| {
        let mut entries = Entries::default();
        entries.v4.addresses.extend_from_slice(addresses);
        entries
    };
    let entries: Vec<Entries> = sets.iter().map(entries).collect();
    let entries: Vec<&Entries> = entries.iter().collect();
    Arc::new(CompiledLists::compile(&entries).expect("few lists"))
}

fn policy(rules: &[(&str, Action)]) -> Policy {
    let rule = |&(name, action): &(&str, Action)| SetRule::new(name, action, Sides::SRC);
    Policy::new(rules.iter().map(rule).collect()).expect("few rules")
}

fn plan(policy: Policy, lists: Arc<CompiledLists>, workers: usize) -> Plan {
    let context = OpenContext {
        samples_v4: vec![1, 2, 3].into(),
        ..OpenContext::default()
    };
    let open = |(place, spec): (usize, &str)| {
        let spec = PortSpec::parse(spec).expect("a spec");
        port::open(&spec, PortId(place as u8), &context).expect("a port")
    };
    let ports = ["gen:hit=0.5,seed=11", "null:"].into_iter().enumerate();
    Plan {
        ports: ports.map(open).collect(),
        policy,
        lists,
        cpus: allowed_cpus().into_iter().cycle().take(workers).collect(),
        burst: 64,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::default(),
        limits: Limits::default(),
    }
}

/// Waits until the status is as wanted.
fn wait(running: &engine::Running, wanted: impl Fn(&Status) -> bool) -> Status {
    loop {
        let status = running.status();
        if wanted(&status) {
            return status;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn counts_grow_to_what_the_report_says() {
    let policy = policy(&[("bad", Action::Block)]);
    let running = Engine::start(plan(policy, lists(&[&[1, 2, 3]]), 2)).expect("a run");
    let passed = |status: &Status| status.ports[0].passed.rx_frames > 0;
    let early = wait(&running, |status| {
        passed(status)
            && status
                .workers
                .iter()
                .all(|worker| worker.rx_per_second > 0.0)
    });
    assert_eq!((early.version, early.ports.len()), (1, 2));
    for worker in &early.workers {
        assert_eq!(worker.burst_sizes.iter().sum::<u64>(), worker.bursts);
        assert!(worker.bursts <= worker.rx && worker.rx <= worker.bursts * 64);
        assert!(worker.busy > 0.0 && worker.nanos_per_frame > 0.0);
        assert!(worker.pool.total >= DEFAULT_POOL_FRAMES && worker.cpu_seconds > 0.0);
    }
    running.stop();
    let observer = running.observer();
    let report = running.join().expect("a report");
    assert!(report.balanced);
    let late = observer.status();
    let dropped: u64 = late.drops.iter().map(|&(_, frames)| frames).sum();
    assert_eq!(dropped, report.accounting.dropped_total());
    for (port, reported) in late.ports.iter().zip(&report.ports) {
        assert_eq!(port.passed.rx_frames, reported.rx_frames);
        assert_eq!(port.passed.tx_bytes, reported.tx_bytes);
    }
    assert_eq!(late.ports[0].rx_dropped, dropped);
    assert_eq!(late.sets[0].of(Side::Src), report.sets[0].hits_src);
    assert!(early.sets[0].of(Side::Src) <= late.sets[0].of(Side::Src));
    let pooled = |worker: &engine::WorkerStatus| worker.pool.elsewhere();
    assert_eq!(late.workers.iter().map(pooled).sum::<u32>(), 0);
}

/// Hits of a set by action: block, count, allow.
fn by_action(status: &Status, name: &str) -> [u64; 3] {
    let set = status.sets.iter().find(|set| set.rule.name == name);
    let set = set.expect("a set of the policy");
    Action::EVERY.map(|action| {
        let hits = set.hits.iter().filter(|count| count.action == action);
        hits.map(|count| count.frames).sum()
    })
}

#[test]
fn a_set_keeps_its_counts_by_its_name() {
    let first = policy(&[("a", Action::Count), ("b", Action::Block)]);
    let running = Engine::start(plan(first, lists(&[&[1], &[2]]), 2)).expect("a run");
    let publisher = running.lists();
    let publish = |rules: &[(&str, Action)], sets: &[&[u32]]| {
        let ruleset = Ruleset::new(lists(sets), Arc::new(policy(rules)));
        let version = publisher.publish(ruleset.expect("as many"));
        assert!(publisher.wait_seen(version, Duration::from_secs(60)));
        running.status()
    };
    wait(&running, |status| {
        by_action(status, "a")[1] > 0 && by_action(status, "b")[0] > 0
    });
    // Without "a"; "b" in its place, and another behind it.
    let rules = [("b", Action::Count), ("c", Action::Allow)];
    let status = publish(&rules, &[&[2], &[3]]);
    let blocked = by_action(&status, "b")[0];
    assert!(blocked > 0);
    let status = wait(&running, |status| {
        by_action(status, "b")[1] > 0 && by_action(status, "c")[2] > 0
    });
    assert_eq!(by_action(&status, "b")[0], blocked, "no longer blocked");
    assert!(status.sets.iter().all(|set| set.rule.name != "a"));
    // "a" is back and goes on counting; nobody hits it now.
    let before = publish(&[("a", Action::Block)], &[&[77]]);
    let counted = by_action(&before, "a");
    assert!(counted[1] > 0 && counted[0] == 0, "{counted:?}");
    running.stop();
    assert!(running.join().expect("a report").balanced);
}
