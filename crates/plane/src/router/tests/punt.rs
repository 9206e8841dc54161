//! What is for the router and it does not answer itself goes to a host behind one of its ports.

use wire::emit::{Icmp, Ipv4, Network, Tcp, Transport};

use super::super::*;
use super::bench::Bench;
use super::lab::{A, B, datagram, datagram_v6, frame, header, header_v6, ip, lab, mac, v4};
use super::model::Fate;
use crate::DropReason;

/// The lab, whose port B has a host with the router's addresses.
fn with_host() -> RouterConfig {
    let mut config = lab();
    config.punt = Some(InterfaceId(1));
    config
}

/// The answer of the host to a question for one of the router's addresses.
fn answer(address: &str) -> Vec<u8> {
    let own = v4(address).to_be_bytes();
    let mut arp = [
        &mac(1, 1).0[..],
        &mac(1, 9).0,
        &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2],
    ]
    .concat();
    arp.extend(mac(1, 9).0);
    arp.extend(own);
    arp.extend(mac(1, 1).0);
    arp.extend(v4("10.0.1.1").to_be_bytes());
    arp.resize(60, 0);
    arp
}

/// A bench whose router knows the host.
fn bench() -> Bench {
    let mut bench = Bench::new(&with_host());
    let to = datagram(header("10.0.0.1"));
    assert_eq!(bench.one(A, &to).fate, Fate::Waits);
    let asked = bench.poll().made;
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].0, &asked[0].1[12..14]), (B, &[8, 6][..]));
    assert_eq!(
        asked[0].1[38..42],
        v4("10.0.0.1").to_be_bytes(),
        "whose address"
    );
    assert_eq!(bench.one(B, &answer("10.0.0.1")).fate, Fate::Consumed);
    let released = bench.poll().released;
    assert_eq!(released.len(), 1);
    let (port, left) = &released[0];
    assert_eq!(
        (*port, &left[..6], &left[14..]),
        (B, &mac(1, 9).0[..], &to[14..])
    );
    bench
}

#[test]
fn what_the_router_does_not_answer_goes_to_the_host_as_it_came() {
    let mut bench = bench();
    let tcp = Transport::Tcp(Tcp {
        src_port: 40_000,
        dst_port: 179,
        flags: 2,
        ..Tcp::default()
    });
    let last_hop = Ipv4 {
        ttl: 1,
        ..header("10.0.0.1")
    };
    for packet in [
        datagram(header("10.0.0.1")),
        frame(Network::Ipv4(header("10.0.0.1"), tcp), &[]),
        // Routing protocols send packets that no router may forward.
        datagram(last_hop),
    ] {
        let outcome = bench.one(A, &packet);
        let Fate::Sent(sent) = outcome.fate else {
            panic!("{:?}", outcome.fate);
        };
        assert_eq!(outcome.told, None);
        assert_eq!((sent[0].0, &sent[0].1[..6]), (B, &mac(1, 9).0[..]));
        assert_eq!(sent[0].1[14..], packet[14..]);
    }
    assert_eq!((bench.count("punted"), bench.count("forwarded_v4")), (4, 0));
}

#[test]
fn pings_are_answered_and_nothing_goes_in_circles() {
    let mut bench = bench();
    let echo = Transport::Icmp(Icmp {
        kind: 8,
        ..Icmp::default()
    });
    let ping = frame(Network::Ipv4(header("10.0.0.1"), echo), &[1; 40]);
    assert!(matches!(bench.one(A, &ping).fate, Fate::Sent(sent) if sent[0].0 == A));
    // From the host to an own address: it has that itself.
    let mut own = datagram(Ipv4 {
        src: v4("10.0.1.9"),
        ..header("10.0.0.1")
    });
    own[..6].copy_from_slice(&mac(1, 1).0);
    assert_eq!(bench.one(B, &own).fate, Fate::Dropped(DropReason::Local));
    assert_eq!(bench.count("punted"), 1);
}

/// What the host sends from an own address leaves with its TTL, even the last one; anybody else's
/// is a martian, on other interfaces and with other sources.
#[test]
fn the_host_sends_with_the_routers_addresses() {
    let mut bench = bench();
    let from_host = |src: &str, ttl| {
        let mut bytes = datagram(Ipv4 {
            src: v4(src),
            ttl,
            ..header("10.0.0.2")
        });
        bytes[..6].copy_from_slice(&mac(1, 1).0);
        bytes
    };
    for ttl in [1, 64] {
        let fate = bench.one(B, &from_host("10.0.0.1", ttl)).fate;
        let Fate::Sent(sent) = fate else {
            panic!("{fate:?}");
        };
        assert_eq!((sent[0].0, sent[0].1[22]), (A, ttl));
        assert_eq!(sent[0].1[..6], mac(0, 2).0);
    }
    let fate = bench.one(B, &from_host("10.0.1.2", 1)).fate;
    assert_eq!(fate, Fate::Dropped(DropReason::TtlExpired));
    let mut elsewhere = from_host("10.0.0.1", 64);
    elsewhere[..6].copy_from_slice(&mac(0, 1).0);
    let fate = bench.one(A, &elsewhere).fate;
    assert_eq!(fate, Fate::Dropped(DropReason::MartianSource));
}

/// Too long for the host's link, of another VRF, or without a host: as ever.
#[test]
fn what_no_host_takes_is_refused() {
    let mut config = with_host();
    config.punt = Some(InterfaceId(2));
    let long = frame(
        Network::Ipv4(header("10.0.0.1"), super::lab::DATAGRAM),
        &[7; 1450],
    );
    let fate = Bench::new(&config).one(A, &long).fate;
    assert_eq!(fate, Fate::Dropped(DropReason::TooBig));
    let mut config = with_host();
    config.vrfs = vec!["red".to_owned()];
    config.interfaces[0].vrf = VrfId(1);
    for (config, packet) in [
        (config, datagram(header("10.0.0.1"))),
        (lab(), datagram(header("10.0.0.1"))),
        (lab(), datagram_v6(header_v6("fd00:0::1"))),
    ] {
        let outcome = Bench::new(&config).one(A, &packet);
        assert_eq!(outcome.fate, Fate::Dropped(DropReason::Local));
        assert!(outcome.told.is_some(), "port unreachable");
    }
    assert_eq!(
        with_host().behind(VrfId(0), ip("10.0.1.9")),
        Some(InterfaceId(1))
    );
}
