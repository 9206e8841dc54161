//! `bypass`: the wire stays whole when the bridge is killed, hangs or ends, and the next bridge
//! takes over what the kernel forwards by.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{Bench, RIGHT_ADDRESS, Side};
use crate::running::{Running, await_that};
use crate::traffic::{ping, tcp_echo};

/// A BPF file system that `ip netns exec` does not hide.
pub(crate) struct Pins(PathBuf);

impl Pins {
    /// `None`, with the reason printed, where there can be none.
    pub(crate) fn mount(bench: &Bench) -> Option<Self> {
        let pins = Self(PathBuf::from(format!("/run/{}", bench.name(Side::Middle))));
        fs::create_dir_all(&pins.0).ok()?;
        let mounted = Command::new("mount")
            .args(["-t", "bpf", "bpf"])
            .arg(&pins.0)
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(pins),
            other => {
                println!("skipped: no BPF file system can be mounted: {other:?}");
                None
            }
        }
    }

    /// The two ports of a bridge.
    pub(crate) fn ports(&self) -> String {
        let folder = self.folder();
        format!("xdp:a,bypass={folder} xdp:b,bypass={folder}")
    }

    pub(crate) fn folder(&self) -> String {
        format!("{}/linerate", self.0.display())
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        let _never_mounted = Command::new("umount").arg("-l").arg(&self.0).output();
        let _in_use = fs::remove_dir(&self.0);
    }
}

/// The hosts' ends must take redirected frames.
pub(crate) fn with_gro_at_the_ends(bench: &Bench) {
    for (side, interface) in [(Side::Left, "l"), (Side::Right, "r")] {
        let output = bench.on(side, &format!("ethtool -K {interface} gro on"));
        assert!(output.status.success(), "{output:?}");
    }
}

pub(crate) fn prepared() -> Option<(Bench, Pins)> {
    let bench = Bench::new()?;
    let pins = Pins::mount(&bench)?;
    with_gro_at_the_ends(&bench);
    Some((bench, pins))
}

/// What `bypass show` says.
pub(crate) fn shown(bench: &Bench, pins: &Pins) -> Vec<Value> {
    let output = bench.run(&format!("bypass show --json --folder {}", pins.folder()));
    assert!(output.status.success(), "{output:?}");
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    shown["bypasses"].as_array().expect("a list").clone()
}

fn unfiltered(bench: &Bench, pins: &Pins) -> u64 {
    let shown = shown(bench, pins);
    let counts = shown.iter().map(|bypass| bypass["unfiltered"].as_u64());
    counts.map(|count| count.expect("a count")).sum()
}

/// Whether frames cross now and none of them unfiltered.
fn is_filtered(bench: &Bench, pins: &Pins) -> bool {
    let before = unfiltered(bench, pins);
    let crossed = bench.on(
        Side::Left,
        &format!("ping -c 3 -i 0.05 -w 1 {RIGHT_ADDRESS}"),
    );
    crossed.status.success() && unfiltered(bench, pins) == before
}

fn is_set_promiscuous(bench: &Bench, interface: &str) -> bool {
    let said = bench.ip(&format!("link show dev {interface}"));
    said.contains("PROMISC")
}

fn gro(bench: &Bench, interface: &str) -> bool {
    let output = bench.on(Side::Middle, &format!("ethtool -k {interface}"));
    String::from_utf8_lossy(&output.stdout).contains("generic-receive-offload: on")
}

fn start(bench: &Bench, pins: &Pins) -> Running {
    let running = bench.bridge(&pins.ports());
    await_that("the bridge filters", || is_filtered(bench, pins));
    running
}

