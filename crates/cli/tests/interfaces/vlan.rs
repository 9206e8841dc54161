//! Frames that lose a tag cross VLANs: whoever made the tag and wherever the kernel keeps it, it
//! comes out as it went in.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;

use super::topology::Topology;

const ADDRESSES: &str = "020000000001020000000002";
/// An ethertype for experiments, and a payload.
const REST: &str = "88b50123456789abcdef";

/// A frame with these tags, at least 60 bytes long.
fn frame(tags: &str) -> String {
    let mut frame = format!("{ADDRESSES}{tags}{REST}");
    while frame.len() < 120 {
        frame += "00";
    }
    frame
}

/// Sends each frame from one host and expects the other to get `arrives`.
#[track_caller]
fn expect(topology: &Topology, from: &str, to: &str, pairs: &[(String, String)]) {
    let mut capture = topology.host(to, &format!("capture e0 {}", pairs.len()));
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
    let Some(topology) = Topology::new() else {
        return;
    };
    let bridge = topology.bridge("packet:m1 packet:m2", "m2");
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

/// Tags that the kernel itself makes lie beside the frame, never in it.
#[test]
fn tags_made_by_the_kernel_cross_both_ways() {
    let Some(topology) = Topology::new() else {
        return;
    };
    let folder = tempfile::TempDir::new().unwrap();
    for (host, tpid, vlan) in [("left", "0x8100", 5), ("right", "0x88a8", 7)] {
        if !push_tags(&topology, folder.path(), host, tpid, vlan) {
            return;
        }
    }
    let bridge = topology.bridge("packet:m1 packet:m2", "m2");
    let pushed = |outer: &'static str| {
        let through = |tags: &str| (frame(tags), frame_behind(outer, tags));
        ["", "81000009"].map(through)
    };
    expect(&topology, "left", "right", &pushed("81000005"));
    expect(&topology, "right", "left", &pushed("88a80007"));
    bridge.stop();
}

/// The frame with one tag more before the others: the padding of `tags` alone stays.
fn frame_behind(outer: &str, tags: &str) -> String {
    let whole = frame(tags);
    let (addresses, rest) = whole.split_at(ADDRESSES.len());
    format!("{addresses}{outer}{rest}")
}

/// Has every frame that leaves a host's `e0` tagged by a program of the kernel's traffic control.
fn push_tags(topology: &Topology, folder: &Path, host: &str, tpid: &str, vlan: u16) -> bool {
    let source = format!(
        "static int (*push)(void *, unsigned short, unsigned short) = (void *)18;\n\
         __attribute__((section(\"tc\"), used)) int tag(void *frame)\n\
         {{ push(frame, __builtin_bswap16({tpid}), {vlan}); return 0; }}\n\
         __attribute__((section(\"license\"), used)) char terms[] = \"GPL\";\n"
    );
    let (text, object) = (folder.join("tag.c"), folder.join(format!("{host}.o")));
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
