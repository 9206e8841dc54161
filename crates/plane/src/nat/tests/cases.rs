//! What becomes of single packets: tables.

use super::packet::{ACK, FIN, ICMP, RST, SYN, TCP, UDP, ipv4, set_header_sum};
use super::*;

const SERVER: (&str, u16) = ("203.0.113.9", 443);
const OUTSIDE: &str = "198.51.100.1";

#[test]
fn a_host_behind_masquerade_speaks_by_the_outside_address_and_is_answered() {
    let mut bench = Bench::new(gateway());
    for sent in [
        Packet::tcp(("10.0.0.2", 5000), SERVER),
        Packet::udp(("10.0.0.2", 5000), SERVER),
        Packet::echo("10.0.0.2", SERVER.0, 77),
        Packet::echo("10.0.0.2", SERVER.0, 8),
        Packet::echo("10.0.0.2", SERVER.0, 0),
    ] {
        let left = bench.pass(LAN, &sent).expect("it leaves");
        let wanted = Packet {
            src: ip(OUTSIDE),
            ..sent.clone()
        };
        assert_eq!(left, wanted, "the port is kept where it is free");
        let back = bench.pass(WAN, &left.answer()).expect("the answer comes");
        assert_eq!(back, sent.answer());
        // Once more, both ways.
        assert_eq!(bench.pass(LAN, &sent), Ok(left.clone()));
        assert_eq!(bench.pass(WAN, &left.answer()), Ok(sent.answer()));
    }
    assert_eq!(bench.nat.counts.begun, 5);
}

#[test]
fn two_hosts_with_one_port_get_two() {
    let mut bench = Bench::new(gateway());
    for protocol in [TCP, UDP, ICMP] {
        let [one, other] =
            ["10.0.0.2", "10.0.0.3"].map(|host| Packet::new(protocol, (host, 5000), SERVER));
        let left = [&one, &other].map(|sent| bench.pass(LAN, sent).expect("it leaves"));
        assert_eq!(left[0].src_port, 5000);
        assert_ne!(left[1].src_port, 5000);
        for (sent, left) in [one, other].iter().zip(&left) {
            assert_eq!(bench.pass(WAN, &left.answer()), Ok(sent.answer()));
        }
    }
}

#[test]
fn ports_of_services_stay_among_themselves() {
    let mut bench = Bench::new(gateway());
    for host in 2..40 {
        let from = format!("10.0.0.{host}");
        let low = bench
            .pass(LAN, &Packet::udp((&from, 500), SERVER))
            .expect("it leaves");
        assert!((1..1024).contains(&low.src_port), "{low:?}");
        let high = bench
            .pass(LAN, &Packet::udp((&from, 5000), SERVER))
            .expect("it leaves");
        assert!(high.src_port >= 1024, "{high:?}");
    }
}

#[test]
fn nobody_outside_begins_what_no_rule_forwards() {
    let mut bench = Bench::new(gateway());
    let inside = [
        Packet::tcp(SERVER, ("10.0.0.2", 80)),
        Packet::udp(SERVER, ("10.1.0.2", 53)),
        Packet::echo(SERVER.0, "10.0.0.2", 1),
        Packet::echo(SERVER.0, "10.0.0.2", 1).answer().answer(),
    ];
    for sent in inside {
        assert_eq!(
            bench.pass(WAN, &sent),
            Err(DropReason::NatUnknown),
            "{sent:?}"
        );
    }
    assert_eq!(bench.nat.counts.begun, 0, "no memory is taken for them");
}

#[test]
fn hosts_on_both_sides_of_no_rule_are_left_alone() {
    let mut bench = Bench::new(gateway());
    let sent = Packet::tcp(("10.0.0.2", 5000), ("10.1.0.2", 80));
    assert_eq!(bench.pass(LAN, &sent), Ok(sent.clone()));
    assert_eq!(bench.pass(DMZ, &sent.answer()), Ok(sent.answer()));
    assert_eq!(bench.nat.counts.begun, 0);
}

#[test]
fn addresses_that_a_rule_accepts_keep_their_own_both_ways() {
    let mut config = gateway();
    config.sources.insert(
        0,
        SourceRule {
            matches: NatMatch {
                sources: vec![NatRange::one(ip("10.1.0.7"))],
                ..NatMatch::default()
            },
            action: SourceAction::Accept,
            ..masquerade()
        },
    );
    let mut bench = Bench::new(config);
    let sent = Packet::tcp(("10.1.0.7", 5000), SERVER);
    assert_eq!(bench.pass(DMZ, &sent), Ok(sent.clone()));
    let begun = Packet::tcp(SERVER, ("10.1.0.7", 25));
    assert_eq!(bench.pass(WAN, &begun), Ok(begun.clone()));
    assert_eq!(bench.pass(DMZ, &begun.answer()), Ok(begun.answer()));
    let other = Packet::tcp(SERVER, ("10.1.0.8", 25));
    assert_eq!(bench.pass(WAN, &other), Err(DropReason::NatUnknown));
}

