//! NAT in the router: errors quote packets as their senders know them, bursts keep their order,
//! and what is for the router stays with it.

use wire::emit::{Icmp, Network, Transport};

use super::super::*;
use super::bench::Bench;
use super::lab::{A, B, frame, header, lab, mac, route, v4, via};
use super::model::{Fate, Outcome};
use crate::DropReason;
use crate::nat::{
    DestinationRule, NatConfig, NatMatch, NatMatchProtocol, NatRange, NatTarget, SourceAction,
    SourcePool, SourceRule,
};

/// The outside address, and a server out there.
const OUTSIDE: &str = "10.0.1.1";
const SERVER: &str = "10.0.1.2";
/// Nobody answers for it.
const ABSENT: &str = "10.0.1.99";

/// The lab with masquerade on port 1, whose UDP port 8080 leads to port 80 of 10.0.0.3.
fn config() -> RouterConfig {
    let nat = NatConfig {
        sources: vec![SourceRule {
            out: 1,
            matches: NatMatch::default(),
            action: SourceAction::To(SourcePool {
                addresses: None,
                ports: None,
                endpoint_independent: false,
            }),
        }],
        destinations: vec![DestinationRule {
            from: 1,
            matches: NatMatch {
                protocol: Some(NatMatchProtocol::Udp),
                destination_ports: vec![NatRange::one(8080)],
                ..NatMatch::default()
            },
            to: Some(NatTarget {
                address: v4("10.0.0.3"),
                port: Some(80),
            }),
        }],
        ..NatConfig::default()
    };
    RouterConfig {
        nat: Some(nat),
        ..lab()
    }
}

/// A datagram as host 2 of a port sends it.
struct Sent<'a> {
    from: PortId,
    src: &'a str,
    dst: &'a str,
    ports: (u16, u16),
    ttl: u8,
    more: bool,
    offset: u16,
    bytes: usize,
    dont_fragment: bool,
}

impl Default for Sent<'_> {
    fn default() -> Self {
        Self {
            from: A,
            src: "10.0.0.2",
            dst: SERVER,
            ports: (5000, 53),
            ttl: 64,
            more: false,
            offset: 0,
            bytes: 40,
            dont_fragment: false,
        }
    }
}

impl Sent<'_> {
    fn frame(&self) -> Vec<u8> {
        let header = wire::emit::Ipv4 {
            src: v4(self.src),
            ttl: self.ttl,
            more_fragments: self.more,
            fragment_offset: self.offset,
            dont_fragment: self.dont_fragment,
            ..header(self.dst)
        };
        let transport = Transport::Udp {
            src_port: self.ports.0,
            dst_port: self.ports.1,
        };
        let mut made = frame(Network::Ipv4(header, transport), &vec![7; self.bytes]);
        let port = self.from.0;
        made[..6].copy_from_slice(&mac(port, 1).0);
        made[6..12].copy_from_slice(&mac(port, 2).0);
        made
    }
}

/// Addresses and ports of a frame's datagram.
fn ends(frame: &[u8]) -> (u32, u32, u16, u16) {
    let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let long = |at: usize| u32::from(word(at)) << 16 | u32::from(word(at + 2));
    (long(26), long(30), word(34), word(36))
}

/// What leaves of a frame that is sent at once.
fn left(outcome: &Outcome) -> (PortId, &[u8]) {
    match &outcome.fate {
        Fate::Sent(sent) => (sent[0].0, &sent[0].1),
        other => panic!("it got {other:?}"),
    }
}

/// The packet that an error quotes.
fn quote(error: &[u8]) -> &[u8] {
    &error[42..]
}

#[test]
fn a_flow_goes_out_and_comes_back_also_within_one_burst() {
    let mut bench = Bench::new(&config());
    let sent = Sent::default().frame();
    let outcomes = bench.burst(A, &[sent.clone(), sent.clone()]);
    for outcome in &outcomes {
        let (port, bytes) = left(outcome);
        assert_eq!(port, B);
        assert_eq!(ends(bytes), (v4(OUTSIDE), v4(SERVER), 5000, 53));
    }
    assert_eq!(bench.count("nat_begun"), 1);
    let answer = Sent {
        from: B,
        src: SERVER,
        dst: OUTSIDE,
        ports: (53, 5000),
        ..Sent::default()
    };
    let outcome = bench.one(B, &answer.frame());
    let (port, bytes) = left(&outcome);
    assert_eq!(
        (port, ends(bytes)),
        (A, (v4(SERVER), v4("10.0.0.2"), 53, 5000))
    );
    assert_eq!(bench.count("nat_translated"), 3);
}

#[test]
fn fragments_of_one_burst_follow_the_first_one_inside() {
    let mut bench = Bench::new(&config());
    let first = Sent {
        from: B,
        src: SERVER,
        dst: OUTSIDE,
        ports: (6000, 8080),
        more: true,
        ..Sent::default()
    };
    let later = Sent {
        more: false,
        offset: 48,
        ..first
    };
    let outcomes = bench.burst(B, &[first.frame(), later.frame()]);
    for outcome in &outcomes {
        let (port, bytes) = left(outcome);
        let (src, dst, _, _) = ends(bytes);
        assert_eq!((port, src, dst), (A, v4(SERVER), v4("10.0.0.3")));
    }
}

