//! What a network needs to work, made by the kernel and by programs, through bridges that drop the
//! rest.

use std::fs;
use std::io::{BufRead, BufReader};

use crate::bench::{Bench, RIGHT_ADDRESS, RIGHT_ADDRESS_6, Side, await_that};
use crate::drivers::{Driver, PACKET, XDP};

/// An allow list that has the right host alone.
fn allow_list() -> tempfile::NamedTempFile {
    let list = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&list, format!("{RIGHT_ADDRESS}\n{RIGHT_ADDRESS_6}\n")).expect("a list");
    list
}

/// The left host asks a group that no list holds.
#[test]
fn neighbours_are_found_through_an_allow_list() {
    for (driver, rules, found) in [
        (PACKET, "all", true),
        (XDP, "nd", true),
        (PACKET, "none", false),
        (PACKET, "ra,dhcp,dhcpv6,igmp,mld", false),
    ] {
        let Some(bench) = Bench::dual() else { return };
        let list = allow_list();
        let list = list.path().display();
        let bridge = driver.bridge(
            &bench,
            &format!("--allow {list} --default drop --pass {rules}"),
        );
        let ping = format!("ping -6 -c 3 -i 0.3 -W 1 {RIGHT_ADDRESS_6}");
        assert_eq!(bench.succeeds(Side::Left, &ping), found, "--pass {rules}");
        let passed = bridge.stop()["passed"]["nd"].as_u64().unwrap_or(0);
        assert_eq!(passed > 0, found, "{passed} by --pass {rules}");
    }
}

/// A server's offer goes to all, and is of no flow.
#[test]
fn an_address_is_got_from_the_router_side_alone() {
    for (options, offered) in [
        ("--stateful allow-new=a", true),
        ("--stateful allow-new=a --pass none", false),
        ("--stateful allow-new=a --router first", false),
        ("--stateful allow-new=a,b --router first", false),
    ] {
        let Some(bench) = Bench::new() else { return };
        let bridge = PACKET.bridge(&bench, options);
        let mut server = bench.role(Side::Right, "dhcp-serve r");
        let mut line = String::new();
        let mut said = BufReader::new(server.output());
        said.read_line(&mut line).expect("it says when it is ready");
        let asked = bench.role(Side::Left, "dhcp-ask l").ended();
        let text = if offered {
            format!("{RIGHT_ADDRESS}\n")
        } else {
            String::new()
        };
        assert_eq!(asked.1, text, "{options}: {}", asked.2);
        drop(server);
        let report = bridge.stop();
        let passed = report["passed"]["dhcp"].as_u64().unwrap_or(0);
        assert_eq!(passed > 0, offered, "{options}: {report}");
    }
}

/// The kernel's own bridge asks who listens, from the side where nothing may begin.
#[test]
fn queries_of_groups_reach_listeners() {
    for driver in [PACKET, XDP] {
        queries_pass(driver);
    }
}

fn queries_pass(driver: Driver) {
    let Some(bench) = Bench::dual() else { return };
    let bridge = driver.bridge(&bench, "--stateful allow-new=a");
    let often = "mcast_querier 1 mcast_startup_query_interval 100 mcast_query_interval 100";
    let made = format!("ip link add q type bridge mcast_snooping 1 {often}");
    if !bench.succeeds(Side::Right, &made) {
        println!("skipped: this kernel has no bridge that asks for groups");
        return;
    }
    bench.expect(Side::Right, "sysctl -qw net.ipv6.conf.q.disable_ipv6=0");
    bench.expect(Side::Right, "ip link set dev r master q");
    bench.expect(Side::Right, "ip addr add 10.201.0.9/24 dev q");
    bench.expect(Side::Right, "ip link set dev q up");
    await_that("the left host is asked what it listens to", || {
        let counts = bench.expect(Side::Left, "cat /proc/net/snmp6");
        let queries = counts.lines().find_map(|line| {
            let count = line.strip_prefix("Icmp6InGroupMembQueries")?;
            count.trim().parse::<u64>().ok()
        });
        queries.is_some_and(|queries| queries > 0)
    });
    let report = bridge.stop();
    assert!(report["passed"]["mld"].as_u64() > Some(0), "{report}");
    assert!(report["passed"]["igmp"].as_u64() > Some(0), "{report}");
}
