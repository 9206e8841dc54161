//! `xdp:` ports between two veth pairs.

use crate::bench::{Bench, Side, await_that};
use crate::traffic::{ping, tcp_echo, udp_echo};

/// Lengths of datagrams whose frames are 60 to 1,514 bytes, the edges of the default MTU among
/// them; the last goes as two fragments.
const LENGTHS: [usize; 7] = [0, 1, 18, 19, 1_471, 1_472, 1_473];

/// Ping, UDP and TCP across, and what the report must say of it.
fn cross(options: &str, mode: &str) {
    let Some(bench) = Bench::new() else { return };
    let running = bench.bridge(&format!("xdp:a{options} xdp:b{options}"));
    ping(&bench);
    udp_echo(&bench, &LENGTHS);
    tcp_echo(&bench, 4 << 20);
    let report = running.stop();
    for port in 0..2 {
        let said = report["ports"][port]["mode"].as_str().expect("a mode");
        assert!(said.starts_with(mode), "{said}, not {mode}");
    }
    let frames = report["frames"]["rx"].as_u64().expect("a count");
    assert!(frames > 2 * (4 << 20) / 1_460, "{report}");
    await_that("nothing stays behind", || {
        !bench.has_program("a") && !bench.has_program("b")
    });
}

#[test]
fn auto_takes_what_veth_has() {
    cross("", "AF_XDP copy, program in the driver, 1 queue");
}

#[test]
fn copy_mode_is_granted() {
    cross(",mode=copy,ring=64", "AF_XDP copy, program in the driver");
}

#[test]
fn generic_mode_is_granted() {
    cross(",mode=generic,vlan=ignore", "AF_XDP copy, generic program");
}

#[test]
fn tcp_crosses_though_hosts_leave_checksums_to_the_receiver() {
    for mode in ["", ",mode=generic,vlan=ignore"] {
        let Some(bench) = Bench::new() else { return };
        for (side, far) in [(Side::Left, "l"), (Side::Right, "r")] {
            bench.expect(side, &format!("ethtool -K {far} tx on tso off gso off"));
        }
        let running = bench.bridge(&format!("xdp:a{mode} xdp:b{mode}"));
        // The hosts drop what is not finished: neither a handshake nor a datagram would cross.
        tcp_echo(&bench, 1 << 20);
        udp_echo(&bench, &LENGTHS[..6]);
        let report = running.stop();
        for port in 0..2 {
            let states = report["ports"][port]["states"].as_array().expect("states");
            let left = |state: &serde_json::Value| state["state"] == "checksums_left";
            assert!(states.iter().any(left), "{report}");
        }
    }
}

#[test]
fn a_mode_that_loses_vlan_tags_must_be_asked_for() {
    let Some(bench) = Bench::new() else { return };
    let output = bench.run("bridge xdp:a,mode=generic null:");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in [
        "would cross VLANs",
        "leave out mode=",
        "packet:a",
        "vlan=ignore",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let running = bench.bridge("xdp:a,mode=generic,vlan=ignore xdp:b");
    ping(&bench);
    let report = running.stop();
    assert!(!report["warnings"].to_string().contains("bug"), "{report}");
}

#[test]
fn busy_polling_works() {
    cross(",busy-poll=20", "AF_XDP copy, program in the driver");
}

#[test]
fn frames_lie_as_close_as_1920_bytes() {
    for stride in [1792, 1920, 2112, 4096] {
        let Some(bench) = Bench::new() else { return };
        let running = bench.bridge(&format!("--stride {stride} xdp:a xdp:b"));
        udp_echo(&bench, &LENGTHS);
        tcp_echo(&bench, 1 << 20);
        let report = running.stop();
        assert_eq!(report["memory"]["stride_bytes"], stride, "{report}");
    }
}

#[test]
fn two_workers_share_one_queue() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: there is one CPU");
        return;
    }
    let Some(bench) = Bench::new() else { return };
    let running = bench.bridge("--workers 2 xdp:a xdp:b");
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    running.stop();
}

#[test]
fn one_worker_has_all_queues() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link del dev a");
    bench.ip("link del dev b");
    bench.join(4);
    let running = bench.bridge("--workers 1 xdp:a xdp:b");
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    let report = running.stop();
    let said = report["ports"][0]["mode"].as_str().expect("a mode");
    assert!(said.contains(", 4 queues"), "{said}");
    let warnings = report["warnings"].as_array().expect("a list");
    assert!(
        !warnings
            .iter()
            .any(|warning| warning.to_string().contains("bug")),
        "{report}"
    );
}

#[test]
fn zero_copy_is_refused_where_the_driver_has_none() {
    let Some(bench) = Bench::new() else { return };
    let output = bench.run("bridge xdp:a,mode=zerocopy null:");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no zero-copy, leave out mode="), "{said}");
}

#[test]
fn a_kill_leaves_no_program() {
    let Some(bench) = Bench::new() else { return };
    for round in 0..3 {
        let running = bench.bridge("xdp:a xdp:b");
        ping(&bench);
        running.kill();
        await_that(&format!("the kernel detaches, round {round}"), || {
            !bench.has_program("a") && !bench.has_program("b")
        });
    }
}

