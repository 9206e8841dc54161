//! An interface is made ready and left as it was found.

use std::thread::sleep;
use std::time::Duration;

use crate::bench::{Bench, Side, await_that};
use crate::drivers::{Driver, on_each_driver};
use crate::traffic::ping;

const GRO: &str = "generic-receive-offload";
const TAGS_TAKEN: &str = "rx-vlan-offload";

on_each_driver!(
    gro_is_off_while_the_bridge_runs_and_on_again_behind_it,
    promiscuous_mode_ends_with_the_process_however_it_ends,
    what_is_renamed_meanwhile_is_put_back_by_its_new_name,
    what_is_renamed_stays_the_port_when_another_gets_its_name,
);

fn gro_is_off_while_the_bridge_runs_and_on_again_behind_it(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    bench.expect(Side::Middle, "ethtool -K a gro on");
    bench.expect(Side::Middle, "ethtool -K b gro off");
    let bridge = driver.bridge(&bench, "");
    assert!(!bench.offload("a", GRO));
    let report = bridge.stop();
    let mode = report["ports"][0]["mode"].as_str().unwrap_or_default();
    assert!(mode.contains("rx-gro off"), "{mode}");
    assert!(bench.offload("a", GRO), "put back");
    assert!(!bench.offload("b", GRO), "was off before");
}

fn promiscuous_mode_ends_with_the_process_however_it_ends(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    for kill in [false, true] {
        let bridge = driver.bridge(&bench, "");
        assert_eq!(bench.promiscuity("a"), Some(1));
        if kill {
            bridge.kill();
        } else {
            bridge.stop();
        }
        for interface in ["a", "b"] {
            await_that(&format!("{interface} is as it was"), || {
                bench.promiscuity(interface) == Some(0) && !bench.has_program(interface)
            });
        }
    }
}

/// By which its owner finds it after the bridge: all that was changed is put back there.
fn what_is_renamed_meanwhile_is_put_back_by_its_new_name(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    bench.expect(Side::Middle, "ethtool -K a gro on");
    let found = bench.offload("a", TAGS_TAKEN);
    let bridge = driver.bridge(&bench, "");
    assert!(!bench.offload("a", GRO));
    bench.ip("link set dev a name other");
    bridge.stop();
    assert!(bench.offload("other", GRO), "put back");
    assert_eq!(bench.offload("other", TAGS_TAKEN), found);
    assert_eq!(bench.promiscuity("other"), Some(0));
    assert!(!bench.has_program("other"));
}

/// Its sockets stay on it, so all else does: nothing is changed on the other.
fn what_is_renamed_stays_the_port_when_another_gets_its_name(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    bench.expect(Side::Middle, "ethtool -K a gro on");
    bench.expect(Side::Middle, "ethtool -K b gro on");
    let bridge = driver.bridge(&bench, "");
    ping(&bench);
    for name in ["a", "b"] {
        bench.ip(&format!("link set dev {name} name old-{name}"));
        bench.ip(&format!(
            "link add name {name} type veth peer name other-{name}"
        ));
        bench.expect(Side::Middle, &format!("ethtool -K {name} gro on"));
        bench.ip(&format!("link set dev {name} up"));
        bench.ip(&format!("link set dev other-{name} up"));
    }
    // Control threads and workers look ten times a second.
    sleep(Duration::from_millis(400));
    ping(&bench);
    for name in ["a", "b"] {
        assert!(bench.offload(name, GRO) && !bench.has_program(name));
        assert_eq!(bench.promiscuity(name), Some(0));
    }
    let report = bridge.stop();
    assert!(!report.to_string().contains("\"absent\""), "{report}");
    for name in ["old-a", "old-b"] {
        assert!(
            bench.offload(name, GRO) && !bench.has_program(name),
            "put back"
        );
        assert_eq!(bench.promiscuity(name), Some(0));
    }
}

#[test]
fn a_port_that_is_refused_puts_the_other_one_back() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        bench.expect(Side::Middle, "ethtool -K a gro on");
        bench.refusal(&format!("bridge {driver}:a {driver}:nosuch"));
        assert!(bench.offload("a", GRO));
        assert_eq!(bench.promiscuity("a"), Some(0));
        assert!(!bench.has_program("a"));
    }
}
