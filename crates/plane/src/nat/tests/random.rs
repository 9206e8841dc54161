//! Random packets from both sides, thousands of flows, and time going by, beside the model.
//! `LINERATE_SEED` replays one seed, which a failure prints.

use super::model::{Model, Wanted};
use super::packet::{ACK, FIN, ICMP, Packet, RST, SYN, TCP, UDP};
use super::*;

const SEEDS: u64 = 12;
const PACKETS: u64 = 6000;
/// A tick, so that both measure time alike.
const TICK: u64 = 1 << TICK_BITS;

pub(super) struct Draw(pub(super) u64);

impl Draw {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ word >> 31) % end
    }

    fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

/// Settings by the seed: masquerade with many ports, a pool with few, small tables.
fn settings(draw: &mut Draw) -> NatConfig {
    let mut config = gateway();
    config.destinations.push(forward(8081, "10.1.0.3", 8081));
    config.hairpin = draw.below(4) != 0;
    if draw.below(2) == 0 {
        config.sources = vec![source_rule(SourcePool {
            addresses: Some(NatRange {
                first: ip("198.51.100.10"),
                last: ip("198.51.100.12"),
            }),
            ports: Some(NatRange {
                first: 2000,
                last: draw.among(&[2004, 2060]),
            }),
            endpoint_independent: false,
        })];
    }
    config.flows_max = draw.among(&[40, 400, 20_000]);
    config.flows_per_address = draw.among(&[9, 100, 20_000]);
    let ticks = |ticks: u64| std::time::Duration::from_nanos(ticks * TICK);
    config.timeouts = NatTimeouts {
        tcp_new: ticks(60),
        tcp: ticks(900),
        tcp_closing: ticks(50),
        udp_new: ticks(40),
        udp: ticks(100),
        icmp: ticks(30),
    };
    config
}

fn packet(draw: &mut Draw, model: &Model) -> (u16, Packet) {
    let flags = draw.among(&[SYN, SYN | ACK, ACK, ACK, ACK, FIN | ACK, RST]);
    if draw.below(2) == 0 && model.flows() != 0 {
        let answer = model.answer(draw.below(model.flows() as u64) as usize);
        let flags = if answer.protocol == TCP { flags } else { SYN };
        return (behind(answer.src), answer.with_flags(flags));
    }
    let inside = || ["10.0.0.2", "10.0.0.3", "10.0.0.5", "10.1.0.3", "10.1.0.4"];
    let outside = || ["203.0.113.9", "203.0.113.10", "192.0.2.5"];
    let own = || ["198.51.100.1", "198.51.100.11"];
    let ports = [80, 443, 500, 1024, 2001, 8080, 8081, 5000];
    let port = match draw.below(3) {
        0 => draw.among(&ports),
        _ => 1024 + draw.below(3000) as u16,
    };
    let from = match draw.below(6) {
        0 => draw.among(&outside()),
        _ => draw.among(&inside()),
    };
    let to = match draw.below(8) {
        0 | 1 => draw.among(&own()),
        2 => draw.among(&inside()),
        _ => draw.among(&outside()),
    };
    let protocol = draw.among(&[TCP, UDP, ICMP]);
    let made = Packet::new(protocol, (from, port), (to, draw.among(&ports)));
    let made = match protocol {
        TCP => made.with_flags(flags),
        _ => made,
    };
    (behind(made.src), made)
}

fn one_seed(seed: u64) -> usize {
    let mut draw = Draw(seed);
    let mut config = settings(&mut draw);
    if seed.is_multiple_of(4) {
        config.sources = vec![masquerade()];
        (config.flows_max, config.flows_per_address) = (20_000, 20_000);
    }
    let mut model = Model::new(config.clone());
    let mut bench = Bench::new(config);
    let mut most = 0;
    // How fast time goes by, so that flows are few or thousands.
    let pace = match seed % 4 {
        0 => 1000,
        _ => draw.among(&[1, 20]),
    };
    for number in 0..PACKETS {
        let steps = match draw.below(pace) {
            0 => draw.among(&[0, 0, 0, 0, 0, 1, 1, 2, 20]),
            _ => 0,
        };
        bench.now = Nanos((bench.now.0 / TICK + steps) * TICK);
        if draw.below(3) == 0 {
            bench.nat.poll(&bench.table, bench.now);
        }
        model.forget_those_over(bench.now.0);
        let (from, sent) = packet(&mut draw, &model);
        if sent.src == sent.dst {
            continue;
        }
        let what = format!("seed {seed}, packet {number} by {from}: {sent:?}");
        step(&mut bench, &mut model, (from, &sent), &what);
        most = most.max(model.flows());
    }
    // All of them end, and no record is lost.
    for _ in 0..100_000 {
        bench.now = Nanos(bench.now.0 + 200 * TICK);
        bench.nat.poll(&bench.table, bench.now);
    }
    assert_eq!(bench.nat.flows.len(), 0, "seed {seed}");
    most
}

