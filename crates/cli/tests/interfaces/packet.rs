//! `packet:`: the hosts' own traffic, and interfaces that come and go.

use super::topology::{Topology, eventually};

const BOTH: &str = "packet:m1 packet:m2";

#[test]
fn ping_and_tcp_cross_both_ways() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let bridge = topology.bridge(BOTH, "m2");
    topology.expect_ping();
    topology.expect_tcp("left", "right", "10.9.0.2");
    topology.expect_tcp("right", "left", "10.9.0.1");
    let (report, said) = bridge.stop();
    assert_eq!(report["ports"][0]["mode"], "AF_PACKET, TPACKET_V3");
    assert_eq!(report["frames"]["rx"], report["frames"]["tx"], "{report}");
    // veth leaves checksums to the receiver: the hosts would have dropped every segment.
    assert!(said.contains("checksum left to the receiver"), "{said}");
}

#[test]
fn queues_share_frames_and_none_comes_twice() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let bridge = topology.bridge("packet:m1,queues=2 packet:m2 --workers 2", "m2");
    topology.expect_ping();
    topology.expect_tcp("left", "right", "10.9.0.2");
    let (report, _) = bridge.stop();
    let mode = report["ports"][1]["mode"].as_str().unwrap_or_default();
    assert!(mode.contains("2 queues by flow hash"), "{mode}");
}

#[test]
fn merged_frames_are_named_and_never_forwarded() {
    let Some(topology) = Topology::new() else {
        return;
    };
    topology.expect("left", "ethtool -K e0 tso on gso on");
    let bridge = topology.bridge(BOTH, "m2");
    topology.expect_ping();
    let longest = topology.host("right", "longest e0 6");
    let receiver = topology.host("right", "tcp-receive 5001 500000");
    let sender = topology.host("left", "tcp-send 10.9.0.2 5001 500000");
    let (_, length, _) = longest.ended();
    drop((receiver, sender));
    let length: usize = length.trim_start_matches("ready").trim().parse().unwrap();
    assert!((60..=1514).contains(&length), "a frame of {length} bytes");
    let (report, said) = bridge.stop();
    assert!(report["ports"][0]["missed"].as_u64() > Some(0), "{report}");
    assert!(said.contains("ethtool -K SENDER tso off"), "{said}");
}

#[test]
fn a_link_that_goes_down_and_up_is_used_again() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let bridge = topology.bridge(BOTH, "m2");
    topology.expect_ping();
    topology.expect("middle", "ip link set m1 down");
    assert!(
        topology
            .succeeds("left", "ping -c 1 -W 1 10.9.0.2")
            .is_none()
    );
    topology.expect("middle", "ip link set m1 up");
    topology.expect_ping();
    let (_, said) = bridge.stop();
    assert!(said.contains("m1: the interface went down"), "{said}");
}

#[test]
fn an_interface_made_anew_is_joined_again() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let bridge = topology.bridge("packet:m1 packet:m2 --workers 2", "m2");
    topology.expect_ping();
    topology.expect("middle", "ip link del m1");
    topology.join("left", "m1", "10.9.0.1/24");
    assert!(
        eventually(|| topology.promiscuity("m1") == Some(2)),
        "a socket a worker"
    );
    topology.expect_ping();
    let (_, said) = bridge.stop();
    assert!(said.contains("m1: the interface"), "{said}");
    assert!(eventually(|| topology.promiscuity("m1") == Some(0)));
}

#[test]
fn what_cannot_be_opened_is_refused_with_a_remedy() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let refused = topology.linerate("middle", "bridge packet:m7 packet:m2");
    let (code, _, said) = refused.ended();
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("there is no interface m7") && said.contains("ip link"),
        "{said}"
    );
}
