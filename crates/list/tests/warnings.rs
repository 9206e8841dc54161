//! Warnings, and which entries hold an address.

mod reading;

use list::{OwnAddress, ReadOptions, find};
use reading::{load, load_with, sample, warnings};
use std::net::IpAddr;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[track_caller]
fn check(line: &str, expected: &[&str]) {
    let loaded = load(format!("198.51.100.1\n{line}\n"));
    let expected: Vec<_> = expected.iter().map(|text| format!("L:2: {text}")).collect();
    assert_eq!(warnings(&loaded), expected);
    assert_eq!(loaded.warning_count, expected.len() as u64);
}

#[test]
fn each_kind_of_special_space() {
    let private = "private space 10.0.0.0/8 (RFC 1918)";
    check("10.0.0.0/8", &[&format!("10.0.0.0/8 covers {private}")]);
    check("10.1.2.3", &[&format!("10.1.2.3 lies in {private}")]);
    check("10.1.2.3\t9", &[&format!("10.1.2.3 lies in {private}")]);
    check(
        "9.0.0.0-10.0.0.5",
        &[&format!("9.0.0.0-10.0.0.5 reaches into {private}")],
    );
    check(
        "172.31.255.255",
        &["172.31.255.255 lies in private space 172.16.0.0/12 (RFC 1918)"],
    );
    check("172.32.0.0", &[]);
    check(
        "192.168.0.0/16",
        &["192.168.0.0/16 covers private space 192.168.0.0/16 (RFC 1918)"],
    );
    check(
        "100.64.0.1",
        &["100.64.0.1 lies in shared space 100.64.0.0/10 (RFC 6598)"],
    );
    check(
        "127.0.0.1",
        &["127.0.0.1 lies in loopback space 127.0.0.0/8 (RFC 1122)"],
    );
    check(
        "169.254.1.1",
        &["169.254.1.1 lies in link-local space 169.254.0.0/16 (RFC 3927)"],
    );
    check(
        "224.0.0.0/3",
        &["224.0.0.0/3 covers multicast space 224.0.0.0/4 (RFC 5771)"],
    );
    check("::1", &["::1 covers loopback space ::1 (RFC 4291)"]);
    check(
        "fe80::5",
        &["fe80::5 lies in link-local space fe80::/10 (RFC 4291)"],
    );
    check(
        "fd00::/8",
        &["fd00::/8 lies in private space fc00::/7 (RFC 4193)"],
    );
    check(
        "ff02::1",
        &["ff02::1 lies in multicast space ff00::/8 (RFC 4291)"],
    );
    check("2001:db8::1", &[]);
    check("0.0.0.0", &[]);
    check("255.255.255.255", &[]);
    let mapped = warnings(&load("::ffff:10.1.2.3\n"));
    assert_eq!(mapped[1], format!("L:1: 10.1.2.3 lies in {private}"));
}

#[test]
fn a_wide_network_touches_many() {
    check(
        "160.0.0.0/3",
        &[
            "160.0.0.0/3 covers private space 172.16.0.0/12 (RFC 1918)",
            "160.0.0.0/3 covers link-local space 169.254.0.0/16 (RFC 3927)",
        ],
    );
}

#[test]
fn five_of_each_kind_are_kept_and_all_are_counted() {
    let mut text: String = (0..9).map(|i| format!("10.0.0.{i}\n")).collect();
    text.extend((0..7).map(|i| format!("127.0.0.{i}\n")));
    text += "169.254.0.1\n";
    let loaded = load(text);
    let lines: Vec<_> = loaded.warnings.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 17]);
    assert_eq!(loaded.warning_count, 17);
}

#[test]
fn own_addresses() {
    let own = [
        ("203.0.113.1", "its gateway"),
        ("2001:db8::53", "its resolver"),
    ];
    let own = own.map(|(text, role)| OwnAddress {
        address: address(text),
        role,
    });
    let options = ReadOptions {
        own: own.to_vec(),
        ..ReadOptions::default()
    };
    let text = "203.0.113.1 7\n203.0.113.2\n203.0.112.0/23\n2001:db8::-2001:db8::ff\n2001:db8::54\n\
                203.0.113.1-203.0.113.9\n";
    let loaded = load_with(text, &options).unwrap();
    assert_eq!(
        warnings(&loaded),
        [
            "L:1: 203.0.113.1 is its gateway",
            "L:3: 203.0.112.0/23 covers 203.0.113.1, its gateway",
            "L:4: 2001:db8::-2001:db8::ff covers 2001:db8::53, its resolver",
            "L:6: 203.0.113.1-203.0.113.9 covers 203.0.113.1, its gateway",
        ]
    );
}

