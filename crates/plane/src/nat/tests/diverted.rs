//! What NAT must see of packets to the router's own addresses, where the kernel has those.

use super::*;

/// A rule for packets that come by the outside.
fn rule(protocol: Option<NatMatchProtocol>, ports: &[(u16, u16)], to: bool) -> DestinationRule {
    let ports = ports.iter().map(|&(first, last)| NatRange { first, last });
    DestinationRule {
        from: WAN,
        matches: NatMatch {
            protocol,
            destination_ports: ports.collect(),
            ..NatMatch::default()
        },
        to: to.then(|| NatTarget {
            address: ip("10.0.0.5"),
            port: None,
        }),
    }
}

/// Settings with ports of their own, as beside the kernel.
fn beside(sources: Vec<SourceRule>, destinations: Vec<DestinationRule>) -> NatConfig {
    NatConfig {
        sources,
        destinations,
        ports: Some(NatRange {
            first: 16_384,
            last: 32_767,
        }),
        identifiers: Some(NatRange {
            first: 0xF000,
            last: 0xFFFF,
        }),
        hairpin: false,
        ..NatConfig::default()
    }
}

fn shown(config: NatConfig) -> Vec<String> {
    let all = table(config).diverted();
    let all = all.iter().map(|one| {
        let protocol = format!("{:?}", one.protocol);
        format!(
            "{} {protocol} {}-{}",
            one.address, one.ports.first, one.ports.last
        )
    });
    all.collect()
}

#[test]
fn answers_and_what_is_forwarded_are_diverted_and_nothing_else() {
    use NatMatchProtocol::{Icmp, Tcp, Udp};
    let wan = |text: &str| format!("198.51.100.1 {text}");
    let answers = [
        "Tcp 16384-32767",
        "Udp 16384-32767",
        "EchoReply 61440-65535",
    ]
    .map(wan);
    assert_eq!(shown(beside(vec![masquerade()], Vec::new())), answers);
    // Rules, and what they divert.
    let cases: [(Vec<DestinationRule>, &[&str]); 7] = [
        (vec![rule(Some(Tcp), &[(80, 80)], true)], &["Tcp 80-80"]),
        (vec![rule(Some(Tcp), &[(80, 80)], false)], &[]),
        (
            vec![rule(Some(Udp), &[(5, 6), (9, 9)], true)],
            &["Udp 5-6", "Udp 9-9"],
        ),
        (
            vec![
                rule(Some(Tcp), &[(22, 22)], false),
                rule(Some(Tcp), &[], true),
            ],
            &["Tcp 0-21", "Tcp 23-65535"],
        ),
        (
            vec![
                rule(Some(Tcp), &[], true),
                rule(Some(Tcp), &[(22, 22)], false),
            ],
            &["Tcp 0-65535"],
        ),
        (vec![rule(Some(Icmp), &[], true)], &["EchoRequest 0-65535"]),
        (
            vec![rule(Some(Icmp), &[], false), rule(None, &[], true)],
            &["Tcp 0-65535", "Udp 0-65535"],
        ),
    ];
    for (rules, wanted) in cases {
        let wanted: Vec<String> = wanted.iter().map(|text| wan(text)).collect();
        assert_eq!(
            shown(beside(Vec::new(), rules.clone())),
            wanted,
            "{rules:?}"
        );
    }
}

#[test]
fn a_rule_that_accepts_some_sources_takes_nothing_out() {
    let mut accept = rule(None, &[], false);
    accept.matches.sources = vec![NatRange::one(ip("203.0.113.1"))];
    let forward = rule(Some(NatMatchProtocol::Tcp), &[(80, 80)], true);
    let shown = shown(beside(Vec::new(), vec![accept, forward]));
    assert_eq!(shown, ["198.51.100.1 Tcp 80-80"]);
}

#[test]
fn hairpins_have_ports_of_their_own_at_the_address() {
    let mut config = beside(Vec::new(), vec![rule(None, &[(80, 80)], true)]);
    config.destinations[0].matches.protocol = Some(NatMatchProtocol::Tcp);
    config.hairpin = true;
    let wanted = [
        "Tcp 80-80",
        "Tcp 16384-32767",
        "Udp 16384-32767",
        "EchoReply 61440-65535",
    ];
    assert_eq!(
        shown(config),
        wanted.map(|text| format!("198.51.100.1 {text}"))
    );
}

#[test]
fn flows_get_ports_and_identifiers_of_the_settings_alone() {
    let mut bench = Bench::new(beside(vec![masquerade()], Vec::new()));
    for port in [80, 5000, 20_000, 40_000] {
        let udp = Packet::udp(("10.0.0.2", port), ("203.0.113.9", 7));
        let left = bench.pass(LAN, &udp).expect("it leaves");
        assert!((16_384..=32_767).contains(&left.src_port), "{port}");
        assert_eq!(left.src_port == port, port == 20_000);
        assert_eq!(bench.pass(WAN, &left.answer()), Ok(udp.answer()));
    }
}

#[test]
fn flows_of_an_address_that_went_end_without_a_packet() {
    let mut bench = Bench::new(beside(vec![masquerade()], Vec::new()));
    for host in 0..200 {
        let udp = Packet::udp((&format!("10.0.0.{host}"), 5000), ("203.0.113.9", 7));
        bench.pass(LAN, &udp).expect("it leaves");
    }
    let config = bench.table.config().clone();
    bench.table = NatTable::new(config, vec![vec![own(LAN)], vec![own(DMZ)], Vec::new()]);
    bench.nat.rules_changed();
    for _ in 0..4 {
        assert!(bench.nat.counts.revoked < 200, "in parts");
        bench.wait(0);
    }
    let counts = bench.nat.counts;
    assert_eq!(
        (counts.revoked, counts.ended, bench.nat.flows.len()),
        (200, 200, 0)
    );
}
