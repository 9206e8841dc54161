//! What can be wrong with settings: each mistake and its sentence.

use std::net::IpAddr;

use frame::PortId;
use wire::MacAddress;

use super::super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().expect(text)
}

/// `10.0.0.0/8`: as it stands, host bits too.
fn parts(text: &str) -> (IpAddr, u8) {
    let (address, len) = text.split_once('/').expect(text);
    (ip(address), len.parse().expect(text))
}

fn interface(name: &str, port: u8, addresses: &[&str]) -> RouterInterface {
    let addresses = addresses.iter().map(|text| {
        let (address, prefix_len) = parts(text);
        InterfaceAddress {
            address,
            prefix_len,
        }
    });
    RouterInterface {
        name: name.to_owned(),
        port: PortId(port),
        tags: InterfaceTags::None,
        vrf: VrfId(0),
        mac: MacAddress([2, 0, 0, 0, port, 1]),
        addresses: addresses.collect(),
        mtu: 1500,
        is_up: true,
    }
}

fn hop(gateway: Option<&str>, interface: Option<u16>) -> NextHop {
    NextHop {
        gateway: gateway.map(ip),
        interface: interface.map(InterfaceId),
        weight: 1,
    }
}

fn via(prefix: &str, hop: NextHop) -> Route {
    let (prefix, prefix_len) = parts(prefix);
    Route {
        vrf: VrfId(0),
        prefix,
        prefix_len,
        action: RouteAction::Via(vec![hop]),
    }
}

fn neighbours(interface: u16, first: &str, last: &str) -> StaticNeighbours {
    StaticNeighbours {
        interface: InterfaceId(interface),
        first: ip(first),
        last: ip(last),
        mac: MacAddress([2, 0, 0, 0, 9, 9]),
    }
}

/// Interfaces `a` and `b` on two ports, a route, a neighbour.
fn right() -> RouterConfig {
    RouterConfig {
        ports: 2,
        vrfs: Vec::new(),
        interfaces: vec![
            interface("a", 0, &["10.0.0.1/24", "fd00::1/64", "fe80::1/64"]),
            interface("b", 1, &["10.0.1.1/24", "fd01::1/64", "fe80::1/64"]),
        ],
        routes: vec![via("10.9.0.0/16", hop(Some("10.0.1.2"), None))],
        neighbours: vec![neighbours(0, "10.0.0.8", "10.0.0.9")],
        reverse_path: ReversePath::Off,
        errors_per_second: 1000,
        nat: None,
        neighbours_max: 1000,
        punt: None,
        announces: false,
    }
}

type Change = fn(&mut RouterConfig);