#[test]
fn errors_quote_packets_as_they_were_sent() {
    let out = Sent::default();
    let answer = Sent {
        from: B,
        src: SERVER,
        dst: OUTSIDE,
        ports: (53, 5000),
        ..Sent::default()
    };
    let rows = [
        (Sent { ttl: 1, ..out }, DropReason::TtlExpired),
        (
            Sent {
                ttl: 1,
                from: B,
                ..answer
            },
            DropReason::TtlExpired,
        ),
    ];
    for (sent, reason) in rows {
        let mut bench = Bench::new(&config());
        bench.one(A, &Sent::default().frame());
        let frame = sent.frame();
        let outcome = bench.one(sent.from, &frame);
        assert_eq!(outcome.fate, Fate::Dropped(reason));
        let (port, told) = outcome.told.expect("the sender is told");
        assert_eq!(port, sent.from);
        assert!(quote(&told).starts_with(&frame[14..42]), "byte for byte");
    }
    let mut config = config();
    config.interfaces[1].mtu = 1300;
    let mut bench = Bench::new(&config);
    let long = Sent {
        bytes: 1400,
        dont_fragment: true,
        ..Sent::default()
    };
    let outcome = bench.one(A, &long.frame());
    assert_eq!(outcome.fate, Fate::Dropped(DropReason::TooBig));
    let (_, told) = outcome.told.expect("the sender is told");
    assert!(quote(&told).starts_with(&long.frame()[14..42]));
    assert_eq!(bench.count("nat_begun"), 0, "it took no port");
}

#[test]
fn a_packet_that_waited_in_vain_is_reported_as_it_was_sent() {
    let mut bench = Bench::new(&config());
    let sent = Sent {
        dst: ABSENT,
        ..Sent::default()
    };
    let wanted = (v4("10.0.0.2"), v4(ABSENT), 5000, 53);
    // The other host's flow has the port, so that this one gets another.
    let blocker = Sent {
        src: "10.0.0.3",
        ..sent
    };
    assert_eq!(bench.one(A, &blocker.frame()).fate, Fate::Waits);
    assert_eq!(bench.one(A, &sent.frame()).fate, Fate::Waits);
    let mut told = Vec::new();
    let mut dropped = 0;
    for ms in (1000..10_000).step_by(100) {
        let polled = bench.poll_at(ms);
        dropped += polled.dropped.len();
        let errors = polled.made.into_iter().filter(|(port, _)| *port == A);
        told.extend(errors.map(|(_, bytes)| bytes));
    }
    assert_eq!((told.len(), dropped), (2, 2));
    let quoted: Vec<_> = told.iter().map(|error| ends(&error[28..])).collect();
    assert!(quoted.contains(&wanted), "{quoted:?}");
    // Now that nobody is known to answer, the next one is told at once.
    let outcome = bench.one(A, &sent.frame());
    if let Some((_, told)) = outcome.told {
        assert_eq!(ends(&told[28..]), wanted);
    }
}

#[test]
fn what_is_for_the_router_stays_with_it() {
    let mut bench = Bench::new(&config());
    let ping = Network::Ipv4(
        wire::emit::Ipv4 {
            src: v4(SERVER),
            ..header(OUTSIDE)
        },
        Transport::Icmp(Icmp {
            kind: 8,
            code: 0,
            rest: 5 << 16,
        }),
    );
    let mut bytes = frame(ping, b"ping");
    bytes[..6].copy_from_slice(&mac(1, 1).0);
    let outcome = bench.one(B, &bytes);
    let (port, answer) = left(&outcome);
    assert_eq!(port, B);
    assert_eq!(ends(answer).0, v4(OUTSIDE));
    assert_eq!(bench.count("echo_replies"), 1);
}

#[test]
fn a_flow_that_leaves_by_another_interface_gets_its_address() {
    let config = config();
    let mut bench = Bench::new(&config);
    let mut other = config.clone();
    let more = SourceRule {
        out: 2,
        ..config.nat.as_ref().expect("NAT").sources[0].clone()
    };
    other.nat.as_mut().expect("NAT").sources.push(more);
    let sent = Sent {
        dst: "10.9.1.1",
        ..Sent::default()
    };
    let outcome = bench.one(A, &sent.frame());
    assert_eq!(ends(left(&outcome).1).0, v4(OUTSIDE));
    other.routes = vec![route("10.9.0.0", 16, via("10.0.2.2"))];
    let table = RouterTable::new(other).expect("right settings");
    bench
        .router
        .carry_out(&mut RouterRequest::Replace(Arc::new(table)));
    // The first one of the burst ends the flow that both were found to be of.
    for outcome in bench.burst(A, &[sent.frame(), sent.frame()]) {
        let (port, bytes) = left(&outcome);
        assert_eq!((port, ends(bytes).0), (PortId(2), v4("10.0.2.1")));
    }
    assert_eq!(bench.count("nat_begun"), 2);
}

#[test]
fn wrong_settings_are_refused_with_a_sentence() {
    let nat = |change: fn(&mut NatConfig)| {
        let mut config = config();
        change(config.nat.as_mut().expect("NAT"));
        config
    };
    let pool = |address: &str| {
        SourceAction::To(SourcePool {
            addresses: Some(NatRange::one(v4(address))),
            ports: None,
            endpoint_independent: false,
        })
    };
    let mut group = config();
    group.nat.as_mut().expect("NAT").sources[0].action = pool("224.0.0.1");
    let mut bare = config();
    bare.interfaces[1]
        .addresses
        .retain(|own| own.address.is_ipv6());
    bare.routes.clear();
    bare.neighbours.clear();
    let rows = [
        (nat(|nat| nat.flows_max = 0), "0 flows"),
        (nat(|nat| nat.flows_max = u32::MAX), "flows: give a number"),
        (group, "224.0.0.1 is no address"),
        (bare, "no IPv4 address to masquerade"),
        (
            nat(|nat| {
                nat.destinations[0].to = Some(NatTarget {
                    address: v4("10.0.0.1"),
                    port: None,
                });
            }),
            "the router's own",
        ),
    ];
    for (config, said) in rows {
        let errors = config.check().expect_err(said);
        let sentences: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(sentences.join("; ").contains(said), "{sentences:?}");
    }
}