#[track_caller]
fn refused(bench: &Bench, words: &str, expected: &str) {
    let output = bench.run(words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(said.contains(expected), "{words}: {said}");
}

#[test]
fn the_wire_outlives_a_kill_and_the_next_bridge_takes_over() {
    let Some((bench, pins)) = prepared() else {
        return;
    };
    bench.on(Side::Middle, "ethtool -K a gro on");
    let running = start(&bench, &pins);
    tcp_echo(&bench, 1 << 20);
    assert!(!gro(&bench, "a") && is_set_promiscuous(&bench, "a"));
    let words = format!("bypass off a b --folder {}", pins.folder());
    refused(&bench, &words, "another bridge runs on it");
    refused(
        &bench,
        &format!("bridge {}", pins.ports()),
        "has this interface as a port",
    );
    let program = shown(&bench, &pins)[0]["program_id"].clone();
    running.kill();

    // Nobody is there, and everything crosses.
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    let passed = unfiltered(&bench, &pins);
    assert!(passed > (1 << 20) / 1_460, "{passed}");
    let said = shown(&bench, &pins);
    assert_eq!(said[0]["state"], "unfiltered", "{said:?}");
    assert_eq!(said[0]["peer"], "b", "{said:?}");
    assert!(bench.has_program("a") && is_set_promiscuous(&bench, "b"));

    let running = start(&bench, &pins);
    assert_ne!(
        shown(&bench, &pins)[0]["program_id"],
        program,
        "its own program"
    );
    let report = running.stop();
    for port in 0..2 {
        let port = &report["ports"][port];
        let mode = port["mode"].as_str().expect("a mode");
        assert!(mode.contains(", bypass adopted"), "{report}");
        assert!(port["unfiltered_before"].as_u64() > Some(300), "{report}");
    }

    // After a clean end too, until somebody takes it away.
    ping(&bench);
    refused(&bench, "bridge xdp:a xdp:b", "`linerate bypass off a`");
    let output = bench.run(&words);
    assert!(output.status.success(), "{output:?}");
    assert!(!bench.has_program("a") && !bench.has_program("b"));
    assert!(!is_set_promiscuous(&bench, "a") && !is_set_promiscuous(&bench, "b"));
    assert!(gro(&bench, "a") && !gro(&bench, "b"));
    assert!(shown(&bench, &pins).is_empty());
    let crossed = bench.on(
        Side::Left,
        &format!("ping -c 2 -i 0.05 -w 1 {RIGHT_ADDRESS}"),
    );
    assert!(!crossed.status.success(), "nothing is in the wire");
    refused(&bench, &words, "there is no bypass of a");
    let running = bench.bridge("xdp:a xdp:b");
    ping(&bench);
    running.stop();
}

#[test]
fn a_bridge_that_hangs_is_passed_by_until_it_goes_on() {
    let Some((bench, pins)) = prepared() else {
        return;
    };
    let running = start(&bench, &pins);
    running.signal(Signal::STOP);
    let before = unfiltered(&bench, &pins);
    await_that("frames pass the hanging bridge", || {
        let words = format!("ping -c 1 -W 1 {RIGHT_ADDRESS}");
        bench.on(Side::Left, &words).status.success()
    });
    ping(&bench);
    assert!(unfiltered(&bench, &pins) >= before + 10);
    assert_eq!(shown(&bench, &pins)[0]["state"], "bridged");
    running.signal(Signal::CONT);
    await_that("the bridge filters again", || is_filtered(&bench, &pins));
    let report = running.stop();
    assert!(
        report["ports"][0]["unfiltered"].as_u64() >= Some(5),
        "{report}"
    );
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("frames passed unfiltered"), "{report}");
}

#[test]
fn an_interface_made_anew_gets_its_bypass_again() {
    let Some((bench, pins)) = prepared() else {
        return;
    };
    let running = start(&bench, &pins);
    bench.ip("link del dev b");
    bench.ip("link del dev a");
    bench.join(1);
    with_gro_at_the_ends(&bench);
    await_that("the bridge takes the interfaces up again", || {
        is_filtered(&bench, &pins)
    });
    running.kill();
    ping(&bench);
    let said = shown(&bench, &pins);
    assert_eq!(
        (&said[0]["peer"], &said[1]["peer"]),
        (&"b".into(), &"a".into()),
        "{said:?}"
    );
}

