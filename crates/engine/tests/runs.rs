//! Whole runs over real ports: the books balance and the counters say what happened, all of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::{
    DEFAULT_POOL_FRAMES, EndedBy, Engine, EngineError, Limits, Plan, RunReport, Running,
    allowed_cpus,
};
use frame::{CpuId, PortId};
use plane::{Action, DropReason, Policy, SetRule, Sides};
use port::{OpenContext, Port, PortSpec};
use table::{CompiledLists, Entries, Network as ListNetwork};
use wire::emit::{Ipv4, Network, Recipe, Transport};

/// A folder that is removed at the end of its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("linerate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn ports(specs: [&str; 2], context: &OpenContext) -> Vec<Box<dyn Port>> {
    let open = |(place, spec): (usize, &str)| {
        let spec = PortSpec::parse(spec).expect("a spec");
        port::open(&spec, PortId(place as u8), context).expect("a port")
    };
    specs.into_iter().enumerate().map(open).collect()
}

fn cpus(workers: usize) -> Vec<CpuId> {
    // More workers than CPUs share them: slower, and as right.
    allowed_cpus().into_iter().cycle().take(workers).collect()
}

fn block(entries: &Entries) -> (Policy, Arc<CompiledLists>) {
    let rule = SetRule::new("bad", Action::Block, Sides::BOTH);
    let lists = CompiledLists::compile(&[entries]).expect("one list");
    (Policy::new(vec![rule]).expect("one rule"), Arc::new(lists))
}

fn plan(specs: [&str; 2], entries: &Entries, workers: usize, frames: Option<u64>) -> Plan {
    let context = OpenContext {
        samples_v4: entries.v4.addresses.clone().into(),
        ..OpenContext::default()
    };
    let (policy, lists) = block(entries);
    Plan {
        ports: ports(specs, &context),
        policy,
        lists,
        cpus: cpus(workers),
        burst: 32,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: engine::DispatchSettings::default(),
        idle: engine::IdleMode::default(),
        limits: Limits {
            duration: None,
            frames,
        },
    }
}

fn run(plan: Plan) -> RunReport {
    let report = Engine::start(plan)
        .expect("a run")
        .join()
        .expect("a report");
    assert!(report.balanced, "{report:#?}");
    report
}

fn addresses(list: impl IntoIterator<Item = u32>) -> Entries {
    let mut entries = Entries::default();
    entries.v4.addresses.extend(list);
    entries
}

#[test]
fn generated_frames_are_blocked_or_leave_and_nothing_else_moves() {
    let entries = addresses(1..=50_000);
    for workers in [1, 2, 3] {
        let report = run(plan(
            ["gen:hit=0.25,seed=7", "null:"],
            &entries,
            workers,
            Some(100_001),
        ));
        let accounting = &report.accounting;
        assert_eq!(accounting.rx, 100_001, "{workers} workers");
        assert_eq!(report.ended_by, EndedBy::Frames);
        let dropped: HashMap<_, _> = accounting.dropped.iter().copied().collect();
        let blocked = [DropReason::BlockedSrc, DropReason::BlockedDst];
        assert!(
            dropped.keys().all(|reason| blocked.contains(reason)),
            "{dropped:?}"
        );
        let share = accounting.dropped_total() as f64 / accounting.rx as f64;
        assert!((0.24..0.26).contains(&share), "{share}");
        assert_eq!(accounting.tx, accounting.rx - accounting.dropped_total());
        assert_eq!(
            (
                accounting.handed_off,
                accounting.received,
                accounting.originated
            ),
            (0, 0, 0)
        );
        let [generator, sink] = &report.ports[..] else {
            panic!("two ports")
        };
        assert_eq!((generator.rx_frames, generator.tx_frames), (100_001, 0));
        assert_eq!(generator.rx_bytes, 100_001 * 60);
        assert_eq!((sink.rx_frames, sink.tx_frames), (0, accounting.tx));
        let hits = &report.sets[0];
        assert!(hits.hits_src + hits.hits_dst >= accounting.dropped_total());
        assert_eq!(
            report.workers.iter().map(|worker| worker.rx).sum::<u64>(),
            accounting.rx
        );
        assert!(
            report
                .workers
                .iter()
                .all(|worker| worker.burst_mean <= 32.0)
        );
    }
}

