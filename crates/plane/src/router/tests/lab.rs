//! A router with three ports, hosts behind each, and routes of every kind; and frames for it.

use std::net::IpAddr;

use frame::PortId;
use wire::MacAddress;
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};

use super::super::*;

pub(super) const A: PortId = PortId(0);
pub(super) const B: PortId = PortId(1);

pub(super) fn ip(text: &str) -> IpAddr {
    text.parse().expect(text)
}

pub(super) fn v4(text: &str) -> u32 {
    match ip(text) {
        IpAddr::V4(own) => own.to_bits(),
        IpAddr::V6(_) => panic!("{text} is of IPv6"),
    }
}

pub(super) fn v6(text: &str) -> u128 {
    match ip(text) {
        IpAddr::V6(own) => own.to_bits(),
        IpAddr::V4(_) => panic!("{text} is of IPv4"),
    }
}

/// The Ethernet address of a host behind a port; that of host 1 is the router's.
pub(super) fn mac(port: u8, host: u8) -> MacAddress {
    MacAddress([2, 0, 0, 0, port, host])
}

fn interface(port: u8, mtu: u16) -> RouterInterface {
    let address = |text: String, prefix_len| InterfaceAddress {
        address: ip(&text),
        prefix_len,
    };
    RouterInterface {
        name: format!("p{port}"),
        port: PortId(port),
        tags: InterfaceTags::None,
        vrf: VrfId(0),
        mac: mac(port, 1),
        addresses: vec![
            address(format!("10.0.{port}.1"), 24),
            address(format!("fd00:{port}::1"), 64),
            address("fe80::1".to_owned(), 64),
        ],
        mtu,
        is_up: true,
    }
}

pub(super) fn route(prefix: &str, prefix_len: u8, action: RouteAction) -> Route {
    Route {
        vrf: VrfId(0),
        prefix: ip(prefix),
        prefix_len,
        action,
    }
}

pub(super) fn via(gateway: &str) -> RouteAction {
    RouteAction::Via(vec![NextHop {
        gateway: Some(ip(gateway)),
        interface: None,
        weight: 1,
    }])
}

fn neighbour(port: u8, address: &str, host: u8) -> StaticNeighbours {
    StaticNeighbours {
        interface: InterfaceId(port.into()),
        first: ip(address),
        last: ip(address),
        mac: mac(port, host),
    }
}

/// Ports 0 to 2 with 10.0.P.1/24 and fd00:P::1/64; hosts 2 and 3 of each are known. Port 2 has an
/// MTU of 1,400.
pub(super) fn lab() -> RouterConfig {
    let mut neighbours = Vec::new();
    for port in 0..3 {
        for host in [2, 3] {
            neighbours.push(neighbour(port, &format!("10.0.{port}.{host}"), host));
            neighbours.push(neighbour(port, &format!("fd00:{port}::{host}"), host));
        }
        neighbours.push(neighbour(port, "fe80::2", 2));
    }
    RouterConfig {
        ports: 3,
        vrfs: Vec::new(),
        interfaces: vec![interface(0, 1500), interface(1, 1500), interface(2, 1400)],
        routes: vec![
            route("10.9.0.0", 16, via("10.0.1.2")),
            route("10.9.8.0", 24, via("10.0.2.2")),
            route("10.9.8.128", 25, via("10.0.1.3")),
            route("fd09::", 16, via("fd00:1::2")),
            route("fd09:8::", 32, via("fd00:2::2")),
            route("10.66.0.0", 16, RouteAction::Blackhole),
            route("10.67.0.0", 16, RouteAction::Unreachable),
            route("10.68.0.0", 16, RouteAction::Prohibit),
            route("fd66::", 32, RouteAction::Blackhole),
            route("fd67::", 32, RouteAction::Unreachable),
            route("fd68::", 32, RouteAction::Prohibit),
        ],
        neighbours,
        reverse_path: ReversePath::Off,
        errors_per_second: 1000,
        nat: None,
        neighbours_max: 1000,
        punt: None,
        announces: false,
    }
}

pub(super) const DATAGRAM: Transport<'_> = Transport::Udp {
    src_port: 1024,
    dst_port: 9,
};

/// A header from host 2 of port 0.
pub(super) fn header<'a>(dst: &str) -> Ipv4<'a> {
    Ipv4 {
        src: v4("10.0.0.2"),
        dst: v4(dst),
        ..Ipv4::default()
    }
}

/// A header from host 2 of port 0.
pub(super) fn header_v6<'a>(dst: &str) -> Ipv6<'a> {
    Ipv6 {
        src: v6("fd00:0::2"),
        dst: v6(dst),
        ..Ipv6::default()
    }
}

/// A frame from host 2 of port 0 to the router.
pub(super) fn frame(network: Network<'_>, payload: &[u8]) -> Vec<u8> {
    let recipe = Recipe {
        dst_mac: mac(0, 1),
        src_mac: mac(0, 2),
        network,
        payload,
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a frame that can be");
    bytes
}

/// A datagram of IPv4 with 48 bytes.
pub(super) fn datagram(header: Ipv4<'_>) -> Vec<u8> {
    frame(Network::Ipv4(header, DATAGRAM), &[0xAB; 48])
}

/// A datagram of IPv6 with 48 bytes.
pub(super) fn datagram_v6(header: Ipv6<'_>) -> Vec<u8> {
    frame(Network::Ipv6(header, DATAGRAM), &[0xAB; 48])
}
