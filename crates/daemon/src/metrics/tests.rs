//! The page judged by promtool, and the server by clients that behave badly.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use plane::DropReason;

use super::server::CONNECTIONS_MAX;
use super::*;
use crate::rpc::answers::{Health, SwitchEvent, VlanFacts, Vlans};

/// Something in every field, and names that need escapes.
pub(super) fn example() -> Observation {
    Observation {
        version: "0.1.0".to_owned(),
        commit: "abc\"def".to_owned(),
        started_at: 1.7e9,
        health: Health::default(),
        ports: vec![port("left", "xdp:eth0"), port("right", "xdp:eth1")],
        workers: vec![worker(0), worker(1)],
        drops: (0..DropReason::COUNT as u64).collect(),
        passed: vec![6, 5, 4],
        fragments: Some(crate::rpc::answers::FragmentCounts {
            held: 3,
            known: 4,
            ..Default::default()
        }),
        router: vec![("forwarded_v4".to_owned(), 12)],
        switch: Some(Vlans {
            seconds: 1.0,
            events: vec![SwitchEvent {
                event: "learned".to_owned(),
                count: 7,
            }],
            vlans: vec![VlanFacts {
                vlan: Some(10),
                in_frames: 8,
                out_frames: 9,
                ..VlanFacts::default()
            }],
        }),
        rules: Some(RuleFigures {
            count: 1,
            policy: "drop".to_owned(),
            rules: vec![RuleFigure {
                rule: "1".to_owned(),
                text: "iif \"A\" accept".to_owned(),
                packets: 13,
                bytes: 780,
            }],
        }),
        sets: vec![set("ban\\ned"), set("other")],
        would_drop: 5,
        pools: vec![Pool {
            worker: 0,
            frames: 8192,
            free: 4096,
        }],
        reloads: Reloads {
            applied: 1,
            refused: 2,
            applied_at: Some(1.7e9 + 0.5),
        },
        captured: Captured {
            samples: 3,
            frames: 40,
        },
        frame_memory_bytes: 1 << 24,
        published_version: 12,
    }
}

fn port(name: &str, spec: &str) -> Port {
    Port {
        name: name.to_owned(),
        spec: spec.to_owned(),
        mode: "native, copy".to_owned(),
        up: true,
        rx_frames: 100,
        ..Port::default()
    }
}

fn worker(id: u16) -> Worker {
    Worker {
        id,
        cpu: id + 1,
        busy_seconds: 1.25,
        bursts: BurstSizes {
            counts: vec![(1, 1), (32, 2)],
            bursts: 3,
            frames: 50,
        },
        silent_seconds: Some(0.001),
        ..Worker::default()
    }
}

fn set(name: &str) -> Set {
    let hits = |side: &str, action: &str| Hits {
        port: "outside".to_owned(),
        side: side.to_owned(),
        action: action.to_owned(),
        frames: 7,
    };
    Set {
        name: name.to_owned(),
        action: "block".to_owned(),
        file_entries: Some(10),
        dynamic_entries: Some(2),
        refreshes: Some(Refreshes::default()),
        hits: vec![hits("src", "block"), hits("dst", "count")],
        loaded_at: Some(1.7e9),
        confirmed_at: Some(1.7e9 + 60.0),
        required: true,
        current: Some(true),
        age_seconds: Some(60.0),
        ..Set::default()
    }
}

#[test]
fn every_family_has_samples_in_the_order_of_the_declarations() {
    let text = render(&example());
    let shown: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let declared: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    assert_eq!(shown, declared);
}

#[test]
fn promtool_finds_nothing_to_complain_about() {
    for observation in [example(), Observation::default()] {
        let tool = Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut tool) = tool else {
            eprintln!("skipped: no promtool here (Debian: apt-get install prometheus)");
            return;
        };
        let text = render(&observation);
        let mut stdin = tool.stdin.take().expect("a pipe");
        stdin.write_all(text.as_bytes()).expect("promtool reads");
        drop(stdin);
        let output = tool.wait_with_output().expect("promtool ends");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(output.status.success() && said.is_empty(), "{said}\n{text}");
    }
}

fn server() -> Server {
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    Server::start(any, Arc::new(example)).expect("a server")
}

fn client(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("a connection");
    let limit = Some(Duration::from_secs(30));
    stream.set_read_timeout(limit).expect("a time limit");
    stream
}

