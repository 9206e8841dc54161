//! A router that leaves neighbours and own addresses to the kernel.

use std::sync::Arc;

use wire::MacAddress;
use wire::neighbour::Speaker;

use super::super::*;
use super::bench::Bench;
use super::lab::{A, B, datagram, datagram_v6, header, header_v6, ip, lab, mac};
use super::model::Fate;
use crate::{DropReason, Ports};

const B_ID: InterfaceId = InterfaceId(1);

fn followed(told: Told) -> RouterRequest {
    RouterRequest::Follow(vec![Followed {
        interface: B_ID,
        address: ip("10.0.1.77"),
        told,
    }])
}

#[test]
fn what_is_for_the_host_ends_in_silence() {
    let mut bench = Bench::new(&lab());
    let _wants = bench.router.follow_kernel(Ports::NONE);
    let mut asked = vec![0; 94];
    let speaker = Speaker {
        mac: mac(0, 77),
        tags: &[],
        is_router: false,
    };
    let (host, own) = (ip("10.0.0.77"), ip("10.0.0.1"));
    let len = speaker.request(host, own, None, &mut asked).expect("room");
    asked.truncate(len);
    for frame in [
        asked,
        datagram(header("10.0.0.1")),
        datagram(header("10.0.1.1")),
    ] {
        let outcome = bench.one(A, &frame);
        assert_eq!((outcome.fate, outcome.told), (Fate::Consumed, None));
    }
    assert!(bench.poll().made.is_empty());
}

/// Each row: what the kernel tells of one that packets wait for, and whether the packet leaves.
#[test]
fn the_kernel_finds_neighbours_and_the_router_asks_nobody() {
    let found = MacAddress([2, 0, 0, 0, 9, 9]);
    for (told, leaves) in [(Told::Known(found), true), (Told::Failed, false)] {
        let mut bench = Bench::new(&lab());
        let mut wants = bench.router.follow_kernel(Ports::NONE);
        let packet = datagram(header("10.0.1.77"));
        assert_eq!(bench.one(A, &packet).fate, Fate::Waits);
        assert!(bench.poll().made.is_empty(), "the kernel asks");
        let wanted = Wanted {
            interface: B_ID,
            address: ip("10.0.1.77"),
        };
        assert_eq!((wants.take(), wants.take()), (Some(wanted), None));
        bench.router.control(&mut followed(told));
        let polled = bench.poll();
        assert_eq!(polled.released.len(), usize::from(leaves), "{told:?}");
        if leaves {
            let (port, bytes) = &polled.released[0];
            assert_eq!((*port, &bytes[..6]), (B, &found.0[..]));
        } else {
            assert_eq!(polled.dropped, [DropReason::Unresolved]);
        }
    }
}

#[test]
fn neighbours_of_the_kernel_outlive_their_link_and_their_time() {
    let mut bench = Bench::new(&lab());
    let _wants = bench.router.follow_kernel(Ports::NONE);
    bench.router.control(&mut followed(Told::Known(mac(1, 77))));
    bench.router.control(&mut LinkDown(B));
    bench.poll_at(3_600_000);
    let packet = datagram(header("10.0.1.77"));
    assert!(matches!(bench.one(A, &packet).fate, Fate::Sent(_)));
    bench.router.control(&mut followed(Told::Gone));
    assert_eq!(bench.one(A, &packet).fate, Fate::Waits);
}

/// A link that went away keeps its number, and one that is new gets another.
#[test]
fn interfaces_come_and_go_while_packets_wait() {
    let mut bench = Bench::new(&lab());
    let _wants = bench.router.follow_kernel(Ports::NONE);
    let packet = datagram(header("10.0.1.77"));
    assert_eq!(bench.one(A, &packet).fate, Fate::Waits);
    let mut config = lab();
    config.interfaces[1].is_up = false;
    config.interfaces[1].addresses.clear();
    let mut added = config.interfaces[1].clone();
    (added.name, added.tags, added.is_up) = ("new".to_owned(), InterfaceTags::Vlan(7), true);
    config.interfaces.push(added);
    let book = RouteBook::new([]).expect("memory");
    let table = Arc::new(RouterTable::of_book(config, &book, &[]));
    bench.router.control(&mut RouterRequest::Replace(table));
    let outcome = bench.one(B, &packet);
    assert_eq!(outcome.fate, Fate::Dropped(DropReason::NoInterface));
    bench.router.control(&mut followed(Told::Failed));
    assert_eq!(bench.poll().dropped, [DropReason::Unresolved]);
}

/// Each row: the ports whose frames the kernel sees, and whether the router tells of IPv4 and of
/// IPv6 packets without a route.
#[test]
fn a_sender_is_not_told_twice_that_there_is_no_route() {
    for (shared, told) in [(Ports::NONE, [true, true]), (Ports::ALL, [true, false])] {
        let mut bench = Bench::new(&lab());
        let _wants = bench.router.follow_kernel(shared);
        let packets = [
            datagram(header("10.250.0.1")),
            datagram_v6(header_v6("fd67::1")),
        ];
        let found = packets.map(|packet| bench.one(A, &packet).told.is_some());
        assert_eq!(found, told);
    }
}
