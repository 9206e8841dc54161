//! What changes of an interface while a bridge has it is followed, and said as what it is.

use serde_json::Value;

use crate::bench::{Bench, RIGHT_ADDRESS, Side, await_that};
use crate::states::{Told, state};
use crate::traffic::ping;

/// Sets the MTU of all four interfaces.
fn set_mtu(bench: &Bench, mtu: u32) {
    for (side, interface) in [
        (Side::Middle, "a"),
        (Side::Middle, "b"),
        (Side::Left, "l"),
        (Side::Right, "r"),
    ] {
        bench.expect(side, &format!("ip link set dev {interface} mtu {mtu}"));
    }
}

/// Whether an echo request of so many bytes is answered.
fn passes(bench: &Bench, bytes: u32) -> bool {
    let payload = bytes - 28;
    let words = format!("ping -M do -c 2 -i 0.05 -W 1 -s {payload} {RIGHT_ADDRESS}");
    bench.succeeds(Side::Left, &words)
}

fn segments_are_cut(bench: &Bench) {
    for (side, far) in [(Side::Left, "l"), (Side::Right, "r")] {
        bench.expect(side, &format!("ethtool -K {far} tso off gso off"));
    }
}

fn warned(report: &Value, what: &str) -> bool {
    let warnings = report["warnings"].as_array().expect("warnings").iter();
    warnings
        .filter_map(Value::as_str)
        .any(|said| said.contains(what))
}

/// Raised beyond what frame memory has room for, and back: the loss has the name of its cause.
#[test]
fn an_mtu_that_is_raised_is_said_with_what_has_room() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        segments_are_cut(&bench);
        let mut told = Told::crossing(&bench, &format!("{driver}:a {driver}:b"));
        set_mtu(&bench, 9000);
        told.hears(&format!("{driver}:a: its MTU is 9000 now, and was 1500"));
        assert!(
            told.heard.contains("ip link set dev a mtu "),
            "{}",
            told.heard
        );
        assert!(!passes(&bench, 8000), "there is no room for them");
        ping(&bench);
        set_mtu(&bench, 1500);
        told.hears(&format!(
            "{driver}:a: its MTU is 1500 now, and was 9000, as at the start"
        ));
        ping(&bench);
        let (report, said) = told.stop_and_say();
        let changed = state(&report, 0, "mtu_changed");
        assert_eq!(
            (&changed["count"], &changed["active"]),
            (&1.into(), &false.into())
        );
        assert!(
            report["ports"][0]["missed_too_long"].as_u64() > Some(0),
            "{report}"
        );
        assert!(said.contains("its MTU was 9000"), "{said}{report}");
        assert!(!said.contains("SENDER"), "no sender is at fault: {said}");
    }
}

/// Within what there is room for, longer frames pass at once; a smaller one is followed, too.
#[test]
fn an_mtu_that_fits_is_followed_both_ways() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        segments_are_cut(&bench);
        let mut told = Told::crossing(&bench, &format!("{driver}:a {driver}:b"));
        set_mtu(&bench, 1600);
        for _port in ["a", "b"] {
            told.hears("its MTU is 1600 now, and was 1500; the port has room for such frames");
        }
        await_that("frames as long as that pass", || passes(&bench, 1600));
        bench.ip("link set dev b mtu 1400");
        told.hears("its MTU is 1400 now, and was 1600; longer frames that are to leave by it");
        assert!(
            told.heard.contains("ip link set dev b mtu 1500"),
            "{}",
            told.heard
        );
        await_that("what fits passes", || passes(&bench, 1400));
        assert!(!passes(&bench, 1600));
        let (report, _) = told.stop_and_say();
        assert!(
            report["frames"]["dropped"]["tx_refused"].as_u64() > Some(0),
            "{report}"
        );
        assert!(!warned(&report, "fitted no chunk"), "{report}");
    }
}

#[test]
fn an_interface_that_is_moved_is_not_said_to_be_removed() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        let mut told = Told::crossing(&bench, &format!("{driver}:a {driver}:b"));
        let other = bench.name(Side::Right);
        bench.ip(&format!("link set dev a netns {other}"));
        told.hears(&format!("{driver}:a: the interface is gone: it was moved"));
        bench.ip("link del dev b");
        told.hears(&format!("{driver}:b: the interface is gone; "));
        let (report, _) = told.stop_and_say();
        let detail = |port| state(&report, port, "absent")["detail"].clone();
        assert_eq!(detail(0), "moved to another network namespace");
        assert_eq!(detail(1), "");
    }
}

#[test]
fn an_interface_asked_for_by_another_name_is_found_again_by_it() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        let also = "ip link property add dev a altname the-uplink-of-this-machine";
        if !bench.succeeds(Side::Middle, also) {
            return println!("skipped: no other names of interfaces here");
        }
        let words = format!("{driver}:the-uplink-of-this-machine {driver}:b");
        let mut told = Told::crossing(&bench, &words);
        bench.ip("link property add dev a altname later");
        bench.ip("link del dev a");
        told.hears(&format!("{driver}:a: the interface is gone"));
        // Made anew by another name of its own, and then called as before.
        bench.try_join_one(Side::Left, 1).expect("a veth pair");
        bench.ip("link set dev a down");
        bench.ip("link set dev a name c");
        bench.ip("link property add dev c altname the-uplink-of-this-machine");
        bench.ip("link set dev c up");
        told.hears("an interface of its name is there again");
        await_that("frames cross again", || passes(&bench, 100));
        told.stop_and_say();
    }
}

#[test]
fn offloads_that_somebody_switches_on_are_told_of() {
    for driver in ["packet", "xdp"] {
        let Some(bench) = Bench::new() else { return };
        let mut told = Told::crossing(&bench, &format!("{driver}:a {driver}:b"));
        // What is on after the first look was switched on by somebody else.
        std::thread::sleep(std::time::Duration::from_millis(300));
        bench.expect(Side::Middle, "ethtool -K a gro on");
        told.hears("somebody switched rx-gro on");
        bench.expect(Side::Middle, "ethtool -K a gro off");
        told.hears("offloads are off again");
        let (report, _) = told.stop_and_say();
        assert_eq!(state(&report, 0, "offloads_on")["count"], 1, "{report}");
    }
}

/// What could not be sent for want of a carrier is not laid to its length.
#[test]
fn frames_that_no_carrier_lets_out_are_said_to_be_that() {
    for (side, down, said) in [
        (
            Side::Left,
            "l",
            "could not be sent: the interface was without a carrier",
        ),
        // The kernel takes none then: they wait.
        (Side::Middle, "a", "packet:a: the interface is down"),
    ] {
        let Some(bench) = Bench::new() else { return };
        bench.expect(side, &format!("ip link set dev {down} down"));
        let words = "gen packet:a --rate 100pps --duration 500ms --no-trial --json";
        let output = bench.run(words);
        let heard = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(heard.contains(said), "{heard}");
        assert!(!heard.contains("other end of the wire"), "{heard}");
        let page: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        assert!(page.to_string().contains("\"link_down\""), "{page}");
    }
}