/// What is no mistake, though it looks like one.
const RIGHT: &[(&str, Change)] = &[
    ("two addresses in one prefix", |c| {
        let more = interface("a", 0, &["10.0.0.2/24"]).addresses;
        c.interfaces[0].addresses.extend(more);
    }),
    ("two VLANs of a port", |c| {
        c.interfaces[1].port = PortId(0);
        c.interfaces[1].tags = InterfaceTags::Vlan(1);
    }),
    ("a VLAN and the same inner one", |c| {
        let (outer, inner) = (4094, 1);
        c.interfaces[0].tags = InterfaceTags::Double { outer, inner };
    }),
    ("the first address of a /31", |c| {
        c.interfaces[1] = interface("b", 1, &["10.0.1.0/31"]);
        c.routes[0] = via("0.0.0.0/0", hop(Some("10.0.1.1"), None));
    }),
    ("a point-to-point address, and all behind it", |c| {
        c.interfaces[1] = interface("b", 1, &["10.0.1.1/32"]);
        c.routes[0] = via("0.0.0.0/0", hop(None, Some(1)));
    }),
    ("an interface without addresses", |c| {
        c.interfaces[1] = interface("b", 1, &[]);
        c.routes.clear();
    }),
    ("a prefix within the other", |c| {
        c.interfaces[1] = interface("b", 1, &["10.0.0.129/25"]);
        c.routes.clear();
    }),
    ("what a listing says of a prefix", |c| {
        c.routes.push(via("10.0.1.0/24", hop(None, Some(1))));
    }),
    (
        "a link-local gateway whose address is our own elsewhere",
        |c| {
            c.interfaces[0] = interface("a", 0, &["fd00::1/64"]);
            c.neighbours.clear();
            c.routes.push(via("::/0", hop(Some("fe80::1"), Some(0))));
        },
    ),
    ("link-local neighbours", |c| {
        c.neighbours.push(neighbours(1, "fe80::8", "fe80::ff"));
    }),
    ("the largest MTU", |c| c.interfaces[0].mtu = u16::MAX),
    ("the least MTU of IPv4", |c| {
        c.interfaces[0] = interface("a", 0, &["10.0.0.1/24"]);
        c.interfaces[0].mtu = 68;
    }),
    ("a host route", |c| {
        c.routes
            .push(via("1.2.3.4/32", hop(Some("10.0.0.2"), None)));
    }),
    ("a default route and 0.0.0.0/1", |c| {
        c.routes.push(via("0.0.0.0/0", hop(Some("10.0.0.2"), None)));
        c.routes.push(via("0.0.0.0/1", hop(Some("10.0.0.2"), None)));
    }),
    ("no ICMP errors", |c| c.errors_per_second = 0),
    ("the same addresses and routes in two VRFs", |c| {
        c.vrfs = vec!["red".into()];
        c.interfaces[1] = RouterInterface {
            vrf: VrfId(1),
            name: "b".into(),
            port: PortId(1),
            ..c.interfaces[0].clone()
        };
        c.routes = vec![via("10.9.0.0/16", hop(Some("10.0.0.2"), None))];
        let mut other = c.routes[0].clone();
        other.vrf = VrfId(1);
        c.routes.push(other);
    }),
    (
        "a neighbour with an address that is our own in another VRF",
        |c| {
            c.vrfs = vec!["red".into()];
            c.interfaces[1] = interface("b", 1, &["10.0.0.2/24"]);
            c.interfaces[1].vrf = VrfId(1);
            c.routes.clear();
            c.neighbours.push(neighbours(1, "10.0.0.1", "10.0.0.1"));
        },
    ),
];

fn route(c: &mut RouterConfig, prefix: &str, gateway: Option<&str>, interface: Option<u16>) {
    c.routes.push(via(prefix, hop(gateway, interface)));
}

