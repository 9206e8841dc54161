//! `packet:` alone: what packet sockets see that a program in the driver does not.

use crate::bench::{Bench, Side, await_that};
use crate::traffic::{ping, tcp_echo};

const BOTH: &str = "packet:a packet:b";

/// Hosts that leave checksums to whoever receives, as veth ends do by themselves.
fn bench() -> Option<Bench> {
    let bench = Bench::new()?;
    for (side, far) in [(Side::Left, "l"), (Side::Right, "r")] {
        bench.expect(side, &format!("ethtool -K {far} tx on tso off gso off"));
    }
    Some(bench)
}

#[test]
fn checksums_left_to_the_receiver_are_finished() {
    let Some(bench) = bench() else { return };
    let bridge = bench.bridge(BOTH);
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    let (report, said) = bridge.stop_and_say();
    assert_eq!(report["ports"][0]["mode"], "AF_PACKET, TPACKET_V3");
    assert_eq!(report["frames"]["rx"], report["frames"]["tx"], "{report}");
    // The hosts would have dropped every segment.
    assert!(said.contains("checksum left to the receiver"), "{said}");
}

#[test]
fn queues_share_frames_and_none_comes_twice() {
    let Some(bench) = Bench::new() else { return };
    let bridge = bench.bridge("packet:a,queues=2 packet:b --workers 2");
    ping(&bench);
    let said = bench.expect(Side::Left, "ping -c 10 -i 0.02 -W 5 10.201.0.2");
    assert!(!said.contains("DUP!"), "frames came twice: {said}");
    tcp_echo(&bench, 1 << 20);
    let report = bridge.stop();
    let mode = report["ports"][1]["mode"].as_str().unwrap_or_default();
    assert!(mode.contains("2 queues by flow hash"), "{mode}");
}

#[test]
fn merged_frames_are_named_and_never_forwarded() {
    let Some(bench) = bench() else { return };
    bench.expect(Side::Left, "ethtool -K l tso on gso on");
    let bridge = bench.bridge(BOTH);
    ping(&bench);
    let longest = bench.role(Side::Right, "longest r 6");
    let receiver = bench.role(Side::Right, "tcp-receive 5001 500000");
    let sender = bench.role(Side::Left, "tcp-send 10.201.0.2 5001 500000");
    let (_, length, _) = longest.ended();
    drop((receiver, sender));
    let length: usize = length.trim_start_matches("ready").trim().parse().unwrap();
    assert!((42..=1514).contains(&length), "a frame of {length} bytes");
    let (report, said) = bridge.stop_and_say();
    assert!(report["ports"][0]["missed"].as_u64() > Some(0), "{report}");
    assert!(said.contains("ethtool -K SENDER tx off"), "{said}");
}

#[test]
fn a_link_that_goes_down_and_up_is_used_again() {
    let Some(bench) = Bench::new() else { return };
    let bridge = bench.bridge(BOTH);
    ping(&bench);
    bench.ip("link set dev a down");
    assert!(!bench.succeeds(Side::Left, "ping -c 1 -W 1 10.201.0.2"));
    bench.ip("link set dev a up");
    ping(&bench);
    let (_, said) = bridge.stop_and_say();
    assert!(said.contains("a: the interface went down"), "{said}");
}

#[test]
fn an_interface_made_anew_is_joined_again() {
    let Some(bench) = Bench::new() else { return };
    let bridge = bench.bridge("packet:a packet:b --workers 2");
    ping(&bench);
    bench.ip("link del dev a");
    bench.try_join_one(Side::Left, 1).expect("a veth pair");
    await_that("a socket a worker", || bench.promiscuity("a") == Some(2));
    ping(&bench);
    let (_, said) = bridge.stop_and_say();
    assert!(said.contains("a: the interface"), "{said}");
    await_that("left as found", || bench.promiscuity("a") == Some(0));
}

#[test]
fn what_cannot_be_opened_is_refused_with_a_remedy() {
    let Some(bench) = Bench::new() else { return };
    let said = bench.refusal("bridge packet:nosuch packet:b");
    let expected = said.contains("there is no interface nosuch") && said.contains("ip link");
    assert!(expected, "{said}");
}
