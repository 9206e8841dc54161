//! No frame is unaccounted for: what one side sent, the other received or somebody counted as
//! dropped.

use serde_json::Value;

use crate::bench::{Bench, Side, await_that};
use crate::drivers::{Driver, on_each_driver};

const FRAMES: u64 = 300_000;

on_each_driver!(every_frame_is_somewhere);

fn count(report: &Value, port: usize, name: &str) -> u64 {
    report["ports"][port][name].as_u64().unwrap_or(u64::MAX)
}

fn every_frame_is_somewhere(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    let bridge = driver.bridge(&bench, "");
    let words = format!("bridge gen:size=64-512 packet:l --frames {FRAMES} --json");
    let (sent, _) = bench.linerate(Side::Left, &words).reported();
    assert_eq!(count(&sent, 1, "tx_frames"), FRAMES, "{sent}");
    // Frames are under way until the bridge has sent them on, or dropped them.
    let mut before = 0;
    await_that("frames stop", || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let now = bench.counter(Side::Middle, "b", "tx", "packets");
        std::mem::replace(&mut before, now) == now
    });
    let report = bridge.stop();
    // The wire: what the sender's driver took or gave up is what the bridge's kernel saw.
    let lost_on_the_way = bench.counter(Side::Left, "l", "tx", "dropped");
    let reached = bench.counter(Side::Middle, "a", "rx", "packets");
    assert_eq!(FRAMES, reached + lost_on_the_way, "the first wire");
    // The bridge: every frame that reached it is received or missed, and every received one is in
    // the books, which balance.
    let (received, missed) = (count(&report, 0, "rx_frames"), count(&report, 0, "missed"));
    assert_eq!(reached, received + missed, "{report}");
    // The second wire.
    let taken = count(&report, 1, "tx_frames");
    let carried = bench.counter(Side::Middle, "b", "tx", "packets");
    let given_up = bench.counter(Side::Middle, "b", "tx", "dropped");
    assert_eq!(taken, carried + given_up, "{report}");
}
