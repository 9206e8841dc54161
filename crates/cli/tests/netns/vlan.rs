//! Frames that lose a tag cross VLANs: whoever made the tag and wherever the kernel keeps it, it
//! comes out as it went in.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;

use crate::bench::{Bench, Running, Side, await_that};
use crate::drivers::{Driver, GENERIC, MIXED, PACKET, XDP};
use crate::traffic::ping;

/// Each driver against itself, and both together. In generic mode tags beside a frame are lost,
/// which must be asked for.
const DRIVERS: [Driver; 3] = [PACKET, XDP, MIXED];

const ADDRESSES: &str = "020000000001020000000002";
/// An ethertype for experiments, and a payload.
const REST: &str = "88b50123456789abcdef";

/// A frame with these tags, at least so many bytes long.
fn frame_of(bytes: usize, tags: &str) -> String {
    let frame = format!("{ADDRESSES}{tags}{REST}");
    format!("{frame:0<width$}", width = 2 * bytes)
}

/// The shortest frame with these tags.
fn frame(tags: &str) -> String {
    frame_of(60, tags)
}

/// The bridge between the hosts, through which frames pass.
fn bridge(bench: &Bench, driver: Driver) -> Running {
    let bridge = driver.bridge(bench, "");
    ping(bench);
    bridge
}

/// A host's interface.
fn far(host: Side) -> &'static str {
    if host == Side::Left { "l" } else { "r" }
}

/// Sends each frame from one host and expects the other to get `arrives`.
#[track_caller]
fn expect(bench: &Bench, from: Side, to: Side, pairs: &[(String, String)]) {
    expect_at(bench, from, (to, far(to)), pairs);
}

/// The same at an interface of any host.
#[track_caller]
fn expect_at(bench: &Bench, from: Side, to: (Side, &str), pairs: &[(String, String)]) {
    let (to, interface) = to;
    let mut capture = bench.role(to, &format!("capture {interface} {}", pairs.len()));
    let mut said = BufReader::new(capture.output());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "ready");
    for (sent, arrives) in pairs {
        bench.role_says(from, &format!("send {} {sent} 1", far(from)));
        line.clear();
        said.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), arrives, "sent {sent} from {from:?}");
    }
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "more came than was sent");
    drop(capture);
}

#[test]
fn tags_made_by_hand_cross_both_ways() {
    // In the frame they are in sight of a generic program too.
    for driver in DRIVERS.into_iter().chain([GENERIC]) {
        let Some(bench) = Bench::new() else { return };
        let bridge = bridge(&bench, driver);
        let tags = [
            "",
            "81000005",
            "8100e005",
            "88a80007",
            "88a8000781000005",
            "8100000581000006",
        ];
        let pairs: Vec<_> = tags.iter().map(|tags| (frame(tags), frame(tags))).collect();
        expect(&bench, Side::Left, Side::Right, &pairs);
        expect(&bench, Side::Right, Side::Left, &pairs);
        bridge.stop();
    }
}

/// Tags that the kernel itself makes lie beside the frame, never in it.
#[test]
fn tags_made_by_the_kernel_cross_both_ways() {
    for driver in DRIVERS {
        let Some(bench) = Bench::new() else { return };
        let bridge = bridge(&bench, driver);
        let hosts = [(Side::Left, "0x8100", 0x3005), (Side::Right, "0x88a8", 7)];
        for (host, tpid, tag) in hosts {
            if !push_tags(&bench, host, tpid, tag) {
                return;
            }
        }
        let pushed = |outer: &str, frames: &[String]| -> Vec<(String, String)> {
            let pair = |frame: &String| (frame.clone(), behind(outer, frame));
            frames.iter().map(pair).collect()
        };
        let short = ["", "81000009", "88a8000881000009"].map(frame);
        expect(&bench, Side::Left, Side::Right, &pushed("81003005", &short));
        expect(&bench, Side::Right, Side::Left, &pushed("88a80007", &short));
        // As long as the interface carries, without the tag. Packet sockets send a longer one
        // with a tag of this type only.
        let longest = [frame_of(1514, "")];
        expect(
            &bench,
            Side::Left,
            Side::Right,
            &pushed("81003005", &longest),
        );
        bridge.stop();
    }
}

/// A frame that the bridge leaves to the host keeps its tag where it was: the host would find two.
#[test]
fn frames_that_are_left_to_the_host_have_their_tag_once() {
    let Some(bench) = Bench::new() else { return };
    bench.ip("link del dev a");
    bench.try_join_one(Side::Left, 2).expect("a veth pair");
    // Packet sockets send on the first queue, whose frames come on the first of `a`.
    bench.expect(Side::Left, "ethtool -L l tx 1");
    let bridge = bench.bridge("xdp:a,queues=1-1 null:");
    if !push_tags(&bench, Side::Left, "0x8100", 5) {
        return;
    }
    let pairs = [(frame(""), behind("81000005", &frame("")))];
    expect_at(&bench, Side::Left, (Side::Middle, "a"), &pairs);
    let warnings = bridge.stop()["warnings"].to_string();
    assert!(warnings.contains("frames came on queues"), "{warnings}");
}

/// Interfaces of the kernel's own VLANs, on both sides of the bridge.
#[test]
fn vlans_of_the_kernel_reach_each_other() {
    for driver in DRIVERS {
        let Some(bench) = Bench::new() else { return };
        for (host, address) in [(Side::Left, "10.9.5.1/24"), (Side::Right, "10.9.5.2/24")] {
            let words = format!("ip link add link {} name v5 type vlan id 5", far(host));
            if !bench.succeeds(host, &words) {
                println!("skipped: this kernel has no VLAN interfaces");
                return;
            }
            bench.expect(host, &format!("ip addr add {address} dev v5"));
            bench.expect(host, "ip link set v5 up");
        }
        let bridge = bridge(&bench, driver);
        await_that("an answer within the VLAN", || {
            bench.succeeds(Side::Left, "ping -c 1 -W 1 10.9.5.2")
        });
        bridge.stop();
    }
}

/// The frame with one tag more before the others.
fn behind(outer: &str, frame: &str) -> String {
    let (addresses, rest) = frame.split_at(ADDRESSES.len());
    format!("{addresses}{outer}{rest}")
}

/// Has every frame that leaves a host tagged by a program of the kernel's traffic control.
fn push_tags(bench: &Bench, host: Side, tpid: &str, tag: u16) -> bool {
    let folder = tempfile::TempDir::new().unwrap();
    let source = format!(
        "static int (*push)(void *, unsigned short, unsigned short) = (void *)18;\n\
         __attribute__((section(\"tc\"), used)) int tag(void *frame)\n\
         {{ push(frame, __builtin_bswap16({tpid}), {tag}); return 0; }}\n\
         __attribute__((section(\"license\"), used)) char terms[] = \"GPL\";\n"
    );
    let (text, object) = (folder.path().join("tag.c"), folder.path().join("tag.o"));
    std::fs::write(&text, source).unwrap();
    let compiled = Command::new("clang")
        .args(["-O2", "-target", "bpf", "-c"])
        .args([&text, Path::new("-o"), &object])
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        println!("skipped: no clang that compiles for BPF");
        return false;
    }
    let far = far(host);
    bench.expect(host, &format!("tc qdisc add dev {far} clsact"));
    let object = object.display();
    let words = format!("tc filter add dev {far} egress bpf da obj {object} sec tc");
    if !bench.succeeds(host, &words) {
        println!("skipped: this tc or kernel loads no BPF program");
        return false;
    }
    true
}
