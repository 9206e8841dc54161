//! An interface is made ready and left as it was found.

use super::topology::{Topology, eventually};

#[test]
fn gro_is_off_while_the_bridge_runs_and_on_again_behind_it() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let gro = "generic-receive-offload";
    topology.expect("middle", "ethtool -K m1 gro on");
    topology.expect("middle", "ethtool -K m2 gro off");
    let bridge = topology.bridge("packet:m1 packet:m2", "m2");
    assert!(!topology.offload("m1", gro));
    let (report, _) = bridge.stop();
    let mode = report["ports"][0]["mode"].as_str().unwrap_or_default();
    assert!(mode.contains("rx-gro off"), "{mode}");
    assert!(topology.offload("m1", gro), "put back");
    assert!(!topology.offload("m2", gro), "was off before");
}

#[test]
fn a_port_that_is_refused_puts_the_other_one_back() {
    let Some(topology) = Topology::new() else {
        return;
    };
    topology.expect("middle", "ethtool -K m1 gro on");
    let refused = topology.linerate("middle", "bridge packet:m1 packet:m7");
    assert_eq!(refused.ended().0, 2);
    assert!(topology.offload("m1", "generic-receive-offload"));
    assert_eq!(topology.promiscuity("m1"), Some(0));
}

#[test]
fn promiscuous_mode_ends_with_the_process_however_it_ends() {
    let Some(topology) = Topology::new() else {
        return;
    };
    for kill in [false, true] {
        let bridge = topology.bridge("packet:m1 packet:m2", "m2");
        assert_eq!(topology.promiscuity("m1"), Some(1));
        if kill {
            bridge.kill();
        } else {
            bridge.stop();
        }
        for interface in ["m1", "m2"] {
            let gone = || topology.promiscuity(interface) == Some(0);
            assert!(eventually(gone), "{interface} is still promiscuous");
        }
    }
}