/// A mistake, and how the sentence about it begins.
const MISTAKES: &[(Change, &str)] = &[
    (
        |c| {
            c.routes.clear();
            c.interfaces[1].vrf = VrfId(1);
        },
        "VRF number 1 is not",
    ),
    (
        |c| {
            c.routes.clear();
            c.vrfs = vec!["red".into(); 1001];
        },
        "1001 VRFs are more",
    ),
    (
        |c| {
            c.vrfs = vec!["red".into()];
            c.nat = Some(crate::nat::NatConfig::default());
        },
        "NAT tells flows apart",
    ),
    (
        |c| {
            c.vrfs = vec!["red".into()];
            c.interfaces[1].vrf = VrfId(1);
            c.routes[0] = via("10.9.0.0/16", hop(Some("10.0.1.2"), Some(1)));
        },
        "the route to 10.9.0.0/16 is of no VRF, and its interface b of the VRF red",
    ),
    (
        |c| {
            c.vrfs = vec!["red".into()];
            c.interfaces[1].vrf = VrfId(1);
        },
        "the gateway 10.0.1.2 of the route to 10.9.0.0/16 is behind no interface",
    ),
    (
        |c| c.punt = Some(InterfaceId(2)),
        "what is for the router goes to interface number 2",
    ),
    (
        |c| {
            c.interfaces.push(interface("host", 0, &[]));
            c.interfaces[2].tags = InterfaceTags::Vlan(9);
            c.punt = Some(InterfaceId(2));
        },
        "what is for the router goes to a host behind the interface host",
    ),
    (|c| c.neighbours_max = 0, "0 neighbours cannot"),
    (
        |c| c.neighbours_max = u32::MAX,
        "4294967295 neighbours cannot",
    ),
    (
        |c| c.interfaces[1].name = "a".into(),
        "two interfaces are called a",
    ),
    (
        |c| c.interfaces[1].port = PortId(2),
        "the interface b is on port 3, which",
    ),
    (
        |c| c.interfaces[1].port = PortId(0),
        "the interfaces a and b have the same",
    ),
    (
        |c| c.interfaces[1].tags = InterfaceTags::Vlan(0),
        "0 is no VLAN for the interface b",
    ),
    (
        |c| c.interfaces[1].tags = InterfaceTags::Vlan(4095),
        "4095 is no VLAN",
    ),
    (
        |c| {
            c.interfaces[1].tags = InterfaceTags::Double {
                outer: 1,
                inner: 4096,
            }
        },
        "4096 is no VLAN",
    ),
    (
        |c| c.interfaces[1].tags = InterfaceTags::Double { outer: 0, inner: 1 },
        "0 is no VLAN",
    ),
    (
        |c| c.interfaces[1].mac = MacAddress::BROADCAST,
        "ff:ff:ff:ff:ff:ff is no address",
    ),
    (
        |c| c.interfaces[1].mac = MacAddress([0; 6]),
        "00:00:00:00:00:00 is no address",
    ),
    (
        |c| c.interfaces[1].mtu = 1279,
        "an MTU of 1279 is too small for the interface b: give 1280",
    ),
    (
        |c| {
            c.interfaces[0] = interface("a", 0, &["10.0.0.1/24"]);
            c.interfaces[0].mtu = 67;
        },
        "an MTU of 67 is too small for the interface a: give 68",
    ),
    (
        |c| {
            c.routes.clear();
            c.interfaces[1].addresses[0].prefix_len = 33;
        },
        "10.0.1.1/33 of the interface b is longer",
    ),
    (
        |c| c.interfaces[1].addresses[2].prefix_len = 129,
        "fe80::1/129 of",
    ),
    (
        |c| c.interfaces[0].addresses[1].address = ip("::1"),
        "::1/64 is no address for",
    ),
    (
        |c| c.interfaces[0].addresses[1].address = ip("::"),
        "::/64 is no address for",
    ),
    (
        |c| c.interfaces[0].addresses[1].address = ip("ff02::1"),
        "ff02::1/64 is no address",
    ),
    (
        |c| c.interfaces[0].addresses[1].address = ip("::ffff:1.2.3.4"),
        "::ffff:1.2.3.4/64 is",
    ),
    (
        |c| c.interfaces[0].addresses[1].address = ip("10.0.1.1"),
        "10.0.1.1/64 of the interface a is longer",
    ),
    (
        |c| {
            let own = c.interfaces[0].addresses[0];
            c.interfaces[0].addresses.push(own);
        },
        "10.0.0.1 is an address of the interfaces a and a",
    ),
    (
        |c| {
            let own = c.interfaces[0].addresses[0];
            c.interfaces[1].addresses.push(own);
        },
        "10.0.0.1 is an address of the interfaces a and b",
    ),
    (
        |c| c.interfaces[1].addresses[1].address = ip("fd00::2"),
        "fd00::/64 lies behind the interfaces a and b",
    ),
    (
        |c| c.routes[0].prefix_len = 33,
        "the route to 10.9.0.0/33 is longer",
    ),
    (
        |c| c.routes[0].prefix_len = 8,
        "the route to 10.9.0.0/8 has bits past its prefix: write 10.0.0.0/8",
    ),
    (
        |c| c.routes.push(c.routes[0].clone()),
        "there are two routes to 10.9.0.0/16",
    ),
    (
        |c| route(c, "10.0.1.0/24", Some("10.0.0.2"), None),
        "the route to 10.0.1.0/24 contradicts the interface b",
    ),
    (
        |c| {
            route(c, "10.0.1.0/24", None, Some(1));
            c.routes[1].action = RouteAction::Blackhole;
        },
        "the route to 10.0.1.0/24 contradicts the interface b",
    ),
    (
        |c| c.routes[0].action = RouteAction::Via(Vec::new()),
        "the route to 10.9.0.0/16 has 0 next hops",
    ),
    (
        |c| c.routes[0].action = RouteAction::Via(vec![hop(Some("10.0.1.2"), None); 257]),
        "the route to 10.9.0.0/16 has 257 next hops",
    ),
    (
        |c| {
            c.routes[0].action = RouteAction::Via(vec![NextHop {
                weight: 0,
                ..hop(None, Some(1))
            }]);
        },
        "0 is no weight for a next hop of 10.9.0.0/16",
    ),
    (
        |c| {
            c.routes[0].action = RouteAction::Via(vec![NextHop {
                weight: 257,
                ..hop(None, Some(1))
            }]);
        },
        "257 is no weight",
    ),
    (
        |c| route(c, "10.8.0.0/16", Some("10.0.1.2"), Some(2)),
        "the route to 10.8.0.0/16 leads to interface number 2, which",
    ),
    (
        |c| route(c, "10.8.0.0/16", None, None),
        "the route to 10.8.0.0/16 does not say",
    ),
    (
        |c| {
            c.interfaces[1] = interface("b", 1, &["10.0.1.1/24"]);
            route(c, "fd09::/16", None, Some(1));
        },
        "the route to fd09::/16 leads to the interface b, which has no address",
    ),
    (
        |c| {
            c.interfaces[1] = interface("b", 1, &["10.0.1.1/24"]);
            route(c, "fd09::/16", Some("fe80::2"), Some(1));
        },
        "the route to fd09::/16 leads to the interface b, which has no address",
    ),
    (
        |c| route(c, "fd09::/16", Some("10.0.0.2"), None),
        "the gateway 10.0.0.2 is of another family than its route to fd09::/16",
    ),
    (
        |c| route(c, "10.8.0.0/16", Some("fd00::2"), None),
        "the gateway fd00::2 is of another family",
    ),
    (
        |c| route(c, "10.8.0.0/16", Some("10.0.1.1"), None),
        "the gateway 10.0.1.1 of the route to 10.8.0.0/16 is this router's own",
    ),
    (
        |c| route(c, "fd09::/16", Some("fe80::1"), Some(1)),
        "the gateway fe80::1 of the route to fd09::/16 is this router's own",
    ),
    (
        |c| route(c, "10.8.0.0/16", Some("10.0.1.255"), None),
        "the gateway 10.0.1.255 of the route to 10.8.0.0/16 is no address",
    ),
    (
        |c| route(c, "10.8.0.0/16", Some("10.0.1.0"), None),
        "the gateway 10.0.1.0 of",
    ),
    (
        |c| route(c, "10.8.0.0/16", Some("224.0.0.1"), None),
        "the gateway 224.0.0.1 of",
    ),
    (
        |c| route(c, "fd09::/16", Some("::"), None),
        "the gateway :: of",
    ),
    (
        |c| route(c, "fd09::/16", Some("fe80::2"), None),
        "the gateway fe80::2 of the route to fd09::/16 is link-local",
    ),
    (
        |c| route(c, "10.8.0.0/16", Some("10.0.2.2"), None),
        "the gateway 10.0.2.2 of the route to 10.8.0.0/16 is behind no interface, whose prefixes \
         are 10.0.0.0/24, fd00::/64, fe80::/64, 10.0.1.0/24",
    ),
    (
        |c| route(c, "10.8.0.0/16", Some("10.0.0.2"), Some(1)),
        "the gateway 10.0.0.2 of the route to 10.8.0.0/16 is not behind the interface b",
    ),
    (
        |c| c.neighbours[0].interface = InterfaceId(2),
        "the neighbour 10.0.0.8 is behind interface number 2",
    ),
    (
        |c| c.neighbours[0].last = ip("fd00::9"),
        "the neighbours 10.0.0.8-fd00::9 are of two",
    ),
    (
        |c| c.neighbours[0] = neighbours(0, "10.0.0.9", "10.0.0.8"),
        "the neighbours 10.0.0.9-10.0.0.8 end before they begin: write 10.0.0.8-10.0.0.9",
    ),
    (
        |c| c.neighbours[0].mac = MacAddress([1, 0, 0, 0, 0, 1]),
        "01:00:00:00:00:01 is no",
    ),
    (
        |c| c.neighbours[0].mac = MacAddress([0; 6]),
        "00:00:00:00:00:00 is no",
    ),
    (
        |c| c.neighbours[0].last = ip("10.0.1.9"),
        "the neighbours 10.0.0.8-10.0.1.9 are in no prefix of the interface a, which has 10.0.0.0",
    ),
    (
        |c| c.neighbours[0] = neighbours(1, "10.0.0.8", "10.0.0.9"),
        "the neighbours 10.0.0.8-10.0.0.9 are in no prefix of the interface b",
    ),
    (
        |c| c.neighbours[0] = neighbours(0, "10.0.0.1", "10.0.0.1"),
        "10.0.0.1 is no address of a neighbour",
    ),
    (
        |c| c.neighbours.push(neighbours(0, "10.0.0.9", "10.0.0.20")),
        "10.0.0.9 behind the interface a is in two ranges",
    ),
];

