//! No frame is unaccounted for: what one side sent, the other received or somebody counted as
//! dropped.

use serde_json::Value;

use super::topology::{Topology, eventually};

const FRAMES: u64 = 300_000;

fn count(report: &Value, port: usize, name: &str) -> u64 {
    report["ports"][port][name].as_u64().unwrap_or(u64::MAX)
}

#[test]
fn every_frame_is_somewhere() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let bridge = topology.bridge("packet:m1 packet:m2", "m2");
    let words = format!("bridge gen:size=64-512 packet:e0 --frames {FRAMES} --json");
    let (code, sent, said) = topology.linerate("left", &words).ended();
    assert_eq!(code, 0, "{said}");
    let sent: Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(sent["balanced"], true, "{sent}");
    assert_eq!(count(&sent, 1, "tx_frames"), FRAMES, "{sent}");
    // Frames are under way until the bridge has sent them on, or dropped them.
    let mut before = 0;
    let arrived = || {
        let now = topology.counter("middle", "m2", "tx", "packets");
        std::mem::replace(&mut before, now) == now
    };
    assert!(eventually(arrived));
    let (report, _) = bridge.stop();
    // The wire: what the sender's driver took or gave up is what the bridge's kernel saw.
    let lost_on_the_way = topology.counter("left", "e0", "tx", "dropped");
    let reached = topology.counter("middle", "m1", "rx", "packets");
    assert_eq!(FRAMES, reached + lost_on_the_way, "the first wire");
    // The bridge: every frame that reached it is received or missed, and every received one is in
    // the books, which balance.
    let (received, missed) = (count(&report, 0, "rx_frames"), count(&report, 0, "missed"));
    assert_eq!(reached, received + missed, "{report}");
    // The second wire.
    let taken = count(&report, 1, "tx_frames");
    let carried = topology.counter("middle", "m2", "tx", "packets");
    let given_up = topology.counter("middle", "m2", "tx", "dropped");
    assert_eq!(taken, carried + given_up, "{report}");
}
