//! `tap:`: the host that the program runs on, through the bridge.

use super::topology::{Topology, eventually};

#[test]
fn the_host_reaches_beyond_the_bridge() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let bridge = topology.bridge("tap:host0 packet:m2 --workers 2", "m2");
    let address = "ip addr add 10.9.0.3/24 dev host0";
    topology.expect("middle", address);
    let ping = "ping -c 5 -i 0.05 -W 5 10.9.0.2";
    let said = topology.expect("middle", ping);
    assert!(said.contains(" 0% packet loss"), "{said}");
    topology.expect_tcp("middle", "right", "10.9.0.2");
    topology.expect_tcp("right", "middle", "10.9.0.3");
    // Deleted under the bridge, it is made again.
    topology.expect("middle", "ip link del host0");
    assert!(
        topology.comes_to("middle", address),
        "host0 did not come back"
    );
    assert!(topology.comes_to("middle", ping));
    let (report, said) = bridge.stop();
    assert_eq!(report["ports"][0]["mode"], "tap, 2 queues by flow");
    assert!(said.contains("host0: the interface"), "{said}");
    let gone = || {
        topology
            .succeeds("middle", "ip link show dev host0")
            .is_none()
    };
    assert!(eventually(gone), "the tap stayed");
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let refused = topology.linerate("middle", "bridge tap:m1 packet:m2");
    let (code, _, said) = refused.ended();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("choose another name"), "{said}");
}
