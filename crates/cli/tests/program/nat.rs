//! NAT over captures and under the daemon: rules are read and printed, hosts share an address.

use wire::MacAddress;
use wire::emit::{Ipv4, Network, Recipe, Transport};

use crate::Place;
use crate::capture::{frames, pcap};
use crate::daemon::{Daemon, until};
use crate::screens::blocks;

const PAGE: &str = include_str!("../../../../docs/nat.md");
const EXAMPLE: &str = include_str!("../../../../examples/gateway.toml");
const RULES: &str = include_str!("../../../../examples/gateway.nat");
const BETWEEN: &str = "--interface lan=A,10.0.0.1/24 --interface wan=B,192.0.2.2/24 \
                       --routes routes.txt \
                       --neighbour 192.0.2.1=02:00:00:00:00:09@wan";

/// A router between captures.
fn route(place: &Place, words: &str) -> crate::Ran {
    place.write("routes.txt", "default via 192.0.2.1\n");
    place.run(&format!(
        "route A=pcap:in=in.pcap B=pcap:out=b.pcap {BETWEEN} {words} --json"
    ))
}

/// A datagram from a host inside to a server.
fn datagram(host: u8, src_port: u16) -> Vec<u8> {
    let header = Ipv4 {
        src: u32::from_be_bytes([10, 0, 0, host]),
        dst: u32::from_be_bytes([203, 0, 113, 9]),
        ..Ipv4::default()
    };
    let recipe = Recipe {
        dst_mac: MacAddress([2, 0, 0, 0, 0, 1]),
        src_mac: MacAddress([2, 0, 0, 0, 0, host]),
        network: Network::Ipv4(
            header,
            Transport::Udp {
                src_port,
                dst_port: 53,
            },
        ),
        payload: &[7; 18],
        ..Recipe::default()
    };
    let mut frame = vec![0; recipe.frame_len()];
    recipe.emit(&mut frame).expect("room for it");
    frame
}

