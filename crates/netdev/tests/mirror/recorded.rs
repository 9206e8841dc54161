//! What Linux 6.18 sent to a socket with port number 0x1234, and what that says.
//!
//! `listed` is an answer to a request, `told` a change that the line before it made.

use netdev::routing::{Change, Mirror, TableChoice};

use crate::made::{From, NEW_LINK, link, message};

pub(crate) const PORT: u32 = 0x1234;
const LINES: &str = include_str!("kernel_6_18.txt");

/// A datagram, and whether it is an answer.
pub(crate) fn datagrams() -> Vec<(bool, Vec<u8>)> {
    let datagram = |line: &'static str| {
        let (word, hex) = line.split_once(' ').expect("two words");
        let digits = hex
            .as_bytes()
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).expect("hex"));
        let bytes = digits.map(|pair| u8::from_str_radix(pair, 16).expect("hex"));
        (word == "listed", bytes.collect())
    };
    let lines = LINES.lines().filter(|line| !line.starts_with('#'));
    lines.map(datagram).collect()
}

fn routes(mirror: &Mirror) -> Vec<String> {
    let line = |(key, route): (&netdev::routing::RouteKey, &netdev::routing::Route)| {
        let hop = |hop: &netdev::routing::Hop| {
            let gateway = hop.gateway.map(|gateway| gateway.to_string());
            let link = hop.link.map(|link| link.to_string());
            let [gateway, link] = [gateway, link].map(Option::unwrap_or_default);
            format!("{gateway}@{link}*{}", hop.weight)
        };
        let hops: Vec<String> = route.hops.iter().map(hop).collect();
        let (table, metric, kind) = (key.table, key.metric, route.kind);
        format!(
            "{table} {} {metric} {kind:?} {}",
            key.prefix,
            hops.join(" ")
        )
    };
    mirror
        .routes()
        .filter(|(key, _)| key.table != 255)
        .map(line)
        .collect()
}

/// A mirror that was given the answers, and no more.
fn listed() -> Mirror {
    let mut mirror = Mirror::new(PORT, TableChoice::All);
    let mut changes = Vec::new();
    let mut requests = 0;
    for (_, bytes) in datagrams().iter().filter(|(is_answer, _)| *is_answer) {
        requests += usize::from(mirror.request().is_some());
        mirror.receive(bytes, &mut changes);
    }
    assert!(mirror.is_complete() && mirror.request().is_none());
    assert_eq!(requests, 5);
    assert!(
        !changes
            .iter()
            .any(|change| matches!(change, Change::Unreadable(_)))
    );
    mirror
}

#[test]
fn what_a_kernel_listed_is_read() {
    let mirror = listed();
    assert_eq!(
        routes(&mirror),
        [
            "254 10.0.0.0/24 0 Unicast @3*1",
            "254 10.1.0.0/16 0 Unicast 10.0.0.2@3*1",
            "254 10.2.0.0/16 0 Unicast 10.0.0.2@3*3 10.0.0.3@3*1",
            "254 10.5.0.0/16 0 Unicast fe80::9@3*1",
            "254 10.6.0.0/16 0 Blackhole ",
            "254 10.7.0.0/16 0 Unicast 10.0.0.2@3*3 10.0.0.3@3*4",
            "254 10.9.0.2/32 0 Unicast @2*1",
            "254 ::/0 5 Unicast fd00::9@3*1",
            "254 fd00::/64 256 Unicast @3*1",
            "254 fd02::/32 1024 Unicast fd00::2@3*3 fd00::3@3*1",
            "254 fd06::/48 1024 Prohibit ",
            "700 10.1.0.0/16 10 Unicast 10.0.0.3@3*1",
        ]
    );
    let unsupported = mirror
        .routes()
        .filter_map(|(key, route)| route.unsupported(key));
    assert_eq!(unsupported.count(), 1, "the gateway of the other family");
    let link = mirror.link(3).expect("v0");
    assert_eq!((link.name.to_str(), link.mtu), (Some("v0"), 1500));
    assert_eq!(link.other_names, ["the-other-name-of-v0"]);
    assert_eq!(link.mac.expect("a MAC").to_string(), "02:00:00:00:00:01");
    assert!(link.is_up && link.has_carrier);
    let addresses: Vec<String> = mirror
        .addresses()
        .map(|address| {
            let key = address.key;
            format!(
                "{} {}/{} {:?}",
                key.link, key.address, key.prefix_len, key.peer
            )
        })
        .collect();
    assert_eq!(
        addresses,
        [
            "1 127.0.0.1/8 None",
            "1 ::1/128 None",
            "2 10.9.0.1/32 Some(10.9.0.2)",
            "3 10.0.0.1/24 None",
            "3 fd00::1/64 None",
        ]
    );
    assert_eq!(
        neighbours(&mirror)[..2],
        [
            "3 10.0.0.2 Some(02:00:00:00:00:22) Permanent",
            "3 fd00::2 Some(02:00:00:00:00:22) Stale",
        ]
    );
}

