//! `linerate gen` and `linerate sink` over kernel interfaces: what they say agrees with what the
//! interfaces counted and what tcpdump saw.

use std::io::Read;

use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{Bench, Running, Side, await_that, missing, must_end_well};

/// What an interface counted.
#[track_caller]
fn counted(bench: &Bench, side: Side, interface: &str) -> Value {
    let said = bench.expect(side, &format!("ip -j -s link show {interface}"));
    let links: Value = serde_json::from_str(&said).expect("JSON of ip");
    links[0]["stats64"].clone()
}

/// Runs the program in the middle to a good end; its report.
#[track_caller]
fn report(bench: &Bench, words: &str) -> Value {
    let ran = bench.run(&format!("{words} --json -q"));
    let report: Value = serde_json::from_slice(&ran.stdout).expect("a JSON report");
    must_end_well(ran.status.code().unwrap_or(-1), &report);
    report
}

/// Both ends in one process: all that is sent arrives, and the interfaces counted as much.
#[track_caller]
fn agrees_with_the_interfaces(ports: &str, frames: &str) {
    let Some(bench) = Bench::pair() else { return };
    let before = (
        counted(&bench, Side::Middle, "x"),
        counted(&bench, Side::Middle, "y"),
    );
    // A rate that a debug build on a busy machine keeps up with.
    let words = format!("gen {ports} --rate 5kpps --count 3000 --no-trial --drain 2s {frames}");
    let said = report(&bench, &words);
    let since = |now: &Value, then: &Value, way: &str, what: &str| {
        now[way][what].as_u64().unwrap_or(0) - then[way][what].as_u64().unwrap_or(0)
    };
    let after = (
        counted(&bench, Side::Middle, "x"),
        counted(&bench, Side::Middle, "y"),
    );
    let sent = said["sent"]["frames"].as_u64().expect("a count");
    let arrived = said["arrived"]["frames"].as_u64().expect("a count");
    let foreign = said["arrived"]["foreign"].as_u64().expect("a count");
    assert_eq!(sent, 3000, "{said}");
    assert_eq!(arrived, 3000, "{said}");
    for harm in ["lost", "duplicated", "reordered", "corrupted"] {
        assert_eq!(said["arrived"][harm], 0, "{harm}: {said}");
    }
    assert_eq!(since(&after.0, &before.0, "tx", "packets"), sent, "{said}");
    let came = since(&after.1, &before.1, "rx", "packets");
    assert_eq!(came, arrived + foreign, "{said}");
    assert_eq!(said["arrived"]["latency"]["count"], 3000);
}

#[test]
fn counts_of_packet_ports_agree_with_the_interfaces() {
    agrees_with_the_interfaces("packet:x --sink packet:y", "--size imix");
}

#[test]
fn counts_of_xdp_ports_agree_with_the_interfaces() {
    agrees_with_the_interfaces("xdp:x --sink xdp:y", "--size 64");
}

#[test]
fn counts_of_mixed_ports_agree_with_the_interfaces() {
    agrees_with_the_interfaces(
        "packet:x --sink xdp:y",
        "--size 300 --ipv6 50% --protocol tcp",
    );
}

#[test]
fn tcpdump_sees_what_the_sink_counts() {
    if missing(&["tcpdump"]).is_some() {
        println!("skipped: `tcpdump` is not installed");
        return;
    }
    let Some(bench) = Bench::pair() else { return };
    let file = std::env::temp_dir().join(format!("linerate-gen-{}.pcap", std::process::id()));
    let mut command = bench.command(Side::Middle, "tcpdump");
    let path = file.display().to_string();
    let tcpdump =
        Running::start(command.args(["-i", "y", "-Q", "in", "-U", "-c", "500", "-w", &path]));
    // It says so on standard error; the file begins when it listens.
    await_that("tcpdump listens", || {
        std::fs::metadata(&file).is_ok_and(|file| file.len() >= 24)
    });
    let said = report(
        &bench,
        "gen packet:x --sink packet:y --rate 5kpps --count 500 --no-trial --drain 2s --flows 3",
    );
    assert_eq!(said["arrived"]["frames"], 500, "{said}");
    let (code, _, told) = tcpdump.ended();
    assert_eq!(code, 0, "{told}");
    // What tcpdump wrote, read by our own sink: the same frames.
    let judged = report(&bench, &format!("sink pcap:in={path}"));
    std::fs::remove_file(&file).expect("the capture");
    assert_eq!(judged["arrived"]["frames"], 500, "{judged}");
    assert_eq!(judged["arrived"]["lost"], 0, "{judged}");
}

