//! A Linux router and a Linux bridge as devices, which nobody set up for a test: the ports of the
//! generator answer for its addresses, and the sink announces itself.
//!
//! The device is the middle; the generator has both other interfaces, on the left.

use serde_json::Value;

use crate::bench::{Bench, Running, Side, await_that, has_result_or_missed_rate};

/// `t` and `u` of the left, joined to `a` and `b` of the middle.
fn device() -> Option<Bench> {
    let bench = Bench::apart()?;
    let (left, middle) = (bench.name(Side::Left), bench.name(Side::Middle));
    for (near, far) in [("t", "a"), ("u", "b")] {
        let make = format!("ip link add {near} type veth peer name {far} netns {middle}");
        if !bench.succeeds(Side::Left, &make) {
            println!("skipped: no veth pairs here");
            return None;
        }
        for (side, end) in [(Side::Left, near), (Side::Middle, far)] {
            bench.expect(side, &format!("ip link set {end} up"));
            bench.expect(side, &format!("ethtool -K {end} tx off"));
        }
    }
    assert!(!left.is_empty());
    Some(bench)
}

fn router(bench: &Bench) {
    for words in [
        "sysctl -qw net.ipv4.ip_forward=1",
        "ip addr add 192.0.2.1/24 dev a",
        "ip addr add 198.51.100.1/24 dev b",
        "ip route add 203.0.113.0/24 via 198.51.100.2",
    ] {
        bench.expect(Side::Middle, words);
    }
}

/// The same with IPv6; `false` where the kernel has none.
fn router_6(bench: &Bench) -> bool {
    for end in ["a", "b"] {
        let on = format!("sysctl -qw net.ipv6.conf.{end}.disable_ipv6=0");
        if !bench.succeeds(Side::Middle, &on) {
            println!("skipped: this kernel has no IPv6");
            return false;
        }
    }
    for words in [
        "sysctl -qw net.ipv6.conf.all.forwarding=1",
        "ip addr add 2001:db8:1::1/64 dev a nodad",
        "ip addr add 2001:db8:2::1/64 dev b nodad",
        "ip route add 2001:db8:3::/64 via 2001:db8:2::2",
    ] {
        bench.expect(Side::Middle, words);
    }
    true
}

/// The Ethernet address of an interface.
fn mac(bench: &Bench, side: Side, interface: &str) -> String {
    let said = bench.expect(side, &format!("ip -j link show {interface}"));
    let links: Value = serde_json::from_str(&said).expect("JSON of ip");
    links[0]["address"].as_str().expect("an address").to_owned()
}

#[track_caller]
fn run(bench: &Bench, words: &str) -> Value {
    let (_, report, said) = bench.linerate(Side::Left, words).ended();
    let report: Value = serde_json::from_str(&report).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(report["balanced"], true, "{report}");
    assert_eq!(report["ledger"]["closes"], true, "{report}");
    report
}

#[track_caller]
fn all_arrived(report: &Value, what: &str) {
    assert!(has_result_or_missed_rate(report), "{what}: {report}");
    let arrived = &report["arrived"];
    assert_eq!(arrived["lost"], 0, "{what}: {report}");
    assert_eq!(
        arrived["frames"], report["sent"]["frames"],
        "{what}: {report}"
    );
    assert_eq!(report["sent"]["frames"], 500, "{what}: {report}");
}

const PACE: &str = "--rate 1kpps --count 500 --no-trial --drain 2s --json -q";

#[test]
fn a_router_forwards_to_the_generators_addresses() {
    // What the sink is a neighbour by: addresses of test frames, of its interface, or named ones.
    let table = [
        ("--dst 198.51.100.9", "", 1),
        ("--dst 198.51.100.8-198.51.100.11", "", 4),
        ("--dst 203.0.113.9 --answer 198.51.100.2", "", 1),
        ("--dst 203.0.113.9", "198.51.100.2/24", 1),
    ];
    for kind in ["xdp", "packet"] {
        for (frames, address, answered) in table {
            let Some(bench) = device() else { return };
            router(&bench);
            let by_host = kind == "packet" && !address.is_empty();
            if !address.is_empty() {
                bench.expect(Side::Left, &format!("ip addr add {address} dev u"));
            }
            let dmac = mac(&bench, Side::Middle, "a");
            let words = format!(
                "gen {kind}:t --sink {kind}:u --dmac {dmac} --src 192.0.2.2 {frames} {PACE}"
            );
            let report = run(&bench, &words);
            all_arrived(&report, &words);
            let answers = report["controls"]["rx"]["answered"].as_u64();
            let least = if by_host { 0 } else { answered };
            assert!(answers >= Some(least), "{words}: {report}");
            assert_eq!(by_host, answers == Some(0), "{words}: {report}");
            // Whoever answered: nobody waits for an answer.
            let unanswered = &report["controls"]["rx"]["unanswered"];
            assert_eq!(unanswered, &serde_json::json!([]), "{words}: {report}");
        }
    }
}

