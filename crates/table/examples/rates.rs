//! Million lookups a second beside the random lines a second that memory gives for as many
//! bytes, in the same round. `cargo run --release -p linerate-table --example rates [ENTRIES]`;
//! networks (one a line) on standard input with `routes` as the argument: dealt over 16 lists.

use std::hint::black_box;
use std::io::BufRead;
use std::time::Instant;
use table::{CompiledLists, Entries, ListMask, Network};

/// Keys a stream: 64 MB and more, so that no cache holds it.
const KEYS: usize = 1 << 24;

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

/// Random lines of `bytes` of memory a second, rolling prefetch, millions.
fn limit(lines: &[[u32; 16]], keys: &[u32]) -> f64 {
    let at = |key: u32| ((u64::from(key) * lines.len() as u64) >> 32) as usize;
    let start = Instant::now();
    let mut sum = 0u32;
    for (index, &key) in keys.iter().enumerate() {
        if let Some(&ahead) = keys.get(index + 48) {
            frame::prefetch::read(lines.as_ptr().wrapping_add(at(ahead)).cast());
        }
        sum = sum.wrapping_add(lines[at(key)][3]);
    }
    black_box(sum);
    keys.len() as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn rate<K>(keys: &[K], burst: usize, lookup: impl Fn(&[K], &mut [ListMask])) -> (f64, f64) {
    let mut masks = [ListMask::EMPTY; 512];
    let mut hits = 0;
    let start = Instant::now();
    for burst_keys in keys.chunks(burst) {
        // The stream comes from memory, as no caller's keys do: asking for it early keeps it
        // out of the measurement.
        let ahead = burst_keys.as_ptr().wrapping_add(2 * burst).cast::<u8>();
        for line in 0..size_of_val(burst_keys) / 64 {
            frame::prefetch::read(ahead.wrapping_add(64 * line));
        }
        lookup(burst_keys, &mut masks);
        hits += usize::from(!masks[0].is_empty());
    }
    let seconds = start.elapsed().as_secs_f64();
    (
        keys.len() as f64 / seconds / 1e6,
        hits as f64 * burst as f64 / keys.len() as f64,
    )
}

struct Streams {
    v4: Vec<(&'static str, Vec<u32>)>,
    v6: Vec<(&'static str, Vec<u128>)>,
}

fn measure(name: &str, lists: &[Entries], streams: &Streams) {
    let lists: Vec<&Entries> = lists.iter().collect();
    let entries: usize = lists.iter().map(|list| list.count()).sum();
    let start = Instant::now();
    let compiled = CompiledLists::compile(&lists).expect("compiles");
    let (seconds, bytes) = (start.elapsed().as_secs_f64(), compiled.bytes());
    println!(
        "{name}: {} lists, {entries} entries, compiled in {seconds:.3} s, {:.1} MB, {:.2} bytes \
         an entry, {:?}",
        lists.len(),
        bytes as f64 / 1e6,
        bytes as f64 / entries as f64,
        compiled.pages().map(|pages| pages.to_string()),
    );
    let mut lines = frame::HugeSlice::<[u32; 16]>::zeroed(bytes / 64 + 1).expect("memory");
    lines.fill([1; 16]);
    let mut seed = 77;
    let random: Vec<u32> = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
    for round in 0..3 {
        let limit = limit(&lines, &random);
        print!("  round {round}: limit {limit:.0};");
        for burst in [64, 256] {
            print!(" burst {burst}:");
            let v4 = streams
                .v4
                .iter()
                .filter(|_| std::env::var("ONLY").ok().as_deref() != Some("6"))
                .map(|(name, keys)| {
                    (
                        name,
                        rate(keys, burst, |keys, masks| {
                            compiled.lookup_burst_v4(keys, masks);
                        }),
                    )
                });
            let v6 = streams
                .v6
                .iter()
                .filter(|_| std::env::var("ONLY").ok().as_deref() != Some("4"))
                .map(|(name, keys)| {
                    (
                        name,
                        rate(keys, burst, |keys, masks| {
                            compiled.lookup_burst_v6(keys, masks);
                        }),
                    )
                });
            for (name, (rate, hits)) in v4.chain(v6) {
                print!(
                    " {name} {rate:.0} ({:.2} of limit, {hits:.2} hit)",
                    rate / limit
                );
            }
        }
        println!();
    }
}

fn exact(entries: usize) {
    let mut seed = 1;
    for list_count in [1, 16] {
        let mut lists = vec![Entries::default(); list_count];
        for index in 0..entries {
            lists[index % list_count]
                .v4
                .addresses
                .push(splitmix(&mut seed) as u32);
        }
        let pick = |seed: &mut u64| {
            let index = splitmix(seed) as usize % entries;
            lists[index % list_count].v4.addresses[index / list_count]
        };
        let hit = (0..KEYS).map(|_| pick(&mut seed)).collect();
        let miss = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
        let streams = Streams {
            v4: vec![("hit", hit), ("miss", miss)],
            v6: vec![],
        };
        measure("IPv4 addresses", &lists, &streams);
    }
    let mut list = Entries::default();
    list.v6.addresses = (0..entries).map(|_| wide(&mut seed)).collect();
    let pick = |seed: &mut u64| list.v6.addresses[splitmix(seed) as usize % entries];
    let hit = (0..KEYS).map(|_| pick(&mut seed)).collect();
    let miss = (0..KEYS).map(|_| wide(&mut seed)).collect();
    let streams = Streams {
        v4: vec![],
        v6: vec![("hit", hit), ("miss", miss)],
    };
    measure("IPv6 addresses", &[list], &streams);
}

fn routes() {
    let mut lists = vec![Entries::default(); 16];
    let mut seed = 4;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Some((address, len)) = line.trim().split_once('/') else {
            continue;
        };
        let (Ok(address), Ok(len)) = (address.parse(), len.parse()) else {
            continue;
        };
        let list = &mut lists[splitmix(&mut seed) as usize % 16];
        if std::env::var_os("NOHOST").is_some()
            && len
                == if matches!(address, std::net::IpAddr::V4(_)) {
                    32
                } else {
                    128
                }
        {
            continue;
        }
        match address {
            std::net::IpAddr::V4(v4) => list.v4.networks.extend(Network::holding(v4.into(), len)),
            std::net::IpAddr::V6(v6) => list.v6.networks.extend(Network::holding(v6.into(), len)),
        }
    }
    let v4: Vec<_> = lists
        .iter()
        .flat_map(|list| list.v4.networks.iter().copied())
        .collect();
    let v6: Vec<_> = lists
        .iter()
        .flat_map(|list| list.v6.networks.iter().copied())
        .collect();
    let within_v4 = |seed: &mut u64| {
        let network = v4[splitmix(seed) as usize % v4.len()];
        network.first() + splitmix(seed) as u32 % (network.last() - network.first()).max(1)
    };
    let within_v6 = |seed: &mut u64| {
        let network = v6[splitmix(seed) as usize % v6.len()];
        network.first() + wide(seed) % (network.last() - network.first()).max(1)
    };
    let uniform = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
    let table = (0..KEYS).map(|_| within_v4(&mut seed)).collect();
    let uniform_v6 = (0..KEYS).map(|_| wide(&mut seed) >> 3 | 1 << 125).collect();
    let table_v6 = (0..KEYS).map(|_| within_v6(&mut seed)).collect();
    let streams = Streams {
        v4: vec![("v4 uniform", uniform), ("v4 from the table", table)],
        v6: vec![
            ("v6 of 2000::/3", uniform_v6),
            ("v6 from the table", table_v6),
        ],
    };
    measure("routes", &lists, &streams);
}

fn main() {
    if cfg!(debug_assertions) {
        println!("the rates of a debug build mean nothing: add --release");
    }
    match std::env::args().nth(1).as_deref() {
        Some("routes") => routes(),
        entries => exact(
            entries
                .and_then(|text| text.parse().ok())
                .unwrap_or(6_000_000),
        ),
    }
}
