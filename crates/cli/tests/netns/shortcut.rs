//! `shortcut`: what is surely in no list crosses in the kernel, all else in the worker; verdicts
//! are the same (see `verdicts`), and lists that change while it runs are followed at once.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{scope, sleep};
use std::time::Duration;

use engine::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, Engine, IdleMode, Limits, Plan, RunReport};
use frame::{CpuId, PortId};
use plane::{Action, Otherwise, Policy, SetRule, Sides};
use port::{OpenContext, PortSpec};
use table::{CompiledLists, Entries};

use crate::bench::{Bench, RIGHT_ADDRESS, Side, await_that};
use crate::drivers::SHORTCUT;
use crate::traffic::{ping, tcp_echo, udp_echo};

#[test]
fn the_hosts_reach_each_other_and_the_worker_rests() {
    let Some(bench) = Bench::new() else { return };
    let running = SHORTCUT.bridge(&bench, "");
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    udp_echo(&bench, &[1, 18, 1400, 1472]);
    let (before, _) = received(&bench);
    let report = running.stop();
    let crossed = |port: usize, name: &str| report["ports"][port][name].as_u64().expect("a count");
    for port in 0..2 {
        assert!(crossed(port, "shortcut") > 20, "{report}");
        let mode = report["ports"][port]["mode"].as_str().expect("a mode");
        assert!(mode.contains("shortcut"), "{mode}");
    }
    // The pings and questions for addresses; nothing else was the worker's.
    assert!(crossed(0, "rx_frames") < crossed(0, "shortcut"), "{report}");
    let left = crossed(0, "rx_frames") + crossed(0, "shortcut");
    assert!(left <= before, "{left} of {before}: {report}");
}

/// Frames that `a` and `b` received, as the kernel counts them.
fn received(bench: &Bench) -> (u64, u64) {
    let of = |interface| bench.counter(Side::Middle, interface, "rx", "packets");
    (of("a"), of("b"))
}

#[test]
fn one_port_alone_is_refused() {
    let Some(bench) = Bench::new() else { return };
    for words in [
        "bridge xdp:a,shortcut=on xdp:b",
        "bridge xdp:a,shortcut=on packet:b",
    ] {
        let said = bench.refusal(words);
        assert!(said.contains("both with shortcut=on"), "{said}");
    }
    let said = bench.refusal("bridge xdp:a,shortcut=on xdp:b,shortcut=on");
    assert!(said.contains("gro on"), "the remedy: {said}");
}

#[test]
fn a_default_of_drop_leaves_all_frames_to_the_worker() {
    let Some(bench) = Bench::new() else { return };
    let folder = tempfile::TempDir::new().expect("a folder");
    let list = folder.path().join("list");
    std::fs::write(&list, "192.0.2.7\n").expect("a file");
    let words = format!("--default drop --allow {}", list.display());
    let running = SHORTCUT.bridge(&bench, &words);
    let ping = format!("ping -c 3 -i 0.1 -w 1 {RIGHT_ADDRESS}");
    assert!(!bench.succeeds(Side::Left, &ping));
    let report = running.stop();
    assert_eq!(report["ports"][0]["shortcut"], 0, "{report}");
}

#[test]
fn published_lists_hold_from_the_moment_of_publishing() {
    let Some(bench) = Bench::new() else { return };
    SHORTCUT.make_ready(&bench);
    let (started, ready) = mpsc::channel();
    let (finish, finished) = mpsc::channel::<()>();
    let bench = &bench;
    scope(|scope| {
        let run = scope.spawn(move || {
            bench.enter(Side::Middle);
            let running = Engine::start(plan()).expect("a bridge");
            started.send(running.lists()).expect("somebody waits");
            let _asked = finished.recv();
            running.stop();
            running.join().expect("a report")
        });
        let lists = ready.recv().expect("it runs");
        // UDP, which the kernel takes; a reply of ICMP says that it came.
        await_that("a datagram crosses", || answered(bench));
        for _ in 0..3 {
            lists
                .publish_lists(list(&[RIGHT_ADDRESS]))
                .expect("one list");
            assert!(!answered(bench), "it is blocked from here on");
            lists.publish_lists(list(&["192.0.2.7"])).expect("one list");
            assert!(answered(bench), "and no longer");
        }
        finish.send(()).expect("it runs");
        let report: RunReport = run.join().expect("no panic");
        assert!(
            report.balanced && report.ports[0].shortcut > 3,
            "{report:?}"
        );
    });
}

/// Whether the right host answers a datagram to a port that nobody has.
fn answered(bench: &Bench) -> bool {
    let script = format!(
        "import socket\n\
         s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
         s.connect((\"{RIGHT_ADDRESS}\", 9))\n\
         s.settimeout(0.5)\n\
         s.send(b\"x\")\n\
         try:\n\
         \x20   s.recv(1)\n\
         except ConnectionRefusedError:\n\
         \x20   raise SystemExit(0)\n\
         except TimeoutError:\n\
         \x20   raise SystemExit(1)\n"
    );
    let mut python = bench.command(Side::Left, "python3");
    let ended = python.args(["-c", &script]).status().expect("python3");
    // The kernel limits how many such answers it gives.
    sleep(Duration::from_millis(20));
    ended.success()
}

fn list(addresses: &[&str]) -> Arc<CompiledLists> {
    let mut entries = Entries::default();
    for address in addresses {
        let address: std::net::Ipv4Addr = address.parse().expect("an address");
        entries.v4.addresses.push(address.to_bits());
    }
    Arc::new(CompiledLists::compile_with_sieve(&[&entries]).expect("a list"))
}

fn plan() -> Plan {
    let lists = list(&["192.0.2.7"]);
    let context = OpenContext {
        sieve_words: lists.sieve().expect("asked for").words().len(),
        ..OpenContext::default()
    };
    let open = |(id, spec): (u8, &str)| {
        let spec = PortSpec::parse(spec).expect("a spec");
        port::open(&spec, PortId(id), &context).expect("a port")
    };
    let rule = SetRule::new("listed", Action::Block, Sides::BOTH);
    let mut policy = Policy::new(vec![rule]).expect("one rule");
    policy.default = Otherwise::Forward;
    let specs = ["xdp:a,shortcut=on", "xdp:b,shortcut=on"];
    Plan {
        ports: (0..).zip(specs).map(open).collect(),
        policy,
        lists,
        cpus: vec![engine::allowed_cpus().first().copied().unwrap_or(CpuId(0))],
        burst: DEFAULT_BURST,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::default(),
        limits: Limits::default(),
    }
}
