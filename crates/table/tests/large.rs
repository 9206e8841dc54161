//! Millions of entries: against a `HashSet`, in sequence, from one /8, in many classes.
#![cfg(not(miri))]

use std::collections::{HashMap, HashSet};
use table::{AddressSetV4, AddressSetV6, CompiledLists, Entries, Level, ListMask};

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *seed;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

fn check_v4(addresses: &[u32], keys: &[u32]) {
    let known: HashSet<u32> = addresses.iter().copied().collect();
    let mut set = AddressSetV4::new(addresses).unwrap();
    assert_eq!(set.len(), known.len());
    for level in Level::here() {
        set = set.at_level(level);
        let mut found = vec![false; keys.len()];
        let hits = set.contains_burst(keys, &mut found);
        assert_eq!(hits, found.iter().filter(|&&hit| hit).count());
        for (&key, &hit) in keys.iter().zip(&found) {
            assert_eq!(hit, known.contains(&key), "{level} {key:08x}");
        }
    }
}

#[test]
fn a_million_random_v4() {
    let mut seed = 1;
    for count in [30_000, 300_000, 1_200_000] {
        let addresses: Vec<u32> = (0..count).map(|_| splitmix(&mut seed) as u32).collect();
        let mut keys = addresses.clone();
        keys.extend((0..300_000).map(|_| splitmix(&mut seed) as u32));
        keys.extend(addresses.iter().map(|address| address ^ 1 << 9));
        check_v4(&addresses, &keys);
    }
}

#[test]
fn a_million_in_sequence_and_from_one_block() {
    let sequence: Vec<u32> = (0x0a00_0000..0x0a00_0000 + 1_000_000).collect();
    let mut keys = sequence.clone();
    keys.extend(0x09ff_0000..0x0a00_0000);
    check_v4(&sequence, &keys);
    let strided: Vec<u32> = (0..600_000u32).map(|index| index.rotate_left(12)).collect();
    check_v4(&strided, &strided);
}

#[test]
fn a_million_v6() {
    let mut seed = 3;
    let random: Vec<u128> = (0..600_000)
        .map(|_| u128::from(splitmix(&mut seed)) << 64 | u128::from(splitmix(&mut seed)))
        .collect();
    let mut addresses = random.clone();
    addresses.extend((0..300_000u128).map(|index| 0x2001_0db8 << 96 | index));
    addresses.extend((0..300_000u128).map(|index| 0x2001_0db8 << 96 | index << 64));
    let known: HashSet<u128> = addresses.iter().copied().collect();
    let mut set = AddressSetV6::new(&addresses).unwrap();
    assert_eq!(set.len(), known.len());
    let mut keys = addresses.clone();
    keys.extend(addresses.iter().map(|address| address ^ 1 << 77));
    for level in Level::here() {
        set = set.at_level(level);
        let mut found = vec![false; keys.len()];
        set.contains_burst(&keys, &mut found);
        for (key, &hit) in keys.iter().zip(&found) {
            assert_eq!(hit, known.contains(key), "{level} {key:032x}");
        }
    }
}

/// Bytes, shorts and whole masks as classes.
#[test]
fn many_answers() {
    let mut seed = 9;
    for (lists, count) in [(3usize, 60_000u32), (12, 700_000), (32, 200_000)] {
        let mut entries = vec![Entries::default(); lists];
        let mut known: HashMap<u32, u32> = HashMap::new();
        for index in 0..count {
            let address = index.wrapping_mul(0x9e37_79b9);
            let mask = splitmix(&mut seed) as u32 >> (32 - lists);
            for list in ListMask(mask).indices() {
                entries[list].v4.addresses.push(address);
                entries[list].v6.addresses.push(u128::from(address) << 50);
            }
            known.insert(address, mask);
        }
        let lists: Vec<&Entries> = entries.iter().collect();
        let mut compiled = CompiledLists::compile(&lists).unwrap();
        let keys: Vec<u32> = (0..count + 1000)
            .map(|i| i.wrapping_mul(0x9e37_79b9))
            .collect();
        let wide: Vec<u128> = keys.iter().map(|&key| u128::from(key) << 50).collect();
        for level in Level::here() {
            compiled = compiled.at_level(level);
            let mut masks = vec![ListMask::EMPTY; keys.len()];
            compiled.lookup_burst_v4(&keys, &mut masks);
            for (key, mask) in keys.iter().zip(&masks) {
                assert_eq!(
                    mask.0,
                    known.get(key).copied().unwrap_or(0),
                    "{level} {key:08x}"
                );
            }
            compiled.lookup_burst_v6(&wide, &mut masks);
            for (key, mask) in keys.iter().zip(&masks) {
                assert_eq!(
                    mask.0,
                    known.get(key).copied().unwrap_or(0),
                    "{level} {key:08x}"
                );
            }
        }
    }
}
