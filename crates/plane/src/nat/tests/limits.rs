//! Bounds: ports, flows, flows of an address, time.

use super::packet::{ACK, ICMP, RST, SYN, TCP, UDP};
use super::*;

const SERVER: (&str, u16) = ("203.0.113.9", 443);

fn small_pool(endpoint_independent: bool) -> NatConfig {
    NatConfig {
        sources: vec![source_rule(SourcePool {
            addresses: Some(NatRange {
                first: ip("198.51.100.10"),
                last: ip("198.51.100.11"),
            }),
            ports: Some(NatRange {
                first: 4000,
                last: 4009,
            }),
            endpoint_independent,
        })],
        ..NatConfig::default()
    }
}

#[test]
fn a_pool_is_used_to_its_last_port_and_then_says_so() {
    for endpoint_independent in [false, true] {
        let mut bench = Bench::new(small_pool(endpoint_independent));
        let mut seen = std::collections::HashSet::new();
        for port in 0..20 {
            let left = bench.pass(LAN, &Packet::udp(("10.0.0.2", 1000 + port), SERVER));
            let left = left.expect("there are ports");
            assert!((4000..=4009).contains(&left.src_port));
            assert!(seen.insert((left.src, left.src_port)), "each once");
        }
        let more = Packet::udp(("10.0.0.2", 2000), SERVER);
        assert_eq!(bench.pass(LAN, &more), Err(DropReason::NatPorts));
        // To another destination the same ports serve again, unless they are one host's alone.
        let elsewhere = Packet::udp(("10.0.0.2", 2000), ("203.0.113.10", 443));
        assert_eq!(bench.pass(LAN, &elsewhere).is_ok(), !endpoint_independent);
        // When flows are over, their ports are free.
        bench.wait(1000);
        bench.wait(1000);
        bench.pass(LAN, &more).expect("all are free again");
    }
}

#[test]
fn an_inside_address_keeps_its_outside_address() {
    let mut config = small_pool(false);
    config.sources[0] = source_rule(SourcePool {
        addresses: Some(NatRange {
            first: ip("198.51.100.10"),
            last: ip("198.51.100.29"),
        }),
        ports: None,
        endpoint_independent: false,
    });
    let mut bench = Bench::new(config);
    let mut used = std::collections::HashSet::new();
    for host in 0..100 {
        let from = format!("10.0.1.{host}");
        let of = |port| Packet::udp((&from, port), SERVER);
        let own = [1000, 2000, 3000].map(|port| bench.pass(LAN, &of(port)).expect("ports").src);
        assert!(own.iter().all(|&address| address == own[0]), "paired");
        used.insert(own[0]);
    }
    assert!(used.len() > 15, "all of the pool is used, {}", used.len());
}

#[test]
fn unknown_packets_to_a_pool_go_nowhere() {
    let mut bench = Bench::new(small_pool(false));
    for from in [WAN, LAN] {
        let sent = Packet::udp(("203.0.113.9", 1), ("198.51.100.10", 4000));
        assert_eq!(bench.pass(from, &sent), Err(DropReason::NatUnknown));
    }
}

#[test]
fn the_table_and_an_address_have_their_bounds() {
    let mut config = gateway();
    config.flows_max = 10;
    config.flows_per_address = 4;
    let mut bench = Bench::new(config);
    let of = |host: u8, port| Packet::udp((&format!("10.0.0.{host}"), port), SERVER);
    for port in 0..4 {
        bench.pass(LAN, &of(2, 1000 + port)).expect("its share");
    }
    assert_eq!(bench.pass(LAN, &of(2, 1004)), Err(DropReason::NatLimit));
    for port in 0..6 {
        bench
            .pass(LAN, &of(3 + port as u8 % 2, 1000 + port))
            .expect("room");
    }
    assert_eq!(bench.pass(LAN, &of(9, 1000)), Err(DropReason::NatFull));
    // Flows that are there go on.
    bench.pass(LAN, &of(2, 1000)).expect("known");
    bench.wait(119);
    bench.pass(LAN, &of(2, 1000)).expect("known");
    // Others are over now, and a new one finds room.
    bench.wait(2);
    bench.wait(20);
    bench.pass(LAN, &of(2, 1004)).expect("room");
    assert_eq!(bench.nat.flows.len(), 2);
}

