//! Frames that wait for their next hop: in order, a few of each, and not for ever.

use std::net::IpAddr;

use frame::PortId;
use wire::MacAddress;
use wire::neighbour::{NeighbourKind, NeighbourMessage, Speaker};

use super::super::*;
use super::bench::{Bench, MS};
use super::lab::{A, B, datagram, datagram_v6, header, header_v6, ip, lab, mac};
use super::model::{Fate, Leaves, Outcome};
use crate::DropReason;

/// What is told of a frame of ARP or neighbour discovery.
fn message(leaves: &Leaves) -> (PortId, NeighbourMessage) {
    let (port, bytes) = leaves;
    let kind = u16::from_be_bytes([bytes[12], bytes[13]]);
    let read = NeighbourMessage::read(kind, &bytes[14..]);
    (*port, read.expect("a message"))
}

/// An answer to the router's request on port 1, by a host there.
fn answer(host: IpAddr, own: IpAddr) -> Vec<u8> {
    let mut bytes = vec![0; 94];
    let speaker = Speaker {
        mac: mac(1, 77),
        tags: &[],
        is_router: false,
    };
    let len = speaker
        .answer(host, own, mac(1, 1), &mut bytes)
        .expect("room");
    bytes.truncate(len);
    bytes
}

fn numbered(dst: &str, number: u16) -> Vec<u8> {
    let mut header = header(dst);
    header.identification = number;
    datagram(header)
}

fn waits() -> Outcome {
    Outcome {
        fate: Fate::Waits,
        told: None,
    }
}

fn full() -> Outcome {
    Outcome {
        fate: Fate::Dropped(DropReason::Unresolved),
        told: None,
    }
}

/// The identification of a packet.
fn number(leaves: &Leaves) -> u16 {
    u16::from_be_bytes([leaves.1[18], leaves.1[19]])
}

#[test]
fn packets_wait_for_an_answer_and_leave_in_order() {
    for (host, own, first) in [
        ("10.0.1.77", "10.0.1.1", datagram(header("10.0.1.77"))),
        (
            "fd00:1::77",
            "fd00:1::1",
            datagram_v6(header_v6("fd00:1::77")),
        ),
    ] {
        let mut bench = Bench::new(&lab());
        assert_eq!(bench.one(A, &first), waits(), "{host}");
        let polled = bench.poll();
        let [asked] = &polled.made[..] else {
            panic!("one request: {polled:?}");
        };
        let (port, asked) = message(asked);
        assert_eq!((port, asked.target, asked.sender), (B, ip(host), ip(own)));
        assert_eq!(
            (asked.mac, asked.kind),
            (Some(mac(1, 1)), NeighbourKind::Request)
        );
        assert_eq!(
            bench.one(B, &answer(ip(host), ip(own))).fate,
            Fate::Consumed
        );
        let polled = bench.poll();
        let [(port, bytes)] = &polled.released[..] else {
            panic!("one packet: {polled:?}");
        };
        assert_eq!((*port, &bytes[..6]), (B, &mac(1, 77).0[..]));
        // The next one need not wait.
        assert_eq!(
            bench.one(A, &first).fate,
            Fate::Sent(vec![(B, bytes.clone())])
        );
    }
}

/// Each row: the port whose link goes down, and what becomes of the next packet.
#[test]
fn neighbours_behind_a_link_that_went_down_are_asked_for_anew() {
    let packet = datagram(header("10.0.1.77"));
    for (down, waits_again) in [(A, false), (B, true)] {
        let mut bench = Bench::new(&lab());
        bench.one(A, &packet);
        bench.poll();
        bench.one(B, &answer(ip("10.0.1.77"), ip("10.0.1.1")));
        bench.poll();
        bench.router.control(&mut LinkDown(down));
        let outcome = bench.one(A, &packet);
        assert_eq!(outcome == waits(), waits_again, "{down}: {outcome:?}");
        let is_static = bench.one(A, &datagram(header("10.0.1.2"))) != waits();
        assert!(is_static, "{down}: a neighbour that is set stays");
    }
}

