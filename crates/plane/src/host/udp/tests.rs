//! Hosts with UDP sockets on one link: every datagram is accounted for at both ends.

use std::sync::mpsc::channel;

use frame::{Nanos, PortId};
use stack::icmp::ErrorAbout;
use traffic::Rate;
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};

use super::*;
use crate::DropReason;
use crate::host::tests::{QUERY, STEP, Station, port};
use crate::host::{HostPort, RoleConfig, UdpClientConfig};

/// A case: what the ends are, and of how many frames one is lost.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    clients: &'static str,
    asked: &'static str,
    responds: bool,
    size: usize,
    rate: Rate,
    loses: Option<usize>,
    steps: u64,
}

const PLAIN: Case = Case {
    name: "plain",
    clients: "198.18.0.0/16",
    asked: "192.0.2.2:9",
    responds: true,
    size: 510,
    rate: Rate::Frames(5000),
    loses: None,
    steps: 1000,
};

fn server(case: &Case) -> Station {
    let (own, gateway) = match case.asked.starts_with('[') {
        true => ("fd00::2/128", "fd00:1::1"),
        false => ("192.0.2.2/32", "198.18.0.1"),
    };
    let port = HostPort {
        gateway: Some(gateway.parse().expect("an address")),
        ..port(1, own)
    };
    let role = UdpConfig::Server {
        port: 9,
        responds: case.responds,
    };
    Station::new(vec![port], RoleConfig::Udp(role), QUERY)
}

fn client(case: &Case) -> Station {
    let role = UdpConfig::Client(UdpClientConfig {
        server: case.asked.parse().expect("an address"),
        size: case.size,
        rate: case.rate,
    });
    Station::new(vec![port(2, case.clients)], RoleConfig::Udp(role), QUERY)
}

/// Lets both talk for some steps; what one sends, the other has in the next step.
fn talk(case: &Case) -> (Station, Station) {
    let (mut server, mut client) = (server(case), client(case));
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    let mut sent = 0usize;
    let mut arrives = |frames: Vec<Vec<u8>>| {
        let kept = frames.into_iter().filter(|_| {
            sent += 1;
            case.loses.is_none_or(|every| !sent.is_multiple_of(every))
        });
        kept.collect::<Vec<_>>()
    };
    for step in 1..=case.steps {
        let now = Nanos(step * STEP);
        let from_client = client.step(now, &to_client);
        to_client = arrives(server.step(now, &to_server));
        to_server = arrives(from_client);
    }
    (server, client)
}

#[test]
fn datagrams_are_accounted_for_by_both_ends() {
    let cases = [
        PLAIN,
        Case {
            name: "IPv6",
            clients: "fd00:1::/64",
            asked: "[fd00::2]:9",
            ..PLAIN
        },
        Case {
            name: "received and not answered",
            responds: false,
            ..PLAIN
        },
        Case {
            name: "the least",
            size: 18,
            ..PLAIN
        },
        Case {
            name: "the largest",
            size: 1472,
            ..PLAIN
        },
        Case {
            name: "one address, as fast as it goes",
            clients: "198.18.0.1/32",
            rate: Rate::Unlimited,
            steps: 50,
            ..PLAIN
        },
        Case {
            name: "one frame in 20 is lost",
            loses: Some(20),
            ..PLAIN
        },
    ];
    for case in cases {
        let (server, client) = talk(&case);
        let name = case.name;
        let (generated, back) = (client.count("generated"), client.count("back"));
        let (taken, answered) = (
            server.count("datagrams_taken"),
            server.count("datagrams_answered"),
        );
        // What is on its way at the end: two bursts.
        let open_max = 2 * 256;
        assert!(generated > 980, "{name}: {generated} generated");
        assert!(taken <= generated && back <= answered, "{name}");
        match case.loses {
            None => assert!(generated - taken <= open_max, "{name}: {taken} taken"),
            Some(_) => assert!(taken < generated && back < answered, "{name}"),
        }
        match case.responds {
            true => assert_eq!(answered, taken, "{name}"),
            false => assert_eq!((answered, back), (0, 0), "{name}"),
        }
        let bytes = taken * case.size as u64;
        assert_eq!(server.count("datagram_bytes"), bytes, "{name}");
        for station in [&server, &client] {
            assert_eq!(station.dropped, [], "{name}");
            for none in ["bad_datagrams", "no_socket", "repeated", "foreign", "late"] {
                assert_eq!(station.count(none), 0, "{name}: {none}");
            }
        }
    }
}

