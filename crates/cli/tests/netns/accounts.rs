//! No frame is unaccounted for: what one side sent, the other received or somebody counted as
//! dropped.

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, Side, await_that};
use crate::drivers::{Driver, on_each_driver};

on_each_driver!(every_frame_is_somewhere);

/// `./soak.sh` asks for ten million.
fn frames() -> u64 {
    let given = std::env::var("LINERATE_NETNS_FRAMES").ok();
    given.map_or(300_000, |text| text.parse().expect("a number of frames"))
}

fn count(report: &Value, port: usize, name: &str) -> u64 {
    report["ports"][port][name].as_u64().unwrap_or(u64::MAX)
}

/// How many packets went over an interface, once there are no more.
pub(crate) fn settled(bench: &Bench, side: Side, interface: &str, way: &str) -> u64 {
    let mut before = u64::MAX;
    await_that("frames stop", || {
        sleep(Duration::from_millis(50));
        let now = bench.counter(side, interface, way, "packets");
        std::mem::replace(&mut before, now) == now
    });
    before
}

fn every_frame_is_somewhere(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let frames = frames();
    let folder = TempDir::new().expect("a folder");
    let list = folder.path().join("eighth.txt");
    std::fs::write(&list, "32.0.0.0/3").expect("a file");
    let bridge = driver.bridge(&bench, &format!("--block-src {}", list.display()));
    let words = format!("bridge gen:size=64-512 packet:l --frames {frames} --json");
    let (sent, _) = bench.linerate(Side::Left, &words).reported();
    assert_eq!(count(&sent, 1, "tx_frames"), frames, "{sent}");
    // Frames are under way until the bridge has sent them on, or dropped them.
    let arrived = settled(&bench, Side::Right, "r", "rx");
    let report = bridge.stop();
    println!("{frames} frames: {} {}", report["frames"], report["ports"]);
    must_be_accounted_for(&bench, &report);
    let reached = bench.counter(Side::Middle, "a", "rx", "packets");
    assert_eq!(frames, reached, "the first wire");
    assert_eq!(arrived, bench.counter(Side::Right, "r", "rx", "packets"));
    let blocked = report["frames"]["dropped"]["blocked_src"].as_u64();
    assert!(blocked > Some(0), "{report}");
}

/// Holds a report, of a bridge that has ended, against what the kernel counted at its interfaces.
#[track_caller]
pub(crate) fn must_be_accounted_for(bench: &Bench, report: &Value) {
    for (side, far, near, port) in [(Side::Left, "l", "a", 0), (Side::Right, "r", "b", 1)] {
        // The wire to the bridge: what the host's driver took is what came.
        let sent = bench.counter(side, far, "tx", "packets");
        let reached = bench.counter(Side::Middle, near, "rx", "packets");
        assert_eq!(sent, reached, "from {far} to {near}");
        // Every frame that came is received or missed.
        let (received, missed) = (
            count(report, port, "rx_frames"),
            count(report, port, "missed"),
        );
        assert_eq!(reached, received + missed, "{near}: {report}");
        // And the wire from the bridge. Packet sockets say what the driver drops, AF_XDP does not.
        let taken = count(report, port, "tx_frames");
        let given_up = match report["ports"][port]["spec"].as_str() {
            Some(spec) if spec.starts_with("xdp") => {
                bench.counter(Side::Middle, near, "tx", "dropped")
            }
            _ => 0,
        };
        let arrived = bench.counter(side, far, "rx", "packets");
        assert_eq!(taken, arrived + given_up, "{near}: {report}");
    }
    // In between every received frame is sent or dropped for a reason with a name.
    let sum = |name: &str| count(report, 0, name) + count(report, 1, name);
    let reasons = report["frames"]["dropped"].as_object().expect("reasons");
    let dropped: u64 = reasons.values().filter_map(Value::as_u64).sum();
    assert_eq!(sum("rx_frames"), sum("tx_frames") + dropped, "{report}");
}
