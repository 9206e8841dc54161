//! Exact IPv6 addresses: million lookups a second beside the random lines a second of memory of
//! the same size, in turn. `cargo run --release -p linerate-table --example rates6 [ENTRIES
//! [LISTS [ROUNDS [LEVEL]]]]`; level 0 is portable, 1 is AVX2.

use std::hint::black_box;
use std::time::Instant;
use table::{CompiledLists, Entries, Level, ListMask};

const KEYS: usize = 1 << 23;

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *seed;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

fn wide(seed: &mut u64) -> u128 {
    u128::from(splitmix(seed)) << 64 | u128::from(splitmix(seed))
}

fn rate(count: usize, run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    count as f64 / start.elapsed().as_secs_f64() / 1e6
}

/// Random lines, rolling prefetch: the best of both levels.
fn limit(lines: &[[u32; 16]], keys: &[u32]) -> f64 {
    let at = |key: u32| ((u64::from(key) * lines.len() as u64) >> 32) as usize;
    let walk = |prefetch: fn(*const u8)| {
        let mut sum = 0u32;
        for (index, &key) in keys.iter().enumerate() {
            if let Some(&ahead) = keys.get(index + 48) {
                prefetch(lines.as_ptr().wrapping_add(at(ahead)).cast());
            }
            sum = sum.wrapping_add(lines[at(key)][3]);
        }
        black_box(sum);
    };
    let near = rate(keys.len(), || walk(frame::prefetch::read));
    near.max(rate(keys.len(), || walk(frame::prefetch::read_far)))
}

fn lookups(compiled: &CompiledLists, keys: &[u128], burst: usize) -> f64 {
    let mut masks = [ListMask::EMPTY; 256];
    rate(keys.len(), || {
        for burst_keys in keys.chunks(burst) {
            let ahead = burst_keys.as_ptr().wrapping_add(2 * burst).cast::<u8>();
            for line in 0..size_of_val(burst_keys) / 64 {
                frame::prefetch::read(ahead.wrapping_add(64 * line));
            }
            compiled.lookup_burst_v6(burst_keys, &mut masks);
            black_box(&masks);
        }
    })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let argument = |index, default| {
        let text = std::env::args().nth(index);
        text.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (entries, list_count, rounds) = (argument(1, 6_000_000), argument(2, 1), argument(3, 5));
    let mut seed = 1;
    let mut lists = vec![Entries::default(); list_count];
    for index in 0..entries {
        let list = &mut lists[index % list_count].v6.addresses;
        list.push(wide(&mut seed));
    }
    let start = Instant::now();
    let compiled = CompiledLists::compile(&lists.iter().collect::<Vec<_>>()).expect("compiles");
    let seconds = start.elapsed().as_secs_f64();
    let level = [Level::Portable, Level::Avx2, Level::best()][argument(4, 2).min(2)];
    let compiled = compiled.at_level(level);
    let bytes = compiled.bytes();
    let mut pick = || {
        let index = splitmix(&mut seed) as usize % entries;
        lists[index % list_count].v6.addresses[index / list_count]
    };
    let hit: Vec<u128> = (0..KEYS).map(|_| pick()).collect();
    let miss: Vec<u128> = (0..KEYS).map(|_| wide(&mut seed)).collect();
    let random: Vec<u32> = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
    let mut lines = frame::HugeSlice::<[u32; 16]>::zeroed(bytes / 64 + 1).expect("memory");
    lines.fill([1; 16]);
    let mut rates = vec![Vec::new(); 5];
    for _ in 0..rounds {
        rates[0].push(limit(&lines, &random));
        rates[1].push(lookups(&compiled, &hit, 64));
        rates[2].push(lookups(&compiled, &miss, 64));
        rates[3].push(lookups(&compiled, &hit, 256));
        rates[4].push(lookups(&compiled, &miss, 256));
    }
    let mut of: Vec<Vec<f64>> = (1..5)
        .map(|row| {
            (0..rounds)
                .map(|round| rates[row][round] / rates[0][round])
                .collect()
        })
        .collect();
    println!(
        "{entries} entries, {list_count} lists, {level}, {:?}: compiled in {seconds:.3} s, \
         {:.2} B an entry; limit {:.0}; hit 64 {:.0} ({:.2}), miss 64 {:.0} ({:.2}), \
         hit 256 {:.0} ({:.2}), miss 256 {:.0} ({:.2})",
        compiled.pages(),
        bytes as f64 / entries as f64,
        median(&mut rates[0]),
        median(&mut rates[1]),
        median(&mut of[0]),
        median(&mut rates[2]),
        median(&mut of[1]),
        median(&mut rates[3]),
        median(&mut of[2]),
        median(&mut rates[4]),
        median(&mut of[3]),
    );
}