fn read(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

fn get(server: &Server) -> String {
    let mut stream = client(server);
    // A connection that is turned away may be reset before it has said or heard all.
    let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    text
}

#[test]
fn a_scrape_gets_the_page() {
    let mut server = server();
    let reply = get(&server);
    let (head, page) = reply.split_once("\r\n\r\n").expect("head and body");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert_eq!(page, render(&example()));
    server.stop();
    // Nobody listens any more; a port that is free may be lent to another test, or to the caller
    // itself, meanwhile. Neither serves the page.
    if let Ok(mut stream) = TcpStream::connect(server.address()) {
        let short = Some(Duration::from_millis(200));
        stream.set_read_timeout(short).expect("a timeout");
        let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        assert!(!text.starts_with("HTTP/1.1 200"), "{text}");
    }
}

#[test]
fn a_request_in_single_bytes_is_answered_and_more_than_asked_for_is_no_harm() {
    let server = server();
    let mut stream = client(&server);
    stream.set_nodelay(true).expect("an option");
    for byte in b"GET / HTTP/1.1\r\n\r\n" {
        stream.write_all(&[*byte]).expect("a byte");
    }
    assert!(read(stream).contains("/metrics"));
    let mut stream = client(&server);
    let request = [b"GET / HTTP/1.1\r\n\r\n".to_vec(), vec![b'x'; 20_000]].concat();
    stream.write_all(&request).expect("a request and more");
    assert!(read(stream).contains("/metrics"));
}

/// Whether the server turned the connection away; what it says to others takes longer.
fn turned_away(stream: &mut TcpStream) -> bool {
    let soon = Some(Duration::from_millis(200));
    stream.set_read_timeout(soon).expect("a time limit");
    let mut head = [0; 12];
    stream.read_exact(&mut head).is_ok() && head.ends_with(b"503")
}

#[test]
fn stuck_clients_hold_their_places_and_nobody_else() {
    let server = server();
    let mut stuck: Vec<TcpStream> = (1..CONNECTIONS_MAX).map(|_| client(&server)).collect();
    assert!(get(&server).starts_with("HTTP/1.1 200"));
    // The place of the one that was answered comes back a moment after its end was seen.
    let refused = (0..3).any(|_| {
        let mut one = client(&server);
        let refused = turned_away(&mut one);
        stuck.push(one);
        refused
    });
    assert!(refused, "{} connections were let in", stuck.len());
    drop(stuck);
    let served = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        get(&server).starts_with("HTTP/1.1 200")
    });
    assert!(served, "places were not given back");
}

#[test]
fn an_address_in_use_is_refused_with_a_sentence() {
    let first = server();
    let error = Server::start(first.address(), Arc::new(example)).expect_err("in use");
    let said = error.to_string();
    assert!(said.contains(&first.address().to_string()), "{said}");
    assert!(said.contains("[metrics]"), "{said}");
}

/// Names of metrics in a query: of ours, and of processes.
fn named(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("linerate_") || word.starts_with("process_"))
}

/// Families of daemons and of clients.
fn all() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().chain(LOAD_FAMILIES)
}

/// The family of a name in a query, which of a histogram can have three endings.
fn family_of(name: &str) -> Option<&'static str> {
    let endings = ["_bucket", "_sum", "_count"];
    let is_of = |family: &&Family| {
        let rest = name.strip_prefix(family.name);
        let histogram = family.kind == Kind::Histogram;
        rest.is_some_and(|rest| rest.is_empty() || histogram && endings.contains(&rest))
    };
    all().find(is_of).map(|family| family.name)
}

#[test]
fn the_dashboard_shows_every_family_and_none_that_does_not_exist() {
    let text = include_str!("../../../../examples/grafana.json");
    let dashboard: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let mut shown = std::collections::BTreeSet::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let query = target["expr"].as_str().expect("a query");
            for name in named(query) {
                let family = family_of(name);
                shown.insert(family.unwrap_or_else(|| panic!("no {name}: {query}")));
            }
        }
    }
    for family in all() {
        assert!(shown.contains(family.name), "{} is nowhere", family.name);
    }
}

#[test]
fn the_pages_of_the_documentation_have_every_family() {
    let daemon = include_str!("../../../../docs/daemon/metrics.md");
    let load = include_str!("../../../../docs/load.md");
    for (page, families) in [(daemon, FAMILIES), (load, LOAD_FAMILIES)] {
        let table = markdown(families);
        assert!(page.contains(&table), "the page should have:\n{table}");
    }
}
