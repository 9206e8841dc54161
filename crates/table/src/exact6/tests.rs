//! The set against a map: columns, changes, versions, crowds.

use super::lookup::{DEEP_AHEAD, Lookup};
use super::*;
use crate::simd::{self, Job, Lanes, Portable};
use std::collections::HashMap;

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// What every level says of `keys` and of addresses beside them.
fn check(set: &AddressSetV6, known: &HashMap<u128, u32>, keys: impl Iterator<Item = u128>) {
    let keys: Vec<u128> = keys.flat_map(|key| [key, key ^ 1 << 64]).collect();
    assert_eq!(set.len(), known.len());
    for level in Level::here() {
        let set = set.clone().at_level(level);
        let mut masks = vec![ListMask(0xdead_beef); keys.len()];
        set.lookup_burst(&keys, &mut masks);
        let mut found = vec![true; keys.len()];
        let hits = set.contains_burst(&keys, &mut found);
        assert_eq!(hits, found.iter().filter(|&&found| found).count());
        for ((key, mask), found) in keys.iter().zip(masks).zip(found) {
            let wanted = known.get(key).copied().unwrap_or(0);
            assert_eq!(mask.0, wanted, "{level} {key:032x}");
            assert_eq!(found, wanted != 0, "{level} {key:032x}");
        }
    }
}

/// Columns with addresses in common and given twice.
fn columns(lists: usize, count: usize, seed: u64) -> Vec<Vec<u128>> {
    let mut state = seed;
    (0..lists)
        .map(|_| {
            let column =
                (0..count).map(|_| u128::from(next(&mut state) % (2 * count as u64)) << 60);
            column.collect()
        })
        .collect()
}

fn check_columns(columns: &[Vec<u128>], seed: u64) {
    let mut known = HashMap::new();
    let mut duplicates = vec![0; columns.len()];
    for (list, column) in columns.iter().enumerate() {
        for &address in column {
            let mask = known.entry(address).or_insert(0);
            duplicates[list] += u64::from(*mask >> list & 1);
            *mask |= 1u32 << list;
        }
    }
    let (set, counted) = AddressSetV6::compile(columns, Secret::from_seed(seed)).expect("memory");
    assert_eq!(counted, duplicates);
    check(&set, &known, columns.iter().flatten().copied());
}

#[test]
fn columns_against_a_map() {
    check_columns(&[], 1);
    check_columns(&[vec![], vec![]], 1);
    check_columns(&[vec![], vec![0, u128::MAX, 0]], 1);
    if cfg!(miri) {
        return check_columns(&columns(3, 20, 5), 7);
    }
    for (lists, count) in [(1, 3000), (1, 30_000), (3, 10_000), (7, 3000), (32, 900)] {
        check_columns(&columns(lists, count, 5), 7);
    }
}

/// Changes of few addresses again and again, in two lists or in all, so that answers run out of
/// codes; every version is checked when it is old.
fn check_changes(lists: u32, addresses: u64, changes: usize, seed: u64) {
    let mut state = seed;
    let secret = Secret::from_seed(seed);
    let column: Vec<u128> = (0..addresses / 2).map(u128::from).collect();
    let mut known: HashMap<u128, u32> = column.iter().map(|&address| (address, 1)).collect();
    let (mut set, _) = AddressSetV6::compile(&[column], secret).expect("memory");
    let mut versions = Vec::new();
    for change in 0..changes {
        if change % (changes / 4) == 0 {
            versions.push((set.clone(), known.clone()));
        }
        let address = u128::from(next(&mut state) % addresses);
        let mask = next(&mut state) as u32 >> (32 - lists);
        let mask = if next(&mut state) & 1 == 0 { 0 } else { mask };
        set.assign(address, ListMask(mask)).expect("memory");
        known.insert(address, mask);
        known.retain(|_, mask| *mask != 0);
    }
    versions.push((set, known));
    for (set, known) in &versions {
        check(set, known, (0..addresses).map(u128::from));
    }
}

