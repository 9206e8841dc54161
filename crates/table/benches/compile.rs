//! Six million addresses from memory into a set: one list and 16, IPv4 and IPv6.

mod random;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use random::Random;
use table::{CompiledLists, Entries};

const ENTRIES: usize = 6_000_000;

fn lists(count: usize, list: impl Fn(u64, usize) -> Entries) -> Vec<Entries> {
    (0..count as u64)
        .map(|seed| list(seed, ENTRIES / count))
        .collect()
}

fn v4(seed: u64, count: usize) -> Entries {
    let mut entries = Entries::default();
    entries.v4.addresses = Random::new(seed).column(count);
    entries
}

fn v6(seed: u64, count: usize) -> Entries {
    let mut entries = Entries::default();
    entries.v6.addresses = Random::new(seed).column(count);
    entries
}

fn compile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(ENTRIES as u64));
    for count in [1, 16] {
        for (family, lists) in [("IPv4", lists(count, v4)), ("IPv6", lists(count, v6))] {
            let lists: Vec<&Entries> = lists.iter().collect();
            group.bench_function(format!("{family}, lists: {count}"), |bencher| {
                bencher.iter(|| CompiledLists::compile(&lists).expect("there is memory"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, compile);
criterion_main!(benches);
