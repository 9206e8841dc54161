//! Routes against a naive list of them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::{Fib, Routes};
use crate::address::Address;
use crate::mask::ListMask;
use crate::network::Network;

/// The longest prefix that holds an address, found by looking at each.
struct Naive<A>(BTreeMap<(A, u8), NonZeroU32>);

impl<A: Address> Naive<A> {
    fn lookup(&self, address: A) -> u32 {
        let holds = |key: &(A, u8)| address.first_in(key.1) == key.0;
        let holding = self.0.iter().filter(|(key, _)| holds(key));
        let longest = holding.max_by_key(|(key, _)| key.1);
        longest.map_or(0, |(_, answer)| answer.get())
    }

    /// Every address at which the answer may change, and those beside them.
    fn edges(&self) -> Vec<A> {
        let edge = |&(first, len): &(A, u8)| {
            let last = first.last_in(len);
            let beside = [first.predecessor(), last.successor()];
            [first, last]
                .into_iter()
                .chain(beside.into_iter().flatten())
        };
        let ends = [A::default(), A::MAX];
        self.0.keys().flat_map(edge).chain(ends).collect()
    }

    fn check(&self, routes: &Routes<A>, fib: &Fib<A>, what: &str) {
        let edges = self.edges();
        let mut answers = vec![ListMask(9); edges.len()];
        fib.lookup_burst(&edges, &mut answers);
        for (&edge, found) in edges.iter().zip(answers) {
            let expected = self.lookup(edge);
            assert_eq!(found.0, expected, "{what}: {}", edge.text());
            let longest = routes.longest(edge);
            let longest = longest.map_or(0, |(_, answer)| answer.get());
            assert_eq!(longest, expected, "{what}: {}", edge.text());
        }
        let all: Vec<_> = routes
            .iter()
            .map(|(network, answer)| (super::key(network), answer))
            .collect();
        let expected: Vec<_> = self.0.iter().map(|(&key, &answer)| (key, answer)).collect();
        assert_eq!(all, expected, "{what}");
        let swept = super::runs::of(expected.into_iter());
        let swept: Vec<_> = swept.starts.into_iter().zip(swept.masks).collect();
        let kept: Vec<_> = routes
            .runs
            .iter()
            .map(|(&start, &held)| (start, held))
            .collect();
        assert_eq!(kept, swept, "{what}");
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A prefix near others: of few different bits above and of few below.
    fn prefix<A: Address>(&mut self) -> Network<A> {
        let bits = u128::from(A::BITS);
        let high = u128::from(self.below(4)) << (bits - 2);
        let middle = u128::from(self.below(4)) << (bits / 2);
        let low = u128::from(self.below(8));
        let lengths = [0, 1, 2, 8, 15, 16, 17, 24, 30, 31, 32];
        let lengths_v6 = [33, 47, 48, 49, 64, 65, 96, 125, 127, 128];
        let all: Vec<u8> = match A::BITS {
            32 => lengths.to_vec(),
            _ => [&lengths[..], &lengths_v6[..]].concat(),
        };
        let len = all[self.below(all.len() as u64) as usize];
        Network::holding(A::narrow(high | middle | low), len).expect("short enough")
    }

    fn answer(&mut self, answers: u64) -> NonZeroU32 {
        NonZeroU32::new(1 + self.below(answers) as u32).expect("above 0")
    }
}

fn history<A: Address>(seed: u64, answers: u64) {
    let mut random = Random(seed);
    let mut naive = Naive(BTreeMap::new());
    let given: Vec<_> = (0..random.below(40))
        .map(|_| (random.prefix::<A>(), random.answer(answers)))
        .collect();
    for &(network, answer) in &given {
        naive.0.insert(super::key(network), answer);
    }
    let mut routes = Routes::new(given).expect("memory");
    naive.check(&routes, &routes.fib(), &format!("seed {seed}, loaded"));
    let mut versions = Vec::new();
    for step in 0..60 {
        let network = random.prefix::<A>();
        let answer = (random.below(3) != 0).then(|| random.answer(answers));
        let key = super::key(network);
        let before = match answer {
            Some(answer) => naive.0.insert(key, answer),
            None => naive.0.remove(&key),
        };
        assert_eq!(routes.set(network, answer).expect("memory"), before);
        let what = format!("seed {seed}, step {step}: {network} {answer:?}");
        naive.check(&routes, &routes.fib(), &what);
        if step % 20 == 0 {
            versions.push((Naive(naive.0.clone()), routes.fib()));
        }
    }
    // A version stays what it was, whatever came after.
    for (then, fib) in versions {
        for edge in then.edges() {
            assert_eq!(
                fib.lookup(edge),
                then.lookup(edge),
                "seed {seed}: an old version"
            );
        }
    }
}

/// As [`history`], with many changes at a time.
fn batches<A: Address>(seed: u64, answers: u64) {
    let mut random = Random(seed);
    let mut naive = Naive(BTreeMap::new());
    let mut routes = Routes::new([]).expect("memory");
    for step in 0..20 {
        let mut changed = 0;
        let mut changes = Vec::new();
        for _ in 0..random.below(30) {
            let network = random.prefix::<A>();
            let answer = (random.below(3) != 0).then(|| random.answer(answers));
            let key = super::key(network);
            let before = match answer {
                Some(answer) => naive.0.insert(key, answer),
                None => naive.0.remove(&key),
            };
            changed += usize::from(before != answer);
            changes.push((network, answer));
        }
        let what = format!("seed {seed}, step {step}: {changes:?}");
        assert_eq!(routes.apply(changes).expect("memory"), changed, "{what}");
        naive.check(&routes, &routes.fib(), &what);
    }
}

/// More changes than are written one by one, of a table beneath a default route that changes.
#[test]
fn a_storm_of_changes_is_right() {
    let mut random = Random(7);
    let mut naive = Naive(BTreeMap::new());
    let mut routes = Routes::<u32>::new([]).expect("memory");
    for round in 0..6 {
        // One prefix for each block of 16 bits, and the default route.
        let storm = (0..1u32 << 13).map(|at| {
            let network = Network::holding(at << 19 | 7 << 8, 24).expect("short enough");
            (network, (at % 6 != round).then(|| random.answer(9)))
        });
        let default = Network::holding(0, 0).expect("short enough");
        let storm: Vec<_> = storm.collect();
        let last = (default, (round % 2 == 0).then(|| random.answer(9)));
        for &(network, answer) in storm.iter().chain([&last]) {
            match answer {
                Some(answer) => naive.0.insert(super::key(network), answer),
                None => naive.0.remove(&super::key(network)),
            };
        }
        routes.apply(storm).expect("memory");
        routes.set(last.0, last.1).expect("memory");
        let fib = routes.fib();
        for at in (0..1u32 << 13).step_by(13) {
            for key in [at << 19, at << 19 | 7 << 8, at << 19 | 8 << 8] {
                let longest = routes.longest(key).map_or(0, |(_, answer)| answer.get());
                assert_eq!(fib.lookup(key), longest, "round {round}: {}", key.text());
            }
        }
        let held = naive
            .0
            .get(&(0x0008_0700, 24))
            .map_or(0, |answer| answer.get());
        let beneath = naive.0.get(&(0, 0)).map_or(0, |answer| answer.get());
        let expected = if held == 0 { beneath } else { held };
        assert_eq!(fib.lookup(0x0008_0701), expected, "round {round}");
    }
}

#[test]
fn spans_of_a_block_are_written_at_once() {
    let spans = vec![
        (0x0a00_0000u32, 0x0a00_00ff),
        (0x0a00_0200, 0x0a00_02ff),
        (0x0a01_0000, 0x0a01_0000),
    ];
    let joined = super::runs::by_block(spans);
    assert_eq!(
        joined,
        [(0x0a00_0000, 0x0a00_02ff), (0x0a01_0000, 0x0a01_0000)]
    );
    let wide = super::runs::by_block(vec![(0u128, 1 << 100), (1 << 101, 1 << 102)]);
    assert_eq!(wide, [(0, 1 << 100), (1 << 101, 1 << 102)]);
}

#[test]
fn the_longest_prefix_answers_through_random_changes() {
    let first = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |since| since.as_nanos() as u64 | 1);
    for seed in first..first + 25 {
        history::<u32>(seed, 5);
        history::<u128>(seed, 5);
        // More answers than leaves of IPv6 hold themselves, and than classes have names.
        history::<u32>(seed, 1 << 31);
        history::<u128>(seed, 1 << 31);
        batches::<u32>(seed, 5);
        batches::<u128>(seed, 1 << 31);
    }
}

