//! `linerate rss show`, `apply` and `verify` on interfaces without a receive hash of their own.

use crate::bench::{Bench, Running, Side};

/// Datagrams of 300 flows, over and over, to a host that need not be there. From one CPU: the
/// kernel chooses the queue of a veth pair by the CPU that sends, and a flow is to keep its queue.
const SENDER: &str = "
import os, socket, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
sockets = [socket.socket(2, 2) for _ in range(3)]
while True:
    for port in range(2000, 2100):
        for one in sockets:
            one.sendto(b'x' * 40, ('10.201.0.2', port))
    time.sleep(0.01)
";

fn bench() -> Option<Bench> {
    let bench = Bench::apart()?;
    if let Err(error) = bench.try_join(4) {
        println!("skipped: no veth pairs with four queues here: {error}");
        return None;
    }
    let neighbour = "ip neigh replace 10.201.0.2 lladdr 02:00:00:00:00:77 dev l";
    bench.expect(Side::Left, neighbour);
    Some(bench)
}

#[test]
fn a_driver_that_tells_nothing_is_said_to() {
    let Some(bench) = bench() else { return };
    let shown = bench.start("rss show packet:a").ended();
    assert_eq!(shown.0, 0, "{shown:?}");
    for wanted in ["veth", "receive queues  4", "tells neither key nor table"] {
        assert!(shown.1.contains(wanted), "{shown:?}");
    }
    let said = bench.refusal("rss apply a --key random --duration 1s");
    assert!(said.contains("no receive hash that could be set"), "{said}");
    let said = bench.refusal("rss verify nosuch");
    assert!(said.contains("there is no interface nosuch"), "{said}");
}

#[test]
fn a_hash_of_the_kernels_own_is_not_toeplitz() {
    let Some(bench) = bench() else { return };
    let mut sender = bench.command(Side::Left, "python3");
    let sender = Running::start(sender.args(["-c", SENDER]));
    let (code, text, said) = bench
        .start("rss verify a --frames 500 --duration 60s --json")
        .ended();
    sender.kill();
    let page: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(code, 0, "nobody said that it is: no fault: {page} {said}");
    assert_eq!(page["driver"], "veth");
    assert_eq!(page["frames"], 500, "{page}");
    assert_eq!(page["other_hash"], true, "{page}");
    assert_eq!(page["queue"]["wrong"], 0, "there is no table: {page}");
    let cause = page["causes"][0].as_str().unwrap_or_default();
    assert!(
        cause.contains("no key is told by the driver veth"),
        "{page}"
    );
}

/// What an XDP program is told is the hash that packet sockets are told, and the queue is the one
/// that a frame came by.
#[test]
fn an_xdp_program_is_told_hashes_too() {
    let Some(bench) = bench() else { return };
    let mut sender = bench.command(Side::Left, "python3");
    let sender = Running::start(sender.args(["-c", SENDER]));
    let (code, text, said) = bench
        .start("rss verify xdp:a --frames 500 --duration 60s --json")
        .ended();
    sender.kill();
    let page: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(code, 0, "nobody said that it is: no fault: {page} {said}");
    assert_eq!(page["frames"], 500, "{page}");
    assert_eq!(page["queue"]["untold"], 0, "each queue is one: {page}");
    let cause = page["causes"][0].as_str().unwrap_or_default();
    if said.contains("leave out rx-hash") {
        assert!(cause.contains("no hash comes with frames"), "{page}");
        println!("skipped: {said}");
        return;
    }
    assert_eq!(page["hash"]["untold"], 0, "{page}");
    assert_eq!(page["other_hash"], true, "{page}");
    assert!(
        cause.contains("no key is told by the driver veth"),
        "{page}"
    );
}

/// By a program that can ask nobody, queues are checked, and where the hash is to be had is said.
#[test]
fn without_a_hash_queues_are_checked() {
    let Some(bench) = bench() else { return };
    let mut sender = bench.command(Side::Left, "python3");
    let sender = Running::start(sender.args(["-c", SENDER]));
    let (code, text, said) = bench
        .start("rss verify xdp:a,mode=generic,vlan=ignore --frames 100 --duration 60s --json")
        .ended();
    sender.kill();
    assert_eq!(code, 0, "{text}{said}");
    let page: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(said.contains("packet:a,fanout=queue"), "{said}");
    assert_eq!(page["frames"], 100, "{page}");
    assert_eq!(
        page["hash"]["untold"],
        page["flow"]["right"].as_u64().unwrap_or(0) + page["flows"].as_u64().unwrap_or(0),
        "{page}"
    );
    assert_eq!(page["queue"]["untold"], 0, "{page}");
}
