//! Damaged and random bytes: no panic, nothing of the inside seen outside, no record lost.

use super::packet::{error, set_header_sum};
use super::*;

/// SplitMix64.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// A sound packet, some of whose bytes are others now, with a header that a router lets pass.
fn damaged(state: &mut u64) -> Vec<u8> {
    let host = format!("10.0.0.{}", draw(state) % 4 + 2);
    let protocol = [6, 17, 1, 47][draw(state) as usize % 4];
    let port = draw(state) as u16;
    let sent = Packet::new(protocol % 47, (&host, port), ("203.0.113.9", 443));
    let mut bytes = match protocol {
        47 => packet::ipv4(47, ip(&host), ip("203.0.113.9"), &[0; 24]),
        _ => sent.bytes(),
    };
    if draw(state).is_multiple_of(3) {
        bytes = error(3, 4, ip("192.0.2.7"), &bytes);
    }
    for _ in 0..draw(state) % 6 {
        let at = draw(state) as usize % bytes.len();
        if !(12..20).contains(&at) {
            bytes[at] = draw(state) as u8;
        }
    }
    // The router has looked at version, lengths and checksum.
    bytes[0] = 0x45;
    let len = (20 + draw(state) as usize % 60).min(bytes.len());
    bytes.truncate(len);
    let len = len as u16;
    bytes[2..4].copy_from_slice(&len.to_be_bytes());
    set_header_sum(&mut bytes);
    bytes
}

#[test]
fn nothing_damaged_leaves_with_an_inside_address() {
    let mut state = 7;
    for endpoint_independent in [false, true] {
        let mut config = gateway();
        config.flows_max = 500;
        config.sources = vec![source_rule(SourcePool {
            addresses: None,
            ports: None,
            endpoint_independent,
        })];
        let mut bench = Bench::new(config);
        for number in 0..100_000 {
            let bytes = damaged(&mut state);
            let from = [LAN, DMZ, WAN][draw(&mut state) as usize % 3];
            if let Ok(left) = bench.bytes(from, &bytes) {
                let [src, dst] = [12, 16]
                    .map(|at| u32::from_be_bytes(left[at..at + 4].try_into().expect("four bytes")));
                let is_inside = behind(src) != WAN;
                let leaves = behind(dst) == WAN;
                assert!(
                    !(is_inside && leaves),
                    "{number} by {from}: {bytes:?} {left:?}"
                );
                assert_eq!(left.len(), bytes.len());
                assert_eq!(packet::sum(&left[..20]), 0);
            }
            if number % 1000 == 0 {
                bench.wait(draw(&mut state) % 200);
            }
        }
        for _ in 0..10_000 {
            bench.wait(600);
        }
        assert_eq!(bench.nat.flows.len(), 0);
    }
}