#[test]
fn hosts_of_a_capture_leave_by_one_address() {
    let place = Place::new();
    let sent = [datagram(2, 5000), datagram(3, 5000), datagram(2, 5000)];
    place.write("in.pcap", pcap(&sent));
    place.write("a.nat", "oif \"wan\" masquerade\n");
    let report = route(&place, "--nat a.nat").ended(0).json();
    assert_eq!(report["balanced"], true, "{report}");
    let all = frames(&place.read("b.pcap")).into_iter();
    let left: Vec<Vec<u8>> = all.filter(|frame| frame[12..14] == [8, 0]).collect();
    let ports: Vec<u16> = left
        .iter()
        .map(|frame| {
            assert_eq!(frame[26..30], [192, 0, 2, 2]);
            u16::from_be_bytes([frame[34], frame[35]])
        })
        .collect();
    assert_eq!((ports.len(), ports[0], ports[2]), (3, 5000, 5000));
    assert_ne!(ports[1], 5000);
    let text = report.to_string();
    for said in ["\"nat_translated\":3", "\"nat_begun\":2"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn what_has_no_room_is_dropped_by_name() {
    let place = Place::new();
    place.write("in.pcap", pcap(&[datagram(2, 5000), datagram(2, 5001)]));
    for (rule, reason) in [
        ("oif wan masquerade to :7", "nat_ports"),
        ("oif wan masquerade\nflows 1", "nat_full"),
        ("oif wan masquerade; flows-per-address 1", "nat_limit"),
    ] {
        place.write("a.nat", rule);
        let report = route(&place, "--nat a.nat").ended(0).json().to_string();
        assert!(
            report.contains(&format!("\"{reason}\":1")),
            "{rule}: {report}"
        );
    }
}

#[test]
fn wrong_rules_and_several_workers_are_refused() {
    let place = Place::new();
    place.write("in.pcap", pcap(&[datagram(2, 5000)]));
    for (rule, words, said) in [
        ("oif wan frob", "", "a.nat:1:9: \"frob\""),
        (
            "\noif lam masquerade",
            "",
            "a.nat:2:5: no interface is called 'lam'",
        ),
        ("iif wan dnat to 10.0.0.1", "", "the router's own"),
        ("flows 99999999", "", "99999999 flows"),
        (
            "oif wan masquerade",
            "--workers 2",
            "NAT runs with one worker",
        ),
    ] {
        place.write("a.nat", rule);
        let ran = route(&place, &format!("--nat a.nat {words}")).ended(2);
        assert!(
            ran.complaints().contains(said),
            "{rule}: {}",
            ran.complaints()
        );
    }
    let ran = route(&place, "--nat absent.nat").ended(2);
    assert!(ran.complaints().contains("absent.nat cannot be opened"));
}

#[test]
fn a_dry_run_prints_rules_canonically() {
    let place = Place::new();
    place.write("in.pcap", pcap(&[datagram(2, 5000)]));
    place.write(
        "a.nat",
        "oifname wan ip saddr {10.0.0.0-10.0.0.255} masquerade # x\nhairpin off",
    );
    let set = route(&place, "--nat a.nat --dry-run").ended(0).json();
    let wanted = serde_json::json!(["oif \"wan\" ip saddr 10.0.0.0/24 masquerade", "hairpin off"]);
    assert_eq!(set["route"]["nat"], wanted);
}

#[test]
fn the_page_has_the_examples_and_its_rules_are_read() {
    assert_eq!(blocks(PAGE, "toml"), [EXAMPLE.trim_end()]);
    let rules = blocks(PAGE, "nft");
    assert_eq!(rules[0], RULES.trim_end());
    let place = Place::new();
    place.write("in.pcap", pcap(&[datagram(2, 5000)]));
    for text in &rules {
        place.write("a.nat", text);
        route(&place, "--nat a.nat --dry-run").ended(0);
    }
    place.write("bad.nat", "oif wan masquerade\n");
    assert!(PAGE.contains("bad.nat:1:11"));
}

const DAEMON: &str = "[[port]]\nname = 'A'\nspec = 'gen:size=64'\n\
                      [[port]]\nname = 'B'\nspec = 'null:'\n\
                      [control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n\
                      [[pipeline]]\nkind = 'router'\n\
                      interface = ['lan=A,10.0.0.1/24,mac=02:4c:52:00:00:02', \
                      'wan=B,10.0.1.1/24']\n\
                      neighbour = ['10.0.1.2=02:00:00:00:00:09@wan']\n\
                      route = ['default via 10.0.1.2']\n";

#[test]
fn the_daemon_shows_flows_and_takes_other_rules_over() {
    let place = Place::new();
    let rules = "oif wan masquerade\nflows 5000\n";
    place.write("a.nat", rules);
    place.write("a.toml", format!("{DAEMON}nat = 'a.nat'\n"));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let mut shown = serde_json::Value::Null;
    until("flows are shown", || {
        let ran = daemon.ask("show nat --json");
        if ran.code == 0 {
            shown = ran.json();
        }
        shown["begun"].as_u64().is_some_and(|begun| begun > 0)
    });
    assert_eq!(shown["flows_max"], 5000);
    let first = &shown["entries"][0];
    assert!(
        first["new_from"]
            .as_str()
            .is_some_and(|from| from.starts_with("10.0.1.1:")),
        "{first}"
    );
    assert!(daemon.must("show nat").text().contains("leaves from"));
    for (text, code, said) in [
        (
            format!("{rules}iif wan tcp dport 1 dnat to 10.0.0.2\n"),
            0,
            "rules for NAT are others",
        ),
        ("oif wan masq\n".to_owned(), 1, "a.nat:1:9"),
        (
            "oif wan masquerade\nflows 6\n".to_owned(),
            1,
            "flows of the nat file cannot change",
        ),
    ] {
        place.write("a.nat", &text);
        let told = daemon.ask("reload").ended(code);
        let told = format!("{}{}", told.text(), told.complaints());
        assert!(told.contains(said), "{text}: {told}");
    }
    place.write("a.nat", rules);
    place.write("a.toml", DAEMON);
    let told = daemon.ask("reload").ended(1);
    assert!(
        told.complaints()
            .contains("nat of [[pipeline]] cannot change")
    );
    daemon.stop();
}

#[test]
fn check_refuses_nat_with_several_workers() {
    let place = Place::new();
    place.write("a.nat", "oif wan masquerade\n");
    place.write("a.toml", format!("{DAEMON}nat = 'a.nat'\n"));
    place.run("run --check a.toml").ended(0);
    let config = format!("{DAEMON}nat = 'a.nat'\n[workers]\ncount = 2\n");
    place.write("a.toml", config);
    let ran = place.run("run --check a.toml").ended(2);
    assert!(
        ran.complaints().contains("NAT runs with one worker"),
        "{}",
        ran.complaints()
    );
    place.write("a.nat", "oif wan frob\n");
    place.write("a.toml", format!("{DAEMON}nat = 'a.nat'\n"));
    let ran = place.run("run --check a.toml").ended(2);
    assert!(
        ran.complaints().contains("a.nat:1:9"),
        "{}",
        ran.complaints()
    );
}

#[test]
fn a_router_without_nat_says_so() {
    let place = Place::new();
    place.write("a.toml", DAEMON);
    let daemon = Daemon::start(&place, "run a.toml --json");
    let mut said = String::new();
    until("it answers", || {
        said = daemon.ask("show nat").ended(1).complaints().to_owned();
        said.contains("no NAT")
    });
    daemon.stop();
}
