//! Text, values, and text again; names; errors with their places.

use table::classify::{Entry, Key, Then, matches};

use super::*;

fn scope() -> Scope {
    let name = |name: &str| vec![name.to_owned()];
    Scope {
        ports: vec![name("A"), name("B")],
        sets: vec!["bad".to_owned(), "good".to_owned()],
        stateful: true,
        is_pair: true,
    }
}

fn parsed(text: &str) -> Rules {
    read("t", text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A text and its canonical form, each a rule.
const RULES: &[(&str, &str)] = &[
    ("accept", "accept"),
    ("reject", "reject"),
    ("reject with tcp reset", "reject with tcp reset"),
    ("counter reject with icmpx port-unreachable", "reject"),
    (
        "reject with icmpx type no-route",
        "reject with icmpx no-route",
    ),
    ("ip saddr 10.0.0.0/8 drop", "ip saddr 10.0.0.0/8 drop"),
    ("ip saddr 10.0.0.1/32 drop", "ip saddr 10.0.0.1 drop"),
    ("ip saddr 0.0.0.0/0 counter", "ip saddr 0.0.0.0/0 counter"),
    (
        "ip saddr 10.0.0.0-10.0.0.255 drop",
        "ip saddr 10.0.0.0/24 drop",
    ),
    (
        "ip saddr 10.0.0.1-10.0.0.2 drop",
        "ip saddr 10.0.0.1-10.0.0.2 drop",
    ),
    (
        "ip saddr 0.0.0.0-255.255.255.255 drop",
        "ip saddr 0.0.0.0/0 drop",
    ),
    ("ip6 daddr ::/0 drop", "ip6 daddr ::/0 drop"),
    (
        "ip6 daddr 2001:db8::/32 drop",
        "ip6 daddr 2001:db8::/32 drop",
    ),
    (
        "ip6 saddr != { ::1, fe80::/10 } drop",
        "ip6 saddr != { ::1, fe80::/10 } drop",
    ),
    ("ip saddr @bad drop", "ip saddr @bad drop"),
    ("ip6 saddr != @bad counter drop", "ip6 saddr != @bad drop"),
    ("tcp dport {22,443,} accept", "tcp dport { 22, 443 } accept"),
    ("tcp dport { 1-9 } accept", "tcp dport 1-9 accept"),
    ("tcp dport {\n 22,\n 443 }\n", "?"),
    ("th sport 53 accept", "th sport 53 accept"),
    (
        "ct state new,established accept",
        "ct state { new, established } accept",
    ),
    (
        "meta l4proto { tcp, 17, ipv6-icmp } drop",
        "meta l4proto { tcp, udp, icmpv6 } drop",
    ),
    (
        "icmp type echo-request icmp code 0 accept",
        "icmp type echo-request icmp code 0 accept",
    ),
    (
        "icmpv6 type 135 accept",
        "icmpv6 type nd-neighbor-solicit accept",
    ),
    ("tcp flags syn drop", "tcp flags syn drop"),
    (
        "tcp flags syn / syn,ack drop",
        "tcp flags syn / syn,ack drop",
    ),
    (
        "tcp flags none / fin,syn drop",
        "tcp flags none / fin,syn drop",
    ),
    ("iif A oif \"B\" accept", "iif \"A\" oif \"B\" accept"),
    (
        "vlan id == 5 fragment later count",
        "vlan id 5 fragment later counter",
    ),
    (
        "ip dscp ef ip6 dscp != cs1 drop",
        "ip dscp ef ip6 dscp != cs1 drop",
    ),
];

#[test]
fn text_becomes_canonical_text() {
    for (text, canonical) in RULES.iter().filter(|(_, canonical)| *canonical != "?") {
        let rules = parsed(text);
        assert_eq!(rules.main[0].to_string(), *canonical, "{text}");
        let again = parsed(&rules.to_string());
        assert_eq!(again.to_string(), rules.to_string(), "{text}");
        let entries = |rules: &Rules| rules.entries(&scope()).expect("names are known");
        assert_eq!(entries(&again), entries(&rules), "{text}");
    }
}

#[test]
fn a_whole_file_is_printed_back() {
    let text = "\
policy drop
ip saddr @bad drop
tcp dport { 22, 443 } jump web
counter

chain web {
    ct state established accept
    ip saddr 10.0.0.0/8 accept
}
";
    let rules = parsed(text);
    assert_eq!(rules.to_string(), text);
    let numbers: Vec<(u32, u32)> = rules.all().map(|rule| (rule.number, rule.line)).collect();
    assert_eq!(numbers, [(0, 2), (1, 3), (2, 4), (3, 7), (4, 8)]);
    let entries = rules.entries(&scope()).expect("names are known");
    let order: Vec<u32> = entries.iter().map(|entry| entry.rule).collect();
    assert_eq!(
        order,
        [0, 1, 3, 4, 2],
        "a list is tried where the jump stands"
    );
    let commented = "# first\npolicy drop; ip saddr @bad drop # why\n tcp dport \\\n22 accept\n";
    assert_eq!(
        parsed(commented).to_string(),
        "policy drop\nip saddr @bad drop\ntcp dport 22 accept\n"
    );
}

#[test]
fn faults_name_their_places() {
    let table = [
        (
            "ip saddr 10.0.0.1/8 drop",
            "1:10: '10.0.0.1/8' has bits set behind its length",
        ),
        (
            "ip saddr 10.0.0 drop",
            "1:10: '10.0.0' is not an IPv4 address",
        ),
        (
            "ip saddr 10.0.0.0/33 drop",
            "1:10: '10.0.0.0/33' has no length from 0 to 32",
        ),
        (
            "ip saddr 10.0.0.9-10.0.0.1 drop",
            "1:10: '10.0.0.9-10.0.0.1' ends before it begins",
        ),
        (
            "ip6 saddr 10.0.0.1 drop",
            "1:11: '10.0.0.1' is not an IPv6 address",
        ),
        ("tcp dport 65536 drop", "1:11: '65536' is no value here"),
        ("tcp dport -1 drop", "1:11: '-1' is no value here"),
        ("tcp dport http drop", "1:11: 'http' is no value here"),
        ("tcp dport { 22, @bad } drop", "1:17: '@bad' stands in { }"),
        ("tcp dport @bad drop", "1:11: sets hold addresses"),
        ("tcp dport { 22 443 } drop", "1:16: '443' stands in { }"),
        ("tcp dport {} drop", "1:12: '}' stands where a value is due"),
        (
            "tcp dport",
            "1:10: 'the end of the line' stands where a value is due",
        ),
        (
            "tcp port 22 drop",
            "1:5: 'tcp' begins other matches: write tcp sport, tcp dport",
        ),
        ("\n  udp dport 53", "2:15: the rule has no action"),
        (
            "accept drop",
            "1:8: 'drop' stands behind the end of the rule",
        ),
        ("frobnicate drop", "1:1: 'frobnicate' begins no match"),
        (
            "tcp dport 22 limit rate 1/second accept",
            "1:14: 'limit' is not known here: leave it out",
        ),
        ("tcp flags syn,foo drop", "1:15: 'foo' is no flag of TCP"),
        ("tcp flags none drop", "1:16: 'none' needs the flags"),
        ("tcp flags syn / ack drop", "1:15: a flag before the '/'"),
        ("iif \"A drop", "1:5: this quote does not end"),
        ("policy maybe", "1:8: 'maybe' is no policy"),
        ("policy drop\npolicy drop", "2:1: a policy stands once"),
        ("chain a { accept", "1:17: list 'a' does not end"),
        (
            "chain a { chain b { } }",
            "1:11: a list stands in no other list",
        ),
        (
            "chain a {\n}\nchain a {\n}",
            "3:1: list 'a' is there already",
        ),
        ("}", "1:1: '}' closes nothing"),
        ("jump", "1:5: 'the end of the line' is no name"),
    ];
    for (text, said) in table {
        let error = read("t", text).expect_err(text).faults[0].to_string();
        assert!(error.starts_with(said), "{text}\n  {error}\n  {said}");
    }
}

#[test]
fn names_must_mean_something() {
    let table = [
        (
            "ip saddr @worse drop",
            scope(),
            "1:1: there is no set 'worse': give it with --set",
        ),
        (
            "accept\niif C drop",
            scope(),
            "2:1: there is no port 'C': write one of A, B",
        ),
        ("jump x", scope(), "1:1: there is no list 'x'"),
        (
            "chain x {\njump x\n}\njump x",
            scope(),
            "2:1: more than 16 lists",
        ),
        (
            "ct state new drop",
            Scope {
                stateful: false,
                ..scope()
            },
            "1:1: nothing is known of flows",
        ),
        (
            "oif A drop",
            Scope {
                is_pair: false,
                ..scope()
            },
            "1:1: where a frame leaves",
        ),
    ];
    for (text, scope, said) in table {
        let error = parsed(text).entries(&scope).expect_err(text).to_string();
        assert!(error.starts_with(said), "{text}\n  {error}\n  {said}");
    }
}

#[test]
fn jumps_that_multiply_are_refused() {
    let mut text = String::from("jump c0\n");
    for depth in 0..14 {
        text += &format!("chain c{depth} {{\n");
        text += &format!("jump c{}\n", depth + 1).repeat(4);
        text += "}\n";
    }
    text += "chain c14 {\naccept\n}\n";
    let error = parsed(&text)
        .entries(&scope())
        .expect_err("4^14 rules")
        .to_string();
    assert!(error.contains("65537 rules"), "{error}");
}

/// A rule, a packet, and whether it matches.
const VERDICTS: &[(&str, &str, bool)] = &[
    ("ip saddr 10.0.0.0/8 drop", "ip saddr 10.255.255.255", true),
    ("ip saddr 10.0.0.0/8 drop", "ip saddr 11.0.0.0", false),
    ("ip saddr != 10.0.0.0/8 drop", "ip saddr 11.0.0.0", true),
    ("ip saddr != 10.0.0.0/8 drop", "ip6 saddr ::1", false),
    ("ip saddr != 0.0.0.0/0 drop", "ip saddr 1.1.1.1", false),
    ("ip saddr @bad drop", "ip saddr @bad", true),
    ("ip saddr @bad drop", "ip saddr @good", false),
    ("ip saddr @bad drop", "ip daddr @bad", false),
    ("ip saddr != @bad drop", "ip saddr 1.1.1.1", true),
    ("ip6 saddr @bad drop", "ip saddr @bad", false),
    ("tcp dport 1-9 drop", "tcp dport 9", true),
    ("tcp dport 1-9 drop", "udp dport 9", false),
    ("th dport 1-9 drop", "udp dport 9", true),
    ("tcp dport != { 1-9, 20 } drop", "tcp dport 10", true),
    ("tcp dport != { 1-9, 20 } drop", "tcp dport 20", false),
    ("tcp flags syn drop", "tcp flags syn,ack", true),
    ("tcp flags syn / syn,ack drop", "tcp flags syn,ack", false),
    ("tcp flags syn / syn,ack drop", "tcp flags syn,psh", true),
    ("tcp flags none / syn drop", "tcp flags ack", true),
    ("icmp type 8 drop", "icmp type echo-request", true),
    ("icmpv6 type 8 drop", "icmp type echo-request", false),
    ("iif A drop", "iif A", true),
    ("oif B drop", "iif A", true),
    ("oif A drop", "iif A", false),
    ("iif != A drop", "iif B", true),
    ("vlan id 0-4095 drop", "ip saddr 1.1.1.1", false),
    ("fragment != whole drop", "fragment later", true),
    ("ct state { new, related } drop", "ct state related", true),
    ("meta nfproto ipv6 drop", "ip6 saddr ::1", true),
    ("ip dscp ef drop", "ip dscp 46", true),
    ("ip dscp ef drop", "ip6 dscp ef", false),
];

#[test]
fn rules_match_what_they_say() {
    for (rule, packet, expected) in VERDICTS {
        let entries: Vec<Entry> = parsed(rule).entries(&scope()).expect("names are known");
        let key: Key = test_packet(packet, &scope()).expect(packet).key;
        assert_eq!(entries[0].then, Then::Drop);
        assert_eq!(matches(&entries[0], &key), *expected, "{rule} on {packet}");
    }
}

#[test]
fn a_packet_has_one_value_of_each() {
    for (text, said) in [
        ("tcp dport 1-9", "1:1: a packet has one value"),
        ("ip saddr 1.1.1.1 ip6 daddr ::1", "1:18: this contradicts"),
        ("tcp dport 1 udp sport 2", "1:13: this contradicts"),
        ("ip saddr != @bad", "1:1: a packet has one value"),
        ("drop", "1:1: 'drop' begins no match"),
    ] {
        let error = test_packet(text, &scope()).expect_err(text).to_string();
        assert!(error.starts_with(said), "{text}: {error}");
    }
}