#[test]
fn times_of_echoes_are_sent_at_the_end() {
    let (mut server, mut client) = (server(&PLAIN), client(&PLAIN));
    let (whom, times) = channel();
    client.host.send_times_to(whom);
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    for step in 1..=1000 {
        let now = Nanos(step * STEP);
        let from_client = client.step(now, &to_client);
        to_client = server.step(now, &to_server);
        to_server = from_client;
    }
    let back = client.count("back");
    drop(client);
    let report = times.recv().expect("they were sent").report();
    assert_eq!(report.count, back);
    assert_eq!((report.min, report.max), (2 * STEP, 2 * STEP));
}

/// RFC 1122 sections 3.2.2 and 4.1.3: what a host says of a port that nobody has, and what a client
/// makes of that.
#[test]
fn a_port_that_nobody_has_is_unreachable() {
    for (asked, clients) in [
        ("192.0.2.2:10", "198.18.0.0/16"),
        ("[fd00::2]:10", "fd00:1::/64"),
    ] {
        let case = Case {
            asked,
            clients,
            ..PLAIN
        };
        let (server, client) = talk(&case);
        let told = server.count("unreachables_sent");
        let refused = client.count("datagrams_refused");
        assert!(told >= 100, "{asked}: {told} told");
        assert!(told - refused <= 512, "{asked}: {refused} heard of {told}");
        assert!(server.count("no_socket") > told, "{asked}: not limited");
        assert_eq!(client.count("strange_errors"), 0, "{asked}");
        assert_eq!(server.dropped, [], "{asked}");
    }
}