/// The matches as they are printed.
#[track_caller]
fn matches(text: impl AsRef<[u8]>, options: &ReadOptions, wanted: &str) -> Vec<String> {
    let found = find("L", text.as_ref(), options, address(wanted)).unwrap();
    assert_eq!(found.count, found.matches.len() as u64);
    found.matches.iter().map(ToString::to_string).collect()
}

#[test]
fn find_names_lines_and_entries() {
    let text = "# c\n192.0.2.1\r\n192.0.2.0/24 ; SBL1 # note\nexample.com\n10.0.0.1/8\n\
                192.0.2.1\t7\n192.0.0.0-192.0.255.255\n192.0.2.2\n::ffff:192.0.2.1\n::/1\n \
                \x20192.0.2.1 ";
    let options = ReadOptions::default();
    assert_eq!(
        matches(text, &options, "192.0.2.1"),
        [
            "L:2: 192.0.2.1",
            "L:3: 192.0.2.0/24 ; SBL1 # note",
            "L:6: 192.0.2.1\\t7",
            "L:7: 192.0.0.0-192.0.255.255",
            "L:9: ::ffff:192.0.2.1",
            "L:11: 192.0.2.1",
        ]
    );
    // As an IPv6 header carries it, which no entry of IPv4 is about.
    assert_eq!(matches(text, &options, "::ffff:192.0.2.1"), ["L:10: ::/1"]);
    assert_eq!(matches(text, &options, "2001:db8::1"), ["L:10: ::/1"]);
    assert_eq!(matches(text, &options, "10.0.0.1"), [""; 0]);
    assert_eq!(
        matches(reading::gzip(text), &options, "2001:db8::1"),
        ["L:10: ::/1"]
    );
}

#[test]
fn find_in_other_formats() {
    let options = ReadOptions::default();
    assert_eq!(
        matches(sample("ipset_nets.txt"), &options, "198.51.100.7"),
        [
            "L:3: add nets 198.51.100.0/24 timeout 299 packets 3 bytes 100 comment \"a list, of \
             # b...",
        ]
    );
    assert_eq!(
        matches(sample("nft_interval.txt"), &options, "203.0.113.7"),
        ["L:6: 203.0.113.5-203.0.113.9"]
    );
    assert_eq!(
        matches(sample("nft_interval.json"), &options, "203.0.113.7"),
        ["L:1: 203.0.113.5-203.0.113.9"]
    );
    assert_eq!(
        matches(
            "{\"cidr\":\"192.0.2.0/24\",\"sblid\":\"SBL1\"}",
            &options,
            "192.0.2.9"
        ),
        ["L:1: {\"cidr\":\"192.0.2.0/24\",\"sblid\":\"SBL1\"}"]
    );
    let column = ReadOptions {
        columns: "2".parse().ok(),
        ..ReadOptions::default()
    };
    assert_eq!(
        matches("when,ip\n1,192.0.2.9\n", &column, "192.0.2.9"),
        ["L:2: 1,192.0.2.9"]
    );
}

#[test]
fn find_keeps_a_hundred() {
    let text = "192.0.2.1\n".repeat(250);
    let found = find(
        "L",
        text.as_bytes(),
        &ReadOptions::default(),
        address("192.0.2.1"),
    )
    .unwrap();
    assert_eq!((found.matches.len(), found.count), (100, 250));
    assert_eq!(found.matches[99].line, 100);
}

/// Once a list, however many there are.
#[test]
fn mapped_addresses_are_read_as_ipv4() {
    let said = "L:1: an IPv4-mapped address is read as the IPv4 address; the entry ::ffff:0:0/96 \
                matches IPv6 frames that carry such addresses as they are";
    for (text, warned) in [
        ("::ffff:45.83.2.1\n::ffff:45.83.2.2\n", true),
        ("::ffff:45.83.2.0/120\n", true),
        ("::ffff:0:0/96\n", false),
        ("45.83.2.1\n2001:67c::1\n", false),
    ] {
        let loaded = load(text);
        let warnings = warnings(&loaded);
        let found = warnings.iter().filter(|warning| *warning == said);
        assert_eq!(found.count(), usize::from(warned), "{text}: {warnings:?}");
    }
}
