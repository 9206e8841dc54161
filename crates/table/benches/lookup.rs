//! Lookups in six million addresses: hit, miss and pair (source and destination of a frame, one
//! burst each), bursts of 64 and 256. Streams are far larger than the caches.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use table::{CompiledLists, Entries, ListMask};

const ENTRIES: usize = 6_000_000;
/// 32 MB of IPv4 keys, 128 MB of IPv6 keys.
const KEYS: usize = 1 << 23;
const BURST_MAX: usize = 256;

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *seed;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Calls `lookup` with one burst after the other, round and round.
fn bench<K: Copy>(
    criterion: &mut Criterion,
    group: &str,
    streams: [(&str, &[K], &[K]); 3],
    lookup: impl Fn(&[K], &mut [ListMask]),
) {
    let mut group = criterion.benchmark_group(group);
    for (name, sources, destinations) in streams {
        for burst in [64, BURST_MAX] {
            let lookups = burst + if destinations.is_empty() { 0 } else { burst };
            group.throughput(Throughput::Elements(lookups as u64));
            let mut masks = [ListMask::EMPTY; BURST_MAX];
            let mut at = 0;
            group.bench_function(BenchmarkId::new(name, burst), |bencher| {
                bencher.iter(|| {
                    at = (at + burst) & (KEYS - 1);
                    lookup(&sources[at..at + burst], &mut masks);
                    if !destinations.is_empty() {
                        lookup(&destinations[at..at + burst], &mut masks);
                    }
                    black_box(&masks);
                });
            });
        }
    }
    group.finish();
}

fn lookups(criterion: &mut Criterion) {
    let mut seed = 1;
    let mut list = Entries::default();
    let wide = |seed: &mut u64| u128::from(splitmix(seed)) << 64 | u128::from(splitmix(seed));
    list.v4.addresses = (0..ENTRIES).map(|_| splitmix(&mut seed) as u32).collect();
    list.v6.addresses = (0..ENTRIES).map(|_| wide(&mut seed)).collect();
    let compiled = CompiledLists::compile(&[&list]).expect("the machine has the memory");

    let mut index = || splitmix(&mut seed) as usize % ENTRIES;
    let hit_v4: Vec<u32> = (0..KEYS).map(|_| list.v4.addresses[index()]).collect();
    let hit_v6: Vec<u128> = (0..KEYS).map(|_| list.v6.addresses[index()]).collect();
    let miss_v4: Vec<u32> = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
    let miss_v6: Vec<u128> = (0..KEYS).map(|_| wide(&mut seed)).collect();

    let streams = [
        ("hit", &hit_v4[..], &[][..]),
        ("miss", &miss_v4, &[]),
        ("pair", &hit_v4, &miss_v4),
    ];
    bench(criterion, "v4_6M", streams, |keys, masks| {
        compiled.lookup_burst_v4(keys, masks);
    });
    let streams = [
        ("hit", &hit_v6[..], &[][..]),
        ("miss", &miss_v6, &[]),
        ("pair", &hit_v6, &miss_v6),
    ];
    bench(criterion, "v6_6M", streams, |keys, masks| {
        compiled.lookup_burst_v6(keys, masks);
    });
}

criterion_group!(benches, lookups);
criterion_main!(benches);
