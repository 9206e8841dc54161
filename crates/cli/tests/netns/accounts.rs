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
fn settled(bench: &Bench, side: Side, interface: &str, way: &str) -> u64 {
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
    // The wire: what the sender's driver took or gave up is what the bridge's kernel saw.
    let lost_on_the_way = bench.counter(Side::Left, "l", "tx", "dropped");
    let reached = bench.counter(Side::Middle, "a", "rx", "packets");
    assert_eq!(frames, reached + lost_on_the_way, "the first wire");
    // The bridge: every frame that reached it is received or missed, and every received one is
    // sent or dropped for a reason with a name.
    let (received, missed) = (count(&report, 0, "rx_frames"), count(&report, 0, "missed"));
    assert_eq!(reached, received + missed, "{report}");
    let dropped = report["frames"]["dropped"].as_object().expect("reasons");
    assert!(dropped["blocked_src"].as_u64() > Some(0), "{report}");
    let dropped: u64 = dropped.values().filter_map(Value::as_u64).sum();
    let taken = count(&report, 1, "tx_frames");
    assert_eq!(received, taken + dropped, "{report}");
    // The second wire.
    let given_up = bench.counter(Side::Middle, "b", "tx", "dropped");
    assert_eq!(taken, arrived + given_up, "{report}");
}
