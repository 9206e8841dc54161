//! The text form: what is read, what is printed back, and what is refused where.

use super::*;

/// What is written, and what is printed of it.
const READ: &[(&str, &str)] = &[
    ("oif wan masquerade", "oif \"wan\" masquerade"),
    ("oifname \"wan\" masquerade", "oif \"wan\" masquerade"),
    ("  oif wan masquerade # all", "oif \"wan\" masquerade"),
    (
        "oif wan masquerade to :1024-2000 endpoint-independent",
        "oif \"wan\" masquerade to :1024-2000 endpoint-independent",
    ),
    (
        "oif wan ip saddr 10.0.0.0/8 snat to 203.0.113.10-203.0.113.20",
        "oif \"wan\" ip saddr 10.0.0.0/8 snat to 203.0.113.10-203.0.113.20",
    ),
    (
        "oif wan ip saddr {10.0.0.1,10.0.1.0-10.0.1.255, 10.2.0.1-10.2.0.9,} snat ip to 1.2.3.4:99",
        "oif \"wan\" ip saddr { 10.0.0.1, 10.0.1.0/24, 10.2.0.1-10.2.0.9 } snat to 1.2.3.4:99",
    ),
    (
        "iif \"wan\" tcp dport 8080 dnat to 10.0.0.5:80",
        "iif \"wan\" tcp dport 8080 dnat to 10.0.0.5:80",
    ),
    (
        "iif wan ip daddr 203.0.113.7/32 dnat to 10.0.0.7",
        "iif \"wan\" ip daddr 203.0.113.7 dnat to 10.0.0.7",
    ),
    (
        "iif wan udp sport 1 udp dport {1-9, 20} accept",
        "iif \"wan\" udp sport 1 udp dport { 1-9, 20 } accept",
    ),
    (
        "oif wan meta l4proto icmp masquerade",
        "oif \"wan\" ip protocol icmp masquerade",
    ),
    (
        "oif wan ip daddr 0.0.0.0/0 accept",
        "oif \"wan\" ip daddr 0.0.0.0/0 accept",
    ),
    (
        "timeout tcp 2h4m; timeout udp 300",
        "timeout tcp 7440s\ntimeout udp 300s",
    ),
    (
        "flows 1000\nflows-per-address 5",
        "flows 1000\nflows-per-address 5",
    ),
    ("hairpin off", "hairpin off"),
    ("# nothing", ""),
    ("", ""),
];

/// What is refused, the place, and a part of the sentence.
const REFUSED: &[(&str, &str, &str)] = &[
    ("masquerade", "1:1:", "\"masquerade\" begins no statement"),
    ("table ip nat {", "1:1:", "without table and chain"),
    ("oif", "1:4:", "the line ends where it should be the name"),
    ("oif \"w n\" masquerade", "1:5:", "name of an interface"),
    ("oif wan", "1:8:", "neither a match nor an action"),
    (
        "iif wan masquerade",
        "1:9:",
        "begin the rule with 'oif NAME'",
    ),
    (
        "oif wan dnat to 10.0.0.5",
        "1:9:",
        "begin the rule with 'iif NAME'",
    ),
    ("oif wan snat 1.2.3.4", "1:14:", "should be 'to'"),
    (
        "oif wan snat to 1.2.3.9-1.2.3.4",
        "1:17:",
        "outside addresses",
    ),
    ("oif wan snat to 1.2.3.4:0", "1:17:", "outside addresses"),
    ("oif wan snat to fd00::1", "1:17:", "outside addresses"),
    (
        "oif wan ip saddr 10.0.0.1/8 masquerade",
        "1:18:",
        "without bits",
    ),
    (
        "oif wan ip saddr { 10.0.0.1 masquerade",
        "1:29:",
        "should be ','",
    ),
    ("oif wan ip saddr { } masquerade", "1:20:", "IPv4 address"),
    (
        "oif wan ip foo 1.2.3.4 accept",
        "1:12:",
        "saddr, daddr or protocol",
    ),
    ("oif wan tcp dport 0 accept", "1:19:", "port from 1"),
    ("oif wan tcp dport 65536 accept", "1:19:", "port from 1"),
    ("oif wan tcp dport 9-8 accept", "1:19:", "port from 1"),
    ("oif wan tcp dport +8 accept", "1:19:", "port from 1"),
    ("oif wan tcp masquerade", "1:13:", "sport or dport"),
    (
        "oif wan tcp dport 1 udp dport 2 accept",
        "1:21:",
        "second protocol",
    ),
    (
        "oif wan tcp dport 1 tcp dport 2 accept",
        "1:25:",
        "a second time",
    ),
    ("oif wan masquerade random", "1:20:", "behind the end"),
    ("iif wan dnat to 10.0.0.5:80-90", "1:17:", "inside host"),
    ("iif wan dnat to 10.0.0.5:80", "1:17:", "of TCP or UDP"),
    (
        "iif wan ip protocol icmp dnat to 10.0.0.5:80",
        "1:34:",
        "of TCP or UDP",
    ),
    ("\n\n timeout sctp 5", "3:10:", "should name a state"),
    ("timeout udp 5x", "1:13:", "should be a time"),
    ("timeout udp 0", "1:13:", "should be a time"),
    ("timeout udp 99999d", "1:13:", "should be a time"),
    ("flows 0", "1:7:", "a number from 1"),
    ("flows 5\nflows 6", "2:1:", "a second time"),
    ("hairpin maybe", "1:9:", "'on' or 'off'"),
    (
        "oif wan masquerade\n\u{e4}\u{f6} x",
        "2:1:",
        "begins no statement",
    ),
];

#[test]
fn what_is_read_is_printed_canonically_and_read_again_alike() {
    for (text, printed) in READ {
        let read = read_text("f", text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read.to_string().trim_end(), *printed, "{text}");
        let again = read_text("f", &read.to_string()).expect(text);
        assert_eq!(again.to_string(), read.to_string(), "{text}");
    }
}

#[test]
fn what_is_refused_names_the_place_and_the_remedy() {
    for (text, place, sentence) in REFUSED {
        let error = read_text("f", text).expect_err(text).to_string();
        assert!(error.starts_with(&format!("f:{place}")), "{text}: {error}");
        assert!(error.contains(sentence), "{text}: {error}");
    }
}

#[test]
fn a_file_is_bounded_and_is_text() {
    let long = read("f", &vec![b'#'; (1 << 20) + 1][..]).expect_err("long");
    assert!(long.to_string().contains("longer than 1 MiB"), "{long}");
    let binary = read("f", &b"\xff\xfe"[..]).expect_err("binary");
    assert!(binary.to_string().contains("no text"), "{binary}");
    let rules = "oif wan masquerade\n".repeat(4097);
    let many = read_text("f", &rules).expect_err("many").to_string();
    assert!(
        many.starts_with("f:4097:1:") && many.contains("4,096"),
        "{many}"
    );
}
