//! ICMP errors: both headers, both checksums, in both directions.

use super::packet::{ICMP, TCP, UDP, error, sum};
use super::*;

const SERVER: (&str, u16) = ("203.0.113.9", 443);
const OUTSIDE: &str = "198.51.100.1";
/// A router on the way.
const ROUTER: &str = "192.0.2.77";

/// Takes an error apart: its source, its destination and the packet that it quotes.
fn read(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
    assert_eq!(sum(&bytes[..20]), 0, "the header's checksum");
    assert_eq!(sum(&bytes[20..]), 0, "the message's checksum");
    let long = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four"));
    (long(12), long(16), bytes[28..].to_vec())
}

#[test]
fn an_error_about_a_translated_packet_reaches_its_sender_about_the_packet_it_sent() {
    for protocol in [TCP, UDP, ICMP] {
        for (kind, code) in [(3, 1), (3, 3), (3, 4), (11, 0), (12, 0)] {
            let mut bench = Bench::new(gateway());
            let blocker = Packet::new(protocol, ("10.0.0.3", 5000), SERVER);
            bench.pass(LAN, &blocker).expect("it takes the port");
            let sent = Packet::new(protocol, ("10.0.0.2", 5000), SERVER);
            let left = bench.pass(LAN, &sent).expect("it leaves");
            for from in [ROUTER, SERVER.0] {
                let told = bench.bytes(WAN, &error(kind, code, ip(from), &left.bytes()));
                let (src, dst, quote) = read(&told.expect("it passes"));
                assert_eq!((src, dst), (ip(from), ip("10.0.0.2")));
                assert_eq!(Packet::read(&quote), sent, "its checksums are right, too");
            }
        }
    }
}

#[test]
fn an_error_of_a_hidden_host_or_router_has_the_outside_address() {
    let mut bench = Bench::new(gateway());
    let sent = Packet::tcp(("203.0.113.9", 6000), (OUTSIDE, 8080));
    let came = bench.pass(WAN, &sent).expect("it is forwarded");
    for from in ["10.0.0.5", "10.0.0.254"] {
        let told = bench.bytes(LAN, &error(3, 3, ip(from), &came.bytes()));
        let (src, dst, quote) = read(&told.expect("it passes"));
        assert_eq!((src, dst), (ip(OUTSIDE), ip("203.0.113.9")));
        assert_eq!(Packet::read(&quote), sent);
    }
}

#[test]
fn an_error_with_8_bytes_of_its_packet_is_enough() {
    let mut bench = Bench::new(gateway());
    let sent = Packet::tcp(("10.0.0.2", 5000), SERVER);
    let left = bench.pass(LAN, &sent).expect("it leaves");
    let told = bench.bytes(WAN, &error(11, 0, ip(ROUTER), &left.bytes()[..28]));
    let (_, dst, quote) = read(&told.expect("it passes"));
    assert_eq!(dst, ip("10.0.0.2"));
    assert_eq!(quote[12..20], sent.bytes()[12..20]);
    assert_eq!(quote[20..28], sent.bytes()[20..28]);
}

/// Errors that are believed by nobody.
#[test]
fn an_error_that_is_about_no_flow_or_damaged_goes_nowhere() {
    let mut bench = Bench::new(gateway());
    let sent = Packet::tcp(("10.0.0.2", 5000), SERVER);
    let left = bench.pass(LAN, &sent).expect("it leaves");
    let whole = error(3, 1, ip(ROUTER), &left.bytes());
    let mut damaged = whole.clone();
    *damaged.last_mut().expect("bytes") ^= 1;
    let other = Packet {
        src_port: 5001,
        ..left.clone()
    };
    let rows = [
        damaged,
        error(3, 1, ip(ROUTER), &other.bytes()),
        error(3, 1, ip(ROUTER), &left.bytes()[..27]),
        error(3, 1, ip(ROUTER), &whole),
        {
            // It is told to another than who sent the packet.
            let mut bytes = whole.clone();
            bytes[16..20].copy_from_slice(&ip("198.51.100.7").to_be_bytes());
            packet::set_header_sum(&mut bytes);
            bytes
        },
    ];
    for bytes in rows {
        let arrival = Arrival {
            from: WAN,
            now: bench.now,
        };
        let arrived = bench.nat.arrive(&bench.table, &arrival, &bytes);
        assert!(
            matches!(arrived, Arrived::Other(DropReason::NatUnrelated)),
            "{arrived:?}"
        );
        // From inside it must not leave.
        let mut outward = bytes.clone();
        outward[12..16].copy_from_slice(&ip("10.0.0.9").to_be_bytes());
        outward[16..20].copy_from_slice(&ip(SERVER.0).to_be_bytes());
        packet::set_header_sum(&mut outward);
        assert_eq!(bench.bytes(LAN, &outward), Err(DropReason::NatUnrelated));
    }
}

#[test]
fn errors_keep_no_flow_alive() {
    let mut bench = Bench::new(gateway());
    let sent = Packet::udp(("10.0.0.2", 5000), SERVER);
    let left = bench.pass(LAN, &sent).expect("it leaves");
    for _ in 0..2 {
        bench.wait(59);
        let told = bench.bytes(WAN, &error(3, 1, ip(ROUTER), &left.bytes()));
        told.expect("the flow is there");
    }
    bench.wait(3);
    let arrival = Arrival {
        from: WAN,
        now: bench.now,
    };
    let late = bench
        .nat
        .arrive(&bench.table, &arrival, &left.answer().bytes());
    assert!(!late.is_redirected(), "the flow is over");
    bench.wait(20);
    assert_eq!(bench.nat.flows.len(), 0);
}
