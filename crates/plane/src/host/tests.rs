//! Two hosts on one link: every query is done or has a cause, and every frame a verdict.

use std::net::SocketAddr;

use frame::{BURST_MAX, Burst, Frame, FramePool, Nanos, PoolRequest, PortId, Region};
use wire::MacAddress;

use super::*;
use crate::router::Prefix;
use crate::{DropReason, Outbox, Verdicts};

const SECOND: u64 = 1_000_000_000;
pub(super) const STEP: u64 = 200_000;

pub(super) fn prefix(text: &str) -> Prefix {
    let (address, len) = text.split_once('/').expect("a prefix");
    let len = len.parse().expect("a length");
    Prefix::holding(address.parse().expect("an address"), len)
}

pub(super) fn port(number: u8, own: &str) -> HostPort {
    HostPort {
        mac: MacAddress([2, 0, 0, 0, 0, number]),
        mtu: 1500,
        own: vec![prefix(own)],
        on_link: Vec::new(),
        gateway: None,
    }
}

/// A host with what its worker has, and what became of its frames.
pub(super) struct Station {
    pub(super) host: Host,
    pool: FramePool,
    out: Outbox,
    verdicts: Verdicts,
    pub(super) taken: u64,
    pub(super) dropped: Vec<DropReason>,
}

impl Station {
    pub(super) fn new(ports: Vec<HostPort>, role: RoleConfig, query: QueryShape) -> Self {
        let request = PoolRequest {
            frames: 1024,
            stride_bytes: 2112,
            headroom_bytes: 128,
            node: None,
        };
        let pools = Region::with_pools(&[request]).expect("memory").1;
        let config = HostConfig { ports, role, query };
        Self {
            host: Host::new(config, [1, 2]).expect("right settings"),
            pool: pools.into_iter().next().expect("a pool"),
            out: Outbox::with_room(BURST_MAX),
            verdicts: Verdicts::new(),
            taken: 0,
            dropped: Vec::new(),
        }
    }

    /// Gives frames to the host, lets it work, and returns what it sends.
    pub(super) fn step(&mut self, now: Nanos, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        for frames in frames.chunks(32) {
            self.receive(now, frames);
            sent.extend(self.send());
        }
        let mut cx = Forwarding {
            from: PortId(0),
            now,
            pool: &mut self.pool,
            out: &mut self.out,
        };
        self.host.poll(&mut cx);
        sent.extend(self.send());
        sent
    }

    fn receive(&mut self, now: Nanos, frames: &[Vec<u8>]) {
        let mut burst = Burst::new();
        self.verdicts.clear();
        for bytes in frames {
            let mut frame = self.pool.alloc().expect("a frame");
            frame.copy_from(bytes).expect("it fits");
            assert!(burst.push(frame).is_ok(), "there is room");
            self.verdicts.push(Verdict::Forward(PortId(0)));
        }
        let mut cx = Forwarding {
            from: PortId(0),
            now,
            pool: &mut self.pool,
            out: &mut self.out,
        };
        self.host.process(&mut cx, &mut burst, &mut self.verdicts);
        for (frame, verdict) in burst.drain().zip(self.verdicts.as_slice()) {
            match verdict {
                Verdict::Consume => self.taken += 1,
                Verdict::Drop(reason) => self.dropped.push(*reason),
                verdict => panic!("a host does not {verdict:?}"),
            }
            self.pool.free(frame);
        }
    }

    fn send(&mut self) -> Vec<Vec<u8>> {
        let frames: Vec<Frame> = self.out.drain().map(|outgoing| outgoing.frame).collect();
        let bytes = frames.iter().map(|frame| frame.bytes().to_vec()).collect();
        frames.into_iter().for_each(|frame| self.pool.free(frame));
        bytes
    }

    pub(super) fn count(&self, name: &str) -> u64 {
        let mut counts = vec![0; Host::COUNTS.len()];
        self.host.counts(&mut counts);
        let at = Host::COUNTS.iter().position(|&known| known == name);
        counts[at.expect("such a count")]
    }
}