#[test]
fn a_forwarded_port_leads_inside_and_the_answer_has_the_outside_address() {
    let mut bench = Bench::new(gateway());
    let sent = Packet::tcp(("203.0.113.9", 6000), (OUTSIDE, 8080));
    let came = bench.pass(WAN, &sent).expect("it is forwarded");
    assert_eq!((came.dst, came.dst_port), (ip("10.0.0.5"), 80));
    assert_eq!((came.src, came.src_port), (sent.src, 6000));
    assert_eq!(bench.pass(LAN, &came.answer()), Ok(sent.answer()));
    // Other ports and protocols are not.
    for other in [
        Packet::tcp(("203.0.113.9", 6000), (OUTSIDE, 8081)),
        Packet::udp(("203.0.113.9", 6000), (OUTSIDE, 8080)),
    ] {
        assert!(
            !bench
                .nat
                .arrive(
                    &bench.table,
                    &Arrival {
                        from: WAN,
                        now: bench.now
                    },
                    &other.bytes()
                )
                .is_redirected()
        );
    }
}

#[test]
fn an_inside_host_reaches_a_forwarded_port_by_the_outside_address() {
    let mut bench = Bench::new(gateway());
    for client in ["10.0.0.2", "10.1.0.2", "10.0.0.5"] {
        let sent = Packet::tcp((client, 7000), (OUTSIDE, 8080));
        let came = bench.pass(behind(sent.src), &sent).expect("a hairpin");
        assert_eq!((came.dst, came.dst_port), (ip("10.0.0.5"), 80));
        assert_eq!(came.src, ip(OUTSIDE), "so that the answer comes back here");
        let back = bench.pass(LAN, &came.answer()).expect("the answer");
        assert_eq!(back, sent.answer());
    }
    let mut config = gateway();
    config.hairpin = false;
    let mut bench = Bench::new(config);
    let sent = Packet::tcp(("10.0.0.2", 7000), (OUTSIDE, 8080)).bytes();
    let arrival = Arrival {
        from: LAN,
        now: bench.now,
    };
    let arrived = bench.nat.arrive(&bench.table, &arrival, &sent);
    assert!(
        !arrived.is_redirected(),
        "without hairpins it is for the router"
    );
}

#[test]
fn what_cannot_be_translated_does_not_leave() {
    let bench = || Bench::new(gateway());
    let from = |protocol: u8, payload: &[u8]| ipv4(protocol, ip("10.0.0.2"), ip(SERVER.0), payload);
    let later = {
        let mut bytes = from(UDP, &[0; 64]);
        bytes[7] = 8;
        set_header_sum(&mut bytes);
        bytes
    };
    let rows: [(Vec<u8>, &str); 8] = [
        (from(47, &[0; 40]), "nat_protocol"),
        (from(50, &[0; 40]), "nat_protocol"),
        (from(ICMP, &[13, 0, 0, 0, 0, 0, 0, 0]), "nat_protocol"),
        (from(TCP, &[0; 19]), "tcp_truncated"),
        (from(UDP, &[0; 7]), "udp_truncated"),
        (from(ICMP, &[8; 7]), "icmp_truncated"),
        (from(ICMP, &[3, 1, 0, 0, 0, 0, 0, 0, 0x45]), "nat_unrelated"),
        (later, "nat_fragment"),
    ];
    for (bytes, reason) in rows {
        let dropped = bench().bytes(LAN, &bytes).expect_err(reason);
        assert_eq!(dropped.name(), reason);
        // Between inside networks nobody minds.
        let mut between = bytes.clone();
        between[16..20].copy_from_slice(&ip("10.1.0.2").to_be_bytes());
        set_header_sum(&mut between);
        assert_eq!(bench().bytes(LAN, &between), Ok(between));
    }
    let reply = Packet::echo("10.0.0.2", SERVER.0, 9).answer();
    let reply = Packet {
        src: ip("10.0.0.2"),
        dst: ip(SERVER.0),
        ..reply
    };
    assert_eq!(bench().pass(LAN, &reply), Err(DropReason::NatUnknown));
}