#[test]
fn changes_against_a_map() {
    let (changes, few) = if cfg!(miri) { (20, 10) } else { (3000, 20) };
    for (index, lists) in [1, 2, 9, 32].into_iter().enumerate() {
        check_changes(lists, few, changes, 11 + index as u64);
        if cfg!(miri) {
            continue;
        }
        check_changes(lists, 900, changes, 21 + index as u64);
    }
}

/// Many more addresses than the table was made for: lines overflow, the table grows, and an
/// older version does not notice.
#[test]
fn a_crowded_set_still_answers() {
    let count = if cfg!(miri) { 20 } else { 30_000u64 };
    let (mut set, _) = AddressSetV6::compile(&[vec![5u128]], Secret::from_seed(3)).expect("memory");
    let mut known = HashMap::from([(5, 1)]);
    let old = set.clone();
    let mut was_crowded = false;
    for index in 0..count {
        let (address, mask) = (u128::from(index) << 64, index as u32 % 1000 + 1);
        set.assign(address, ListMask(mask)).expect("memory");
        known.insert(address, mask);
        was_crowded |= set.is_crowded();
    }
    assert_eq!(was_crowded, !cfg!(miri));
    check(&set, &known, known.clone().into_keys());
    check(&old, &HashMap::from([(5, 1)]), known.keys().copied());
    for index in 0..count {
        set.assign(u128::from(index) << 64, ListMask::EMPTY)
            .expect("memory");
    }
    check(&set, &HashMap::from([(5, 1)]), known.keys().copied());
}

/// Patterns of addresses fall into the lines as random ones do: as many lines pass some on.
#[test]
fn patterns_spread_like_random_addresses() {
    if cfg!(miri) {
        return;
    }
    const COUNT: u128 = 100_000;
    let mut state = 1;
    let mut random = || u128::from(next(&mut state)) << 64 | u128::from(next(&mut state));
    let base = 0x2001_0db8_u128 << 96;
    let grid = |index: u128| base | ((index % 512) << 64) | (index / 512);
    let patterns: [(&str, Vec<u128>); 7] = [
        ("random", (0..COUNT).map(|_| random()).collect()),
        ("hosts in sequence", (0..COUNT).map(|i| base | i).collect()),
        (
            "hosts from the top",
            (0..COUNT).map(|i| base | i << 44).collect(),
        ),
        (
            "networks in sequence",
            (0..COUNT).map(|i| base | i << 64 | 1).collect(),
        ),
        (
            "networks from the top",
            (0..COUNT).map(|i| i << 108 | 1).collect(),
        ),
        ("hosts and networks", (0..COUNT).map(grid).collect()),
        (
            "both halves alike",
            (0..COUNT).map(|i| i << 64 | i).collect(),
        ),
    ];
    for seed in 1..60 {
        for (name, addresses) in &patterns {
            let secret = Secret::from_seed(seed);
            let (set, _) = AddressSetV6::compile(&[addresses], secret).expect("memory");
            assert_eq!(set.len(), COUNT as usize, "{name}");
            let marks = set.table.marks as f64 / COUNT as f64;
            // 1.3 to 1.5 % with random addresses.
            assert!(marks < 0.018, "{name}, seed {seed}: {marks}");
        }
    }
}