/// A case: what the ends are, and of how many frames one is lost.
struct Case {
    name: &'static str,
    server: &'static str,
    clients: &'static str,
    asked: &'static str,
    pace: Pace,
    query: QueryShape,
    loses: Option<usize>,
    /// Whom the server gives its packets to; each client by itself where it is none.
    gateway: Option<&'static str>,
}

pub(super) const QUERY: QueryShape = QueryShape {
    request: 92,
    response: 206,
    answer: None,
    closes_first: End::Server,
    timeout: 10 * SECOND,
};

const PLAIN: Case = Case {
    name: "plain",
    server: "192.0.2.2/32",
    clients: "198.18.0.0/16",
    asked: "192.0.2.2:80",
    pace: Pace::Connections(10),
    query: QUERY,
    loses: None,
    gateway: Some("198.18.0.1"),
};

/// Lets both talk for a time; what one sends, the other has in the next step.
fn talk(case: &Case, seconds: u64) -> (Station, Station) {
    let server_at: SocketAddr = case.asked.parse().expect("an address");
    let server_port = HostPort {
        gateway: case.gateway.map(|text| text.parse().expect("an address")),
        ..port(1, case.server)
    };
    let role = RoleConfig::Server(80);
    let mut server = Station::new(vec![server_port], role, case.query.clone());
    let client = ClientConfig {
        server: server_at,
        pace: case.pace,
    };
    let role = RoleConfig::Client(client);
    let mut client = Station::new(vec![port(2, case.clients)], role, case.query.clone());
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    let mut sent = 0usize;
    let mut arrives = |frames: Vec<Vec<u8>>| {
        let kept = frames.into_iter().filter(|_| {
            sent += 1;
            case.loses.is_none_or(|every| !sent.is_multiple_of(every))
        });
        kept.collect::<Vec<_>>()
    };
    for step in 1..=seconds * SECOND / STEP {
        let now = Nanos(step * STEP);
        let from_client = client.step(now, &to_client);
        let from_server = server.step(now, &to_server);
        to_server = arrives(from_client);
        to_client = arrives(from_server);
    }
    (server, client)
}

#[test]
fn queries_are_done_by_both_ends() {
    let whole = |request, response| QueryShape {
        request,
        response,
        ..QUERY
    };
    let cases = [
        PLAIN,
        Case {
            name: "the client closes first",
            query: QueryShape {
                closes_first: End::Client,
                ..QUERY
            },
            ..PLAIN
        },
        Case {
            name: "one address and port after port",
            clients: "192.0.2.9/32",
            gateway: None,
            pace: Pace::Rate(500.0),
            ..PLAIN
        },
        Case {
            name: "IPv6",
            server: "fd00::2/128",
            clients: "fd00:1::/64",
            gateway: Some("fd00:1::1"),
            asked: "[fd00::2]:80",
            ..PLAIN
        },
        Case {
            name: "more than a send queue",
            query: whole(100_000, 700_000),
            pace: Pace::Connections(2),
            ..PLAIN
        },
        Case {
            name: "one byte",
            query: whole(1, 1),
            ..PLAIN
        },
        Case {
            name: "a lost frame in 20",
            loses: Some(20),
            ..PLAIN
        },
    ];
    for case in cases {
        let (server, client) = talk(&case, 4);
        let name = case.name;
        let (begun, done) = (client.count("begun"), client.count("queries"));
        assert!(done > 10, "{name}: {done} queries done of {begun} begun");
        assert_eq!(begun, done + client.count("open"), "{name}");
        assert!(server.count("queries") >= done, "{name}");
        for station in [&server, &client] {
            assert_eq!(station.dropped, [], "{name}");
            assert_eq!(station.count("bad_segments"), 0, "{name}");
        }
        let again = server.count("retransmitted") + client.count("retransmitted");
        assert_eq!(again == 0, case.loses.is_none(), "{name}: {again} again");
        if let Pace::Rate(rate) = case.pace {
            assert!((begun as f64 / (rate * 4.0) - 1.0).abs() < 0.02, "{name}");
        }
    }
}

