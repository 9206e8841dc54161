//! Frames that no sane host sends, as fast as they come: nothing ends, nothing is lost without a
//! count, and sound frames go on passing.

use std::io::Write;

use serde_json::Value;
use tempfile::TempDir;

use crate::accounts::{must_be_accounted_for, settled};
use crate::bench::{Bench, RIGHT_ADDRESS, Side};
use crate::drivers::{Driver, on_each_driver};
use crate::random::{Random, seed};
use crate::traffic::{Ends, ping_between, udp_mirrored};
use crate::verdicts::{List, draw_frame};

const FRAMES: u32 = 5_000;
const LOOPS: u64 = 40;

on_each_driver!(hostile_frames_at_full_rate);

fn hostile_frames_at_full_rate(driver: Driver) {
    let Some(bench) = Bench::new() else { return };
    // The longest frames are longer than `a` takes.
    bench.expect(Side::Left, "ip link set dev l mtu 1600");
    let seed = seed();
    let random = &mut Random::new(seed);
    let list = List::draw(random);
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    // A frame that ends within its tag the kernel throws away before packet sockets see it, and
    // counts it nowhere.
    let least = if driver.to_string().starts_with("packet") {
        20
    } else {
        14
    };
    std::fs::write(path("list"), list.text()).expect("a file");
    std::fs::write(path("hostile.pcap"), capture(random, &list, least)).expect("a file");
    let block = path("list");
    // A network of the list may hold the hosts.
    let words = format!("--force --keep private --block {block}");
    let bridge = driver.bridge(&bench, &words);
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    let before = bench.counter(Side::Left, "l", "tx", "packets");
    let file = path("hostile.pcap");
    let frames = LOOPS * u64::from(FRAMES);
    let words = format!(
        "bridge pcap:in={file},loop={LOOPS} packet:l --malformed forward --frames {frames} --json"
    );
    let (sent, _) = bench.linerate(Side::Left, &words).reported();
    settled(&bench, Side::Right, "r", "rx");
    ping_between(&bench, Ends::across(RIGHT_ADDRESS));
    udp_mirrored(&bench, Ends::across(RIGHT_ADDRESS), &[0, 18, 1_472]);
    // Hosts that know no neighbours probe none while counts are taken.
    bench.expect(Side::Left, "ip neigh flush dev l");
    bench.expect(Side::Right, "ip neigh flush dev r");
    let report = bridge.stop();
    assert_eq!(sent["frames"]["rx"], frames, "{sent}");
    let warnings = report["warnings"].to_string();
    assert!(!warnings.contains("bug"), "seed {seed}: {warnings}");
    assert!(dropped(&report, "blocked_src") > 0, "{report}");
    let passed = bench.counter(Side::Left, "l", "tx", "packets") - before;
    assert!(passed > frames / 2, "{passed} frames of {frames} left");
    must_be_accounted_for(&bench, &report);
}

fn dropped(report: &Value, reason: &str) -> u64 {
    report["frames"]["dropped"][reason].as_u64().unwrap_or(0)
}

/// A capture of them; those that begin as if tagged have so many bytes at least.
fn capture(random: &mut Random, list: &List, tagged_bytes_min: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 70_000, 1] {
        file.write_all(&word.to_le_bytes()).expect("memory");
    }
    for number in 0..FRAMES {
        let mut frame = draw_frame(random, list, number).bytes;
        mutate(random, &mut frame);
        if matches!(frame[12..14], [0x81, 0] | [0x88, 0xa8]) {
            let length = frame.len().max(tagged_bytes_min);
            frame.resize(length, 0);
        }
        let length = frame.len() as u32;
        for word in [number, 0, length, length] {
            file.write_all(&word.to_le_bytes()).expect("memory");
        }
        file.append(&mut frame);
    }
    file
}

/// Some changes of some kinds.
fn mutate(random: &mut Random, frame: &mut Vec<u8>) {
    for _ in 0..random.below(4) {
        let at = random.below(frame.len());
        match random.below(8) {
            0 => frame[at] ^= 1 << random.below(8),
            1 => frame[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            2 => frame.truncate(at.max(14)),
            3 => frame.resize(14 + random.below(1_600), 0xff),
            4 => drop(frame.splice(at..at, [0x81, 0, 0, 5].repeat(random.below(12)))),
            5 => frame[12..14].copy_from_slice(&(random.draw() as u16).to_be_bytes()),
            6 => {
                let types = [
                    0x0800_u16, 0x86dd, 0x8100, 0x88a8, 0x8847, 0x8864, 0x0806, 64,
                ];
                let kind = random.pick(&types).to_be_bytes();
                frame[12..14].copy_from_slice(&kind);
            }
            _ => frame.rotate_left(at),
        }
        frame.truncate(1_614);
    }
}
