//! A wire whose other end carries only shorter frames than ours: what it drops holds up nothing.

use tempfile::TempDir;

use crate::bench::{Bench, Side};
use crate::drivers::{Driver, on_each_driver};

const ROUNDS: u32 = 20;

on_each_driver!(undeliverable_frames_hold_up_no_others);

/// Bursts of long and short frames by turns, the last one long; `r` is 1,000 bytes wide.
fn undeliverable_frames_hold_up_no_others(driver: Driver) {
    if driver.redirects() {
        // Of sixteen the kernel drops all behind the first long one: `redirect_losses` looks at it.
        return;
    }
    let Some(bench) = Bench::new() else { return };
    bench.expect(Side::Right, "ip link set dev r mtu 1000");
    let bridge = driver.bridge(&bench, "");
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("frames");
    let mut records = Vec::new();
    for number in 0..ROUNDS * 100 {
        let length = if number % 2 == 0 { 60 } else { 1_400_u32 };
        let mut frame = vec![0x02, 0x54, 0, 0, 0, 1, 0x02, 0x53];
        frame.extend(number.to_be_bytes());
        frame.extend([0x88, 0xb6]);
        frame.resize(length as usize, 0);
        records.extend(length.to_be_bytes());
        records.extend(frame);
    }
    std::fs::write(&file, records).expect("a file");
    let passed = crate::verdicts::replayed(&bench, &file.display().to_string());
    let short: Vec<u32> = (0..ROUNDS * 100).step_by(2).collect();
    assert!(passed.keys().copied().eq(short), "{:?}", passed.keys());
    let report = bridge.stop();
    // The last of a burst cannot be told from a full queue; by AF_XDP the driver alone counts.
    let dropped = report["frames"]["dropped"].as_object().expect("reasons");
    let dropped: u64 = dropped.values().filter_map(serde_json::Value::as_u64).sum();
    let given_up = bench.counter(Side::Middle, "b", "tx", "dropped");
    let long = u64::from(ROUNDS * 50);
    assert!(dropped == long || given_up == long, "{given_up}: {report}");
}