/// What goes wrong, and the count that says so.
#[test]
fn failures_have_their_cause() {
    let other_port = Case {
        name: "nobody listens",
        asked: "192.0.2.2:81",
        ..PLAIN
    };
    let nobody = Case {
        name: "nobody is there",
        asked: "192.0.2.3:80",
        ..PLAIN
    };
    let no_ports = Case {
        name: "all ports are used up",
        clients: "192.0.2.9/32",
        gateway: None,
        pace: Pace::Rate(20_000.0),
        query: QueryShape {
            closes_first: End::Client,
            ..QUERY
        },
        ..PLAIN
    };
    let slow = Case {
        name: "a query may take less than two round trips",
        query: QueryShape {
            timeout: 2 * STEP,
            ..QUERY
        },
        ..PLAIN
    };
    for (case, count, begins) in [
        (other_port, "refused", true),
        (nobody, "begun", false),
        (no_ports, "no_port", true),
        (slow, "overdue", true),
    ] {
        let (_, client) = talk(&case, 3);
        let name = case.name;
        assert_eq!(client.count(count) != 0, begins, "{name}: {count}");
        assert_eq!(client.count("begun") != 0, begins, "{name}: begun");
        let failures = ["refused", "reset", "timed_out", "overdue", "wrong_length"];
        let failed: u64 = failures.iter().map(|name| client.count(name)).sum();
        let ended = client.count("queries") + failed + client.count("open");
        assert_eq!(client.count("begun"), ended, "{name}");
    }
}

#[test]
fn lengths_that_differ_are_failures() {
    let shape = |response| QueryShape { response, ..QUERY };
    for (sent, expected) in [(206, 207), (206, 205), (206, 5000)] {
        let server_ports = vec![port(1, "192.0.2.2/32")];
        let mut server = Station::new(server_ports, RoleConfig::Server(80), shape(sent));
        let role = RoleConfig::Client(ClientConfig {
            server: "192.0.2.2:80".parse().expect("an address"),
            pace: Pace::Connections(1),
        });
        let client_ports = vec![port(2, "192.0.2.9/32")];
        let mut client = Station::new(client_ports, role, shape(expected));
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        for step in 1..1000 {
            let now = Nanos(step * STEP);
            let from_client = client.step(now, &to_client);
            to_client = server.step(now, &to_server);
            to_server = from_client;
        }
        let case = format!("{sent} bytes in place of {expected}");
        assert!(client.count("wrong_length") != 0, "{case}");
        assert_eq!(client.count("queries"), 0, "{case}");
    }
}

#[test]
fn wrong_settings_are_refused() {
    let client = |server: &str| {
        RoleConfig::Client(ClientConfig {
            server: server.parse().expect("an address"),
            pace: Pace::Connections(1),
        })
    };
    let small = HostPort {
        mtu: 575,
        ..port(1, "192.0.2.2/32")
    };
    let bare = HostPort {
        own: Vec::new(),
        ..port(1, "192.0.2.2/32")
    };
    let own_gateway = HostPort {
        gateway: Some("192.0.2.2".parse().expect("an address")),
        ..port(1, "192.0.2.2/32")
    };
    let server = RoleConfig::Server(80);
    for (port, role, expected) in [
        (small, server, "an MTU of 575 bytes"),
        (bare, server, "without an address"),
        (own_gateway, server, "another server or gateway"),
        (port(1, "224.0.0.1/32"), server, "names no single host"),
        (port(1, "0.0.0.0/32"), server, "names no single host"),
        (port(1, "192.0.2.0/24"), client("192.0.2.9:80"), "itself"),
        (port(1, "192.0.2.0/24"), client("[fd00::1]:80"), "family"),
        (port(1, "192.0.2.0/24"), client("224.0.0.9:80"), "no single"),
    ] {
        let config = HostConfig {
            ports: vec![port],
            role,
            query: QUERY,
        };
        let error = Host::new(config, [1, 2]).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