#[test]
fn two_generators_bridge_both_ways() {
    let report = run(plan(
        ["gen:seed=1", "gen:seed=2"],
        &Entries::default(),
        1,
        Some(10_000),
    ));
    let [a, b] = &report.ports[..] else {
        panic!("two ports")
    };
    assert_eq!((a.rx_frames, b.rx_frames), (b.tx_frames, a.tx_frames));
    assert_eq!(a.rx_frames + b.rx_frames, 10_000);
    assert!(a.rx_frames > 0 && b.rx_frames > 0);
}

#[test]
fn a_run_ends_by_time_and_when_asked() {
    let mut timed = plan(["gen:", "null:"], &Entries::default(), 1, None);
    timed.limits.duration = Some(Duration::from_millis(50));
    assert_eq!(run(timed).ended_by, EndedBy::Duration);

    let running =
        Engine::start(plan(["gen:", "null:"], &Entries::default(), 2, None)).expect("a run");
    while running.snapshot().rx == 0 {
        std::thread::yield_now();
    }
    assert!(!running.is_finished());
    running.stopper().stop();
    let report = running.join().expect("a report");
    assert_eq!(report.ended_by, EndedBy::Asked);
    assert!(report.balanced && report.accounting.rx > 0 && report.accounting.dropped.is_empty());
}

/// Waits until the run has dropped `more` frames than now.
fn wait_for_drops(running: &Running, more: u64) {
    let before = running.snapshot().dropped;
    while running.snapshot().dropped < before + more {
        std::thread::yield_now();
    }
}

#[test]
fn lists_that_are_published_decide_from_the_next_step_on() {
    let nothing = Entries::default();
    let mut all = Entries::default();
    all.v4
        .networks
        .push(ListNetwork::new(0, 0).expect("everything"));
    let running = Engine::start(plan(["gen:", "null:"], &nothing, 1, None)).expect("a run");
    let publisher = running.lists();
    let (_, all) = block(&all);
    assert_eq!(publisher.publish_lists(all), Ok(2));
    // Shown counters are a moment old, so the second wait begins after the first version ended.
    wait_for_drops(&running, 1);
    wait_for_drops(&running, 1);
    let sent = running.snapshot().tx;
    wait_for_drops(&running, 10_000);
    assert_eq!(running.snapshot().tx, sent, "every address is blocked");
    assert_eq!(publisher.reclaim(), 0, "the worker has moved on");

    let (_, none) = block(&nothing);
    assert_eq!(publisher.publish_lists(none), Ok(3));
    while running.snapshot().tx == sent {
        std::thread::yield_now();
    }
    let two = CompiledLists::compile(&[&nothing, &nothing]).expect("two lists");
    assert!(publisher.publish_lists(Arc::new(two)).is_err(), "one rule");
    running.stop();
    let report = running.join().expect("a report");
    assert!(
        report.balanced && report.accounting.tx > sent,
        "{report:#?}"
    );
}

