//! What is read of samples, of siblings of them, and of any bytes.

mod refusals;
mod samples;

use super::read::{Bounds, read_within};
use super::{RouteKind, RouteText, RouteTexts, RoutesError, read, read_line};
use proptest::prelude::*;
use std::io::Write;

fn shown(route: &RouteText) -> String {
    let RouteText {
        kind,
        prefix,
        prefix_len,
        metric,
        ..
    } = route;
    let mut text = format!("{kind} {prefix}/{prefix_len} metric {metric}");
    for hop in &route.hops {
        let gateway = hop.gateway.map(|gateway| format!(" via {gateway}"));
        let device = hop.device.as_ref().map(|device| format!(" dev {device}"));
        text += &[gateway, device].map(Option::unwrap_or_default).concat();
        text += &format!(" weight {}", hop.weight);
    }
    let table = route.table.as_ref().map(|table| format!(" table {table}"));
    text + &table.unwrap_or_default()
}

fn all_shown(read: &RouteTexts) -> Vec<String> {
    read.routes.iter().map(shown).collect()
}

fn of(text: &str) -> RouteTexts {
    read("routes", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> String {
    match read("routes", text.as_bytes()) {
        Err(error) => error.to_string(),
        Ok(read) => panic!("{text:?} was read as {:?}", all_shown(&read)),
    }
}

#[test]
fn what_ip_prints_is_read() {
    for (text, expected) in [
        (samples::IPV4, samples::IPV4_READ),
        (samples::IPV4_OTHERWISE[0], samples::IPV4_OTHERWISE_READ),
        (samples::IPV4_OTHERWISE[1], samples::IPV4_OTHERWISE_READ),
        (samples::IPV4_OTHERWISE[2], samples::IPV4_OTHERWISE_READ),
        (samples::IPV6, samples::IPV6_READ),
        (samples::ALL_TABLES, samples::ALL_TABLES_READ),
        (samples::DEAD, samples::DEAD_READ),
    ] {
        assert_eq!(all_shown(&of(text)), expected);
        assert_eq!(all_shown(&of(&text.replace('\n', "\r\n"))), expected);
        assert_eq!(all_shown(&of(&text.replace('\n', " # said\n\n"))), expected);
    }
}

#[test]
fn what_is_left_out_is_noted() {
    let notes = |text| -> Vec<String> {
        let notes = of(text).notes;
        notes.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        notes(samples::IPV4),
        ["routes:3: the route to 10.0.0.0/8 is left out, as that of line 2 has a lower metric"]
    );
    assert_eq!(
        notes(samples::DEAD),
        [
            "routes:1: a hop of the route to 10.1.0.0/16 is left out, as it is dead",
            "routes:4: a hop of the route to 2001:db8:b::/48 is left out, as it is dead",
            "routes:7: the route to 10.9.0.0/16 is left out, as it leads to dead hops alone",
        ]
    );
    // Each interface has such prefixes.
    assert_eq!(notes(samples::IPV6), [""; 0]);
    assert_eq!(notes(samples::ALL_TABLES), [""; 0]);
}

#[test]
fn single_routes() {
    for &(line, expected) in SINGLE {
        let route = read_line(line).unwrap_or_else(|fault| panic!("{line}: {fault}"));
        assert_eq!(shown(&route), expected, "{line}");
        assert_eq!(all_shown(&of(line)), [expected], "{line}");
    }
}

/// Routes that a metric, an order or a family decides between.
#[test]
fn the_best_route_of_a_prefix_is_kept() {
    let gateways = |text: &str| {
        let read = of(text);
        let hops = read.routes.iter().flat_map(|route| &route.hops);
        let hops = hops.filter_map(|hop| hop.gateway.map(|gateway| gateway.to_string()));
        (hops.collect::<Vec<_>>().join(" "), read.note_count)
    };
    for &(text, expected, notes) in BESIDE {
        assert_eq!(gateways(text), (expected.to_owned(), notes), "{text}");
    }
    let twice = "2001:db8::/32 via 2001::1 \\ nexthop via 2001::2";
    assert!(refused(twice).contains("behind nexthop"));
}

#[test]
fn a_route_may_go_on_on_other_lines() {
    const TWO: &str = "unicast 10.0.0.0/8 metric 0 via 1.1.1.1 weight 1 via 1.1.1.2 weight 1";
    for text in [
        "10.0.0.0/8\n nexthop via 1.1.1.1\n nexthop via 1.1.1.2\n",
        "10.0.0.0/8\nnexthop via 1.1.1.1\n# said\n\nnexthop via 1.1.1.2",
        "10.0.0.0/8 \\\n\tnexthop via 1.1.1.1 \\\n\tnexthop via 1.1.1.2",
        "10.0.0.0/8 nexthop via 1.1.1.1 nexthop \\\nvia 1.1.1.2",
        "10.0.0.0/8 nexthop via 1.1.1.1 \\ nexthop via 1.1.1.2",
    ] {
        assert_eq!(all_shown(&of(text)), [TWO], "{text}");
    }
    // Lines may stand further in without belonging to the one before.
    assert_eq!(
        of("  10.0.0.0/8 dev a\n  11.0.0.0/8 dev a\n").routes.len(),
        2
    );
    assert_eq!(
        of("10.0.0.0/8 dev a \\\n\n11.0.0.0/8 dev a\n").routes.len(),
        2
    );
}

#[test]
fn a_file_is_refused_whole_with_its_lines() {
    let text = "10.0.0.0/8 dev a\n11.0.0.0/8 frob a \\\n nexthop dev b\n nexthop dev c frob\n\
                12.0.0.0/8\n13.0.0.0/8 \n\tnexthop dev a\n\tnexthop frob\nnexthop dev c\n";
    let unknown = "\"frob\" is not known in a route; write PREFIX via GATEWAY [dev NAME] [metric \
                   NUMBER]";
    let expected = format!(
        "routes:2: {unknown}\n\
         routes:5: \"12.0.0.0/8\" leads nowhere; write via GATEWAY, dev NAME or blackhole\n\
         routes:8: {unknown}\n\
         routes is refused for 3 bad lines and no route was loaded: mend it"
    );
    assert_eq!(refused(text), expected);
    let many = "frob\n".repeat(100_000);
    let said = refused(&many);
    assert!(
        said.contains("100000 bad lines") && said.lines().count() == 21,
        "{said}"
    );
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    for bytes in [
        &b"10.0.0.0/8 dev \xff\n"[..],
        b"\x12\x31\x45\x45\x10\0\0\0",
        b"PK\x03\x04 routes",
        b"1\x000\x00.\x000\x00",
    ] {
        assert!(read("routes", bytes).is_err(), "{bytes:?}");
    }
    assert_eq!(read("routes", &b""[..]).expect("empty").routes, []);
    let marked = b"\xef\xbb\xbf10.0.0.0/8 dev a";
    assert_eq!(read("routes", &marked[..]).expect("marked").routes.len(), 1);
}

#[test]
fn gzip_is_read_too() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(samples::IPV4.as_bytes()).expect("memory");
    let packed = packer.finish().expect("memory");
    let read_packed = read("routes", &packed[..]).expect("gzip");
    assert_eq!(all_shown(&read_packed), samples::IPV4_READ);
    let cut = read("routes", &packed[..packed.len() - 9]);
    assert!(matches!(cut, Err(RoutesError::Text(_))), "{cut:?}");
}

#[test]
fn a_file_has_bounds() {
    let bounds = Bounds {
        block_bytes: 64,
        line_bytes_max: 100,
        routes_max: 3,
        ..Bounds::default()
    };
    let within = |text: &str| read_within("routes", &mut text.as_bytes(), bounds);
    let lines = |count: u32| -> String {
        (0..count)
            .map(|at| format!("10.0.0.{at} dev a\n"))
            .collect()
    };
    assert_eq!(within(&lines(3)).expect("few").routes.len(), 3);
    let error = within(&lines(4)).expect_err("one more").to_string();
    assert_eq!(
        error,
        "routes holds more than 3 routes or hops: leave some out"
    );
    let hops = "10.0.0.0/8\n".to_owned() + &"nexthop dev a\n".repeat(4);
    assert!(within(&hops).is_err());
    let long = format!("10.0.0.0/8 dev a{}\n", " ".repeat(100));
    let error = within(&long).expect_err("too long").to_string();
    assert!(
        error.starts_with("routes:1: the line is longer than 100 bytes\n"),
        "{error}"
    );
    let comment = format!("# {}\n10.0.0.0/8 dev a", "x".repeat(1000));
    assert!(within(&comment).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read("routes", &bytes[..]);
        let _ = read_line(&String::from_utf8_lossy(&bytes)).map_err(|fault| fault.to_string());
    }

    /// Words that belong to routes in any order: what is read is read again from what it shows.
    #[test]
    fn what_is_read_is_sound(picks in prop::collection::vec(0..WORDS.len(), 0..12)) {
        let line: Vec<&str> = picks.iter().map(|&pick| WORDS[pick]).collect();
        for text in [line.join(" "), line.join("\n")] {
            for route in read("routes", text.as_bytes()).map_or(Vec::new(), |read| read.routes) {
                let is_unicast = route.kind == RouteKind::Unicast;
                prop_assert!(!is_unicast || !route.hops.is_empty(), "{text}");
                prop_assert!(!route.kind.is_end() || route.hops.is_empty(), "{text}");
                for hop in &route.hops {
                    prop_assert!(hop.gateway.is_some() || hop.device.is_some(), "{text}");
                    prop_assert!((1..=256).contains(&hop.weight), "{text}");
                }
            }
        }
    }
}

const WORDS: [&str; 22] = [
    "default",
    "10.0.0.0/8",
    "2001:db8::/32",
    "192.0.2.1",
    "fe80::1",
    "via",
    "inet6",
    "dev",
    "a",
    "nexthop",
    "weight",
    "7",
    "metric",
    "\\",
    "dead",
    "blackhole",
    "local",
    "src",
    "table",
    "mtu",
    "nh_info",
    "cache",
];

/// One route a line, and what is read of it.
const SINGLE: &[(&str, &str)] = &[
    (
        "10.0.0.0/8 via 192.0.2.1",
        "unicast 10.0.0.0/8 metric 0 via 192.0.2.1 weight 1",
    ),
    (
        "default via 192.0.2.1",
        "unicast 0.0.0.0/0 metric 0 via 192.0.2.1 weight 1",
    ),
    (
        "0.0.0.0/0 dev a",
        "unicast 0.0.0.0/0 metric 0 dev a weight 1",
    ),
    ("::/0 dev a", "unicast ::/0 metric 1024 dev a weight 1"),
    (
        "default via fe80::1 dev a",
        "unicast ::/0 metric 1024 via fe80::1 dev a weight 1",
    ),
    // An IPv4 route by an IPv6 router, as `ip route show` prints it.
    (
        "default via inet6 fe80::1 dev a",
        "unicast 0.0.0.0/0 metric 0 via fe80::1 dev a weight 1",
    ),
    (
        "default dev a scope link",
        "unicast 0.0.0.0/0 metric 0 dev a weight 1",
    ),
    (
        "default dev a metric 1 pref medium",
        "unicast ::/0 metric 1 dev a weight 1",
    ),
    (
        "default dev a src 2001:db8::1",
        "unicast ::/0 metric 1024 dev a weight 1",
    ),
    ("blackhole default", "blackhole 0.0.0.0/0 metric 0"),
    (
        "unreachable default dev lo metric 4294967295 error -101 pref medium",
        "unreachable ::/0 metric 4294967295",
    ),
    (
        "  192.0.2.9 via 192.0.2.1 #x",
        "unicast 192.0.2.9/32 metric 0 via 192.0.2.1 weight 1",
    ),
    (
        "2001:DB8::/32 dev a",
        "unicast 2001:db8::/32 metric 1024 dev a weight 1",
    ),
    (
        "10.0.0.0/8 dev via",
        "unicast 10.0.0.0/8 metric 0 dev via weight 1",
    ),
    (
        "10.0.0.0/8 dev a from all tos 0",
        "unicast 10.0.0.0/8 metric 0 dev a weight 1",
    ),
    (
        "10.0.0.0/8 dev a table main",
        "unicast 10.0.0.0/8 metric 0 dev a weight 1",
    ),
    (
        "10.0.0.0/8 dev a table 254",
        "unicast 10.0.0.0/8 metric 0 dev a weight 1",
    ),
    (
        "2 10.0.0.0/8 dev a table 255",
        "local 10.0.0.0/8 metric 0 dev a weight 1 table local",
    ),
    (
        "10.0.0.0/8 dev a features ecn 0x8 mtu 9",
        "unicast 10.0.0.0/8 metric 0 dev a weight 1",
    ),
    (
        "10.0.0.0/8 dev a \\ cache <local> uid 0",
        "unicast 10.0.0.0/8 metric 0 dev a weight 1",
    ),
    (
        "10.0.0.0/8 nexthop via 192.0.2.1 weight 256 nexthop dev b onlink",
        "unicast 10.0.0.0/8 metric 0 via 192.0.2.1 weight 256 dev b weight 1",
    ),
    (
        "10.0.0.0/8 nexthop via 192.0.2.1 realm 7 nexthop dev b dead",
        "unicast 10.0.0.0/8 metric 0 via 192.0.2.1 weight 1",
    ),
];

/// Routes for one prefix, the gateways that are kept, and how many notes there are.
const BESIDE: &[(&str, &str, u64)] = &[
    (
        "10.0.0.0/8 via 1.1.1.1 metric 9\n10.0.0.0/8 via 1.1.1.2 metric 3",
        "1.1.1.2",
        1,
    ),
    (
        "10.0.0.0/8 via 1.1.1.1 metric 1\n10.0.0.0/8 via 1.1.1.2",
        "1.1.1.2",
        1,
    ),
    // Added by `ip route append`.
    (
        "10.0.0.0/8 via 1.1.1.1\n10.0.0.0/8 via 1.1.1.2",
        "1.1.1.1",
        1,
    ),
    (
        "10.0.0.0/8 via 1.1.1.1 dead\n10.0.0.0/8 via 1.1.1.2 metric 3",
        "1.1.1.2",
        1,
    ),
    (
        "10.0.0.0/8 via 1.1.1.1\n10.0.0.0/9 via 1.1.1.2",
        "1.1.1.1 1.1.1.2",
        0,
    ),
    (
        "10.0.0.0/8 via 1.1.1.1\n10.0.0.0/8 via 1.1.1.2 table 7",
        "1.1.1.1 1.1.1.2",
        0,
    ),
    // IPv6 routes of one metric are hops of one.
    (
        "2001:db8::/32 via 2001::1\n2001:db8::/32 via 2001::2",
        "2001::1 2001::2",
        0,
    ),
    (
        "2001:db8::/32 via 2001::1 metric 1024\n2001:db8::/32 via 2001::2",
        "2001::1 2001::2",
        0,
    ),
    (
        "2001:db8::/32 via 2001::1 metric 1\n2001:db8::/32 via 2001::2",
        "2001::1",
        1,
    ),
    (
        "2001:db8::/32 via 2001::1\n2001:db8::/32 via 2001::1",
        "2001::1",
        1,
    ),
    (
        "2001:db8::/32 via 2001::1\n2001:db8::/32 dev a",
        "2001::1",
        1,
    ),
];