/// Groups that are not full, at every level, in a table where many keys lie beyond their line and
/// many answers have no code.
#[test]
fn bursts_of_every_length_are_answered() {
    let secret = Secret::from_seed(9);
    let (mut set, _) = AddressSetV6::compile(&[vec![1u128 << 80]], secret).expect("memory");
    let count = if cfg!(miri) { 60 } else { 2400u128 };
    for address in 1..=count {
        set.assign(address, ListMask(address as u32))
            .expect("memory");
    }
    // More than are on their way at most.
    let keys: Vec<u128> = (0..300).map(|index| index % 110 * (count / 60)).collect();
    let wanted = |key: u128| if key <= count { key as u32 } else { 0 };
    let lengths = (0..=keys.len()).filter(|length| !cfg!(miri) || [1, 7, 17, 150].contains(length));
    for (level, length) in Level::here().flat_map(|level| lengths.clone().map(move |l| (level, l)))
    {
        let set = set.clone().at_level(level);
        let keys = &keys[keys.len() - length..];
        let mut masks = vec![ListMask(77); length + 1];
        set.lookup_burst(keys, &mut masks);
        let mut found = vec![true; length + 1];
        let hits = set.contains_burst(keys, &mut found);
        let known: Vec<u32> = keys.iter().map(|&key| wanted(key)).collect();
        let masks: Vec<u32> = masks.iter().map(|mask| mask.0).collect();
        assert_eq!(masks[..length], known, "{level}, {length} keys");
        assert_eq!(
            (masks[length], found[length]),
            (77, true),
            "{level}, {length} keys"
        );
        assert!(
            found
                .iter()
                .zip(&known)
                .all(|(&found, &mask)| found == (mask != 0))
        );
        assert_eq!(hits, known.iter().filter(|&&mask| mask != 0).count());
        if length >= 8 {
            assert_eq!(far(&set, level, keys), known, "{level}, {length} keys");
        }
    }
}

/// What a table of many megabytes says, whose lines come into the second cache level.
fn far(set: &AddressSetV6, level: Level, keys: &[u128]) -> Vec<u32> {
    struct Far<'a>(Lookup<'a, ListMask>);
    impl Job for Far<'_> {
        type Answer = ();
        fn run<S: Lanes>(self, lanes: S) {
            self.0.roll::<S, true, DEEP_AHEAD>(lanes);
        }
    }
    let mut answers = vec![ListMask(77); keys.len()];
    let lookup = Lookup {
        table: &set.table,
        mix: set.mix,
        keys,
        answers: &mut answers,
    };
    simd::run(level, Far(lookup));
    answers.iter().map(|mask| mask.0).collect()
}

/// As many answers as one more change makes them: those that five bits of a code tell apart, then
/// those that seven do, then those with no code of their own. Versions before keep theirs.
#[test]
fn answers_come_one_by_one() {
    let last = if cfg!(miri) { 36 } else { 140 };
    let mut set = AddressSetV6::new(&[]).expect("memory");
    let (mut known, mut kept) = (HashMap::new(), Vec::new());
    for answer in 1..=last {
        let key = u128::from(answer) << 64 | 7;
        set.assign(key, ListMask(answer)).expect("memory");
        known.insert(key, answer);
        if [30, 31, 32, 33, 125, 126, 127, 128, last].contains(&answer) {
            kept.push((set.clone(), known.clone()));
        }
    }
    for (set, known) in &kept {
        check(set, known, known.keys().copied());
    }
}

#[test]
fn an_empty_set_can_begin() {
    let mut set = AddressSetV6::new(&[]).expect("memory");
    set.assign(1, ListMask::EMPTY).expect("memory");
    check(&set, &HashMap::new(), 0..3);
    set.assign(1, ListMask(6)).expect("memory");
    check(&set, &HashMap::from([(1, 6)]), 0..3);
    assert!(!set.is_crowded());
}

/// The address that mixes to the bits of a free place.
#[test]
fn an_address_of_zero_bits_is_told_from_a_free_place() {
    let zero: line::Word = [0, 0];
    let mut table = Table::with_room_for(1, 0).expect("memory");
    assert_eq!(table.get(zero), ListMask::EMPTY);
    table.set(zero, ListMask(2)).expect("memory");
    assert_eq!(table.get(zero), ListMask(2));
    // Others fill the line, and it goes into the next.
    table.set(zero, ListMask::EMPTY).expect("memory");
    for low in 1..5 {
        table.set([4 * low, 0], ListMask(1)).expect("memory");
    }
    table.set(zero, ListMask(2)).expect("memory");
    table.set([4, 0], ListMask::EMPTY).expect("memory");
    let found = line::look(Portable, &table.lines().view()[0], zero);
    assert_eq!((found.code, found.passed), (0, 1));
    assert_eq!(table.get(zero), ListMask(2));
}
