//! Frames that lose a tag cross VLANs: whoever made the tag and wherever the kernel keeps it, it
//! comes out as it went in.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;

use super::topology::{Running, Topology, eventually};

/// Each driver against itself, and both together.
const DRIVERS: [(&str, &str); 3] = [("packet", "packet"), ("xdp", "xdp"), ("xdp", "packet")];

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
fn bridge(topology: &Topology, (left, right): (&str, &str)) -> Running {
    let bridge = topology.bridge(&format!("{left}:m1 {right}:m2"), "m2");
    topology.expect_ping();
    bridge
}

/// Sends each frame from one host and expects the other to get `arrives`.
#[track_caller]
fn expect(topology: &Topology, from: &str, to: &str, pairs: &[(String, String)]) {
    expect_at(topology, from, (to, "e0"), pairs);
}

/// The same at an interface of any host.
#[track_caller]
fn expect_at(topology: &Topology, from: &str, to: (&str, &str), pairs: &[(String, String)]) {
    let (to, interface) = to;
    let mut capture = topology.host(to, &format!("capture {interface} {}", pairs.len()));
    let mut said = BufReader::new(capture.output());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "ready");
    for (sent, arrives) in pairs {
        topology.host_says(from, &format!("send e0 {sent} 1"));
        line.clear();
        said.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), arrives, "sent {sent} from {from}");
    }
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "more came than was sent");
    drop(capture);
}

#[test]
fn tags_made_by_hand_cross_both_ways() {
    for drivers in DRIVERS {
        let Some(topology) = Topology::new() else {
            return;
        };
        let bridge = bridge(&topology, drivers);
        let tags = [
            "",
            "81000005",
            "8100e005",
            "88a80007",
            "88a8000781000005",
            "8100000581000006",
        ];
        let pairs: Vec<_> = tags.iter().map(|tags| (frame(tags), frame(tags))).collect();
        expect(&topology, "left", "right", &pairs);
        expect(&topology, "right", "left", &pairs);
        bridge.stop();
    }
}

/// Tags that the kernel itself makes lie beside the frame, never in it.
#[test]
fn tags_made_by_the_kernel_cross_both_ways() {
    for drivers in DRIVERS {
        let Some(topology) = Topology::new() else {
            return;
        };
        let bridge = bridge(&topology, drivers);
        let hosts = [("left", "0x8100", 0x3005), ("right", "0x88a8", 7)];
        for (host, tpid, tag) in hosts {
            if !push_tags(&topology, host, tpid, tag) {
                return;
            }
        }
        let pushed = |outer: &str, frames: &[String]| -> Vec<(String, String)> {
            let pair = |frame: &String| (frame.clone(), behind(outer, frame));
            frames.iter().map(pair).collect()
        };
        let short = ["", "81000009", "88a8000881000009"].map(frame);
        expect(&topology, "left", "right", &pushed("81003005", &short));
        expect(&topology, "right", "left", &pushed("88a80007", &short));
        // As long as the interface carries, without the tag. Packet sockets send a longer one
        // with a tag of this type only.
        let longest = [frame_of(1514, "")];
        expect(&topology, "left", "right", &pushed("81003005", &longest));
        bridge.stop();
    }
}

/// A frame that the bridge leaves to the host keeps its tag where it was: the host would find two.
#[test]
fn frames_that_are_left_to_the_host_have_their_tag_once() {
    let Some(topology) = Topology::new() else {
        return;
    };
    topology.expect("left", "ip link del e0");
    let left = topology.namespace("left");
    let words = format!("ip link add m1 numrxqueues 2 type veth peer name e0 netns {left}");
    topology.expect("middle", &words);
    topology.expect("left", "ip link set e0 up");
    topology.expect("middle", "ip link set m1 up");
    // Frames of the only queue of `e0` come on the first of `m1`.
    let bridge = topology.bridge("xdp:m1,queues=1-1 null:", "m1");
    let attached = || topology.expect("middle", "ip link show dev m1");
    assert!(eventually(|| attached().contains("prog/xdp")));
    if !push_tags(&topology, "left", "0x8100", 5) {
        return;
    }
    let pairs = [(frame(""), behind("81000005", &frame("")))];
    expect_at(&topology, "left", ("middle", "m1"), &pairs);
    let (report, _) = bridge.stop();
    assert!(
        report["warnings"]
            .to_string()
            .contains("frames came on queues")
    );
}

/// Interfaces of the kernel's own VLANs, on both sides of the bridge.
#[test]
fn vlans_of_the_kernel_reach_each_other() {
    for drivers in DRIVERS {
        let Some(topology) = Topology::new() else {
            return;
        };
        for (host, address) in [("left", "10.9.5.1/24"), ("right", "10.9.5.2/24")] {
            let words = "ip link add link e0 name v5 type vlan id 5";
            if topology.succeeds(host, words).is_none() {
                println!("skipped: this kernel has no VLAN interfaces");
                return;
            }
            topology.expect(host, &format!("ip addr add {address} dev v5"));
            topology.expect(host, "ip link set v5 up");
        }
        let bridge = bridge(&topology, drivers);
        assert!(topology.comes_to("left", "ping -c 1 -W 1 10.9.5.2"));
        bridge.stop();
    }
}

/// The frame with one tag more before the others.
fn behind(outer: &str, frame: &str) -> String {
    let (addresses, rest) = frame.split_at(ADDRESSES.len());
    format!("{addresses}{outer}{rest}")
}

/// Has every frame that leaves a host's `e0` tagged by a program of the kernel's traffic control.
fn push_tags(topology: &Topology, host: &str, tpid: &str, tag: u16) -> bool {
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
    topology.expect(host, "tc qdisc add dev e0 clsact");
    let object = object.display();
    let words = format!("tc filter add dev e0 egress bpf da obj {object} sec tc");
    if topology.succeeds(host, &words).is_none() {
        println!("skipped: this tc or kernel loads no BPF program");
        return false;
    }
    true
}