/// Packets count as forwarded when they leave, and not while they wait.
#[test]
fn packets_that_never_leave_are_not_forwarded() {
    let mut bench = Bench::new(&lab());
    let long = super::lab::frame(
        wire::emit::Network::Ipv4(header("10.0.2.77"), super::lab::DATAGRAM),
        &[7; 1472],
    );
    let to_router = super::lab::frame(
        wire::emit::Network::Ipv4(header("10.0.0.1"), super::lab::DATAGRAM),
        &[7; 18],
    );
    for (frame, host, own, then) in [
        // It waits in vain.
        (datagram(header("10.0.1.77")), "10.0.1.77", None, 0),
        (datagram(header("10.0.1.2")), "10.0.1.2", None, 1),
        (
            datagram(header("10.0.1.77")),
            "10.0.1.77",
            Some("10.0.1.1"),
            2,
        ),
        // Two pieces of one packet.
        (long, "10.0.2.77", Some("10.0.2.1"), 3),
        (to_router, "10.0.0.1", None, 3),
    ] {
        bench.one(A, &frame);
        bench.poll();
        if let Some(own) = own {
            let port = PortId(ip(own).to_string().as_bytes()[5] - b'0');
            let mut answered = answer(ip(host), ip(own));
            answered[..6].copy_from_slice(&mac(port.0, 1).0);
            bench.one(port, &answered);
        }
        for _ in 0..10 {
            bench.now = bench.now.after(1000 * MS);
            bench.poll();
        }
        assert_eq!(bench.count("forwarded_v4"), then, "{host} {own:?}");
    }
}

#[test]
fn few_wait_for_one_and_the_rest_is_dropped_in_silence() {
    let mut bench = Bench::new(&lab());
    let frames: Vec<_> = (0..20).map(|at| numbered("10.0.1.77", at)).collect();
    let outcomes = bench.burst(A, &frames);
    let kept = outcomes.iter().filter(|own| **own == waits()).count();
    assert_eq!((kept, bench.router.held()), (8, 8));
    assert!(
        outcomes[kept..].iter().all(|own| *own == full()),
        "{outcomes:?}"
    );
    bench.poll();
    bench.one(B, &answer(ip("10.0.1.77"), ip("10.0.1.1")));
    let released: Vec<u16> = bench.poll().released.iter().map(number).collect();
    assert_eq!(released, (0..8).collect::<Vec<u16>>());
    assert_eq!(bench.router.held(), 0);
}

#[test]
fn pieces_of_a_packet_wait_in_their_order() {
    let mut bench = Bench::new(&lab());
    let long = super::lab::frame(
        wire::emit::Network::Ipv4(header("10.0.2.77"), super::lab::DATAGRAM),
        &[7; 1472],
    );
    assert_eq!(bench.one(A, &long), waits());
    bench.poll();
    let mut answered = answer(ip("10.0.2.77"), ip("10.0.2.1"));
    answered[..6].copy_from_slice(&mac(2, 1).0);
    bench.one(PortId(2), &answered);
    let released = bench.poll().released;
    let offsets: Vec<[u8; 2]> = released.iter().map(|(_, own)| [own[20], own[21]]).collect();
    assert_eq!(offsets, [[0x20, 0], [0, 172]]);
}

#[test]
fn who_does_not_answer_is_asked_again_and_then_its_packets_are_reported() {
    let mut bench = Bench::new(&lab());
    let packet = numbered("10.0.1.77", 1);
    assert_eq!(bench.one(A, &packet), waits());
    let mut requests = 0;
    let mut failed = None;
    for ms in (1000..9000).step_by(100) {
        let polled = bench.poll_at(ms);
        requests += polled.made.iter().filter(|own| own.0 == B).count();
        if !polled.dropped.is_empty() {
            failed = Some((ms, polled));
        }
    }
    assert_eq!(requests, 3);
    let (ms, polled) = failed.expect("it fails");
    assert_eq!(ms, 4000, "three requests, a second each");
    assert_eq!(polled.dropped, [DropReason::Unresolved]);
    let [(port, error)] = &polled.made[..] else {
        panic!("one error: {polled:?}");
    };
    // Host unreachable, about the packet as it was to leave.
    assert_eq!((*port, &error[34..36]), (A, &[3, 1][..]));
    assert_eq!(error[42..62][4..8], packet[14..34][4..8]);
    assert_eq!(bench.router.held(), 0);
}

#[test]
fn while_one_counts_as_not_there_its_packets_are_reported_at_once() {
    let mut bench = Bench::new(&lab());
    bench.one(A, &numbered("10.0.1.77", 1));
    for ms in (1000..4100).step_by(100) {
        bench.poll_at(ms);
    }
    let outcome = bench.one(A, &numbered("10.0.1.77", 2));
    assert_eq!(outcome.fate, Fate::Dropped(DropReason::Unresolved));
    let (port, error) = outcome.told.expect("an error");
    assert_eq!((port, &error[34..36]), (A, &[3, 1][..]));
}

