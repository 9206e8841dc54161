//! The ledger closes where ledgers break: under overload, each cause made on purpose and each told
//! by its name and queue, against the kernel's own counters.

use rustix::process::Signal;
use serde_json::Value;

use crate::accounts::settled;
use crate::bench::{Bench, LEFT_ADDRESS, RIGHT_ADDRESS, Running, Side};
use crate::drivers::{Driver, PACKET, XDP, on_each_driver};
use crate::traffic::ping;

/// Frames of an overload: more than any ring of a port holds.
const MANY: u64 = 120_000;

/// Frames under a name at a place, all queues together.
fn named(report: &Value, place: &str, name: &str) -> u64 {
    let parts = parts(report, place, name);
    parts
        .iter()
        .filter_map(|part| part["frames"].as_u64())
        .sum()
}

/// The queues that a name at a place has.
fn queues(report: &Value, place: &str, name: &str) -> Vec<u64> {
    let parts = parts(report, place, name);
    let mut queues: Vec<_> = parts
        .iter()
        .filter_map(|part| part["queue"].as_u64())
        .collect();
    assert_eq!(queues.len(), parts.len(), "each has a queue: {report}");
    queues.sort_unstable();
    queues
}

fn parts<'a>(report: &'a Value, place: &str, name: &str) -> Vec<&'a Value> {
    let all = report["ledger"]["differences"].as_array().expect("a list");
    let is_it = |part: &&Value| {
        let at = part["place"].as_str().expect("a place");
        at.ends_with(place) && part["name"] == name
    };
    all.iter().filter(is_it).collect()
}

#[track_caller]
fn column(report: &Value, place: &str, name: &str) -> u64 {
    let places = report["ledger"]["places"].as_array().expect("a list");
    let is_it = |part: &&Value| part["place"].as_str().is_some_and(|at| at.ends_with(place));
    let found = places.iter().find(is_it).expect("the place");
    found[name].as_u64().expect("a count")
}

/// Sends so many frames of many flows from the left, as fast as it goes.
#[track_caller]
fn send(bench: &Bench, frames: u64, sizes: &str) {
    let words = format!("bridge gen:size={sizes} packet:l --frames {frames} --json");
    let (sent, _) = bench.linerate(Side::Left, &words).reported();
    assert_eq!(sent["ports"][1]["tx_frames"], frames, "{sent}");
}

/// Ends a bridge when nothing comes out of it any more, and holds the ends of its ledger against
/// the interfaces, which nobody used before it.
#[track_caller]
fn closed(bench: &Bench, bridge: Running) -> Value {
    settled(bench, Side::Middle, "a", "rx");
    settled(bench, Side::Right, "r", "rx");
    let report = bridge.stop();
    for near in ["a", "b"] {
        let counter = |way| bench.counter(Side::Middle, near, way, "packets");
        let place = format!(":{near}");
        let arrived = column(&report, &place, "arrived_at_interface");
        assert_eq!(arrived, counter("rx"), "{near}: {report}");
        let left = column(&report, &place, "left_interface");
        assert_eq!(left, counter("tx"), "{near}: {report}");
    }
    report
}

on_each_driver!(a_worker_that_stands_still_loses_frames_by_name);

/// Its rings run full, or those with room for frames run empty, while it is stopped.
fn a_worker_that_stands_still_loses_frames_by_name(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let bridge = driver.bridge(&bench, "");
    ping(&bench);
    bridge.signal(Signal::STOP);
    send(&bench, MANY, "64-512");
    settled(&bench, Side::Middle, "a", "rx");
    bridge.signal(Signal::CONT);
    let report = closed(&bench, bridge);
    let (full, other) = match driver.to_string().starts_with("packet") {
        true => ("rx_ring_full", "fill_ring_empty"),
        false => ("fill_ring_empty", "rx_ring_full"),
    };
    assert!(named(&report, ":a", full) > 0, "{report}");
    assert_eq!(queues(&report, ":a", full), [0], "{report}");
    assert_eq!(named(&report, ":a", other), 0, "{report}");
    let missed = report["ports"][0]["missed"].as_u64();
    assert_eq!(Some(named(&report, ":a", full)), missed, "{report}");
}

on_each_driver!(an_end_that_takes_no_long_frames_has_a_name);