#[test]
fn another_process_sends_everything_back() {
    let Some(bench) = Bench::new() else { return };
    let sink = bench.linerate(Side::Left, "sink packet:l --reflect --json -q");
    await_that("the sink listens", || {
        let said = bench.expect(Side::Left, "ip -d -j link show l");
        said.contains("\"promiscuity\":1")
    });
    let said = report(
        &bench,
        "gen xdp:a --reflect --rate 1kpps --count 500 --no-trial --drain 10s",
    );
    assert_eq!(said["returned"]["frames"], 500, "{said}");
    assert_eq!(said["returned"]["lost"], 0, "{said}");
    let there = sink.stop();
    assert_eq!(there["arrived"]["frames"], 500, "{there}");
    assert_eq!(there["ended_by"], "asked");
    let (there, back) = (
        there["arrived"]["latency"]["min_ns"].as_u64(),
        said["returned"]["latency"]["min_ns"].as_u64(),
    );
    assert!(
        there > Some(0) && back > there,
        "{there:?} there, {back:?} there and back"
    );
}

#[test]
fn the_delay_of_a_host_that_holds_frames_is_measured() {
    const HELD_NS: u64 = 50_000_000;
    let Some(bench) = Bench::new() else { return };
    let mut host = bench.role(Side::Left, "hold l 50 200");
    let mut ready = [0_u8; 6];
    let mut output = host.output();
    output.read_exact(&mut ready).expect("the host is ready");
    let words = "gen packet:a --reflect --rate 200pps --count 200 --no-trial --drain 5s";
    let ran = bench.run(&format!("{words} --json -q"));
    host.signal(Signal::INT);
    let (_, _, told) = host.ended();
    let said: Value = serde_json::from_slice(&ran.stdout).expect("a JSON report");
    assert_eq!(said["returned"]["frames"], 200, "{told}{said}");
    assert_eq!(said["returned"]["lost"], 0, "{said}");
    let latency = &said["returned"]["latency"];
    // Never shorter than it was held. How much longer the busy machine decides, not the sink.
    assert!(latency["min_ns"].as_u64() >= Some(HELD_NS), "{said}");
    assert!(latency["p50_ns"].as_u64() < Some(20 * HELD_NS), "{said}");
}

#[test]
fn frames_longer_than_an_interface_allows_are_named() {
    let Some(bench) = Bench::pair() else { return };
    let ran = bench.run("gen packet:x --size 3000 --count 100 --no-trial --json -q");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("--size") && said.contains("MTU"), "{said}");
    let report: Value = serde_json::from_slice(&ran.stdout).expect("a JSON report");
    assert_eq!(report["balanced"], true, "{report}");
    assert_eq!(report["sent"]["frames"], 0, "{report}");
}

const PAGE: &str = include_str!("../../../../docs/guide/measure-your-own-box.md");

/// The commands of the page, in their order, but for the build of what runs here.
fn commands_of_the_page() -> Vec<&'static str> {
    let blocks = PAGE.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.strip_prefix("sh\n"));
    let lines = blocks.flat_map(str::lines);
    lines
        .filter(|line| !line.starts_with("cargo build"))
        .collect()
}

/// What a person who copies needs: the program in the path, and a `sudo`, since this is root.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::TempDir::new().expect("a folder");
    let sudo = folder.path().join("sudo");
    std::fs::write(&sudo, "#!/bin/sh\nexec \"$@\"\n").expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(sudo, mode).expect("its mode");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_linerate"));
    std::os::unix::fs::symlink(program, folder.path().join("linerate")).expect("a link");
    folder
}

#[test]
fn the_page_runs_from_top_to_bottom() {
    let Some(bench) = Bench::apart() else { return };
    let folder = folder();
    let lines = commands_of_the_page();
    assert!(lines.len() > 15, "{lines:?}");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.path().display());
    let start = |line: &str| {
        let mut command = bench.command(Side::Middle, "sh");
        let command = command.args(["-c", &format!("{line} 2>said")]);
        Running::start(command.current_dir(folder.path()).env("PATH", &path))
    };
    let asked = lines.iter().filter(|line| line.ends_with('&')).count();
    let (mut behind, mut bridges) = (Vec::new(), 0);
    for line in lines {
        if let Some(line) = line.strip_suffix('&') {
            behind.push(start(&line.replace("sudo", "exec")));
            await_that("the bridge takes its interfaces", || {
                bench.is_taken("xdp:myb")
            });
            continue;
        }
        let (code, report, _) = start(&shortened(line)).ended();
        let said = std::fs::read_to_string(folder.path().join("said")).unwrap_or_default();
        // A busy machine loses frames, and the doctor finds something wrong with veth.
        assert!([0, 1].contains(&code), "{line}: {code}: {report}{said}");
        assert!(!said.contains("panicked"), "{line}: {said}");
        // It forwards for the one command behind it.
        bridges += behind.drain(..).count();
    }
    assert_eq!(bridges, asked);
}

/// Less time, and rates that a debug build keeps up with.
fn shortened(line: &str) -> String {
    let slow = line
        .replace("kpps", "0pps")
        .replace("--count 100000", "--count 1000")
        .replace("--precision 5%", "--precision 20% --duration 50ms");
    let times = ["2s", "3s", "5s"].into_iter();
    times.fold(slow, |line, time| {
        line.replace(&format!("--duration {time}"), "--duration 300ms")
    })
}
