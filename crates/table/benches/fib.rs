//! Routes: loading, changing and looking up 1,000,000 IPv4 and 200,000 IPv6 prefixes, beside a
//! set of the same networks, which has one answer.

mod random;
mod routes;
mod streams;

use criterion::{Criterion, criterion_group, criterion_main};
use random::Random;
use routes::Shape;
use std::num::NonZeroU32;
use std::time::Instant;
use streams::{KEYS, Stream};
use table::fib::Routes;
use table::{Address, FamilyEntries, Network, PrefixSet};

/// About the lengths of the Internet's table of 2025, some more of each.
const V4: Shape = Shape {
    lengths: &[
        (8, 16),
        (11, 160),
        (13, 1_000),
        (15, 3_700),
        (16, 15_000),
        (18, 24_400),
        (20, 75_000),
        (21, 56_400),
        (22, 120_600),
        (23, 107_000),
        (24, 610_000),
        (32, 1_000),
    ],
    chunk_len: 16,
};
const V6: Shape = Shape {
    lengths: &[
        (20, 20),
        (28, 280),
        (29, 5_500),
        (32, 29_300),
        (36, 15_700),
        (40, 21_700),
        (44, 23_300),
        (48, 104_200),
        (64, 250),
    ],
    chunk_len: 32,
};
/// Sets of next hops: those of a router with many peers.
const ANSWERS: u32 = 500;
/// Changes at a time, of 10,000 a second.
const BATCH: usize = 100;

fn answer(random: &mut Random) -> NonZeroU32 {
    let drawn = 1 + random.address::<u32>() % ANSWERS;
    NonZeroU32::new(drawn).unwrap_or(NonZeroU32::MIN)
}

/// Routes to these networks. Prints what loading and changing them takes.
fn loaded<A: Address>(family: &str, networks: &[Network<A>]) -> Routes<A> {
    let mut random = Random::new(3);
    let given = networks
        .iter()
        .map(|&network| (network, answer(&mut random)));
    let given: Vec<_> = given.collect();
    let begun = Instant::now();
    let mut routes = Routes::new(given).expect("the machine has the memory");
    let took = begun.elapsed();
    let (bytes, count) = (routes.fib().bytes(), routes.len());
    let each = bytes as f64 / count as f64;
    println!("{family}: {count} prefixes load in {took:.2?}, {each:.1} bytes a prefix");
    let mut version = routes.fib();
    let begun = Instant::now();
    for _ in 0..BATCH {
        let drawn = random.column::<u32>(BATCH).into_iter();
        let changes = drawn.map(|drawn| {
            let index = drawn as usize % networks.len();
            let is_new = !random.address::<u32>().is_multiple_of(4);
            (networks[index], is_new.then(|| answer(&mut random)))
        });
        let changes: Vec<_> = changes.collect();
        routes.apply(changes).expect("the machine has the memory");
        version = routes.fib();
    }
    println!(
        "{family}: 10,000 changes in versions of {BATCH} take {:.2?}",
        begun.elapsed()
    );
    drop(version);
    let default = Network::holding(A::default(), 0).expect("short enough");
    let begun = Instant::now();
    let set = routes.set(default, NonZeroU32::new(ANSWERS + 1));
    set.expect("the machine has the memory");
    println!("{family}: a default route takes {:.2?}", begun.elapsed());
    routes
}

fn compare<A: Address>(criterion: &mut Criterion, family: &str, networks: &[Network<A>]) {
    let fib = loaded(family, networks).fib();
    let entries = FamilyEntries {
        networks: networks.to_vec(),
        ..FamilyEntries::default()
    };
    let set = PrefixSet::new(&entries).expect("the machine has the memory");
    let mut random = Random::new(2);
    let drawn = (0..KEYS).map(|_| {
        let index = random.address::<u32>() as usize % networks.len();
        routes::within(networks[index], &mut random)
    });
    let keys = drawn.collect();
    let name = "of the table";
    let streams = [Stream {
        name,
        keys,
        each: 1,
    }];
    streams::bench(
        criterion,
        &format!("fib, {family}"),
        &streams,
        |keys, answers| {
            fib.lookup_burst(keys, answers);
        },
    );
    streams::bench(
        criterion,
        &format!("set, {family}"),
        &streams,
        |keys, masks| {
            set.lookup_burst(keys, masks);
        },
    );
}

fn fib_v4(criterion: &mut Criterion) {
    compare(
        criterion,
        "IPv4",
        &routes::networks::<u32>(&V4, &mut Random::new(1)),
    );
}

fn fib_v6(criterion: &mut Criterion) {
    let in_use = |address: u128| address >> 3 | 1 << 125;
    let networks = routes::networks::<u128>(&V6, &mut Random::new(1)).into_iter();
    let networks = networks.flat_map(|n| Network::holding(in_use(n.first()), n.prefix_len()));
    compare(criterion, "IPv6", &networks.collect::<Vec<_>>());
}

criterion_group!(benches, fib_v4, fib_v6);
criterion_main!(benches);