#[test]
fn generic_programs_pass_by_too() {
    let Some(bench) = Bench::new() else { return };
    let Some(pins) = Pins::mount(&bench) else {
        return;
    };
    let ports = pins
        .ports()
        .replace("bypass=", "mode=generic,vlan=ignore,bypass=");
    let running = bench.bridge(&ports);
    ping(&bench);
    running.kill();
    ping(&bench);
    let running = bench.bridge(&ports);
    await_that("the bridge filters", || is_filtered(&bench, &pins));
    let report = running.stop();
    let mode = report["ports"][0]["mode"].as_str().expect("a mode");
    assert!(
        mode.contains("generic program") && mode.contains("adopted"),
        "{mode}"
    );
    // A generic program would lose VLAN tags, which is not asked for any more: another takes its
    // place, and the moment between is told.
    with_gro_at_the_ends(&bench);
    let report = start(&bench, &pins).stop();
    let mode = report["ports"][0]["mode"].as_str().expect("a mode");
    assert!(mode.contains("program in the driver"), "{mode}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("for a moment"), "{report}");
    ping(&bench);
}

#[test]
fn what_cannot_pass_by_is_refused_with_a_remedy() {
    let Some(bench) = Bench::new() else { return };
    refused(
        &bench,
        "bridge xdp:a,bypass=on xdp:b,bypass=on",
        "mount --mkdir -t bpf bpf /run/bpf",
    );
    refused(
        &bench,
        "bridge xdp:a,bypass=/run xdp:b,bypass=/run",
        "is not in a BPF file system",
    );
    refused(&bench, "bypass show", "is not in a BPF file system");
    let Some(pins) = Pins::mount(&bench) else {
        return;
    };
    refused(
        &bench,
        &format!("bridge {}", pins.ports()),
        "`ethtool -K PEER gro on`",
    );
    assert!(shown(&bench, &pins).is_empty());
    with_gro_at_the_ends(&bench);
    let first = pins.ports().split(' ').next().expect("a port").to_owned();
    for other in ["xdp:b", "packet:b", "null:"] {
        refused(
            &bench,
            &format!("bridge {first} {other}"),
            "give both ports xdp: with bypass=on",
        );
    }
    bench.ip("link del dev a");
    bench.ip("link del dev b");
    bench.join(2);
    let words = format!("bridge {first},queues=0-0 null:");
    refused(&bench, &words, "leave out queues= or bypass");
    assert!(!bench.has_program("a") && !is_set_promiscuous(&bench, "a"));
    assert!(shown(&bench, &pins).is_empty());
}

/// A program of traffic control that has the kernel tag every frame, beside it.
const TAGGER: &str = "
static int (*push)(void *, unsigned short, unsigned short) = (void *)18;
__attribute__((section(\"tc\"), used)) int tag(void *frame)
{ push(frame, __builtin_bswap16(0x8100), 10); return 0; }
__attribute__((section(\"license\"), used)) char terms[] = \"GPL\";
";

/// Has every frame that leaves the left host tagged; `false`, with the reason, where none can be.
fn tag_what_leaves(bench: &Bench) -> bool {
    let folder = tempfile::TempDir::new().expect("a folder");
    let (text, object) = (folder.path().join("tag.c"), folder.path().join("tag.o"));
    fs::write(&text, TAGGER).expect("a file");
    let mut clang = Command::new("clang");
    clang
        .args(["-O2", "-target", "bpf", "-c", "-o"])
        .args([&object, &text]);
    if !clang.status().is_ok_and(|status| status.success()) {
        println!("skipped: no clang that compiles for BPF");
        return false;
    }
    let object = object.display();
    let added = bench
        .on(Side::Left, "tc qdisc add dev l clsact")
        .status
        .success()
        && bench
            .on(
                Side::Left,
                &format!("tc filter add dev l egress bpf da obj {object} sec tc"),
            )
            .status
            .success();
    if !added {
        println!("skipped: this tc or kernel loads no BPF program");
    }
    added
}

#[test]
fn tags_beside_a_frame_pass_by_with_it() {
    let Some((bench, pins)) = prepared() else {
        return;
    };
    start(&bench, &pins).kill();
    ping(&bench);
    if !tag_what_leaves(&bench) {
        return;
    }
    // In a VLAN that the right host is not in, no question is answered.
    let crossed = bench.on(
        Side::Left,
        &format!("ping -c 2 -i 0.1 -w 1 {RIGHT_ADDRESS}"),
    );
    assert!(!crossed.status.success(), "a tag was lost: {crossed:?}");
    let capture = "timeout 2 tcpdump -e -l -n -i r -c 3 vlan 10";
    let capture = std::thread::scope(|scope| {
        let capture = scope.spawn(|| bench.on(Side::Right, capture));
        for _ in 0..8 {
            bench.on(Side::Left, &format!("ping -c 1 -W 1 -w 1 {RIGHT_ADDRESS}"));
        }
        capture.join().expect("tcpdump")
    });
    if capture.status.code() == Some(127) {
        println!("skipped: there is no tcpdump to see the tags with");
        return;
    }
    let said = String::from_utf8_lossy(&capture.stdout).into_owned();
    assert!(said.contains("vlan 10"), "{said}");
}