/// veth drops what its other end is too narrow for; packet sockets are told, AF_XDP is not, and by
/// redirection it is seen until frames leave by sockets.
fn an_end_that_takes_no_long_frames_has_a_name(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    bench.expect(Side::Right, "ip link set dev r mtu 1000");
    let bridge = driver.bridge(&bench, "");
    ping(&bench);
    send(&bench, 5_000, "1300-1400");
    let report = closed(&bench, bridge);
    let told = named(&report, "bridge", "tx_refused") + named(&report, "bridge", "tx_ring_full");
    let lost = named(&report, ":b", "tx_driver_drop");
    // Where other tests keep the CPUs busy the sender may be faster than the bridge for a moment.
    let came = 5_000 - named(&report, ":a", "fill_ring_empty");
    assert!(came > 1_000, "{report}");
    if driver.redirects() {
        assert!(told > 0, "{report}");
        assert_eq!(told + lost, came, "{report}");
        return;
    }
    match driver.to_string().ends_with("packet:b") {
        true => assert_eq!((told, lost), (came, 0), "{report}"),
        false => assert_eq!((told, lost), (0, came), "{report}"),
    }
}

#[test]
fn frames_longer_than_a_chunk_have_a_name() {
    let Some(bench) = Bench::new() else { return };
    let bridge = PACKET.bridge(&bench, "--stride 1024");
    ping(&bench);
    send(&bench, 300, "1200-1400");
    let report = closed(&bench, bridge);
    assert_eq!(named(&report, ":a", "too_long"), 300, "{report}");
    assert_eq!(queues(&report, ":a", "too_long"), [0]);
}

/// A bridge whose second port goes by a queueing discipline.
fn through(bench: &Bench, discipline: &str) -> Running {
    let words = format!("tc qdisc add dev b root {discipline}");
    bench.expect(Side::Middle, &words);
    let bridge = bench.bridge("packet:a packet:b,qdisc=on");
    ping(bench);
    bridge
}

#[test]
fn a_full_queueing_discipline_has_a_name() {
    if let Some(tool) = crate::bench::missing(&["tc"]) {
        println!("skipped: `{tool}` is not installed");
        return;
    }
    let Some(bench) = Bench::new() else { return };
    let bridge = through(&bench, "handle 1: tbf rate 40mbit burst 4kb limit 20kb");
    send(&bench, 20_000, "500");
    let report = closed(&bench, bridge);
    let dropped = named(&report, ":b", "qdisc");
    assert!(dropped > 0, "{report}");
    let part = parts(&report, ":b", "qdisc")[0];
    assert_eq!(
        (&part["least"], &part["most"]),
        (&part["frames"], &part["frames"])
    );
    let text = bench.expect(Side::Middle, "tc -s -j qdisc show dev b");
    let told: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(told[0]["drops"], dropped, "{told}");
}

#[test]
fn frames_that_a_queueing_discipline_drops_behind_our_back_have_its_name() {
    if let Some(tool) = crate::bench::missing(&["tc"]) {
        println!("skipped: `{tool}` is not installed");
        return;
    }
    let Some(bench) = Bench::new() else { return };
    let bridge = through(&bench, "handle 1: tbf rate 40mbit burst 4kb limit 20kb");
    // It takes each frame and drops the oldest: the sender is not told.
    bench.expect(
        Side::Middle,
        "tc qdisc replace dev b parent 1:1 handle 2: pfifo_head_drop limit 20",
    );
    send(&bench, 20_000, "500");
    let report = closed(&bench, bridge);
    let part = parts(&report, ":b", "qdisc")[0];
    assert!(part["least"].as_u64() < part["frames"].as_u64(), "{report}");
    let sent = column(&report, ":b", "sent_by_us");
    // On a busy machine some come while the bridge's ring is full.
    let missed = named(&report, ":a", "rx_ring_full");
    assert!(sent + missed > 20_000, "{report}");
    assert_eq!(named(&report, "bridge", "tx_ring_full"), 0, "{report}");
}

#[test]
fn queues_without_a_socket_are_told_by_number() {
    for unclaimed in ["pass", "drop"] {
        let Some(bench) = Bench::new() else { return };
        bench.ip("link del dev a");
        bench.ip("link del dev b");
        bench.join(4);
        bench.expect(
            Side::Left,
            &format!("ip neigh replace {RIGHT_ADDRESS} lladdr 02:00:00:00:00:09 dev l"),
        );
        let options = format!("queues=0-1,unclaimed={unclaimed}");
        let bridge = bench.bridge(&format!("xdp:a,{options} xdp:b"));
        for host in 11..75 {
            bench.expect(Side::Left, &format!("ip addr add 10.201.0.{host}/24 dev l"));
            let words = format!("ping -c 1 -W 0.01 -I 10.201.0.{host} {RIGHT_ADDRESS}");
            bench.on(Side::Left, &words);
        }
        let report = closed(&bench, bridge);
        assert_eq!(queues(&report, ":a", "no_socket"), [2, 3], "{report}");
        let lost = named(&report, ":a", "no_socket");
        let came = column(&report, ":a", "arrived_at_interface");
        let received = column(&report, ":a", "received_by_us");
        assert!(lost > 0, "{report}");
        // On a machine that has no time for the worker, some may still lie in its rings.
        let unread = named(&report, ":a", "unread");
        assert_eq!(came, received + lost + unread, "{report}");
    }
}

