//! Frames as long as the MTU with VLAN tags in them, on both drivers.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::bench::{Bench, Side};
use crate::drivers::{Driver, PACKET, XDP};
use crate::traffic::ping;

/// A frame of `len` bytes for everybody, with these tags and the mark of `host.py`.
fn frame(tags: &[&str], len: usize) -> String {
    let before = format!("ffffffffffff020000000001{}88b5", tags.concat());
    let rest = len - before.len() / 2;
    before + &"5a".repeat(rest)
}

/// What comes of frames sent on the left, `None` for none: whether they come out on the right as
/// they were, with MTUs of the way in and of the way out.
struct Case {
    mtu_in: usize,
    mtu_out: usize,
    tags: &'static [&'static str],
    payload: usize,
    arrives: bool,
}

const CASES: [Case; 7] = [
    // A full frame with a tag passes where one without does.
    case(1500, 1500, &["81000005"], 1500, true),
    case(9000, 9000, &["81000005"], 9000, true),
    case(3818, 3818, &["81000005"], 3818, true),
    // With two the kernel wants room for the second, and for the first if it is not of 802.1Q.
    case(1504, 1504, &["81000005", "81000006"], 1500, true),
    case(1508, 1508, &["88a80005", "81000006"], 1500, true),
    case(9008, 9008, &["88a80005", "81000006"], 9000, true),
    case(1504, 1500, &["81000005", "81000006"], 1500, false),
];

const fn case(
    mtu_in: usize,
    mtu_out: usize,
    tags: &'static [&'static str],
    payload: usize,
    arrives: bool,
) -> Case {
    Case {
        mtu_in,
        mtu_out,
        tags,
        payload,
        arrives,
    }
}

fn set_mtu(bench: &Bench, way_in: usize, way_out: usize) {
    for (host, interface, mtu) in [
        (Side::Left, "l", way_in),
        (Side::Middle, "a", way_in),
        (Side::Middle, "b", way_out),
        (Side::Right, "r", way_out),
    ] {
        bench.expect(host, &format!("ip link set dev {interface} mtu {mtu}"));
    }
}

/// Sends one frame; whether it came out, with the report of the bridge and what it said.
fn sent(bench: &Bench, case: &Case, driver: Driver) -> (bool, Value, String) {
    set_mtu(bench, case.mtu_in, case.mtu_out);
    let bridge = driver.bridge(bench, "");
    ping(bench);
    let long = frame(case.tags, 14 + 4 * case.tags.len() + case.payload);
    let short = frame(&[], 60);
    let mut capture = bench.role(Side::Right, "capture r 1");
    let mut lines = BufReader::new(capture.output()).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    assert_eq!(line(), "ready");
    // The one that comes first is captured: the short one says that the long one does not come.
    for frame in [&long, &short] {
        bench.role_says(Side::Left, &format!("send l {frame} 1"));
    }
    let came = line();
    let (report, said) = bridge.stop_and_say();
    assert!(came == long || came == short, "{came}");
    (came == long, report, said)
}

#[test]
fn full_frames_with_tags_cross_packet() {
    let Some(bench) = Bench::new() else { return };
    for case in &CASES {
        let what = format!("{} of {} with {:?}", case.payload, case.mtu_out, case.tags);
        let (arrived, report, said) = sent(&bench, case, PACKET);
        assert_eq!(arrived, case.arrives, "{what}: {report}");
        let refused = report["frames"]["dropped"]["tx_refused"].as_u64();
        assert_eq!(refused.unwrap_or(0), u64::from(!case.arrives), "{what}");
        let told = said.contains("longer than its MTU allows");
        assert_eq!(told, !case.arrives, "{said}");
    }
}

#[test]
fn full_frames_with_tags_cross_xdp() {
    let Some(bench) = Bench::new() else { return };
    for case in &CASES {
        let what = format!("{} of {} with {:?}", case.payload, case.mtu_out, case.tags);
        let (arrived, report, _) = sent(&bench, case, XDP);
        assert_eq!(arrived, case.arrives, "{what}: {report}");
        assert_eq!(report["frames"]["dropped"], json!({}), "{what}");
        // The port takes what some drivers carry; veth drops it, and counts.
        let dropped = bench.counter(Side::Middle, "b", "tx", "dropped");
        assert_eq!(dropped > 0, !case.arrives, "{what}");
    }
}
