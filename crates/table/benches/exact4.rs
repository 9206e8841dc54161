//! Six million IPv4 addresses in one list and dealt over 16: hits, misses, pairs of both.

mod random;
mod streams;

use criterion::{Criterion, criterion_group, criterion_main};
use random::Random;
use streams::{KEYS, Stream};
use table::{CompiledLists, Entries};

const ENTRIES: usize = 6_000_000;

fn compiled(addresses: &[u32], lists: usize) -> CompiledLists {
    let mut dealt = vec![Entries::default(); lists];
    for (index, &address) in addresses.iter().enumerate() {
        dealt[index % lists].v4.addresses.push(address);
    }
    let dealt: Vec<&Entries> = dealt.iter().collect();
    CompiledLists::compile(&dealt).expect("the machine has the memory")
}

fn streams(addresses: &[u32], random: &mut Random) -> [Stream<u32>; 3] {
    let miss: Vec<u32> = random.column(KEYS);
    let index = |random: &mut Random| random.address::<u32>() as usize % ENTRIES;
    let hit: Vec<u32> = (0..KEYS).map(|_| addresses[index(random)]).collect();
    let either = |at: usize, random: &mut Random| match random.address::<u32>() % 2 {
        0 => hit[at],
        _ => miss[at],
    };
    let pair = (0..KEYS).map(|at| either(at, random)).collect();
    [("hit", hit, 1), ("miss", miss, 1), ("pair", pair, 2)].map(|(name, keys, each)| Stream {
        name,
        keys,
        each,
    })
}

fn exact4(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let addresses = random.column(ENTRIES);
    let streams = streams(&addresses, &mut random);
    for lists in [1, 16] {
        let set = compiled(&addresses, lists);
        let name = format!("exact4, lists: {lists}");
        streams::bench(criterion, &name, &streams, |keys, masks| {
            set.lookup_burst_v4(keys, masks);
        });
    }
}

criterion_group!(benches, exact4);
criterion_main!(benches);