/// Every set of up to three prefixes of a space of eight addresses, at each end of the family.
#[test]
fn all_small_tables_are_right() {
    let networks: Vec<(u32, u8)> = (0..=3)
        .flat_map(|len| (0..1u32 << len).map(move |at| (at << (3 - len), len as u8)))
        .collect();
    for top in [true, false] {
        let place = |(first, len): (u32, u8)| {
            let (first, len) = if top {
                (first << 29, len)
            } else {
                (first, len + 29)
            };
            Network::<u32>::new(first, len).expect("no host bits")
        };
        for (at, &one) in networks.iter().enumerate() {
            for (next, &other) in networks.iter().enumerate().skip(at) {
                for &third in &networks[next..] {
                    let given = [one, other, third].map(place);
                    let answers = (1..).filter_map(NonZeroU32::new);
                    let given: Vec<_> = given.into_iter().zip(answers).collect();
                    let naive = Naive(
                        given
                            .iter()
                            .map(|&(net, answer)| (super::key(net), answer))
                            .collect(),
                    );
                    let routes = Routes::new(given).expect("memory");
                    naive.check(
                        &routes,
                        &routes.fib(),
                        &format!("{one:?} {other:?} {third:?}"),
                    );
                }
            }
        }
    }
}

#[test]
fn no_route_is_no_answer() {
    let mut routes = Routes::<u128>::new([]).expect("memory");
    assert!(routes.is_empty());
    assert_eq!(routes.fib().lookup(u128::MAX), 0);
    let default = Network::new(0, 0).expect("a prefix");
    routes.set(default, NonZeroU32::new(7)).expect("memory");
    assert_eq!((routes.len(), routes.fib().lookup(1)), (1, 7));
    assert_eq!(
        routes.set(default, None).expect("memory"),
        NonZeroU32::new(7)
    );
    assert_eq!(routes.fib().lookup(1), 0);
}
