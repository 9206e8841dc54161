//! Frames longer than one chunk of AF_XDP, and the edges of the MTU, on both drivers.

use serde_json::json;

use crate::bench::{Bench, LEFT_ADDRESS, RIGHT_ADDRESS, Running, Side};
use crate::traffic::{Ends, ping, tcp_echo, udp_mirrored};

/// Bytes of an IPv4 header and of an echo request's.
const PING_HEADERS: u32 = 20 + 8;

/// Sets the MTU of all four interfaces.
fn set_mtu(bench: &Bench, mtu: u32) {
    bench.ip(&format!("link set dev a mtu {mtu}"));
    bench.ip(&format!("link set dev b mtu {mtu}"));
    for (side, interface) in [(Side::Left, "l"), (Side::Right, "r")] {
        far_mtu(bench, side, interface, mtu);
    }
}

fn far_mtu(bench: &Bench, side: Side, interface: &str, mtu: u32) {
    let output = bench.on(side, &format!("ip link set dev {interface} mtu {mtu}"));
    assert!(output.status.success(), "{output:?}");
}

/// Segments as long as the wire's: merged ones are another test's.
fn segment_at_the_far_ends(bench: &Bench) {
    for (side, interface) in [(Side::Left, "l"), (Side::Right, "r")] {
        let words = format!("ethtool -K {interface} tso off gso off");
        assert!(bench.on(side, &words).status.success());
    }
}

/// Whether unfragmented echo requests whose packets have this many bytes are answered.
fn answered(bench: &Bench, from: Side, packet_bytes: u32) -> bool {
    let to = match from {
        Side::Left => RIGHT_ADDRESS,
        _ => LEFT_ADDRESS,
    };
    let length = packet_bytes - PING_HEADERS;
    let words = format!("ping -M do -c 3 -i 0.02 -w 2 -s {length} {to}");
    bench.on(from, &words).status.success()
}

/// A bridge by these ports, once frames pass.
fn bridge(bench: &Bench, ports: &str) -> Running {
    let running = bench.bridge(ports);
    ping(bench);
    running
}

/// Packets as long as each MTU cross both ways, and the report knows of no loss.
fn edges(ports: &str) {
    for mtu in [1500, 3818, 3819, 4096, 9000] {
        let Some(bench) = Bench::new() else { return };
        segment_at_the_far_ends(&bench);
        set_mtu(&bench, mtu);
        let running = bridge(&bench, ports);
        for bytes in [mtu, mtu - 1, 1500, 64] {
            assert!(
                answered(&bench, Side::Left, bytes),
                "{ports}: {bytes} of {mtu}"
            );
            assert!(
                answered(&bench, Side::Right, bytes),
                "{ports}: {bytes} of {mtu}"
            );
        }
        let report = running.stop();
        assert_eq!(report["frames"]["dropped"], json!({}), "{report}");
        let (rx, tx) = (&report["frames"]["rx"], &report["frames"]["tx"]);
        assert_eq!(rx, tx, "{report}");
        for port in 0..2 {
            assert_eq!(report["ports"][port]["missed"], 0, "{report}");
        }
        let warnings = report["warnings"].to_string();
        assert!(!warnings.contains("bug"), "{report}");
    }
}

#[test]
fn packets_as_long_as_the_mtu_cross_xdp() {
    edges("xdp:a xdp:b");
}

#[test]
fn packets_as_long_as_the_mtu_cross_generic_xdp() {
    edges("xdp:a,mode=generic,vlan=ignore xdp:b,mode=generic,vlan=ignore");
}

#[test]
fn packets_as_long_as_the_mtu_cross_packet() {
    edges("packet:a packet:b");
}

#[test]
fn packets_as_long_as_the_mtu_cross_from_one_driver_to_the_other() {
    edges("xdp:a packet:b");
}

/// Datagrams and a stream whose frames are of every number of pieces arrive as they were.
fn content(ports: &str) {
    let Some(bench) = Bench::new() else { return };
    segment_at_the_far_ends(&bench);
    set_mtu(&bench, 9000);
    let running = bridge(&bench, ports);
    // Around one, two and three descriptors of what is received (3,840) and sent (4,096).
    let around = |bytes: usize| (bytes - 44)..(bytes - 40);
    let lengths: Vec<usize> = [3_840, 4_096, 7_680, 8_192]
        .into_iter()
        .flat_map(around)
        .chain([1, 1_472, 8_971, 8_972, 8_973, 30_000])
        .collect();
    udp_mirrored(&bench, Ends::across(RIGHT_ADDRESS), &lengths);
    tcp_echo(&bench, 4 << 20);
    let report = running.stop();
    assert_eq!(report["frames"]["dropped"], json!({}), "{report}");
    let warnings = report["warnings"].to_string();
    assert!(!warnings.contains("bug"), "{report}");
    let (frames, bytes) = (&report["frames"]["rx"], &report["frames"]["rx_bytes"]);
    if let (Some(frames), Some(bytes)) = (frames.as_u64(), bytes.as_u64()) {
        assert!(bytes / frames > 1_514, "no long frames: {report}");
    }
}

#[test]
fn frames_in_pieces_arrive_as_they_were() {
    content("xdp:a xdp:b");
    content("xdp:a,ring=64 xdp:b,ring=64");
    content("packet:a packet:b");
    content("packet:a xdp:b");
}

#[test]
fn a_frame_one_byte_too_long_is_dropped_and_counted() {
    // How much shorter an MTU must be for the driver to refuse a frame: of `xdp:` two VLAN tags.
    for (ports, allowed) in [("xdp:a xdp:b", 8), ("packet:a packet:b", 0)] {
        let Some(bench) = Bench::new() else { return };
        set_mtu(&bench, 9000);
        bench.ip(&format!("link set dev b mtu {}", 9000 - allowed - 1));
        let running = bridge(&bench, ports);
        assert!(!answered(&bench, Side::Left, 9000), "{ports}");
        let shorter = 9000 - allowed - 1;
        assert!(answered(&bench, Side::Left, shorter), "{ports}");
        let report = running.stop();
        let refused = &report["frames"]["dropped"]["tx_refused"];
        assert!(refused.as_u64() >= Some(3), "{ports}: {report}");
    }
}

#[test]
fn an_mtu_that_no_descriptors_hold_is_refused_with_the_command() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link set dev a mtu 12000");
    let said = bench.refusal("bridge xdp:a null:");
    assert!(
        said.contains("`ip link set dev a mtu 11498` or less"),
        "{said}"
    );
}
