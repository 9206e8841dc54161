//! A routing table dealt over 16 lists, IPv4 and IPv6: any address, addresses of the table, pairs.

mod random;
mod routes;
mod streams;

use criterion::{Criterion, criterion_group, criterion_main};
use random::Random;
use routes::Shape;
use streams::{KEYS, Stream};
use table::{Address, CompiledLists, Entries, FamilyEntries, Network};

/// About the lengths of the Internet's table of 2025.
const V4: Shape = Shape {
    lengths: &[
        (8, 16),
        (11, 150),
        (13, 900),
        (15, 3_300),
        (16, 13_500),
        (18, 22_000),
        (20, 67_500),
        (21, 50_800),
        (22, 108_600),
        (23, 96_500),
        (24, 537_700),
        (32, 900),
    ],
    chunk_len: 16,
};
const V6: Shape = Shape {
    lengths: &[
        (20, 16),
        (28, 220),
        (29, 4_400),
        (32, 23_400),
        (36, 12_500),
        (40, 17_300),
        (44, 18_600),
        (48, 83_200),
        (64, 200),
    ],
    chunk_len: 32,
};

/// Lists that networks are dealt over.
const LISTS: usize = 16;

/// The networks over 16 lists, so that neighbours have different answers.
fn dealt<A: Address>(networks: &[Network<A>], random: &mut Random) -> Vec<FamilyEntries<A>> {
    let mut lists = vec![FamilyEntries::default(); LISTS];
    for &network in networks {
        let list = random.address::<u32>() as usize % LISTS;
        lists[list].networks.push(network);
    }
    lists
}

/// `uniform` are addresses of the part of the address space that is in use.
fn streams<A: Address>(
    networks: &[Network<A>],
    uniform: Vec<A>,
    random: &mut Random,
) -> [Stream<A>; 4] {
    let drawn = |random: &mut Random| {
        let index = random.address::<u32>() as usize % networks.len();
        routes::within(networks[index], random)
    };
    let drawn: Vec<A> = (0..KEYS).map(|_| drawn(random)).collect();
    [
        ("any", uniform.clone(), 1),
        ("of the table", drawn.clone(), 1),
        ("pairs, any", uniform, 2),
        ("pairs of the table", drawn, 2),
    ]
    .map(|(name, keys, each)| Stream { name, keys, each })
}

fn compiled(lists: &[Entries]) -> CompiledLists {
    let lists: Vec<&Entries> = lists.iter().collect();
    CompiledLists::compile(&lists).expect("the machine has the memory")
}

fn prefixes_v4(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let networks = routes::networks::<u32>(&V4, &mut random);
    let lists = dealt(&networks, &mut random).into_iter();
    let lists: Vec<_> = lists
        .map(|v4| Entries {
            v4,
            ..Entries::default()
        })
        .collect();
    let set = compiled(&lists);
    let streams = streams(&networks, random.column(KEYS), &mut Random::new(2));
    streams::bench(criterion, "prefixes, IPv4", &streams, |keys, masks| {
        set.lookup_burst_v4(keys, masks);
    });
}

fn prefixes_v6(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let in_use = |address: u128| address >> 3 | 1 << 125;
    let networks = routes::networks::<u128>(&V6, &mut random).into_iter();
    let networks = networks.flat_map(|n| Network::holding(in_use(n.first()), n.prefix_len()));
    let networks: Vec<_> = networks.collect();
    let lists = dealt(&networks, &mut random).into_iter();
    let lists: Vec<_> = lists
        .map(|v6| Entries {
            v6,
            ..Entries::default()
        })
        .collect();
    let set = compiled(&lists);
    let uniform = random.column(KEYS).into_iter().map(in_use).collect();
    let streams = streams(&networks, uniform, &mut random);
    streams::bench(criterion, "prefixes, IPv6", &streams, |keys, masks| {
        set.lookup_burst_v6(keys, masks);
    });
}

criterion_group!(benches, prefixes_v4, prefixes_v6);
criterion_main!(benches);
