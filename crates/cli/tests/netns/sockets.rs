//! A worker's several sockets: frames leave by all of them, and none is missed at the start.

use serde_json::json;

use crate::bench::{Bench, RIGHT_ADDRESS, Running, Side, await_that};
use crate::traffic::{ping, tcp_echo};

/// A program that has one queue of `r` on the right and nothing else, once it has begun.
fn receiver(bench: &Bench, queue: u32) -> Running {
    let words = format!("bridge --json null: xdp:r,queues={queue}-{queue},unclaimed=drop");
    let mut running = bench.linerate(Side::Right, &words);
    await_that("the receiver attaches its program", || {
        running.must_run();
        let said = bench.expect(Side::Right, "ip link show dev r");
        said.contains("prog/xdp")
    });
    running
}

/// So that nobody is asked for it, whether it answers or not.
fn tell_left_where_right_is(bench: &Bench) {
    let words = format!("ip neigh replace {RIGHT_ADDRESS} lladdr 02:00:00:00:00:09 dev l");
    bench.expect(Side::Left, &words);
}

#[test]
fn flows_leave_by_all_sockets_of_a_worker() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link del dev a");
    bench.ip("link del dev b");
    bench.join(4);
    for host in 11..43 {
        let words = format!("ip addr add 10.201.0.{host}/24 dev l");
        bench.expect(Side::Left, &words);
    }
    let running = bench.bridge("--workers 1 xdp:a xdp:b");
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    tell_left_where_right_is(&bench);
    // What leaves by a queue of `b` comes to the queue of `r` with the same number.
    let queues: Vec<u64> = (0..4)
        .map(|queue| {
            let receiver = receiver(&bench, queue);
            for host in 11..43 {
                let words = format!("ping -c 1 -W 0.01 -I 10.201.0.{host} {RIGHT_ADDRESS}");
                bench.on(Side::Left, &words);
            }
            let report = receiver.stop();
            report["frames"]["rx"].as_u64().expect("a count")
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
        let mut sender = bench.command(Side::Left, "ping");
        let words = ["-q", "-i", "0.002", "-w", "60", RIGHT_ADDRESS];
        let sender = Running::start(sender.args(words));
        let running = bench.bridge("xdp:a xdp:b");
        await_that("frames pass", || {
            bench.counter(Side::Right, "r", "rx", "packets") > 100
        });
        sender.kill();
        let report = running.stop();
        for port in 0..2 {
            assert_eq!(report["ports"][port]["missed"], 0, "{report}");
        }
    }
}