/// A capture of `flows` flows, each frame numbered within its flow by the IPv4 identification.
fn write_capture(path: &Path, flows: u32, frames: u32) {
    let mut bytes = vec![
        0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0,
    ];
    bytes.extend([1, 0, 0, 0]);
    for number in 0..frames {
        let flow = number % flows;
        let ip = Ipv4 {
            src: 0x0A00_0000 + flow,
            dst: 0x0B00_0000 + flow * 7,
            identification: (number / flows) as u16,
            ..Ipv4::default()
        };
        let udp = Transport::Udp {
            src_port: 1000,
            dst_port: flow as u16,
        };
        let recipe = Recipe {
            network: Network::Ipv4(ip, udp),
            ..Recipe::default()
        };
        let mut frame = vec![0; recipe.frame_len()];
        recipe.emit(&mut frame).expect("a sound recipe");
        let len = (frame.len() as u32).to_le_bytes();
        bytes.extend(number.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(len);
        bytes.extend(len);
        bytes.extend(frame);
    }
    std::fs::write(path, bytes).expect("a capture");
}

/// The identifications of each flow in the order of the file; little-endian pcap of 42-byte frames.
fn read_flows(path: &Path) -> HashMap<u32, Vec<u16>> {
    let bytes = std::fs::read(path).expect("a capture");
    let mut flows: HashMap<u32, Vec<u16>> = HashMap::new();
    for record in bytes[24..].chunks(16 + 42) {
        let frame = &record[16..];
        let src = u32::from_be_bytes(frame[26..30].try_into().expect("four bytes"));
        flows
            .entry(src)
            .or_default()
            .push(u16::from_be_bytes([frame[18], frame[19]]));
    }
    flows
}

#[test]
fn a_capture_shared_over_workers_keeps_every_flow_in_order() {
    let folder = Folder::new("order");
    let (input, output) = (folder.file("in.pcap"), folder.file("out.pcap"));
    let (flows, frames) = (37, 37 * 800);
    write_capture(&input, flows, frames);
    let from = format!("pcap:in={}", input.display());
    let to = format!("pcap:out={}", output.display());
    for workers in [1, 2, 4] {
        let entries = addresses([0x0A00_0003, 0x0B00_0000 + 5 * 7]);
        let report = run(plan([&from, &to], &entries, workers, None));
        assert_eq!(report.ended_by, EndedBy::Sources);
        assert_eq!(report.accounting.rx, u64::from(frames));
        assert_eq!(report.accounting.tx, u64::from(frames - 2 * 800));
        if workers > 1 {
            assert!(
                report.accounting.handed_off > 0,
                "flows go to more than one worker"
            );
            assert_eq!(report.accounting.handed_off, report.accounting.received);
        }
        let seen = read_flows(&output);
        assert_eq!(seen.len(), 35);
        let whole: Vec<u16> = (0..800).collect();
        for (flow, order) in seen {
            assert_eq!(order, whole, "flow {flow:x} with {workers} workers");
        }
    }
}

#[test]
fn an_output_that_fails_ends_the_run_with_its_error() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("skipped: no /dev/full here");
        return;
    }
    for workers in [1, 2] {
        let plan = plan(
            ["gen:", "pcap:out=/dev/full"],
            &Entries::default(),
            workers,
            None,
        );
        let report = run(plan);
        assert!(
            matches!(report.ended_by, EndedBy::Failed(_)),
            "{:?}",
            report.ended_by
        );
    }
}

#[test]
fn plans_that_cannot_work_are_refused() {
    let nothing = Entries::default();
    let refused = |change: fn(&mut Plan)| {
        let mut plan = plan(["gen:", "null:"], &nothing, 1, None);
        change(&mut plan);
        Engine::start(plan).err().expect("refused")
    };
    assert!(matches!(
        refused(|plan| plan.cpus.clear()),
        EngineError::NoCpu
    ));
    assert!(matches!(
        refused(|plan| plan.burst = 0),
        EngineError::Burst(0)
    ));
    assert!(matches!(
        refused(|plan| plan.burst = 257),
        EngineError::Burst(257)
    ));
    assert!(matches!(
        refused(|plan| plan.pool_frames = 10),
        EngineError::Pool { .. }
    ));
    assert!(matches!(
        refused(|plan| plan.ports.truncate(1)),
        EngineError::Ports(1)
    ));
    assert!(matches!(
        refused(|plan| plan.cpus = vec![CpuId(60_000)]),
        EngineError::Worker(..)
    ));
    let no_source = plan(["null:", "null:"], &nothing, 1, None);
    assert!(matches!(
        Engine::start(no_source),
        Err(EngineError::NoSource)
    ));
}
