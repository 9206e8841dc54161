//! `linerate load http` from addresses and ports of a namespace of its own.

use std::collections::BTreeSet;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{Bench, Side, await_that};
use crate::running::Running;

const SIDE: Side = Side::Left;

/// A namespace whose loopback has these local prefixes.
fn host(prefixes: &[&str]) -> Option<Bench> {
    let bench = Bench::apart()?;
    bench.succeeds(SIDE, "sysctl -qw net.ipv6.conf.lo.disable_ipv6=0");
    for prefix in prefixes {
        let family = if prefix.contains(':') { "-6" } else { "-4" };
        bench.expect(
            SIDE,
            &format!("ip {family} route add local {prefix} dev lo"),
        );
    }
    Some(bench)
}

/// Waits until somebody listens at port 8080.
fn await_listener(bench: &Bench) {
    await_that("a server listens", || {
        let tables = bench.on(SIDE, "cat /proc/net/tcp /proc/net/tcp6");
        let tables = String::from_utf8_lossy(&tables.stdout).into_owned();
        // The state 0A is LISTEN; other connections of the port may still be there.
        let mut lines = tables.lines().map(str::split_whitespace);
        lines.any(|mut words| {
            words.nth(1).is_some_and(|local| local.ends_with(":1F90")) && words.nth(1) == Some("0A")
        })
    });
}

/// A run whose books balance, with this exit code.
#[track_caller]
fn load(bench: &Bench, words: &str, expected: i32) -> Value {
    let running = bench.linerate(SIDE, &format!("load http {words} --json -q"));
    let (code, report, said) = running.ended();
    assert_eq!(code, expected, "{words}: {report}{said}");
    let report: Value = serde_json::from_str(&report).expect("a JSON report");
    assert_eq!(report["balanced"], true, "{report}");
    report
}

/// Python's server tells the address of each client.
#[test]
fn clients_have_the_addresses_of_a_prefix() {
    let Some(bench) = host(&["10.9.0.0/24", "fd00:9::/64"]) else {
        return;
    };
    // A server binds to an address of IPv6 only where an interface has it.
    bench.expect(SIDE, "ip addr add fd00:9::1/128 dev lo nodad");
    for (server, from, requests, clients) in [
        ("10.9.0.1", "10.9.0.0/28", 64, 16),
        ("10.9.0.1", "10.9.0.7", 64, 1),
        ("10.9.0.1", "10.9.0.250-10.9.0.252", 10, 3),
        ("fd00:9::1", "fd00:9::100/120", 64, 64),
    ] {
        let mut command: Command = bench.command(SIDE, "python3");
        command.args(["-u", "-m", "http.server", "8080", "--bind", server]);
        let python = Running::start(&mut command);
        await_listener(&bench);
        let host = if server.contains(':') {
            format!("[{server}]")
        } else {
            server.to_owned()
        };
        let words = format!("http://{host}:8080/ -n {requests} -c 4 -d 60s --from {from}");
        let said = load(&bench, &words, 0);
        assert_eq!(
            said["all"]["requests"]["answered"], requests,
            "{from}: {said}"
        );
        // What a shell runs in its background has interrupts ignored, and hands that on.
        python.signal(Signal::TERM);
        let (_, _, log) = python.ended();
        let lines: Vec<&str> = log
            .lines()
            .filter(|line| line.contains("\"GET /"))
            .collect();
        assert_eq!(lines.len(), requests, "{from}: {log}");
        let seen: BTreeSet<&str> = lines
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(seen.len(), clients, "{from}: {seen:?}");
    }
}

/// Ten ports for fifty connections: what is missing is named as the client's limit. Addresses of
/// its own lift it.
#[test]
fn ports_that_run_out_are_a_limit_of_the_client() {
    let Some(bench) = host(&["10.9.0.0/24"]) else {
        return;
    };
    let mut range = bench.command(SIDE, "sysctl");
    let range = range.args(["-qw", "net.ipv4.ip_local_port_range=40000 40009"]);
    assert!(range.status().expect("sysctl runs").success());
    let _server = bench.linerate(SIDE, "serve http 10.9.0.1:8080 -q");
    await_listener(&bench);
    let url = "http://10.9.0.1:8080/time/300";
    let said = load(&bench, &format!("{url} -n 50 -c 50 -d 60s"), 0);
    let requests = &said["all"]["requests"];
    let (answered, lacking) = (&requests["answered"], &requests["errors"]["no_port"]);
    let (answered, lacking) = (answered.as_u64(), lacking.as_u64());
    assert!(answered <= Some(10) && answered > Some(0), "{said}");
    assert_eq!(
        answered.zip(lacking).map(|(a, b)| a + b),
        Some(50),
        "{said}"
    );
    let limits = said["limits"].as_array().expect("limits");
    assert!(
        limits.iter().any(|limit| limit["name"] == "ports"),
        "{said}"
    );
    let said = load(
        &bench,
        &format!("{url} -n 50 -c 50 -d 60s --from 10.9.0.5"),
        0,
    );
    assert_eq!(said["all"]["requests"]["answered"], 50, "{said}");
}
