//! Why single routes are refused.

use super::shown;
use crate::routes::read_line;

#[test]
fn what_is_not_understood_whole_is_refused() {
    const UNKNOWN: &str = "is not known in a route; write PREFIX via GATEWAY [dev NAME] [metric \
                           NUMBER]";
    let unknown = |word: &str| format!("\"{word}\" {UNKNOWN}");
    for (line, sentence) in [
        ("10.0.0.0/8 vai 192.0.2.1", unknown("vai")),
        ("10.0.0.0/8 via 192.0.2.1 eth0", unknown("eth0")),
        (
            "10.0.0.0/8 via 192.0.2.1 proto dev eth0",
            missing("proto", "value"),
        ),
        ("10.0.0.0/8 via", missing("via", "address")),
        ("10.0.0.0/8 via dev a", missing("via", "address")),
        ("10.0.0.0/8 dev", missing("dev", "name")),
        ("10.0.0.0/8 dev a metric", missing("metric", "number")),
        ("blackhole", missing("blackhole", "prefix")),
        ("10.0.0.0/8 dev a \\ via 192.0.2.1", unknown("via")),
        ("10.0.0.0/8 dev a mtu lock", missing("mtu", "value")),
    ] {
        assert_eq!(fault(line), sentence, "{line}");
    }
    for &(line, word, part) in REFUSED {
        let fault = fault(line);
        assert!(
            fault.starts_with(&format!("\"{word}\" ")),
            "{line}: {fault}"
        );
        assert!(fault.contains(part), "{line}: {fault}");
    }
    assert_eq!(
        fault(" # nothing"),
        "there is no route; write PREFIX via GATEWAY"
    );
    assert!(fault("10.0.0.0/8 dev a\nblackhole ::/0").contains("write one route"));
    assert!(fault(&format!("10.0.0.0/8 dev {}", "a".repeat(64))).contains("longer than 63 bytes"));
    assert!(fault(&format!("10.0.0.0/8 dev a{}", " ".repeat(1 << 16))).contains("65536 bytes"));
    let many = format!("10.0.0.0/8{}", " nexthop dev a".repeat(513));
    assert!(
        fault(&many).contains("more than the 512"),
        "{}",
        fault(&many)
    );
}

fn missing(word: &str, what: &str) -> String {
    format!("\"{word}\" has no {what} behind it")
}

fn fault(line: &str) -> String {
    match read_line(line) {
        Err(fault) => fault.to_string(),
        Ok(route) => panic!("{line:?} was read as {}", shown(&route)),
    }
}

