//! Segments that their sender left merged, as local senders do over veth.

use crate::bench::{Bench, Side};
use crate::traffic::tcp_echo;

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