fn neighbours(mirror: &Mirror) -> Vec<String> {
    let line = |known: &netdev::routing::Neighbour| {
        let key = known.key;
        format!(
            "{} {} {:?} {:?}",
            key.link, key.address, known.mac, known.state
        )
    };
    mirror
        .neighbours()
        .filter(|known| known.key.link == 3)
        .map(line)
        .collect()
}

#[test]
fn what_a_kernel_told_changes_that() {
    let mut mirror = listed();
    let mut changes = Vec::new();
    for (_, bytes) in datagrams().iter().filter(|(is_answer, _)| !is_answer) {
        mirror.receive(bytes, &mut changes);
    }
    assert_eq!(
        routes(&mirror),
        [
            "254 10.0.0.0/24 0 Unicast @3*1",
            "254 10.1.0.0/16 0 Unicast 10.0.0.5@3*1",
            "254 10.1.0.0/16 0 Unicast 10.0.0.4@3*1",
            "254 10.2.0.0/16 0 Unicast 10.0.0.2@3*3 10.0.0.3@3*1",
            "254 10.5.0.0/16 0 Unicast fe80::9@3*1",
            "254 10.7.0.0/16 0 Unicast 10.0.0.2@3*3 10.0.0.9@3*4",
            "254 ::/0 5 Unicast fd00::9@3*1",
            "254 fd00::/64 256 Unicast @3*1",
            "254 fd02::/32 1024 Unicast fd00::3@3*1 fd00::4@3*1",
            "254 fd06::/48 1024 Prohibit ",
            "700 10.1.0.0/16 10 Unicast 10.0.0.3@3*1",
        ]
    );
    assert_eq!(
        neighbours(&mirror)[..1],
        ["3 10.0.0.2 Some(02:00:00:00:00:33) Permanent"]
    );
    assert_eq!(mirror.link(3).map(|link| link.mtu), Some(1400));
    let (key, route) = mirror.routes_in_force(254).nth(1).expect("a route");
    assert_eq!(
        (key.prefix.to_string(), route.hops.len()),
        ("10.1.0.0/16".to_owned(), 1)
    );
    assert_eq!(mirror.route_in_force(254, key.prefix), Some((key, route)));
    assert_eq!(
        mirror.routes_in_force(254).count(),
        routes(&mirror).len() - 2
    );
    assert!(
        !mirror.is_complete(),
        "an address is gone, and other routes with it perhaps"
    );
}

/// Several hops, of which those on a link that is down are passed over.
#[test]
fn hops_are_alive_while_their_link_is_up() {
    let mut mirror = listed();
    let alive = |mirror: &Mirror| {
        let several = mirror.routes().filter(|(_, route)| route.hops.len() > 1);
        several
            .map(|(_, route)| mirror.hops_alive(route).count())
            .collect::<Vec<_>>()
    };
    assert_eq!(alive(&mirror), [2, 2, 2]);
    let down = message(NEW_LINK, 0, From::default(), &link(3, &[(3, b"v0\0")]));
    mirror.receive(&down, &mut Vec::new());
    assert_eq!(alive(&mirror), [0, 0, 0]);
    assert!(!mirror.is_complete(), "the kernel drops IPv4 routes now");
}

#[test]
fn of_one_table_no_other_routes_are_kept() {
    let mut mirror = Mirror::new(PORT, TableChoice::One(700));
    for (_, bytes) in datagrams() {
        let _request = mirror.request();
        mirror.receive(&bytes, &mut Vec::new());
    }
    assert_eq!(routes(&mirror), ["700 10.1.0.0/16 10 Unicast 10.0.0.3@3*1"]);
    assert!(mirror.links().count() == 3);
}