#[test]
fn later_fragments_follow_the_first_one_both_ways() {
    let mut bench = Bench::new(gateway());
    let whole = Packet {
        payload: vec![7; 40],
        ..Packet::udp(("10.0.0.2", 5000), SERVER)
    };
    let [first, later] = fragments(&whole.bytes());
    assert_eq!(bench.bytes(LAN, &later), Err(DropReason::NatFragment));
    let left = joined(&[
        bench.bytes(LAN, &first).expect("the first"),
        bench.bytes(LAN, &later).expect("the second"),
    ]);
    let left = Packet::read(&left);
    assert_eq!(
        left,
        Packet {
            src: ip(OUTSIDE),
            ..whole.clone()
        }
    );
    let [first, later] = fragments(&left.answer().bytes());
    let back = joined(&[
        bench.bytes(WAN, &first).expect("the first"),
        bench.bytes(WAN, &later).expect("the second"),
    ]);
    assert_eq!(Packet::read(&back), whole.answer());
    bench.wait(31);
    assert_eq!(
        bench.bytes(LAN, &later_of(&whole)),
        Err(DropReason::NatFragment)
    );
}

fn later_of(packet: &Packet) -> Vec<u8> {
    let [_, later] = fragments(&packet.bytes());
    later
}

/// Two fragments of a packet, the first with 24 bytes.
fn fragments(bytes: &[u8]) -> [Vec<u8>; 2] {
    let make = |data: &[u8], offset: u8, more: u8| {
        let mut piece = bytes[..20].to_vec();
        piece[2..4].copy_from_slice(&(20 + data.len() as u16).to_be_bytes());
        piece[6] = more << 5;
        piece[7] = offset;
        set_header_sum(&mut piece);
        piece.extend(data);
        piece
    };
    [make(&bytes[20..44], 0, 1), make(&bytes[44..], 3, 0)]
}

fn joined(pieces: &[Vec<u8>; 2]) -> Vec<u8> {
    let mut bytes = pieces[0].clone();
    bytes.extend(&pieces[1][20..]);
    let len = bytes.len() as u16;
    bytes[2..4].copy_from_slice(&len.to_be_bytes());
    bytes[6..8].fill(0);
    set_header_sum(&mut bytes);
    assert_eq!(pieces[0][12..20], pieces[1][12..20], "the same addresses");
    bytes
}

#[test]
fn a_datagram_without_a_checksum_stays_without_one() {
    let mut bench = Bench::new(gateway());
    let mut bytes = Packet::udp(("10.0.0.2", 5000), SERVER).bytes();
    bytes[26..28].fill(0);
    let left = bench.bytes(LAN, &bytes).expect("it leaves");
    assert_eq!(left[26..28], [0, 0]);
    assert_eq!(left[12..16], ip(OUTSIDE).to_be_bytes());
}

/// Flags of segments, from inside (`>`) and outside (`<`), and the state after them.
#[test]
fn the_state_of_a_connection_follows_its_segments() {
    let rows: [(&[(char, u8)], &str); 8] = [
        (&[('>', SYN)], "new"),
        (&[('>', SYN), ('<', SYN | ACK)], "new"),
        (&[('>', SYN), ('<', SYN | ACK), ('>', ACK)], "established"),
        (&[('>', ACK), ('<', ACK), ('>', ACK)], "established"),
        (&[('>', SYN), ('<', RST | ACK)], "closing"),
        (
            &[('>', SYN), ('<', SYN | ACK), ('>', ACK), ('>', FIN | ACK)],
            "established",
        ),
        (
            &[
                ('>', SYN),
                ('<', SYN | ACK),
                ('>', ACK),
                ('>', FIN | ACK),
                ('<', FIN | ACK),
            ],
            "closing",
        ),
        (&[('>', SYN), ('<', RST), ('>', SYN)], "new"),
    ];
    for (segments, state) in rows {
        let mut bench = Bench::new(gateway());
        let sent = Packet::tcp(("10.0.0.2", 5000), SERVER);
        for &(way, flags) in segments {
            let answer = Packet {
                dst: ip(OUTSIDE),
                ..sent.answer()
            };
            let passed = match way {
                '>' => bench.pass(LAN, &sent.with_flags(flags)),
                _ => bench.pass(WAN, &answer.with_flags(flags)),
            };
            passed.expect("it passes");
        }
        let mut entries = Vec::with_capacity(NAT_PAGE);
        bench.nat.page(&bench.table, bench.now, 0, &mut entries);
        assert_eq!(entries[0].state, state, "{segments:?}");
    }
}
