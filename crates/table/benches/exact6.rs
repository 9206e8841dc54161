//! Six million IPv6 addresses in one list and dealt over 16: hits, misses, pairs of both.

mod addresses;
mod random;
mod streams;

use criterion::{Criterion, criterion_group, criterion_main};
use random::Random;
use table::{CompiledLists, Entries};

const ENTRIES: usize = 6_000_000;

fn compiled(addresses: &[u128], lists: usize) -> CompiledLists {
    let mut dealt = vec![Entries::default(); lists];
    for (index, &address) in addresses.iter().enumerate() {
        dealt[index % lists].v6.addresses.push(address);
    }
    let dealt: Vec<&Entries> = dealt.iter().collect();
    CompiledLists::compile(&dealt).expect("the machine has the memory")
}

fn exact6(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let listed: Vec<_> = random.column(ENTRIES);
    let streams = addresses::streams(&listed, &mut random);
    for lists in [1, 16] {
        let set = compiled(&listed, lists);
        let name = format!("exact6, lists: {lists}");
        streams::bench(criterion, &name, &streams, |keys, masks| {
            set.lookup_burst_v6(keys, masks);
        });
    }
}

criterion_group!(benches, exact6);
criterion_main!(benches);
