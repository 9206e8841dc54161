//! scratch
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::BufRead;
use std::time::Instant;
use table::{FamilyEntries, ListMask, Network, PrefixSet};
const KEYS: usize = 1 << 22;
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
fn toggle(map: &mut BTreeMap<u128, u32>, network: Network<u128>, list: usize) {
    let (first, last) = (network.first(), network.last());
    for edge in [Some(first), last.checked_add(1)].into_iter().flatten() {
        let mask = map.range(..=edge).next_back().map_or(0, |(_, &mask)| mask);
        map.insert(edge, mask);
    }
    for (_, mask) in map.range_mut(first..=last) {
        *mask ^= 1 << list;
    }
}
fn main() {
    let file = std::fs::File::open("/tmp/v6trie-prefixes.txt").unwrap();
    let mut nets = vec![];
    for line in std::io::BufReader::new(file).lines().map_while(Result::ok) {
        let Some((a, l)) = line.split_once('/') else {
            continue;
        };
        if let Ok(a) = a.parse::<std::net::Ipv6Addr>() {
            nets.extend(Network::<u128>::holding(a.into(), l.parse().unwrap()));
        }
    }
    nets.sort_unstable_by_key(|n| (n.first(), n.last()));
    nets.dedup();
    let mut map = BTreeMap::from([(0u128, 0)]);
    let mut seed = 4;
    for n in &nets {
        toggle(&mut map, *n, splitmix(&mut seed) as usize % 16);
    }
    let mut set = PrefixSet::new(&FamilyEntries::default()).unwrap();
    set.rewrite(0, u128::MAX, &map).unwrap();
    let keys: Vec<u128> = (0..KEYS)
        .map(|_| {
            let n = nets[splitmix(&mut seed) as usize % nets.len()];
            n.first() | wide(&mut seed) & (n.first() ^ n.last())
        })
        .collect();
    let uniform: Vec<u128> = (0..KEYS).map(|_| wide(&mut seed) >> 3 | 1 << 125).collect();
    let mut lines = frame::HugeSlice::<[u32; 16]>::zeroed(set.bytes() / 64 + 1).unwrap();
    lines.fill([1; 16]);
    let random: Vec<u32> = (0..1 << 24).map(|_| splitmix(&mut seed) as u32).collect();
    println!(
        "{} runs {:.2} MB",
        set.run_count(),
        set.bytes() as f64 / 1e6
    );
    let mut masks = [ListMask::EMPTY; 512];
    let hot = std::env::var("HOT").is_ok();
    for _ in 0..3 {
        let limit = limit(&lines, &random);
        print!("limit {limit:.0}");
        for (name, keys) in [("table", &keys), ("uniform", &uniform)] {
            if hot && name == "uniform" {
                continue;
            }
            for burst in [64, 128, 256] {
                let start = Instant::now();
                for _ in 0..if hot { 20 } else { 3 } {
                    for k in keys.chunks(burst) {
                        let ahead = k.as_ptr().wrapping_add(2 * burst).cast::<u8>();
                        for line in 0..size_of_val(k) / 64 {
                            frame::prefetch::read(ahead.wrapping_add(64 * line));
                        }
                        masks[..k.len()].fill(ListMask::EMPTY);
                        set.add_burst(k, &mut masks[..k.len()]);
                        black_box(&masks);
                    }
                }
                let rate =
                    (KEYS * if hot { 20 } else { 3 }) as f64 / start.elapsed().as_secs_f64() / 1e6;
                print!("  {name} {burst}: {rate:.0} ({:.2})", rate / limit);
            }
        }
        println!();
    }
}
