//! A router of two VRFs does with each packet what a router of that VRF alone would do.

use frame::PortId;
use wire::emit::{Ipv4, Ipv6};

use super::super::*;
use super::bench::Bench;
use super::lab::{A, datagram, datagram_v6, header, header_v6, lab, route, v4, v6, via};
use super::model::{Fate, Outcome};
use crate::DropReason;

const VLAN: u16 = 7;

/// The lab with routes of its own to where the lab has others.
fn other() -> RouterConfig {
    let routes = vec![
        route("10.9.0.0", 16, via("10.0.2.3")),
        route("10.9.8.0", 24, RouteAction::Prohibit),
        route("10.66.0.0", 16, via("10.0.1.3")),
        route("172.16.0.0", 12, via("10.0.1.2")),
        route("fd66::", 32, via("fd00:2::2")),
        route("fd09:8::", 32, RouteAction::Unreachable),
    ];
    RouterConfig { routes, ..lab() }
}

/// The lab, and the other one behind VLAN 7 of each port, with the same addresses.
fn both() -> RouterConfig {
    let (mut config, other) = (lab(), other());
    config.vrfs = vec!["other".to_owned()];
    let count = config.interfaces.len() as u16;
    let interfaces = other.interfaces.into_iter().map(|one| RouterInterface {
        name: format!("{}v", one.name),
        vrf: VrfId(1),
        tags: InterfaceTags::Vlan(VLAN),
        ..one
    });
    config.interfaces.extend(interfaces);
    let routes = other.routes.into_iter().map(|one| Route {
        vrf: VrfId(1),
        ..one
    });
    config.routes.extend(routes);
    let neighbours = other.neighbours.into_iter().map(|one| StaticNeighbours {
        interface: InterfaceId(one.interface.0 + count),
        ..one
    });
    config.neighbours.extend(neighbours);
    config
}

fn tagged(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0, VLAN as u8], &frame[12..]].concat()
}

/// What leaves, without the tag that it must have.
fn untagged(mut outcome: Outcome) -> Outcome {
    let strip = |(_, frame): &mut (PortId, Vec<u8>)| {
        assert_eq!(frame[12..16], [0x81, 0, 0, VLAN as u8]);
        frame.drain(12..16);
    };
    if let Fate::Sent(sent) = &mut outcome.fate {
        sent.iter_mut().for_each(strip);
    }
    outcome.told.iter_mut().for_each(strip);
    outcome
}

/// Packets to all that either VRF knows, own addresses and what nobody knows.
fn packets() -> Vec<Vec<u8>> {
    let to_v4 = [
        "10.9.1.1",
        "10.9.8.1",
        "10.9.8.200",
        "10.66.0.1",
        "10.67.0.1",
        "10.68.0.1",
        "172.16.1.1",
        "10.0.0.1",
        "10.0.1.1",
        "10.0.1.2",
        "10.0.2.3",
        "10.0.1.255",
        "10.0.1.77",
        "192.0.2.1",
    ];
    let to_v6 = [
        "fd09::1",
        "fd09:8::1",
        "fd66::1",
        "fd67::1",
        "fd68::1",
        "fd00:1::1",
        "fd00:1::2",
        "fd00:2::3",
        "2001:db8::1",
    ];
    let mut packets: Vec<Vec<u8>> = to_v4.iter().map(|to| datagram(header(to))).collect();
    packets.extend(to_v6.iter().map(|to| datagram_v6(header_v6(to))));
    // The last hop, and a source that is the router's own or leads elsewhere.
    packets.push(datagram(Ipv4 {
        ttl: 1,
        ..header("10.9.1.1")
    }));
    for src in ["10.0.1.1", "10.66.0.9", "172.16.0.9"] {
        packets.push(datagram(Ipv4 {
            src: v4(src),
            ..header("10.9.1.1")
        }));
    }
    packets.push(datagram_v6(Ipv6 {
        src: v6("fd66::9"),
        ..header_v6("fd09::1")
    }));
    packets
}

#[test]
fn each_vrf_is_a_router_of_its_own() {
    for reverse_path in [ReversePath::Off, ReversePath::Loose, ReversePath::Strict] {
        let bench = |config| {
            Bench::new(&RouterConfig {
                reverse_path,
                ..config
            })
        };
        let (mut one, mut other) = (bench(lab()), bench(other()));
        let mut both = bench(both());
        let plain = packets();
        // Packets of both are in one burst, by turns and alone.
        let mixed: Vec<Vec<u8>> = plain.iter().flat_map(|p| [p.clone(), tagged(p)]).collect();
        let mut outcomes = both.burst(A, &mixed).into_iter();
        for frame in &plain {
            assert_eq!(outcomes.next(), Some(one.one(A, frame)), "{frame:x?}");
            let outcome = outcomes.next().map(untagged);
            assert_eq!(outcome, Some(other.one(A, frame)), "{frame:x?}");
        }
    }
}

/// An address that a VRF does not have is no more its own than anybody else's.
#[test]
fn own_addresses_are_those_of_the_vrf() {
    let mut config = both();
    config.interfaces[3].addresses[0].address = super::lab::ip("10.0.0.77");
    let mut bench = Bench::new(&config);
    let to_own = datagram(header("10.0.0.77"));
    assert_eq!(bench.one(A, &to_own).fate, Fate::Waits);
    let of_vrf = bench.one(A, &tagged(&to_own));
    assert_eq!(of_vrf.fate, Fate::Dropped(DropReason::Local));
    assert!(of_vrf.told.is_some(), "port unreachable");
}

#[test]
fn vrfs_and_books_go_by_their_names() {
    let table = RouterTable::new(both()).expect("right settings");
    let config = table.config();
    assert_eq!(config.vrf_named("other"), Some(VrfId(1)));
    assert_eq!(config.vrf_named("lab"), None);
    assert_eq!(config.vrf_name(VrfId(1)), Some("other"));
    assert_eq!(config.vrf_name(VrfId(0)), None);
    let to = |vrf, address| {
        table
            .book(vrf)?
            .route_to(super::lab::ip(address))
            .map(|one| one.0.len)
    };
    assert_eq!(to(VrfId(0), "172.16.1.1"), None);
    assert_eq!(to(VrfId(1), "172.16.1.1"), Some(12));
    assert_eq!(to(VrfId(2), "172.16.1.1"), None);
    assert_eq!(table.books().count(), 2);
    let frame = datagram(header("10.9.1.1"));
    assert_eq!(table.vrf_of_frame(A, &frame), Some(VrfId(0)));
    assert_eq!(table.vrf_of_frame(A, &tagged(&frame)), Some(VrfId(1)));
    assert_eq!(table.vrf_of_frame(PortId(9), &frame), None);
}
