//! Random settings and packets: the router and the model say the same of every frame, byte for
//! byte.

use std::collections::HashMap;
use std::net::IpAddr;

use frame::PortId;
use wire::MacAddress;

use super::super::*;
use super::bench::Bench;
use super::draw::Draw;
use super::model::{Fate, Model};
use super::packets::{Drawn, packet};

/// The prefixes that routes are drawn from, one within the other.
const PREFIXES: [(&str, u8); 14] = [
    ("0.0.0.0", 0),
    ("20.0.0.0", 8),
    ("20.1.0.0", 16),
    ("20.1.2.0", 24),
    ("20.1.2.128", 25),
    ("20.1.2.3", 32),
    ("128.0.0.0", 1),
    ("::", 0),
    ("2001:db8::", 32),
    ("2001:db8:1::", 48),
    ("2001:db8:1:2::", 64),
    ("2001:db8:1:2:8000::", 65),
    ("2001:db8:1:2::3", 128),
    ("2000::", 3),
];

fn ip(text: &str) -> IpAddr {
    text.parse().expect(text)
}

fn interface(draw: &mut Draw, at: usize, port: u8, tags: InterfaceTags) -> RouterInterface {
    let address = |text: String, prefix_len| InterfaceAddress {
        address: ip(&text),
        prefix_len,
    };
    let mut addresses = vec![address(format!("10.{at}.0.1"), 24)];
    if draw.is(3) {
        addresses.push(address(format!("10.{at}.0.130"), 28));
    }
    let has_v6 = !draw.is(4);
    if has_v6 {
        addresses.push(address(format!("fd00:{at}::1"), 64));
        if draw.is(2) {
            addresses.push(address(draw.among(&["fe80::1", "fe80::3"]).to_owned(), 64));
        }
    }
    RouterInterface {
        name: format!("i{at}"),
        port: PortId(port),
        tags,
        vrf: VrfId(0),
        mac: MacAddress([2, 0, 0, 0, at as u8, 1]),
        addresses,
        is_up: true,
        mtu: if has_v6 {
            draw.among(&[1280, 1400, 1500])
        } else {
            draw.among(&[68, 576, 1500])
        },
    }
}

fn settings(draw: &mut Draw) -> RouterConfig {
    let ports = 1 + draw.below(3) as usize;
    let mut interfaces = Vec::new();
    for port in 0..ports {
        let all = [
            InterfaceTags::None,
            InterfaceTags::Vlan(10),
            InterfaceTags::Double {
                outer: 10,
                inner: 20,
            },
        ];
        for tags in all {
            if interfaces.is_empty() || draw.is(2) {
                interfaces.push(interface(draw, interfaces.len(), port as u8, tags));
            }
        }
    }
    let mut config = RouterConfig {
        ports,
        vrfs: Vec::new(),
        interfaces,
        routes: Vec::new(),
        neighbours: Vec::new(),
        reverse_path: draw.among(&[ReversePath::Off, ReversePath::Loose, ReversePath::Strict]),
        errors_per_second: u32::MAX,
        nat: None,
        neighbours_max: 1000,
        punt: None,
        announces: false,
    };
    with_neighbours(&mut config);
    for (prefix, prefix_len) in PREFIXES {
        let prefix = ip(prefix);
        if let Some(action) = action(draw, &config, prefix).filter(|_| draw.is(2)) {
            config.routes.push(Route {
                vrf: VrfId(0),
                prefix,
                prefix_len,
                action,
            });
        }
    }
    config
}

/// The hosts 2 to 199 of each link are known.
fn with_neighbours(config: &mut RouterConfig) {
    for at in 0..config.interfaces.len() {
        let has_v6 = config.interfaces[at]
            .addresses
            .iter()
            .any(|own| own.address.is_ipv6());
        let range = |first: String, last: String| StaticNeighbours {
            interface: InterfaceId(at as u16),
            first: ip(&first),
            last: ip(&last),
            mac: MacAddress([2, 0, 0, 1, at as u8, 0]),
        };
        config
            .neighbours
            .push(range(format!("10.{at}.0.2"), format!("10.{at}.0.199")));
        if has_v6 {
            config
                .neighbours
                .push(range("fe80::2".to_owned(), "fe80::2".to_owned()));
            config
                .neighbours
                .push(range(format!("fd00:{at}::2"), format!("fd00:{at}::ff")));
        }
    }
}

fn action(draw: &mut Draw, config: &RouterConfig, prefix: IpAddr) -> Option<RouteAction> {
    let fixed = [
        RouteAction::Blackhole,
        RouteAction::Unreachable,
        RouteAction::Prohibit,
    ];
    if draw.is(4) {
        return Some(fixed[draw.below(3) as usize].clone());
    }
    let count = draw.among(&[1, 1, 1, 2, 3]);
    let hops = (0..count).filter_map(|_| {
        let at = draw.below(config.interfaces.len() as u64) as usize;
        let host = draw.among(&[2, 3, 4, 4, 4, 250]);
        let gateway = match prefix.is_ipv4() {
            true => format!("10.{at}.0.{host}"),
            false => format!("fd00:{at}::{host}"),
        };
        let interface = draw.is(2).then_some(InterfaceId(at as u16));
        let has = config.interfaces[at].addresses.iter();
        let has_family = has
            .clone()
            .any(|own| own.address.is_ipv4() == prefix.is_ipv4());
        has_family.then(|| NextHop {
            gateway: Some(ip(&gateway)),
            interface,
            weight: draw.among(&[1, 1, 2, 100]),
        })
    });
    let hops: Vec<NextHop> = hops.collect();
    (!hops.is_empty()).then_some(RouteAction::Via(hops))
}

#[test]
fn every_packet_fares_as_the_model_says() {
    for seed in 0..50 {
        let draw = &mut Draw(seed);
        let settings = settings(draw);
        let (model, mut bench) = (Model::new(&settings), Bench::new(&settings));
        let mut fates: HashMap<Vec<u8>, Fate> = HashMap::new();
        for _ in 0..100 {
            let from = PortId(draw.below(settings.ports as u64) as u8);
            let drawn: Vec<Drawn> = (0..draw.below(8))
                .map(|_| packet(draw, &settings, from))
                .collect();
            let frames: Vec<Vec<u8>> = drawn.iter().map(|one| one.frame.clone()).collect();
            let outcomes = bench.burst(from, &frames);
            for (one, found) in drawn.iter().zip(outcomes) {
                let right = model.route(from, &one.frame);
                let is_right = right.contains(&found) || given_up(&right, &found);
                let frame = &one.frame;
                let story = || {
                    let what = &one.what;
                    format!("seed {seed} {settings:?}\n{from:?} {what}: {frame:02x?}")
                };
                assert!(is_right, "{}\n{found:02x?}\nis not {right:02x?}", story());
                // The same frame takes the same way.
                let fate = fates
                    .entry(one.frame.clone())
                    .or_insert_with(|| found.fate.clone());
                let waits = matches!(found.fate, Fate::Waits | Fate::Dropped(_));
                assert!(waits || *fate == found.fate, "{}\n{fate:02x?}", story());
            }
        }
    }
}

/// What is to wait may be given up instead: few may wait for one neighbour.
fn given_up(right: &[super::model::Outcome], found: &super::model::Outcome) -> bool {
    let waits = right.iter().any(|outcome| outcome.fate == Fate::Waits);
    waits && found.fate == Fate::Dropped(crate::DropReason::Unresolved) && found.told.is_none()
}