/// Addresses that no interface can have.
const NO_ADDRESSES: &[&str] = &[
    "0.0.0.0/0",
    "0.1.2.3/24",
    "127.0.0.1/8",
    "224.0.0.1/24",
    "239.255.255.255/32",
    "240.0.0.1/24",
    "255.255.255.255/32",
    "10.0.7.0/24",
    "10.0.7.255/24",
    "10.0.7.7/30",
];

#[test]
fn every_mistake_has_a_sentence_with_a_remedy() {
    assert_eq!(right().check(), Ok(()));
    for (mistake, begin) in MISTAKES {
        let mut wrong = right();
        mistake(&mut wrong);
        let errors = wrong.check().expect_err(begin);
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(
            said.len() == 1 && said[0].starts_with(begin),
            "{begin}: {said:?}"
        );
        assert!(said[0].contains(": "), "a remedy: {said:?}");
    }
}

#[test]
fn what_only_looks_like_a_mistake_is_right() {
    for (name, change) in RIGHT {
        let mut changed = right();
        change(&mut changed);
        assert_eq!(changed.check(), Ok(()), "{name}");
    }
}

#[test]
fn addresses_that_no_station_can_have_are_named() {
    for text in NO_ADDRESSES {
        let mut wrong = right();
        let (address, prefix_len) = parts(text);
        wrong.interfaces[1].addresses.push(InterfaceAddress {
            address,
            prefix_len,
        });
        let errors = wrong.check().expect_err(text);
        let begin = format!("{text} is no address for the interface b");
        assert!(
            errors.len() == 1 && errors[0].to_string().starts_with(&begin),
            "{errors:?}"
        );
    }
}

#[test]
fn mistakes_are_found_at_once_and_not_without_end() {
    let mut wrong = right();
    wrong.interfaces[0].mtu = 0;
    wrong.interfaces[1].mtu = 0;
    wrong.routes[0].prefix_len = 99;
    assert_eq!(wrong.check().expect_err("three").len(), 3);
    wrong.routes = vec![wrong.routes[0].clone(); 100_000];
    assert_eq!(wrong.check().expect_err("many").len(), 20);
    wrong.interfaces.clear();
    wrong.neighbours.clear();
    wrong.routes.clear();
    let errors = wrong.check().expect_err("nothing to route");
    assert!(
        errors[0]
            .to_string()
            .starts_with("a router needs an interface"),
        "{errors:?}"
    );
}