#[test]
fn a_foreign_program_is_refused_by_name() {
    let Some(bench) = Bench::new() else { return };
    let running = bench.bridge("xdp:a xdp:b");
    // A second bridge is refused before it looks: something else meets the program.
    let output = bench.run("sink xdp:a --duration 1s");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("xdp:a: the XDP program linerate (id "),
        "{said}"
    );
    assert!(said.contains("xdp off"), "{said}");
    ping(&bench);
    running.stop();
}

#[test]
fn what_cannot_be_opened_is_refused_with_a_remedy() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link set dev a mtu 9000");
    let cases = [
        (
            "--stride 4096 xdp:a null:",
            "leave out --stride or give 9280 or more",
        ),
        (
            "xdp:nosuch null:",
            "there is no interface nosuch in this network",
        ),
        ("xdp:b xdp:b", "xdp:b is there twice"),
        ("xdp:b,queues=2-3 null:", "it has 1, numbered from 0"),
        (
            "--stride 1664 xdp:b null:",
            "leave out --stride or give 1792 or more",
        ),
    ];
    for (words, expected) in cases {
        let output = bench.run(&format!("bridge {words}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    }
}

#[test]
fn an_interface_that_goes_down_or_away_comes_back_by_itself() {
    let Some(bench) = Bench::new() else { return };
    let running = bench.bridge("xdp:a xdp:b");
    ping(&bench);
    bench.ip("link set dev b down");
    bench.ip("link set dev b up");
    ping(&bench);
    bench.ip("link del dev b");
    let refused = bench.on(Side::Left, "ping -c 2 -i 0.05 -w 1 10.201.0.2");
    assert!(!refused.status.success(), "{refused:?}");
    // Both pairs anew, under the same names: the port comes back by itself.
    bench.ip("link del dev a");
    bench.join(1);
    await_that("the bridge takes the interfaces up again", || {
        bench.has_program("a") && bench.has_program("b")
    });
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    let report = running.stop();
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("xdp:b: 1 times it came back"), "{report}");
}

#[test]
fn an_interface_is_made_ready_and_left_as_found() {
    let Some(bench) = Bench::new() else { return };
    let middle = Side::Middle;
    // Merging, and both kinds of VLAN tags taken off.
    let offloads = [
        "generic-receive-offload",
        "rx-vlan-offload",
        "rx-vlan-stag-hw-parse",
    ];
    let all = |state: &str| {
        let output = bench.on(middle, "ethtool -k a");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let is = |name: &&str| said.contains(&format!("{name}: {state}"));
        offloads.iter().all(is)
    };
    let promiscuous = || bench.ip("-d link show dev a").contains("promiscuity 1");
    bench.on(
        middle,
        "ethtool -K a gro on rxvlan on rx-vlan-stag-hw-parse on",
    );
    assert!(all("on") && !promiscuous());
    let running = bench.bridge("xdp:a xdp:b");
    assert!(all("off") && promiscuous());
    running.stop();
    assert!(all("on") && !promiscuous());
    let running = bench.bridge("xdp:a xdp:b");
    running.kill();
    await_that("the kernel ends promiscuous mode", || !promiscuous());
}

#[test]
fn frames_longer_than_the_other_interface_carries_are_dropped_and_counted() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link set dev b mtu 1000");
    let running = bench.bridge("xdp:a xdp:b");
    ping(&bench);
    let words = "ping -c 4 -i 0.05 -w 1 -s 1400 10.201.0.2";
    let lost = bench.on(Side::Left, words);
    assert!(!lost.status.success(), "{lost:?}");
    let report = running.stop();
    let refused = report["frames"]["dropped"]["tx_refused"].as_u64();
    assert!(refused.is_some_and(|frames| frames >= 4), "{report}");
}

#[test]
fn queues_are_shared_out_over_workers() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: there is one CPU");
        return;
    }
    let Some(bench) = Bench::new() else { return };
    bench.ip("link del dev a");
    bench.ip("link del dev b");
    bench.join(3);
    let running = bench.bridge("--workers 2 xdp:a,queues=all xdp:b,queues=1-2,unclaimed=drop");
    // Frames of queue 0 of `b` are dropped in the kernel, so that not everything is answered.
    bench.on(Side::Left, "ping -c 20 -i 0.01 -w 1 10.201.0.2");
    let report = running.stop();
    let mode = |port: usize| report["ports"][port]["mode"].as_str().expect("a mode");
    assert!(mode(0).contains(", 3 queues"), "{report}");
    assert!(mode(1).contains(", 2 queues"), "{report}");
}

#[test]
fn frames_cross_to_another_driver_and_back() {
    let Some(bench) = Bench::new() else { return };
    let running = bench.bridge("xdp:a packet:b");
    ping(&bench);
    udp_echo(&bench, &LENGTHS);
    tcp_echo(&bench, 1 << 20);
    let report = running.stop();
    assert_eq!(
        report["frames"]["dropped"],
        serde_json::json!({}),
        "{report}"
    );
}

/// A veth end has no room for what its peer sends by more queues than it has.
#[test]
fn a_peer_with_more_queues_is_named_with_what_helps() {
    let Some(bench) = Bench::apart() else { return };
    if let Err(error) = bench.try_join(2) {
        return println!("skipped: no veth pairs here: {error}");
    }
    bench.expect(Side::Left, "ethtool -L l tx 2");
    bench.expect(Side::Middle, "ethtool -L a rx 1");
    let said = bench.refusal("bridge xdp:a xdp:b");
    assert!(said.contains("`ethtool -L a rx N`"), "{said}");
}