#[test]
fn a_router_forwards_ipv6() {
    for kind in ["xdp", "packet"] {
        for frames in [
            "--dst 2001:db8:2::9",
            "--dst 2001:db8:3::9 --answer 2001:db8:2::/64",
        ] {
            let Some(bench) = device() else { return };
            if !router_6(&bench) {
                return;
            }
            let dmac = mac(&bench, Side::Middle, "a");
            let words = format!(
                "gen {kind}:t --sink {kind}:u --dmac {dmac} --src 2001:db8:1::2 {frames} \
                 --size 100 {PACE}"
            );
            let report = run(&bench, &words);
            all_arrived(&report, &words);
            assert!(
                report["controls"]["rx"]["answered"].as_u64() > Some(0),
                "{report}"
            );
            // It did not take the router's own address away: that is within the answered network.
            let addresses = bench.expect(Side::Middle, "ip -6 addr show dev b");
            assert!(!addresses.contains("dadfailed"), "{addresses}");
        }
    }
}

#[test]
fn what_is_asked_for_in_vain_is_named() {
    let Some(bench) = device() else { return };
    router(&bench);
    let dmac = mac(&bench, Side::Middle, "a");
    let words = "--dst 203.0.113.9 --src 192.0.2.2 --rate 1kpps --count 500 --no-trial";
    let (code, text, said) = bench
        .linerate(
            Side::Left,
            &format!("gen xdp:t --sink xdp:u --dmac {dmac} {words}"),
        )
        .ended();
    assert_eq!(code, 1, "{text}{said}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("for 198.51.100.2 came and nobody here answers"),
        "{text}"
    );
    assert!(flat.contains("--answer 198.51.100.2"), "{text}");
    let off = format!("gen xdp:t --sink xdp:u --dmac {dmac} {words} --answer off --json -q");
    let report = run(&bench, &off);
    let rx = &report["controls"]["rx"];
    assert_eq!(rx["unanswered"][0]["address"], "198.51.100.2", "{report}");
    assert_eq!(
        (&rx["announced"], &rx["answered"]),
        (&0.into(), &0.into()),
        "{report}"
    );
}

/// A sink in a process of its own is a neighbour as well, and so is a generator that only sends.
#[test]
fn sender_and_sink_of_two_processes_answer() {
    let Some(bench) = device() else { return };
    router(&bench);
    bench.expect(Side::Left, "ip addr add 198.51.100.2/24 dev u");
    let sink = bench.linerate(Side::Left, "sink xdp:u --json -q");
    await_that("the sink answers", || {
        bench.succeeds(Side::Middle, "ping -c 1 -W 1 198.51.100.2")
            || reached(&bench, "198.51.100.2")
    });
    let dmac = mac(&bench, Side::Middle, "a");
    let words = "--src 192.0.2.2 --dst 203.0.113.9 --rate 500pps --duration 2s --no-trial";
    let sender = bench.linerate(
        Side::Left,
        &format!("gen xdp:t --dmac {dmac} {words} --json -q"),
    );
    await_that("the sender answers", || {
        let _asked = bench.succeeds(Side::Middle, "ping -c 1 -W 1 192.0.2.2");
        reached(&bench, "192.0.2.2")
    });
    let sent = finished(sender);
    let came = sink.stop();
    assert_eq!(
        came["arrived"]["frames"], sent["sent"]["frames"],
        "{came} {sent}"
    );
    assert!(
        sent["controls"]["tx"]["answered"].as_u64() > Some(0),
        "{sent}"
    );
    assert!(
        came["controls"]["rx"]["answered"].as_u64() > Some(0),
        "{came}"
    );
    assert_eq!(
        sent["sent"]["frames"], 1000,
        "answers are none of what is sent: {sent}"
    );
}

fn reached(bench: &Bench, address: &str) -> bool {
    let said = bench.expect(Side::Middle, &format!("ip neigh show {address}"));
    said.contains("lladdr")
}

fn finished(run: Running) -> Value {
    let (_, report, said) = run.ended();
    serde_json::from_str(&report).unwrap_or_else(|_| panic!("{said}"))
}

/// The bridge of the middle, with a third port where nobody is tested.
#[test]
fn a_switch_knows_the_sink_before_the_first_frame() {
    for kind in ["xdp", "packet"] {
        for own in [true, false] {
            let Some(bench) = device() else { return };
            for words in [
                "ip link add br0 type bridge",
                "ip link add c type veth peer name d",
                "ip link set a master br0",
                "ip link set b master br0",
                "ip link set c master br0",
                "ip link set c up",
                "ip link set d up",
                "ip link set br0 up",
            ] {
                bench.expect(Side::Middle, words);
            }
            let dmac = match own {
                true => format!("--dmac {}", mac(&bench, Side::Left, "u")),
                false => String::new(),
            };
            let words = format!("gen {kind}:t --sink {kind}:u {dmac} {PACE}");
            let report = run(&bench, &words);
            all_arrived(&report, &words);
            assert_eq!(report["controls"]["rx"]["announced"], 1, "{report}");
            let flooded = bench.counter(Side::Middle, "d", "rx", "packets");
            assert!(flooded < 20, "{words}: {flooded} frames at the third port");
        }
    }
}
