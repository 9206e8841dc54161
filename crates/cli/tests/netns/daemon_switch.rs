//! A switch under the daemon between kernel interfaces: stations behind a link that went down are
//! forgotten, and a loop is told of and ended.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bench::{Bench, Side, await_that};
use crate::daemon::Daemon;

/// The ports of the stations that are shown, sorted.
fn ports(daemon: &Daemon<'_>) -> Vec<String> {
    let shown: Value = serde_json::from_str(&daemon.must("show fdb --json")).expect("JSON");
    let stations = shown["stations"].as_array().expect("stations");
    let port = |station: &Value| station["port"].as_str().expect("a port").to_owned();
    let mut ports: Vec<String> = stations.iter().map(port).collect();
    ports.dedup();
    ports.sort();
    ports.dedup();
    ports
}

#[test]
fn stations_are_forgotten_when_the_link_goes_down() {
    let Some(bench) = Bench::new() else {
        return;
    };
    let switch = "[workers]\ncount = 2\n[[pipeline]]\nkind = 'switch'\n";
    let daemon = Daemon::start(&bench, "packet", switch);
    let (a, b) = ("packet:a", "packet:b");
    await_that("both are known", || {
        daemon.pings() && ports(&daemon) == [a, b]
    });
    // No carrier, set down, and gone.
    let forgotten = || await_that("the left one is forgotten", || ports(&daemon) == [b]);
    let known = || {
        await_that("it is known again", || {
            daemon.pings() && ports(&daemon) == [a, b]
        });
    };
    for (side, interface) in [(Side::Left, "l"), (Side::Middle, "a")] {
        bench.expect(side, &format!("ip link set dev {interface} down"));
        forgotten();
        bench.expect(side, &format!("ip link set dev {interface} up"));
        known();
    }
    bench.ip("link delete dev a");
    forgotten();
    bench.try_join_one(Side::Left, 1).expect("a veth pair");
    known();
    let report = daemon.stop();
    assert_eq!(report["balanced"], true, "{report}");
}

/// The daemon asks for loops every ten seconds.
const TOLD_WITHIN: Duration = Duration::from_secs(15);

#[test]
fn a_cable_between_two_ports_is_told_of_and_one_of_them_left_out() {
    let Some(bench) = Bench::new() else {
        return;
    };
    bench.ip("link add c type veth peer name d");
    let begun = Instant::now();
    let switch = "[[port]]\nspec = 'packet:c'\n[[port]]\nspec = 'packet:d'\n\
                  [[pipeline]]\nkind = 'switch'\nloop_quiet = '600s'\n";
    let daemon = Daemon::start(&bench, "packet", switch);
    for interface in ["c", "d"] {
        bench.ip(&format!("link set dev {interface} up"));
    }
    let times = || {
        let shown: Value = serde_json::from_str(&daemon.must("show vlans --json")).expect("JSON");
        let events = shown["events"].as_array().expect("events");
        let mut left_out = events.iter().filter(|event| event["event"] == "quietened");
        left_out.next().and_then(|event| event["count"].as_u64())
    };
    await_that("a port is left out", || {
        // Each is a request for an address, which goes to all.
        let _answered = daemon.pings();
        bench.succeeds(Side::Left, "ip neighbour flush dev l");
        times() > Some(0)
    });
    await_that("frames cross all the same", || daemon.pings());
    sleep(TOLD_WITHIN.saturating_sub(begun.elapsed()));
    let (report, said) = daemon.stop_and_say();
    assert_eq!(report["balanced"], true, "{report}");
    // Stations behind the other ports seem to move to an end of the cable, too.
    assert!(said.contains("moved between the ports packet:"), "{said}");
}
