//! Interfaces by any of their names: each means the same interface, and what is said of it is said
//! of its own name. And what an interface is asked for does not depend on whose `/sys` is mounted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Output;

use serde_json::Value;

use crate::bench::{Bench, Side};

/// Other names of `a`: one that the ioctls take, and those that route netlink alone does.
const SHORT: &str = "wan";
const SIXTEEN: &str = "enp0s31f6np0long";
const LONG: &str = "enx-a-name-that-systemd-makes-of-a-path-of-a-NIC-and-that-is-long";

fn named() -> Option<Bench> {
    let bench = Bench::new()?;
    for name in [SHORT, SIXTEEN, LONG] {
        let words = format!("ip link property add dev a altname {name}");
        if !bench.succeeds(Side::Middle, &words) {
            println!("skipped: this kernel or `ip` knows no other names of an interface");
            return None;
        }
    }
    Some(bench)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A page of the doctor about one interface.
#[track_caller]
fn page(output: &Output) -> Value {
    let page: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    page["interfaces"][0].clone()
}

#[test]
fn the_doctor_finds_the_same_by_every_name() {
    let Some(bench) = named() else { return };
    let own = bench.run("doctor a --json");
    let expected = page(&own);
    assert_eq!(expected["other_name"], Value::Null);
    for name in [SHORT, SIXTEEN, LONG] {
        let asked = bench.run(&format!("doctor {name} --json"));
        assert_eq!(asked.status.code(), own.status.code(), "{name}");
        let found = page(&asked);
        assert_eq!(found["name"], "a", "{name}");
        assert_eq!(found["other_name"], name);
        assert_eq!(found["findings"], expected["findings"], "{name}");
        assert_eq!(found["rate"], expected["rate"], "{name}");
        let text = stdout(&bench.run(&format!("doctor {name}")));
        assert!(
            text.starts_with(&format!("a (asked for as {name}): expect")),
            "{text}"
        );
    }
}

#[test]
fn ports_are_called_by_the_interfaces_own_name() {
    let Some(bench) = named() else { return };
    for driver in ["packet", "xdp"] {
        for name in [SHORT, SIXTEEN, LONG] {
            let words = format!("bridge {driver}:{name} {driver}:b --duration 200ms --json");
            let (report, said) = bench.start(&words).reported();
            let spec = report["ports"][0]["spec"].as_str().unwrap_or_default();
            assert!(spec.starts_with(&format!("{driver}:a")), "{spec}");
            let note = format!("{driver}:{name}: that is another name of a");
            assert!(said.contains(&note), "{said}");
            assert_eq!(said.matches(name).count(), 1, "{said}");
            assert!(!said.contains("renamed"), "{said}");
        }
        let twice = bench.refusal(&format!("bridge {driver}:a {driver}:{LONG}"));
        assert!(twice.contains("is there twice"), "{twice}");
    }
    let sent = bench.run(&format!(
        "gen packet:{LONG} --rate 1000pps --count 20 --no-trial --json"
    ));
    assert!(stdout(&sent).contains("\"packet:a\""), "{sent:?}");
    let shown = bench.run(&format!("rss show {LONG} --json"));
    let own = bench.run("rss show a --json");
    assert_eq!(stdout(&shown), stdout(&own), "{shown:?}");
    assert_eq!(shown.status.code(), own.status.code());
}

#[test]
fn a_name_that_is_no_text_is_shown_escaped_and_taken_so() {
    let Some(bench) = Bench::new() else { return };
    let odd = OsStr::from_bytes(b"bad\xff");
    let mut command = bench.command(Side::Middle, "ip");
    let made = command.args(["link", "add", "name"]).arg(odd);
    let made = made.args(["type", "veth", "peer", "name", "good"]).output();
    if !made.is_ok_and(|made| made.status.success()) {
        return println!("skipped: `ip` makes no such name here");
    }
    let all = bench.run("doctor --json");
    let pages: Value = serde_json::from_slice(&all.stdout).expect("JSON");
    let names = pages["interfaces"].as_array().expect("interfaces").iter();
    let names: Vec<&str> = names.filter_map(|page| page["name"].as_str()).collect();
    assert_eq!(names, ["a", "b", "bad\\xff", "good", "lo"]);
    let program = env!("CARGO_BIN_EXE_linerate");
    for name in [odd, OsStr::new("bad\\xff")] {
        let mut doctor = bench.command(Side::Middle, program);
        let asked = doctor.args(["doctor", "--json"]).arg(name).output();
        let found = page(&asked.expect("ip netns exec"));
        assert_eq!(found["name"], "bad\\xff");
        assert_eq!(found["other_name"], Value::Null);
    }
    let peer = stdout(&bench.run("doctor good"));
    assert!(peer.contains("bad\\xff leaves checksums"), "{peer}");
    for driver in ["packet", "xdp"] {
        let words = format!("bridge {driver}:bad\\xff {driver}:good --duration 200ms --json");
        let (report, _) = bench.start(&words).reported();
        let spec = report["ports"][0]["spec"].as_str().unwrap_or_default();
        assert!(spec.starts_with(&format!("{driver}:bad\\\\xff")), "{spec}");
    }
}

/// As with `nsenter --net` into a container: `/sys` stays the host's, whose interfaces may have the
/// same names and numbers.
#[test]
fn what_another_sys_shows_is_not_believed() {
    let Some(bench) = Bench::new() else { return };
    // A pair within one namespace, so that what the doctor says of the other end shows, too.
    bench.ip("link add name v0 type veth peer name v1");
    let seen = bench.run("doctor v0 --json");
    let expected = page(&seen);
    let program = env!("CARGO_BIN_EXE_linerate");
    let net = format!("--net=/run/netns/{}", bench.name(Side::Middle));
    let mut entered = std::process::Command::new("nsenter");
    let entered = entered.args([&net[..], program, "doctor", "v0", "--json"]);
    let Ok(entered) = entered.output() else {
        return println!("skipped: `nsenter` is not installed");
    };
    assert_eq!(entered.status.code(), seen.status.code(), "{entered:?}");
    let found = page(&entered);
    let judged = |page: &Value, what: &str| {
        let findings = page["findings"].as_array().expect("findings").iter();
        let mut of = findings.filter(|finding| finding["what"] == what);
        of.next().cloned()
    };
    for what in ["driver", "mtu", "promiscuous", "veth peer", "queues"] {
        assert_eq!(judged(&found, what), judged(&expected, what), "{what}");
    }
    let sysfs = judged(&found, "sysfs").expect("that it is unseen");
    assert_eq!(sysfs["judgement"], "unknown", "{sysfs}");
    assert_eq!(judged(&expected, "sysfs"), None);
}
