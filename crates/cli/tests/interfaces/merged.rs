//! Datagrams that a local sender left merged: no wire ever had such a frame.

use super::topology::{Topology, eventually};

#[test]
fn merged_frames_are_left_out_and_counted_by_name() {
    let generic = "xdp:m1,mode=generic,vlan=ignore xdp:m2,mode=generic,vlan=ignore";
    for (ports, count) in [
        ("packet:m1 packet:m2", "missed_merged"),
        (generic, "missed_too_long"),
    ] {
        let Some(topology) = Topology::new() else {
            return;
        };
        let words = "ethtool -K e0 tx on tso on gso on tx-udp-segmentation on";
        topology.expect("left", words);
        let bridge = topology.bridge(ports, "m2");
        topology.expect_ping();
        let before = topology.counter("right", "e0", "rx", "packets");
        // Two segments may fit a chunk, sixty fit none.
        for _ in 0..3 {
            topology.host_says("left", "send-merged 10.9.0.2 60");
        }
        topology.expect_ping();
        let (report, said) = bridge.stop();
        let port = &report["ports"][0];
        assert_eq!(port[count], 3, "{ports}: {report}");
        assert_eq!(port["missed"], 3, "{ports}: {report}");
        assert!(said.contains("ethtool -K SENDER tso off gso off"), "{said}");
        assert!(!said.contains("bug"), "{said}");
        let after = || topology.counter("right", "e0", "rx", "packets");
        assert!(eventually(|| after() >= before + 11), "the pings came");
        assert!(after() < before + 60, "nothing of the merged frames came");
    }
}