/// Protocol, flags of segments from both sides in turn, and the seconds that the flow lasts.
#[test]
fn flows_last_as_long_as_their_state_says() {
    let rows: [(u8, &[u8], u64); 6] = [
        (UDP, &[0], 120),
        (UDP, &[0, 0], 300),
        (ICMP, &[0, 0], 60),
        (TCP, &[SYN], 240),
        (TCP, &[SYN, SYN | ACK, ACK], 7440),
        (TCP, &[SYN, RST], 240),
    ];
    for (protocol, segments, lasts) in rows {
        for (seconds, is_there) in [(lasts - 1, true), (lasts + 1, false)] {
            let mut bench = Bench::new(gateway());
            let sent = Packet::new(protocol, ("10.0.0.2", 5000), SERVER);
            let answer = Packet {
                dst: ip("198.51.100.1"),
                ..sent.answer()
            };
            for (at, &flags) in segments.iter().enumerate() {
                let passed = match at % 2 {
                    0 => bench.pass(LAN, &sent.with_flags(flags)),
                    _ => bench.pass(WAN, &answer.with_flags(flags)),
                };
                passed.expect("it passes");
            }
            // Nothing polls: the packet itself finds that the flow is over.
            bench.now = Nanos(bench.now.0 + seconds * 1_000_000_000);
            let arrival = Arrival {
                from: WAN,
                now: bench.now,
            };
            let arrived = bench.nat.arrive(&bench.table, &arrival, &answer.bytes());
            assert_eq!(
                arrived.is_redirected(),
                is_there,
                "{protocol} {segments:?} {seconds}"
            );
            // What is over is freed an eighth of the time later at most.
            bench.wait(lasts / 8 + 1);
            assert_eq!(bench.nat.flows.len() == 0, !is_there);
        }
    }
}

#[test]
fn an_endpoint_independent_mapping_is_one_for_all() {
    let mut config = gateway();
    config.destinations.clear();
    config.sources = vec![source_rule(SourcePool {
        addresses: None,
        ports: None,
        endpoint_independent: true,
    })];
    let mut bench = Bench::new(config);
    let taken = Packet::udp(("10.0.0.3", 5000), SERVER);
    bench.pass(LAN, &taken).expect("it leaves");
    let sent = Packet::udp(("10.0.0.2", 5000), SERVER);
    let left = bench.pass(LAN, &sent).expect("it leaves");
    assert_ne!(left.src_port, 5000, "that is the other host's");
    let elsewhere = Packet::udp(("10.0.0.2", 5000), ("203.0.113.77", 9));
    assert_eq!(
        bench.pass(LAN, &elsewhere).expect("it leaves").src_port,
        left.src_port
    );
    // Anybody reaches it there, from outside and from inside.
    let stranger = Packet {
        dst: left.src,
        dst_port: left.src_port,
        ..Packet::udp(("192.0.2.200", 99), SERVER)
    };
    let came = bench.pass(WAN, &stranger).expect("it is open");
    assert_eq!((came.dst, came.dst_port), (ip("10.0.0.2"), 5000));
    assert_eq!(bench.pass(LAN, &came.answer()), Ok(stranger.answer()));
    let neighbour = Packet {
        src: ip("10.0.0.3"),
        ..stranger.clone()
    };
    let came = bench.pass(LAN, &neighbour).expect("a hairpin");
    assert_eq!((came.dst, came.dst_port), (ip("10.0.0.2"), 5000));
    assert_eq!(came.src, ip("198.51.100.1"));
    assert_eq!(bench.pass(LAN, &came.answer()), Ok(neighbour.answer()));
    // The mapping goes when its flows are gone.
    for _ in 0..40 {
        bench.wait(60);
    }
    assert_eq!(bench.nat.flows.len(), 0);
}