fn step(bench: &mut Bench, model: &mut Model, (from, sent): (u16, &Packet), what: &str) {
    let wanted = model.wanted(from, sent, bench.now.0);
    if let Wanted::Own = wanted {
        return stays(bench, (from, sent), what);
    }
    let now = bench.now.0;
    let before = bench.nat.counts.begun;
    let left = bench.pass(from, sent);
    let has_begun = bench.nat.counts.begun != before;
    match wanted {
        Wanted::Own => {}
        // A record is freed a little after its flow is over.
        Wanted::Dropped(DropReason::NatLimit) if model.has_lately(None) => {
            let reasons = [DropReason::NatLimit, DropReason::NatFull];
            assert!(
                left.is_err_and(|reason| reasons.contains(&reason)),
                "{what}"
            );
        }
        Wanted::Dropped(reason) => assert_eq!(left, Err(reason), "{what}"),
        Wanted::Left(wanted) => {
            let is_forward = (sent.dst, sent.dst_port) != (wanted.dst, wanted.dst_port);
            if left == Err(DropReason::NatFull) && is_forward {
                return;
            }
            assert_eq!(left.as_ref(), Ok(&wanted), "{what}");
            if has_begun {
                model.begin(sent, &wanted, false, now);
            }
        }
        Wanted::NewSource {
            first,
            last,
            ports,
            to,
            hairpin,
        } => {
            let free = |address, port| model.is_free(sent.protocol, (address, port), to);
            match left {
                Ok(left) => {
                    assert!(has_begun, "{what}");
                    assert!((first..=last).contains(&left.src), "{what}: {left:?}");
                    assert!(
                        (ports.0..=ports.1).contains(&left.src_port),
                        "{what}: {left:?}"
                    );
                    assert_eq!(left.dst, to.0, "{what}");
                    assert!(free(left.src, left.src_port), "{what}: taken: {left:?}");
                    let keeps = (ports.0..=ports.1).contains(&sent.src_port)
                        && free(left.src, sent.src_port)
                        && (sent.dst, sent.dst_port) != (left.src, sent.src_port);
                    assert!(!keeps || left.src_port == sent.src_port, "{what}: {left:?}");
                    model.begin(sent, &left, hairpin, now);
                }
                Err(DropReason::NatPorts) => {
                    let all =
                        (first..=last).flat_map(|one| (ports.0..=ports.1).map(move |p| (one, p)));
                    let left_over = all.filter(|&(address, port)| free(address, port)).count();
                    assert!(left_over == 0, "{what}: {left_over} ports are free");
                }
                Err(DropReason::NatFull) if model.has_lately(None) => {}
                Err(DropReason::NatLimit) if model.has_lately(Some(sent.src)) => {}
                Err(reason) => panic!("{what}: {reason:?}"),
            }
        }
    }
}

/// A packet for the router itself goes nowhere else.
fn stays(bench: &mut Bench, (from, sent): (u16, &Packet), what: &str) {
    let arrival = Arrival {
        from,
        now: bench.now,
    };
    let arrived = bench.nat.arrive(&bench.table, &arrival, &sent.bytes());
    assert!(!arrived.is_redirected(), "{what}");
}

#[test]
fn random_packets_fare_as_in_the_model() {
    let given: Option<u64> = std::env::var("LINERATE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seeds: Vec<u64> = given.map_or_else(|| (1..=SEEDS).collect(), |seed| vec![seed]);
    let most: Vec<usize> = seeds.iter().map(|&seed| one_seed(seed)).collect();
    println!("flows at most, by seed: {most:?}");
    let wanted = if given.is_none() { 1000 } else { 0 };
    assert!(most.iter().any(|&most| most >= wanted), "{most:?}");
}