#[test]
fn a_scan_holds_a_bounded_number_and_known_hosts_go_on() {
    let mut bench = Bench::new(&lab());
    let mut left = 0;
    for host in 0..5000u32 {
        let far = format!("10.0.1.{}", 10 + host % 240);
        bench.one(A, &numbered(&far, host as u16));
        let known = bench.one(A, &numbered("10.0.1.2", 1));
        left += usize::from(matches!(known.fate, Fate::Sent(_)));
        if host % 64 == 0 {
            bench.poll();
        }
    }
    assert_eq!(left, 5000);
    assert_eq!(bench.router.held(), Router::HELD_MAX);
}

#[test]
fn what_others_say_of_our_addresses_is_not_believed() {
    let mut bench = Bench::new(&lab());
    let speaker = Speaker {
        mac: mac(1, 66),
        tags: &[],
        is_router: false,
    };
    let mut bytes = vec![0; 94];
    let len = speaker.announce(ip("10.0.1.1"), &mut bytes).expect("room");
    let outcome = bench.one(B, &bytes[..len]);
    assert_eq!(
        outcome,
        Outcome {
            fate: Fate::Consumed,
            told: None
        }
    );
    assert!(bench.router.neighbours().is_empty());
}

#[test]
fn requests_for_own_addresses_are_answered_and_no_others() {
    for (own, asker, answered) in [
        ("10.0.1.1", "10.0.1.50", true),
        ("10.0.0.1", "10.0.1.50", false),
        ("10.0.1.2", "10.0.1.50", false),
        ("fd00:1::1", "fd00:1::50", true),
        ("fe80::1", "fe80::50", true),
        ("fd00:0::1", "fd00:1::50", false),
        // A probe (RFC 5227, RFC 4862) is answered too.
        ("10.0.1.1", "0.0.0.0", true),
    ] {
        let mut bench = Bench::new(&lab());
        let speaker = Speaker {
            mac: mac(1, 50),
            tags: &[],
            is_router: false,
        };
        let mut bytes = vec![0; 94];
        let asked = speaker.request(ip(asker), ip(own), None, &mut bytes);
        let outcome = bench.one(B, &bytes[..asked.expect("room")]);
        assert_eq!(outcome.fate, Fate::Consumed, "{own}");
        assert_eq!(outcome.told.is_some(), answered, "{own} for {asker}");
        let Some(told) = outcome.told else { continue };
        let (port, told) = message(&told);
        assert_eq!((port, told.target, told.mac), (B, ip(own), Some(mac(1, 1))));
    }
}

#[test]
fn workers_tell_each_other_what_they_hear() {
    let mut links = Links::mesh(2, 16).into_iter();
    let mut linked = || Bench::linked(&lab(), links.next().expect("two"));
    let (mut one, mut other) = (linked(), linked());
    assert_eq!(one.one(A, &numbered("10.0.1.77", 1)), waits());
    one.poll();
    other.one(B, &answer(ip("10.0.1.77"), ip("10.0.1.1")));
    let released = one.poll().released;
    assert_eq!(released.len(), 1, "the answer came in at the other worker");
}

#[test]
fn own_addresses_are_announced_once_and_by_one_worker() {
    let config = RouterConfig {
        announces: true,
        ..lab()
    };
    let mut links = Links::mesh(2, 16).into_iter();
    for expected in [9, 0] {
        let mut bench = Bench::linked(&config, links.next().expect("two"));
        let made = bench.poll().made;
        assert_eq!(made.len(), expected);
        for leaves in &made {
            let (_, told) = message(leaves);
            assert_eq!(told.target, told.sender);
            assert_eq!(leaves.1[6..12], mac(leaves.0.0, 1).0);
        }
        assert_eq!(bench.poll().made, []);
    }
}

#[test]
fn no_frame_is_for_a_station_without_an_address() {
    let zero = MacAddress::default();
    let mut bench = Bench::new(&lab());
    bench.one(A, &numbered("10.0.1.77", 1));
    let polled = bench.poll();
    let all = polled.made.iter().chain(&polled.released);
    assert!(all.into_iter().all(|(_, bytes)| bytes[..6] != zero.0));
}