/// A frame of UDP from 192.0.2.1:7 or `[fd00::1]:7` to port `port` of 192.0.2.2 or fd00::2.
fn frame(is_v4: bool, port: u16, payload: &[u8]) -> Vec<u8> {
    let transport = Transport::Udp {
        src_port: 7,
        dst_port: port,
    };
    let network = match is_v4 {
        true => Network::Ipv4(
            Ipv4 {
                src: 0xC000_0201,
                dst: 0xC000_0202,
                ..Ipv4::default()
            },
            transport,
        ),
        false => Network::Ipv6(
            Ipv6 {
                src: 0xFD << 120 | 1,
                dst: 0xFD << 120 | 2,
                ..Ipv6::default()
            },
            transport,
        ),
    };
    let recipe = Recipe {
        dst_mac: wire::MacAddress([2, 0, 0, 0, 0, 1]),
        src_mac: wire::MacAddress([2, 0, 0, 0, 0, 9]),
        network,
        payload,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("room");
    bytes
}

/// Each row: what is changed of a frame by its byte, and what it counts as.
#[test]
fn frames_that_are_not_answered() {
    let v4 = "192.0.2.2/24";
    for (own, is_v4, port_asked, changed, count) in [
        (v4, true, 9, None, Ok("datagrams_answered")),
        (v4, true, 10, None, Ok("unreachables_sent")),
        (v4, true, 9, Some((40, 1)), Ok("bad_datagrams")),
        (v4, true, 10, Some((40, 1)), Ok("bad_datagrams")),
        // To all stations of the link: by Ethernet, and by the address of the prefix.
        (v4, true, 10, Some((0, 255)), Err(DropReason::LinkScope)),
        (
            v4,
            true,
            10,
            Some((33, 255)),
            Err(DropReason::HeaderChecksum),
        ),
        ("fd00::2/64", false, 9, None, Ok("datagrams_answered")),
        ("fd00::2/64", false, 10, None, Ok("unreachables_sent")),
        ("fd00::2/64", false, 9, Some((60, 1)), Ok("bad_datagrams")),
    ] {
        let own = own.split('/').next().expect("an address");
        let own = format!("{own}/{}", if is_v4 { 32 } else { 128 });
        let role = UdpConfig::Server {
            port: 9,
            responds: true,
        };
        let mut host = Station::new(vec![port(1, &own)], RoleConfig::Udp(role), QUERY);
        let mut bytes = frame(is_v4, port_asked, b"hello");
        if let Some((at, byte)) = changed {
            bytes[at] = byte;
        }
        host.step(Nanos(STEP), &[bytes]);
        let case = format!("{own}, port {port_asked}, {changed:?}");
        match count {
            Ok(name) => {
                assert_eq!((host.count(name), host.taken), (1, 1), "{case}: {name}");
                let answers = ["datagrams_answered", "unreachables_sent"];
                let said: u64 = answers.iter().map(|name| host.count(name)).sum();
                assert_eq!(said, u64::from(answers.contains(&name)), "{case}");
            }
            Err(reason) => assert_eq!(host.dropped, [reason], "{case}"),
        }
    }
}

/// RFC 1122 section 3.2.2: about an error, and about a fragment, nothing is said. RFC 8085
/// section 5.2: an error about what no socket can have sent is not believed.
#[test]
fn errors_and_fragments_are_not_answered() {
    let case = Case {
        clients: "192.0.2.2/32",
        asked: "192.0.2.1:7",
        ..PLAIN
    };
    for (own_port, count) in [(40_000, "datagrams_refused"), (10, "strange_errors")] {
        let mut client = client(&case);
        let about = frame(true, 7, b"x");
        let mut quoted = about[14..].to_vec();
        // The host is the source of what is quoted.
        quoted[12..20].copy_from_slice(&[192, 0, 2, 2, 192, 0, 2, 1]);
        quoted[20..22].copy_from_slice(&u16::to_be_bytes(own_port));
        let mut error = vec![0; REPORT_BYTES_MAX];
        let from = "192.0.2.1".parse().expect("an address");
        let len = write_report(Report::PortUnreachable, from, &quoted, &mut error).expect("room");
        error.truncate(len);
        assert!(ErrorAbout::read(&error[14..]).is_some());
        error[..6].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
        let sent = client.step(Nanos(STEP), &[error]);
        assert_eq!(client.count(count), 1, "{own_port}");
        assert!(
            sent.iter().all(|frame| frame[12..14] == [8, 6]),
            "ARP alone"
        );
    }
    let mut server = server(&PLAIN);
    let mut fragment = frame(true, 10, b"hello");
    fragment[20] = 0x20;
    let sum = wire::checksum::update(u16::from_be_bytes([fragment[24], fragment[25]]), 0, 0x2000);
    fragment[24..26].copy_from_slice(&sum.to_be_bytes());
    assert!(server.step(Nanos(STEP), &[fragment]).is_empty());
    assert_eq!(server.dropped, [DropReason::Local]);
    assert_eq!(server.host.ports.len(), 1, "of {:?}", PortId(0));
}

#[test]
fn payloads_that_do_not_fit_are_refused() {
    for (asked, clients, size, expected) in [
        ("192.0.2.2:9", "198.18.0.0/16", 17, "18 to 1472 bytes"),
        ("192.0.2.2:9", "198.18.0.0/16", 1473, "18 to 1472 bytes"),
        ("[fd00::2]:9", "fd00:1::/64", 1453, "18 to 1452 bytes"),
        ("192.0.2.2:9", "192.0.2.0/24", 510, "itself"),
        ("[fd00::2]:9", "192.0.2.0/24", 510, "family"),
        ("224.0.0.1:9", "192.0.2.0/24", 510, "no single"),
    ] {
        let config = HostConfig {
            ports: vec![port(2, clients)],
            role: RoleConfig::Udp(UdpConfig::Client(UdpClientConfig {
                server: asked.parse().expect("an address"),
                size,
                rate: Rate::Unlimited,
            })),
            query: QUERY,
        };
        let error = Host::new(config, [1, 2]).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
