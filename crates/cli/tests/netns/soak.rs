//! Everything at once: streams both ways, floods, links that flap, interfaces that go and come.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::bench::{Bench, RIGHT_ADDRESS, Side, await_that};
use crate::drivers::{Driver, on_each_driver};
use crate::random::{Random, seed};
use crate::running::Running;
use crate::traffic::{Ends, ping_between, tcp_both_ways, udp_mirrored};

on_each_driver!(nothing_stops_it);

/// For how long; a round is always made. `./soak.sh` asks for minutes.
fn duration() -> Duration {
    let given = std::env::var("LINERATE_NETNS_SOAK_SECONDS").ok();
    let seconds = given.map(|text| text.parse().expect("seconds"));
    Duration::from_secs(seconds.unwrap_or(0))
}

fn nothing_stops_it(driver: Driver) {
    if driver.redirects() {
        // What is on its way when an interface goes is lost uncounted: the ledger does not close.
        return;
    }
    let Some(bench) = Bench::new() else { return };
    let mut random = Random::new(seed());
    let mut bridge = driver.bridge(&bench, "");
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    let started = Instant::now();
    let mut rounds = 0;
    while rounds == 0 || started.elapsed() < duration() {
        rounds += 1;
        streams_under_flaps(&bench, &mut random);
        floods_under_removal(&bench, &mut random);
        bridge.must_run();
        ping_between(&bench, Ends::across(RIGHT_ADDRESS));
        let lengths = [0, 18, 1_472, 1_473, 60_000];
        udp_mirrored(&bench, Ends::across(RIGHT_ADDRESS), &lengths);
    }
    let report = bridge.stop();
    println!(
        "{rounds} rounds: {} {}",
        report["frames"], report["warnings"]
    );
    await_that("nothing stays behind", || {
        let clean = |port| bench.promiscuity(port) == Some(0) && !bench.has_program(port);
        clean("a") && clean("b")
    });
}

/// A stream each way stays whole while links go down and up.
fn streams_under_flaps(bench: &Bench, random: &mut Random) {
    std::thread::scope(|scope| {
        scope.spawn(|| tcp_both_ways(bench, Ends::across(RIGHT_ADDRESS), 8 << 20));
        for _ in 0..2 {
            let port = *random.pick(&["a", "b"]);
            sleep(Duration::from_millis(random.draw() % 60));
            bench.ip(&format!("link set dev {port} down"));
            sleep(Duration::from_millis(random.draw() % 60));
            bench.ip(&format!("link set dev {port} up"));
        }
    });
}

/// Floods both ways, and under them an interface is removed and made anew.
fn floods_under_removal(bench: &Bench, random: &mut Random) {
    let floods = [
        flood(bench, Side::Left, random),
        flood(bench, Side::Right, random),
    ];
    sleep(Duration::from_millis(100 + random.draw() % 200));
    let (side, near) = *random.pick(&[(Side::Left, "a"), (Side::Right, "b")]);
    bench.ip(&format!("link del dev {near}"));
    sleep(Duration::from_millis(random.draw() % 200));
    bench.try_join_one(side, 1).expect("a veth pair");
    sleep(Duration::from_millis(100 + random.draw() % 200));
    for flood in floods {
        flood.kill();
    }
    await_that("the port comes back", || bench.promiscuity(near) > Some(0));
    // The host has another address now, of which the other one has not heard.
    bench.expect(Side::Left, "ip neigh flush dev l");
    bench.expect(Side::Right, "ip neigh flush dev r");
}

/// Frames of all sizes from a host, as fast as it can.
fn flood(bench: &Bench, side: Side, random: &mut Random) -> Running {
    let far = if side == Side::Left { "l" } else { "r" };
    let seed = random.draw();
    let words = format!("bridge gen:size=64-1518,ipv6=0.5,seed={seed} packet:{far} --json");
    bench.linerate(side, &words)
}
