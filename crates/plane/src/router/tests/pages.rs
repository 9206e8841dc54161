//! Neighbours as the control side asks for them, a page at a time.

use std::any::Any;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use stack::neighbours::{How, Key};

use super::super::*;
use super::bench::Bench;
use super::lab::{A, datagram, header, lab, mac, route};
use super::model::Fate;
use crate::DropReason;

/// The address of a host behind port 1.
fn host(number: u32) -> IpAddr {
    Ipv4Addr::from_bits(0x0A00_0100 + number).into()
}

/// A router that so many hosts have asked for its address, at a time when it was called.
fn known(hosts: u32) -> Bench {
    let mut bench = Bench::new(&RouterConfig {
        neighbours_max: 2048,
        neighbours: Vec::new(),
        ..lab()
    });
    bench.poll_at(1000);
    for number in 0..hosts {
        let heard = Heard {
            key: Key {
                interface: 1,
                address: host(number),
            },
            mac: Some(mac(1, number as u8)),
            how: How::Request { of_us: true },
        };
        bench.router.neighbours.hear(&heard, bench.router.now);
    }
    bench.poll_at(2500);
    bench
}

/// One page and where the next begins. Its memory is that of the request.
fn page(router: &mut Router, from: usize) -> (Vec<KnownNeighbour>, Option<usize>) {
    let mut request = RouterRequest::neighbours(from);
    router.control(&mut request);
    match request {
        RouterRequest::Neighbours { from, entries } => {
            assert_eq!(
                entries.capacity(),
                ROUTER_PAGE,
                "a worker does not allocate"
            );
            (entries, from)
        }
        RouterRequest::Nat { .. } | RouterRequest::Replace(_) | RouterRequest::Follow(_) => {
            panic!("another answer")
        }
    }
}

#[test]
fn pages_hold_each_neighbour_once() {
    let one = ROUTER_PAGE as u32;
    for (hosts, pages) in [(0, 1), (1, 1), (one, 1), (one + 1, 2), (3 * one - 1, 3)] {
        let mut bench = known(hosts);
        let (mut all, mut next, mut count) = (BTreeMap::new(), Some(0), 0);
        while let Some(from) = next {
            let (entries, behind) = page(&mut bench.router, from);
            for entry in entries {
                let before = all.insert(entry.address, entry);
                assert_eq!(before, None, "{hosts} hosts");
            }
            (next, count) = (behind, count + 1);
        }
        assert_eq!((count, all.len()), (pages, hosts as usize), "{hosts} hosts");
        for (number, (address, entry)) in (0..hosts).zip(all) {
            let expected = KnownNeighbour {
                interface: InterfaceId(1),
                address: host(number),
                mac: Some(mac(1, number as u8)),
                state: "stale",
                age_ms: 1500,
            };
            assert_eq!((address, entry), (host(number), expected));
        }
    }
}

#[test]
fn other_routes_are_gone_by_from_the_next_burst_on() {
    let mut bench = Bench::new(&lab());
    let frame = datagram(header("198.51.100.9"));
    let blackhole = RouterConfig {
        routes: vec![route("198.51.100.0", 24, RouteAction::Blackhole)],
        ..lab()
    };
    let fewer = RouterConfig {
        interfaces: Vec::from(&lab().interfaces[..1]),
        routes: Vec::new(),
        neighbours: Vec::new(),
        ..lab()
    };
    let before = bench.one(A, &frame);
    let dropped = Fate::Dropped(DropReason::Blackhole);
    assert_ne!(before.fate, dropped);
    for (config, is_taken) in [(fewer, false), (blackhole, true)] {
        let table = Arc::new(RouterTable::new(config).expect("settings"));
        let mut request = RouterRequest::Replace(Arc::clone(&table));
        bench.router.control(&mut request);
        assert_eq!(Arc::ptr_eq(bench.router.table(), &table), is_taken);
        assert_eq!(bench.one(A, &frame).fate == dropped, is_taken);
    }
}

#[test]
fn what_is_behind_the_end_or_unknown_gives_nothing() {
    let mut bench = known(3);
    for from in [3, 4, usize::MAX] {
        let (entries, next) = page(&mut bench.router, from);
        assert_eq!((entries.len(), next), (0, None), "{from}");
    }
    let mut other: u32 = 7;
    bench.router.control(&mut other as &mut dyn Any);
    assert_eq!(other, 7);
}
