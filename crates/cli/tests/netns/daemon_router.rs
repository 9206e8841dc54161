//! A router under the daemon between kernel interfaces: hosts of two links reach each other, and
//! the daemon knows both.

use serde_json::Value;

use crate::bench::{Bench, RIGHT_ADDRESS, Side, await_that};
use crate::daemon::Daemon;

/// The right host has its address behind another one, on a link of its own.
fn part(bench: &Bench) {
    for (side, words) in [
        (Side::Left, "addr add 10.201.1.1/24 dev l".to_owned()),
        (
            Side::Left,
            format!("route add {RIGHT_ADDRESS}/32 via 10.201.1.254"),
        ),
        (Side::Right, "addr add 10.201.2.1/24 dev r".to_owned()),
        (
            Side::Right,
            "route add 10.201.1.0/24 via 10.201.2.254".to_owned(),
        ),
    ] {
        bench.expect(side, &format!("ip {words}"));
    }
}

/// The neighbours that are shown, as `INTERFACE ADDRESS`; each has an Ethernet address.
fn neighbours(daemon: &Daemon<'_>) -> Vec<String> {
    let shown: Value = serde_json::from_str(&daemon.must("show neighbours --json")).expect("JSON");
    let all = shown["neighbours"].as_array().expect("neighbours");
    let line = |one: &Value| {
        assert!(
            one["mac"].is_string() && one["age_seconds"].is_u64(),
            "{one}"
        );
        let word = |key: &str| one[key].as_str().expect("a word").to_owned();
        format!("{} {}", word("interface"), word("address"))
    };
    all.iter().map(line).collect()
}

fn hosts_reach_each_other(driver: &str, workers: u32) {
    let Some(bench) = Bench::new() else {
        return;
    };
    part(&bench);
    let router = format!(
        "[workers]\ncount = {workers}\n[[pipeline]]\nkind = 'router'\n\
         interface = ['lan={driver}:a,10.201.1.254/24', 'wan={driver}:b,10.201.2.254/24']\n\
         route = ['{RIGHT_ADDRESS}/32 via 10.201.2.1']\n"
    );
    // It begins with a ping from the left host to the right one.
    let daemon = Daemon::start(&bench, driver, &router);
    assert_eq!(neighbours(&daemon), ["lan 10.201.1.1", "wan 10.201.2.1"]);
    let text = daemon.must("show neighbours");
    assert!(text.contains("10.201.2.1"), "{text}");
    // Its link comes back, with another interface.
    bench.ip("link delete dev a");
    bench.try_join_one(Side::Left, 1).expect("a veth pair");
    for words in [
        "addr add 10.201.1.1/24 dev l".to_owned(),
        format!("route add {RIGHT_ADDRESS}/32 via 10.201.1.254"),
    ] {
        bench.expect(Side::Left, &format!("ip {words}"));
    }
    await_that("the left host is known again", || daemon.pings());
    let report = daemon.stop();
    assert_eq!(report["balanced"], true, "{report}");
    assert!(
        report["router"]["forwarded_v4"].as_u64() >= Some(2),
        "{report}"
    );
}

#[test]
fn hosts_reach_each_other_on_packet() {
    hosts_reach_each_other("packet", 2);
}

#[test]
fn hosts_reach_each_other_on_xdp() {
    hosts_reach_each_other("xdp", 1);
}
