//! Other rules while there are flows.

use super::*;

const SERVER: (&str, u16) = ("203.0.113.9", 443);
const OUTSIDE: &str = "198.51.100.1";

fn replaced(bench: &mut Bench, config: NatConfig) {
    bench.table = table(config);
    bench.nat.rules_changed();
}

#[test]
fn flows_that_the_new_rules_allow_go_on() {
    let mut bench = Bench::new(gateway());
    let blocker = Packet::udp(("10.0.0.3", 5000), SERVER);
    bench.pass(LAN, &blocker).expect("it takes the port");
    let sent = Packet::udp(("10.0.0.2", 5000), SERVER);
    let left = bench.pass(LAN, &sent).expect("it leaves");
    let to_server = Packet::tcp(("203.0.113.9", 6000), (OUTSIDE, 8080));
    let came = bench.pass(WAN, &to_server).expect("it is forwarded");
    let mut config = gateway();
    config.destinations.push(forward(9090, "10.0.0.6", 90));
    replaced(&mut bench, config);
    assert_eq!(
        bench.pass(LAN, &sent),
        Ok(left.clone()),
        "with the same port"
    );
    assert_eq!(bench.pass(WAN, &left.answer()), Ok(sent.answer()));
    assert_eq!(bench.pass(LAN, &came.answer()), Ok(to_server.answer()));
    assert_eq!(bench.nat.counts.ended, 0);
}

#[test]
fn flows_that_the_new_rules_do_not_allow_end() {
    let mut bench = Bench::new(gateway());
    let sent = Packet::udp(("10.0.0.2", 5000), SERVER);
    let left = bench.pass(LAN, &sent).expect("it leaves");
    let to_server = Packet::tcp(("203.0.113.9", 6000), (OUTSIDE, 8080));
    let came = bench.pass(WAN, &to_server).expect("it is forwarded");
    // Another outside address, and the port leads elsewhere.
    let mut config = gateway();
    config.sources = vec![source_rule(SourcePool {
        addresses: Some(NatRange::one(ip("198.51.100.9"))),
        ports: None,
        endpoint_independent: false,
    })];
    config.destinations = vec![forward(8080, "10.0.0.6", 80)];
    replaced(&mut bench, config);
    let again = bench.pass(LAN, &sent).expect("by the new rule");
    assert_eq!(again.src, ip("198.51.100.9"));
    let late = bench.pass(WAN, &left.answer());
    assert!(
        late.is_err() || late == Ok(left.answer()),
        "it is no answer any more: {late:?}"
    );
    let moved = bench.pass(WAN, &to_server).expect("by the new rule");
    assert_eq!(moved.dst, ip("10.0.0.6"));
    // The old server's answers are of no flow: they leave as a flow of its own, or not at all.
    let stale = bench.pass(LAN, &came.answer()).expect("a flow of its own");
    assert_ne!((stale.src, stale.src_port), (to_server.dst, 8080));
}

#[test]
fn mappings_end_with_the_rule_that_made_them() {
    let pool = |first| SourcePool {
        addresses: Some(NatRange::one(ip(first))),
        ports: None,
        endpoint_independent: true,
    };
    let config = |first| NatConfig {
        sources: vec![source_rule(pool(first))],
        ..NatConfig::default()
    };
    let mut bench = Bench::new(config("198.51.100.9"));
    let sent = Packet::udp(("10.0.0.2", 5000), SERVER);
    bench.pass(LAN, &sent).expect("it leaves");
    replaced(&mut bench, config("198.51.100.8"));
    let again = bench.pass(LAN, &sent).expect("by the new rule");
    assert_eq!(again.src, ip("198.51.100.8"));
    let other = Packet::udp(("10.0.0.2", 5000), ("203.0.113.10", 5));
    assert_eq!(
        bench.pass(LAN, &other).expect("by the new rule").src,
        again.src
    );
}