/// One route a line, the word that is wrong, and a part of what is said about it.
const REFUSED: &[(&str, &str, &str)] = &[
    ("10.0.0.1/8 via 192.0.2.1", "10.0.0.1/8", "10.0.0.0/8"),
    ("2001:db8::1/32 dev a", "2001:db8::1/32", "2001:db8::/32"),
    ("10.0.0.0/33 dev a", "10.0.0.0/33", "32"),
    ("2001:db8::/129 dev a", "2001:db8::/129", "128"),
    ("10.0.0.0/255.0.0.0 dev a", "10.0.0.0/255.0.0.0", "8"),
    ("10/8 dev a", "10/8", ""),
    ("10.0.0.0-10.0.0.9 dev a", "10.0.0.0-10.0.0.9", "is a range"),
    ("ip route add 10.0.0.0/8 dev a", "ip", "begins a command"),
    ("nat 10.0.0.0/8 via 192.0.2.1", "nat", "no kernel has"),
    (
        "B>* 10.0.0.0/8 [20/0] via 192.0.2.1",
        "B>*",
        "not printed by",
    ),
    (
        "[{\"dst\":\"default\"}]",
        "[{\"dst\":\"default\"}]",
        "is JSON",
    ),
    ("all via 192.0.2.1", "all", "not a prefix"),
    (
        "blackhole blackhole 10.0.0.0/8",
        "blackhole",
        "not a prefix",
    ),
    ("10.0.0.0/8", "10.0.0.0/8", "leads nowhere"),
    ("default", "default", "leads nowhere"),
    (
        "10.0.0.0/8 proto bgp nhid 3",
        "10.0.0.0/8",
        "nexthop object",
    ),
    ("default dev a", "default", "0.0.0.0/0 or ::/0"),
    (
        "10.0.0.0/8 via 2001:db8::1",
        "2001:db8::1",
        "via inet6 2001:db8::1",
    ),
    (
        "2001:db8::/32 via 192.0.2.1",
        "192.0.2.1",
        "IPv4 gateway of an IPv6 route",
    ),
    (
        "2001:db8::/32 via inet 192.0.2.1",
        "192.0.2.1",
        "IPv4 gateway of an IPv6 route",
    ),
    (
        "10.0.0.0/8 via inet6 192.0.2.1",
        "192.0.2.1",
        "is not an address of the family",
    ),
    (
        "10.0.0.0/8 via inet 2001:db8::1",
        "2001:db8::1",
        "is not an address of the family",
    ),
    ("2001:db8::/32 via fe80::1", "fe80::1", "write dev NAME"),
    ("2001:db8::/32 via fe80::1%a", "fe80::1%a", "zone"),
    (
        "10.0.0.0/8 via 192.0.2.1/24",
        "192.0.2.1/24",
        "a gateway is one address",
    ),
    (
        "10.0.0.0/8 via 0.0.0.0",
        "0.0.0.0",
        "not the address of one router",
    ),
    (
        "10.0.0.0/8 via 127.0.0.1",
        "127.0.0.1",
        "not the address of one router",
    ),
    (
        "10.0.0.0/8 via 224.0.0.5",
        "224.0.0.5",
        "not the address of one router",
    ),
    (
        "10.0.0.0/8 via 255.255.255.255",
        "255.255.255.255",
        "not the address of one router",
    ),
    (
        "2001:db8::/32 via ::",
        "::",
        "not the address of one router",
    ),
    (
        "2001:db8::/32 via ff02::1 dev a",
        "ff02::1",
        "not the address of one router",
    ),
    ("10.0.0.0/8 via gateway", "gateway", ""),
    ("10.0.0.0/8 via 192.0.2.256", "192.0.2.256", "255"),
    (
        "10.0.0.0/8 via 192.0.2.1 via 192.0.2.2",
        "via",
        "second time",
    ),
    ("10.0.0.0/8 dev a dev b", "dev", "second time"),
    (
        "10.0.0.0/8 dev a metric 1 metric 2",
        "metric",
        "second time",
    ),
    ("10.0.0.0/8 dev a table 1 table 2", "table", "second time"),
    ("10.0.0.0/8 dev a metric 4294967296", "4294967296", "number"),
    ("10.0.0.0/8 dev a metric 0x10", "0x10", "number"),
    ("10.0.0.0/8 dev a metric 010", "010", "number"),
    ("10.0.0.0/8 dev a metric +1", "+1", "number"),
    (
        "10.0.0.0/8 dev a weight 2",
        "weight",
        "behind nexthop alone",
    ),
    ("10.0.0.0/8 nexthop dev a weight 0", "0", "from 1 to 256"),
    (
        "10.0.0.0/8 nexthop dev a weight 257",
        "257",
        "from 1 to 256",
    ),
    (
        "10.0.0.0/8 nexthop dev a weight 1 weight 1",
        "weight",
        "second time",
    ),
    (
        "10.0.0.0/8 nexthop dev a metric 5",
        "metric",
        "before the first nexthop",
    ),
    ("10.0.0.0/8 nexthop", "nexthop", "neither via GATEWAY nor"),
    (
        "10.0.0.0/8 nexthop weight 2 nexthop dev a",
        "nexthop",
        "neither via GATEWAY nor",
    ),
    (
        "10.0.0.0/8 via 192.0.2.1 nexthop dev a",
        "via",
        "behind nexthop",
    ),
    ("10.0.0.0/8 dev a nexthop dev a", "dev", "behind nexthop"),
    ("nexthop via 192.0.2.1", "nexthop", "none before it"),
    ("blackhole 10.0.0.0/8 via 192.0.2.1", "via", "dropped"),
    ("prohibit 10.0.0.0/8 nexthop dev a", "nexthop", "dropped"),
    ("10.0.0.0/8 dev a src eth0", "eth0", "not an address"),
    (
        "10.0.0.0/8 dev a src 2001:db8::1",
        "2001:db8::1",
        "other family",
    ),
    (
        "default via 192.0.2.1 src 2001:db8::1",
        "2001:db8::1",
        "other family",
    ),
    (
        "10.0.0.0/8 dev a from 192.0.2.0/24",
        "192.0.2.0/24",
        "some sources alone",
    ),
    ("10.0.0.0/8 tos 0x10 dev a", "0x10", "one type of service"),
    (
        "10.0.0.0/8  encap ip id 5 dst 192.0.2.1 dev a",
        "encap",
        "tunnel",
    ),
    (
        "2001:db8::/48  encap seg6 mode encap segs 1 [ ::1 ] dev a",
        "encap",
        "tunnel",
    ),
    (
        "10.0.0.0/8 as to 192.0.2.1 dev a",
        "as",
        "changes the destination",
    ),
    ("10.0.0.0/8 dev a iif b", "iif", "one interface alone"),
    (
        "10.0.0.0/8 via 192.0.2.1 dead linkdown",
        "10.0.0.0/8",
        "dead hops alone",
    ),
    ("10.0.0.0/8 gw 192.0.2.1", "gw", "route command"),
    ("10.0.0.0/8 dev \u{1b}[2J \u{7}", "\\u{7}", "is not known"),
];
