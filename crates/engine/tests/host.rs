//! Two hosts, each a run of its own, over a memory ring: every frame and every query is accounted
//! for at both ends, with one worker and with several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::placement::{BUCKETS_MIN, Indirection};
use engine::{
    DispatchPolicy, DispatchSettings, Engine, IdleMode, Limits, Plan, RunReport, allowed_cpus,
};
use frame::{CpuId, PortId};
use plane::host::{
    ClientConfig, End, Host, HostConfig, HostPort, Pace, QueryShape, RoleConfig, Share,
};
use plane::router::Prefix;
use plane::{NodeCount, Policy};
use port::{OpenContext, PortSpec};
use table::CompiledLists;
use wire::MacAddress;

const QUERY: QueryShape = QueryShape {
    request: 92,
    response: 206,
    answer: None,
    closes_first: End::Server,
    timeout: 10_000_000_000,
};

/// A case: how many workers either end has, and the addresses.
struct Case {
    workers: usize,
    server: &'static str,
    clients: (&'static str, u8),
    gateway: &'static str,
}

const V4: Case = Case {
    workers: 1,
    server: "192.0.2.2",
    clients: ("198.18.0.0", 16),
    gateway: "198.18.0.1",
};
const V6: Case = Case {
    workers: 1,
    server: "fd00::2",
    clients: ("fd00:1::", 64),
    gateway: "fd00:1::1",
};

/// The parts of a host that its workers have.
fn hosts(number: u8, workers: usize, port: HostPort, role: RoleConfig) -> Vec<Host> {
    let config = HostConfig {
        ports: vec![HostPort {
            mac: MacAddress([2, 0, 0, 0, 0, number]),
            ..port
        }],
        role,
        query: QUERY,
    };
    let workers = workers as u16;
    let (_, owners) = Indirection::dealt(BUCKETS_MIN, workers).owners().copy();
    let shares = Share::of_workers(workers, &owners).into_iter();
    shares
        .map(|share| Host::of_worker(config.clone(), [number.into(), 7], share))
        .collect::<Result<_, _>>()
        .expect("right settings")
}

fn port_with(own: Prefix, gateway: Option<&str>) -> HostPort {
    HostPort {
        mac: MacAddress([0; 6]),
        mtu: 1500,
        own: vec![own],
        on_link: Vec::new(),
        gateway: gateway.map(|text| text.parse().expect("an address")),
    }
}

fn plan(context: &OpenContext, workers: usize) -> Plan {
    let spec = PortSpec::parse("ring:between").expect("a ring");
    let port = port::open(&spec, PortId(0), context).expect("an end is free");
    // Workers may share a CPU.
    let cpus: Vec<CpuId> = allowed_cpus()
        .iter()
        .copied()
        .cycle()
        .take(workers)
        .collect();
    Plan {
        ports: vec![port],
        policy: Policy::new(Vec::new()).expect("no rules"),
        lists: Arc::new(CompiledLists::compile(&[]).expect("no lists")),
        cpus,
        burst: 64,
        stride_bytes: 2112,
        pool_frames: 2048,
        dispatch: DispatchSettings {
            policy: (workers > 1).then_some(DispatchPolicy::Hybrid),
            balance: false,
            ..DispatchSettings::default()
        },
        idle: IdleMode::Doze,
        limits: Limits {
            duration: Some(Duration::from_secs(60)),
            frames: None,
        },
    }
}

fn of(counts: &[NodeCount], name: &str) -> u64 {
    let found = counts.iter().find(|own| own.name == name);
    found.expect("such a count").count
}

fn count(report: &RunReport, name: &str) -> u64 {
    of(&report.node, name)
}

/// Both ends, until each worker of the client has had some queries; then what they report.
fn run(case: &Case) -> (RunReport, RunReport) {
    let context = OpenContext::default();
    let plans = [(); 2].map(|()| plan(&context, case.workers));
    let [here, there] = plans;
    let server_at = case.server.parse().expect("an address");
    let server_port = port_with(Prefix::of_one(server_at), Some(case.gateway));
    let servers = hosts(1, case.workers, server_port, RoleConfig::Server(80));
    let (first, length) = case.clients;
    let clients = Prefix::holding(first.parse().expect("an address"), length);
    let asks = RoleConfig::Client(ClientConfig {
        server: (server_at, 80).into(),
        pace: Pace::Connections(50),
    });
    let clients = hosts(2, case.workers, port_with(clients, None), asks);
    let answering = Engine::start_nodes(there, servers).expect("it starts");
    let asking = Engine::start_nodes(here, clients).expect("it starts");
    let until = Instant::now() + Duration::from_secs(50);
    while of(&asking.status().node, "queries") < 2000 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    asking.stop();
    let asked = asking.join().expect("it ends");
    answering.stop();
    (asked, answering.join().expect("it ends"))
}

/// What holds of every run.
fn check(asked: &RunReport, answered: &RunReport, workers: usize) {
    let done = count(asked, "queries");
    assert!(done > 50, "{done} queries");
    assert_eq!(count(asked, "begun"), done + count(asked, "open"));
    assert!(count(answered, "queries") >= done);
    for report in [asked, answered] {
        let books = &report.accounting;
        assert!(report.balanced, "{books:?}");
        assert_eq!(
            books.rx + books.originated,
            books.tx + books.consumed + books.dropped_total()
        );
        assert_eq!(count(report, "bad_segments"), 0);
        // A segment that came to another worker than its connection's would be reset.
        assert_eq!(count(report, "resets_sent"), 0);
        assert_eq!(report.workers.len(), workers);
        let own = report
            .workers
            .iter()
            .map(|worker| of(&worker.node, "begun"));
        let own: Vec<u64> = own.collect();
        assert!(own.iter().all(|&begun| begun > 0), "{own:?}");
        assert_eq!(own.iter().sum::<u64>(), count(report, "begun"));
    }
    assert_eq!(asked.accounting.dropped_total(), 0);
}

#[test]
fn every_frame_and_every_query_is_accounted_for() {
    for case in [V4, Case { workers: 2, ..V4 }, Case { workers: 3, ..V6 }] {
        let (asked, answered) = run(&case);
        check(&asked, &answered, case.workers);
    }
}