on_each_driver!(what_the_host_sends_is_told_apart);

/// The machine in the middle has an address of its own on the way out.
fn what_the_host_sends_is_told_apart(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let bridge = driver.bridge(&bench, "");
    bench.expect(Side::Middle, "ip addr add 10.201.0.9/24 dev b");
    // Nobody answers: the answers go to the left. What is sent counts.
    let neighbour = format!("ip neigh replace {RIGHT_ADDRESS} lladdr 02:00:00:00:00:07 dev b");
    bench.expect(Side::Middle, &neighbour);
    bench.on(
        Side::Middle,
        &format!("ping -c 7 -i 0.01 -W 0.1 {RIGHT_ADDRESS}"),
    );
    send(&bench, 1_000, "64-512");
    let report = closed(&bench, bridge);
    assert_eq!(named(&report, ":b", "others_sent"), 7, "{report}");
    let part = parts(&report, ":b", "others_sent")[0];
    assert_eq!(part["adds"], true);
    // By packet sockets they are what is too much.
    let counted = !driver.to_string().ends_with("packet:b");
    assert_eq!(part["least"] == part["most"], counted, "{report}");
}

#[test]
fn frames_for_the_host_have_a_name() {
    let Some(bench) = Bench::new() else { return };
    bench.expect(Side::Middle, "ip addr add 10.201.0.9/24 dev a");
    let bridge = bench.bridge("xdp:a,keep-local xdp:b");
    bench.expect(Side::Left, "ping -c 5 -i 0.01 -W 2 10.201.0.9");
    let report = closed(&bench, bridge);
    assert!(named(&report, ":a", "kept_local") >= 5, "{report}");
    // The answers.
    assert!(named(&report, ":a", "others_sent") >= 5, "{report}");
}

on_each_driver!(traffic_while_a_run_begins_and_ends_is_bounded);

/// Frames come all the time: those that came meanwhile are at most what the interface counted.
fn traffic_while_a_run_begins_and_ends_is_bounded(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let words = "bridge gen:size=64-512 packet:l --duration 60 --json";
    let sender = bench.linerate(Side::Left, words);
    settles_at_work(&bench);
    let bridge = driver.bridge(&bench, "");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let report = bridge.stop();
    assert!(column(&report, ":a", "received_by_us") > 0, "{report}");
    for part in parts(&report, ":a", "start_or_end") {
        assert!(part["frames"].as_u64() <= part["most"].as_u64(), "{report}");
    }
    // The sender's own ledger may lack frames: a veth forgets uncounted what it holds when its
    // other end loses its program.
    sender.kill();
}

/// Waits until frames come.
fn settles_at_work(bench: &Bench) {
    crate::bench::await_that("frames come", || {
        bench.counter(Side::Middle, "a", "rx", "packets") > 0
    });
}

#[test]
fn a_receiver_that_stands_still_behind_the_bridge_is_its_own_loss() {
    let Some(bench) = Bench::new() else { return };
    let bridge = XDP.bridge(&bench, "");
    let mut sink = bench.linerate(Side::Right, "bridge --json xdp:r,ring=64 null:");
    crate::bench::await_that("the sink attaches its program", || {
        sink.must_run();
        let said = bench.expect(Side::Right, "ip link show dev r");
        said.contains("prog/xdp")
    });
    sink.signal(Signal::STOP);
    send(&bench, 20_000, "64-512");
    let report = closed(&bench, bridge);
    sink.signal(Signal::CONT);
    let sunk = sink.stop();
    // From one ledger to the next there is only the wire.
    let left = column(&report, ":b", "left_interface");
    assert_eq!(
        left,
        column(&sunk, ":r", "arrived_at_interface"),
        "{report} {sunk}"
    );
    assert!(named(&sunk, ":r", "fill_ring_empty") > 0, "{sunk}");
    assert_eq!(queues(&sunk, ":r", "fill_ring_empty"), [0]);
}

#[test]
fn people_are_shown_a_table() {
    let Some(bench) = Bench::new() else { return };
    let mut running = bench.start("bridge xdp:a packet:b");
    crate::bench::await_that("the bridge takes its interfaces", || {
        running.must_run();
        bench.is_taken("xdp:a") && bench.is_taken("packet:b")
    });
    ping(&bench);
    let ping_back = format!("ping -c 1 -W 2 {LEFT_ADDRESS}");
    bench.expect(Side::Right, &ping_back);
    running.signal(Signal::INT);
    let (code, text, said) = running.ended();
    assert_eq!(code, 0, "{text}{said}");
    for part in [
        "Ledger",
        "left interface",
        "arrived",
        "every difference has a name",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
