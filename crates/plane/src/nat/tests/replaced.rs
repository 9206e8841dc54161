//! Thousands of flows while rules are replaced and time goes by: nobody gets what is for another
//! host, and nothing leaves by rules that are gone. `LINERATE_SEED` replays one seed.

use std::collections::HashMap;

use super::packet::{Packet, UDP};
use super::random::Draw;
use super::*;

const SEEDS: u64 = 4;
const STEPS: u64 = 40_000;
const TICK: u64 = 1 << TICK_BITS;

/// One end outside, as it sees a flow: the outside address and port, and its own.
type Seen = ((u32, u16), (u32, u16));

/// Who is behind what the outside sees, as the packets that left say.
#[derive(Default)]
struct Users {
    inside: HashMap<Seen, (u32, u16)>,
    /// What a host inside had when it sent last.
    outside: HashMap<(u32, u16, u32, u16), (u32, u16)>,
}

/// The sets of rules, and the outside addresses that each gives.
fn rules(number: u64) -> (NatConfig, NatRange<u32>) {
    let range = |first: &str, last: &str| NatRange {
        first: ip(first),
        last: ip(last),
    };
    let pool = [
        range("198.51.100.10", "198.51.100.12"),
        range("198.51.100.12", "198.51.100.13"),
        range("198.51.100.10", "198.51.100.13"),
    ][number as usize % 3];
    let mut config = gateway();
    config.sources = vec![source_rule(SourcePool {
        addresses: Some(pool),
        ports: None,
        endpoint_independent: false,
    })];
    (config.flows_max, config.flows_per_address) = (8000, 8000);
    let ticks = |ticks: u64| std::time::Duration::from_nanos(ticks * TICK);
    (config.timeouts.udp_new, config.timeouts.udp) = (ticks(300), ticks(600));
    (config, pool)
}

fn one_seed(seed: u64) -> (usize, u64) {
    let mut draw = Draw(seed);
    let (config, mut pool) = rules(0);
    let mut bench = Bench::new(config);
    let (mut users, mut most) = (Users::default(), 0);
    for step in 0..STEPS {
        let what = format!("seed {seed}, step {step}");
        if draw.below(4000) == 0 {
            let (config, other) = rules(draw.below(3));
            bench.table = table(config);
            bench.nat.rules_changed();
            pool = other;
        }
        if draw.below(40) == 0 {
            bench.now = Nanos(bench.now.0 + TICK * draw.below(4));
            bench.nat.poll(&bench.table, bench.now);
        }
        match draw.below(3) {
            0 => comes_back(&mut bench, &users, (&mut draw, pool), &what),
            _ => goes_out(&mut bench, &mut users, (&mut draw, pool), &what),
        }
        most = most.max(bench.nat.flows.len());
    }
    let revoked = bench.nat.counts.revoked;
    for _ in 0..2000 {
        bench.now = Nanos(bench.now.0 + 10 * TICK);
        bench.nat.poll(&bench.table, bench.now);
    }
    let counts = bench.nat.counts;
    assert_eq!(bench.nat.flows.len(), 0, "seed {seed}");
    assert_eq!(counts.begun, counts.ended, "seed {seed}");
    (most, revoked)
}

/// A host inside sends; what it leaves with is remembered.
fn goes_out(
    bench: &mut Bench,
    users: &mut Users,
    (draw, pool): (&mut Draw, NatRange<u32>),
    what: &str,
) {
    let host = ip("10.0.0.2") + draw.below(40) as u32;
    let from = (host, 1024 + draw.below(100) as u16);
    let to = (ip("203.0.113.9") + draw.below(3) as u32, 53);
    let sent = udp(from, to);
    let begun = bench.nat.counts.begun;
    let left = bench.pass(LAN, &sent).expect(what);
    assert!(
        pool.has(left.src),
        "{what}: by rules that are gone: {left:?}"
    );
    let own = (left.src, left.src_port);
    let key = (from.0, from.1, to.0, to.1);
    let before = users.outside.insert(key, own);
    if bench.nat.counts.begun == begun {
        assert_eq!(
            before,
            Some(own),
            "{what}: a flow that goes on keeps its port"
        );
    }
    users.inside.insert((own, to), from);
}

/// An end outside answers, perhaps to a flow that is over.
fn comes_back(
    bench: &mut Bench,
    users: &Users,
    (draw, pool): (&mut Draw, NatRange<u32>),
    what: &str,
) {
    let count = users.outside.len() as u64;
    let Some((key, own)) = users.outside.iter().nth(draw.below(count.max(1)) as usize) else {
        return;
    };
    let to = (key.2, key.3);
    let Ok(came) = bench.pass(WAN, &udp(to, *own)) else {
        return;
    };
    // Nothing is there for it: it would go to whoever has the address.
    if (came.dst, came.dst_port) == *own {
        return;
    }
    let user = users.inside.get(&(*own, to)).copied();
    assert_eq!(
        Some((came.dst, came.dst_port)),
        user,
        "{what}: another host's"
    );
    assert!(pool.has(own.0), "{what}: by rules that are gone: {came:?}");
}

fn udp(from: (u32, u16), to: (u32, u16)) -> Packet {
    let text = |address: u32| std::net::Ipv4Addr::from_bits(address).to_string();
    Packet::new(UDP, (&text(from.0), from.1), (&text(to.0), to.1))
}

#[test]
fn rules_are_replaced_while_there_are_thousands_of_flows() {
    let given = std::env::var("LINERATE_SEED").ok();
    let given: Option<u64> = given.and_then(|seed| seed.parse().ok());
    let seeds: Vec<u64> = given.map_or_else(|| (1..=SEEDS).collect(), |seed| vec![seed]);
    let found: Vec<(usize, u64)> = seeds.iter().map(|&seed| one_seed(seed)).collect();
    println!("flows at most, and those that rules ended, by seed: {found:?}");
    assert!(found.iter().any(|(most, _)| *most > 2000), "{found:?}");
    assert!(
        found.iter().any(|(_, revoked)| *revoked > 1000),
        "{found:?}"
    );
}
