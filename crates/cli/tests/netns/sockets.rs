//! A worker's several sockets: frames leave by all of them, and none is missed at the start.

use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bench::{Bench, RIGHT_ADDRESS, Side, await_that};
use crate::traffic::{ping, tcp_echo};

/// A program that has one queue of `r` on the right and nothing else, once it has begun.
fn receiver(bench: &Bench, queue: u32) -> Child {
    let child = Command::new("ip")
        .args(["netns", "exec", &bench.name(Side::Right)])
        .args([env!("CARGO_BIN_EXE_linerate"), "bridge", "--json", "null:"])
        .arg(format!("xdp:r,queues={queue}-{queue},unclaimed=drop"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ip netns exec");
    await_that("the receiver attaches its program", || {
        let output = bench.on(Side::Right, "ip link show dev r");
        String::from_utf8_lossy(&output.stdout).contains("prog/xdp")
    });
    child
}

/// Ends it; the frames that it received.
fn received(child: Child) -> u64 {
    let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(process.expect("a process"), Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("its output");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    report["frames"]["rx"].as_u64().expect("a count")
}

/// So that nobody is asked for it, whether it answers or not.
fn tell_left_where_right_is(bench: &Bench) {
    let words = format!("ip neigh replace {RIGHT_ADDRESS} lladdr 02:00:00:00:00:09 dev l");
    assert!(bench.on(Side::Left, &words).status.success());
}

#[test]
fn flows_leave_by_all_sockets_of_a_worker() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link del dev a");
    bench.ip("link del dev b");
    bench.join(4);
    for host in 11..43 {
        let words = format!("ip addr add 10.201.0.{host}/24 dev l");
        assert!(bench.on(Side::Left, &words).status.success());
    }
    let running = bench.bridge("--workers 1 xdp:a xdp:b");
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    tell_left_where_right_is(&bench);
    // What leaves by a queue of `b` comes to the queue of `r` with the same number.
    let queues: Vec<u64> = (0..4)
        .map(|queue| {
            let child = receiver(&bench, queue);
            for host in 11..43 {
                let words = format!("ping -c 1 -W 0.01 -I 10.201.0.{host} {RIGHT_ADDRESS}");
                bench.on(Side::Left, &words);
            }
            received(child)
        })
        .collect();
    let report = running.stop();
    // The same 32 flows each time, a frame each: one queue alone would have all of them.
    assert!(queues.iter().all(|&frames| frames > 0), "{queues:?}");
    assert!(queues.iter().sum::<u64>() <= 32, "{queues:?}");
    assert!(!report["warnings"].to_string().contains("bug"), "{report}");
    assert_eq!(report["frames"]["dropped"], json!({}), "{report}");
}

#[test]
fn frames_that_come_while_the_bridge_starts_are_not_missed() {
    for queues in [1, 4] {
        let Some(bench) = Bench::new() else { return };
        bench.ip("link del dev a");
        bench.ip("link del dev b");
        bench.join(queues);
        tell_left_where_right_is(&bench);
        let mut sender = Command::new("ip")
            .args(["netns", "exec", &bench.name(Side::Left)])
            .args(["ping", "-q", "-i", "0.002", "-w", "60", RIGHT_ADDRESS])
            .stdout(Stdio::null())
            .spawn()
            .expect("ping");
        let running = bench.bridge("xdp:a xdp:b");
        await_that("frames pass", || {
            let output = bench.on(Side::Right, "ip -s -j link show dev r");
            let said: Value = serde_json::from_slice(&output.stdout).expect("JSON of ip");
            said[0]["stats64"]["rx"]["packets"].as_u64() > Some(100)
        });
        sender.kill().expect("it runs");
        sender.wait().expect("its end");
        let report = running.stop();
        for port in 0..2 {
            assert_eq!(report["ports"][port]["missed"], 0, "{report}");
        }
    }
}
