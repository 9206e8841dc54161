//! Segments that their sender left merged, as local senders do over veth.

use crate::bench::{Bench, Side, await_that};
use crate::drivers::{Driver, GENERIC, PACKET};
use crate::traffic::{ping, tcp_echo};

fn merges(bench: &Bench, side: Side, interface: &str) -> bool {
    let output = bench.on(side, &format!("ethtool -k {interface}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.contains("tcp-segmentation-offload: on")
}

#[test]
fn a_program_in_the_driver_has_the_other_end_cut_its_segments() {
    let Some(bench) = Bench::new() else { return };
    // Segments can be left merged only with their checksums left open.
    let output = bench.on(Side::Left, "ethtool -K l tx on tso on gso on");
    assert!(output.status.success(), "{output:?}");
    assert!(merges(&bench, Side::Left, "l"));
    let running = bench.bridge("xdp:a xdp:b");
    assert!(!merges(&bench, Side::Left, "l"), "veth has it cut them");
    let output = bench.on(Side::Left, "ethtool -K l tx off");
    assert!(output.status.success(), "{output:?}");
    tcp_echo(&bench, 4 << 20);
    let report = running.stop();
    assert_eq!(report["ports"][0]["missed_too_long"], 0, "{report}");
    assert_eq!(
        report["frames"]["dropped"],
        serde_json::json!({}),
        "{report}"
    );
}

/// What comes merged is left out, under this name.
fn left_out(driver: Driver, count: &str) {
    let Some(bench) = Bench::new() else { return };
    let words = "ethtool -K l tx on tso on gso on tx-udp-segmentation on";
    bench.expect(Side::Left, words);
    let bridge = driver.bridge(&bench, "");
    ping(&bench);
    let before = bench.counter(Side::Right, "r", "rx", "packets");
    // Two segments may fit a chunk, sixty fit none.
    for _ in 0..3 {
        bench.role_says(Side::Left, "send-merged 10.201.0.2 60");
    }
    ping(&bench);
    let (report, said) = bridge.stop_and_say();
    let port = &report["ports"][0];
    assert_eq!(port[count], 3, "{driver}: {report}");
    assert_eq!(port["missed"], 3, "{driver}: {report}");
    assert!(said.contains("ethtool -K SENDER tx off"), "{said}");
    assert!(!said.contains("bug"), "{said}");
    let after = || bench.counter(Side::Right, "r", "rx", "packets");
    await_that("the pings come", || after() >= before + 5);
    assert!(after() < before + 60, "nothing of the merged frames came");
}

#[test]
fn merged_frames_are_left_out_and_counted_by_name() {
    left_out(PACKET, "missed_merged");
    left_out(GENERIC, "missed_too_long");
}

#[test]
fn an_other_end_that_merges_is_named_at_the_start() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link add name c type veth peer name d");
    for interface in ["c", "d"] {
        bench.ip(&format!("link set dev {interface} up"));
    }
    let port = "xdp:c,mode=generic,vlan=ignore";
    for (state, ports) in [
        ("on", "packet:c"),
        ("on", port),
        // What the note says.
        ("off", "packet:c"),
        ("off", port),
    ] {
        let words = format!("ethtool -K d tx {state}");
        assert!(bench.on(Side::Middle, &words).status.success());
        let output = bench.run(&format!("bridge {ports} null: --duration 0.1"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let named = said.contains("have it cut them: ethtool -K d tx off");
        assert_eq!(named, state == "on", "{ports}: {said}");
    }
}
