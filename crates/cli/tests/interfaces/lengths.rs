//! Frames as long as the MTU with VLAN tags in them, on both drivers.

use super::topology::Topology;

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

fn set_mtu(topology: &Topology, way_in: usize, way_out: usize) {
    for (host, interface, mtu) in [
        ("left", "e0", way_in),
        ("middle", "m1", way_in),
        ("middle", "m2", way_out),
        ("right", "e0", way_out),
    ] {
        topology.expect(host, &format!("ip link set dev {interface} mtu {mtu}"));
    }
}

/// Sends one frame; what came out, with the report of the bridge.
fn sent(topology: &Topology, case: &Case, ports: &str) -> (bool, serde_json::Value, String) {
    set_mtu(topology, case.mtu_in, case.mtu_out);
    let bridge = topology.bridge(ports, "m2");
    topology.expect_ping();
    // What comes out is whatever was sent last: a short frame says that the long one did not.
    let long = frame(case.tags, 14 + 4 * case.tags.len() + case.payload);
    let short = frame(&[], 60);
    let mut capture = topology.host("right", "capture e0 1");
    let mut output = capture.output();
    let mut seen = String::new();
    let mut read = |until: &str| {
        let mut byte = [0];
        seen.clear();
        while !seen.ends_with(until) {
            std::io::Read::read_exact(&mut output, &mut byte).expect("a line");
            seen.push(char::from(byte[0]));
        }
        seen.trim().to_owned()
    };
    read("ready\n");
    topology.host_says("left", &format!("send e0 {long} 1"));
    topology.host_says("left", &format!("send e0 {short} 1"));
    let came = read("\n");
    let (report, said) = bridge.stop();
    assert!(came == long || came == short, "{came}");
    (came == long, report, said)
}

#[test]
fn full_frames_with_tags_cross_packet() {
    let Some(topology) = Topology::new() else {
        return;
    };
    for case in &CASES {
        let what = format!("{} of {} with {:?}", case.payload, case.mtu_out, case.tags);
        let (arrived, report, said) = sent(&topology, case, "packet:m1 packet:m2");
        assert_eq!(arrived, case.arrives, "{what}: {report}");
        let refused = &report["frames"]["dropped"]["tx_refused"];
        assert_eq!(
            refused.as_u64().unwrap_or(0),
            u64::from(!case.arrives),
            "{what}"
        );
        assert_eq!(
            said.contains("longer than its MTU allows"),
            !case.arrives,
            "{said}"
        );
    }
}

#[test]
fn full_frames_with_tags_cross_xdp() {
    let Some(topology) = Topology::new() else {
        return;
    };
    for case in &CASES {
        topology.expect("left", "ethtool -K e0 tx off");
        topology.expect("right", "ethtool -K e0 tx off");
        let what = format!("{} of {} with {:?}", case.payload, case.mtu_out, case.tags);
        let (arrived, report, _) = sent(&topology, case, "xdp:m1 xdp:m2");
        assert_eq!(arrived, case.arrives, "{what}: {report}");
        assert_eq!(report["frames"]["dropped"], serde_json::json!({}), "{what}");
        // The port takes what some drivers carry; veth drops it, and counts.
        let dropped = topology.counter("middle", "m2", "tx", "dropped");
        assert_eq!(dropped > 0, !case.arrives, "{what}");
    }
}
