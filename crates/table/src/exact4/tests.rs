//! The forms of line against a map, while addresses come, change and go.

mod crowd;

use super::at_once::LookupAtOnce;
use super::line::{Line, Narrow, Shared, Wide};
use super::lookup::{FAR_AHEAD, FAR_RING, Lookup};
use super::*;
use crate::order::Ordered;
use crate::simd::{self, Job, Lanes};
use std::collections::HashMap;

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *seed;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Addresses that come and go.
const SPAN: u32 = if cfg!(miri) { 60 } else { 3000 };

type Oracle = HashMap<u32, u32>;

/// An address out of few, in few lines and many, so that lines overflow and empty again.
fn address(seed: &mut u64) -> u32 {
    (splitmix(seed) % u64::from(SPAN)) as u32
}

fn layout<L: Line>(wrap: fn(Lines<L>) -> Layout, oracle: &Oracle) -> Layout {
    wrap(lines(oracle))
}

fn lines<L: Line>(oracle: &Oracle) -> Lines<L> {
    let permutation = Secret::from_seed(11).permutation();
    let columns: Vec<Vec<u32>> = (0..32)
        .map(|list| {
            let held = oracle.iter().filter(|(_, mask)| *mask >> list & 1 != 0);
            held.map(|(&address, _)| address).collect()
        })
        .collect();
    let ordered = Ordered::new(&columns, |key| permutation.apply(key)).expect("memory");
    fill(&ordered, &Census::of(&ordered), permutation).expect("memory")
}

/// 128 lines ahead, into the second cache level.
struct Far<'a, L, A>(Lookup<'a, L, A, ()>);

impl<L: Line, A: Answer> Job for Far<'_, L, A> {
    type Answer = usize;
    fn run<S: Lanes>(self, lanes: S) -> usize {
        self.0.roll::<S, true, FAR_AHEAD, FAR_RING>(lanes)
    }
}

fn far<L: Line, A: Answer>(
    level: Level,
    table: &Lines<L>,
    keys: &[u32],
    answers: &mut [A],
) -> usize {
    let lookup = Lookup {
        table,
        keys,
        answers,
        overlap: (),
    };
    simd::run(level, Far(lookup))
}

struct FarAtOnce<'a, L, A, const COUNT: usize>(LookupAtOnce<'a, L, A, (), COUNT>);

impl<L: Line, A: Answer, const COUNT: usize> Job for FarAtOnce<'_, L, A, COUNT> {
    type Answer = usize;
    fn run<S: Lanes>(self, lanes: S) -> usize {
        self.0.find::<S, true>(lanes)
    }
}

/// `None` where `keys` are not the windows that are looked up at once.
fn at_once<L: Line, A: Answer>(
    level: Level,
    table: &Lines<L>,
    keys: &[u32],
    answers: &mut [A],
) -> Option<usize> {
    let ((keys, []), (answers, [])) = (keys.as_chunks(), answers.as_chunks_mut()) else {
        return None;
    };
    if let (Ok(keys), Ok(answers)) = (keys.try_into(), (&mut *answers).try_into()) {
        return Some(at_once_by::<L, A, GROUPS>(level, table, keys, answers));
    }
    let (keys, answers) = (keys.try_into().ok()?, answers.try_into().ok()?);
    Some(at_once_by::<L, A, { 2 * GROUPS }>(
        level, table, keys, answers,
    ))
}

fn at_once_by<L: Line, A: Answer, const COUNT: usize>(
    level: Level,
    table: &Lines<L>,
    keys: &[[u32; GROUP]; COUNT],
    answers: &mut [[A; GROUP]; COUNT],
) -> usize {
    let lookup = LookupAtOnce {
        table,
        keys,
        answers,
        overlap: (),
    };
    simd::run(level, FarAtOnce(lookup))
}

/// What tables of many megabytes do, with 128 lines under way into the second cache level, at every
/// level and in bursts of every length.
fn check_far<L: Line>(masks: &[u32], seed: u64) {
    println!("seed {seed}");
    let mut seed = seed;
    let member = |_| {
        let mask = masks[splitmix(&mut seed) as usize % masks.len()];
        (address(&mut seed), mask)
    };
    let oracle: Oracle = (0..SPAN / 2).map(member).collect();
    let table = lines::<L>(&oracle);
    assert!(table.lines.as_slice().is_some());
    check_lengths(&table, &oracle);
    let mut changed = in_pages(&table, &oracle);
    check_lengths(&changed, &oracle);
    drop(table);
    let mut work = Compacting::new(usize::MAX);
    changed.compact(&mut work).expect("memory");
    assert!(work.copied > 0 && changed.lines.as_slice().is_some());
    check_lengths(&changed, &oracle);
}

/// The same table once changes have copied pages of it.
fn in_pages<L: Line>(table: &Lines<L>, oracle: &Oracle) -> Lines<L> {
    let mut changed = table.clone();
    for (&address, &mask) in oracle.iter().take(50) {
        for mask in [0, mask] {
            changed.assign(address, mask).expect("memory");
        }
    }
    assert!(changed.lines.as_slice().is_none());
    changed
}

/// Lookups in bursts of all lengths.
fn check_lengths<L: Line>(table: &Lines<L>, oracle: &Oracle) {
    let lengths = (0..300).filter(|length| !cfg!(miri) || [7, 64, 128, 150].contains(length));
    for (level, length) in Level::here().flat_map(|level| lengths.clone().map(move |l| (level, l)))
    {
        let keys: Vec<u32> = (0..length).map(|key| (7 * key + length) % SPAN).collect();
        let wanted = |key: &u32| oracle.get(key).copied().unwrap_or(0);
        let mut answers = vec![ListMask(77); keys.len()];
        let mut found = vec![false; keys.len()];
        far(level, table, &keys, &mut answers);
        let hits = far(level, table, &keys, &mut found);
        let (mut masks, mut here) = (vec![ListMask(77); keys.len()], vec![true; keys.len()]);
        let counted = at_once(level, table, &keys, &mut masks)
            .and_then(|_| at_once(level, table, &keys, &mut here));
        assert_eq!(counted.is_some(), [64, 128].contains(&length), "{length}");
        if let Some(counted) = counted {
            assert_eq!(
                (&masks, &here, counted),
                (&answers, &found, hits),
                "{length}, {level}"
            );
        }
        for (key, (answer, found)) in keys.iter().zip(answers.iter().zip(&found)) {
            let answered = (answer.0, *found);
            assert_eq!(
                answered,
                (wanted(key), wanted(key) != 0),
                "{key} of {length}, {level}"
            );
        }
        assert_eq!(
            hits,
            found.iter().filter(|&&found| found).count(),
            "{length}, {level}"
        );
    }
}

#[test]
fn lines_that_come_from_far_are_answered() {
    check_far::<Wide>(&FEW, 21);
    if !cfg!(miri) {
        check_far::<Narrow>(&[1], 22);
        check_far::<Shared>(&many(), 24);
    }
}

fn check(set: &AddressSetV4, oracle: &Oracle) {
    assert_eq!(set.len(), oracle.len());
    let keys: Vec<u32> = (0..SPAN + 100).collect();
    let answer = |key: &u32| ListMask(oracle.get(key).copied().unwrap_or(0));
    for level in Level::here() {
        let set = set.clone().at_level(level);
        let mut masks = vec![ListMask(77); keys.len()];
        for (keys, masks) in keys.chunks(250).zip(masks.chunks_mut(250)) {
            set.lookup_burst(keys, masks);
        }
        for burst in [64, 128, 250] {
            for (keys, masks) in keys.chunks(burst).zip(masks.chunks(burst)) {
                let (mut again, mut calls) = (vec![ListMask(77); keys.len()], 0);
                set.lookup_overlapped(keys, &mut again, &mut || calls += 1);
                assert_eq!((&again[..], calls), (masks, 1), "{level}");
                let mut found = vec![true; keys.len()];
                let hits = set.contains_burst(keys, &mut found);
                let held: Vec<bool> = masks.iter().map(|mask| *mask != ListMask::EMPTY).collect();
                let wanted = held.iter().filter(|&&held| held).count();
                assert_eq!((hits, found), (wanted, held), "{level}");
            }
        }
        for (key, mask) in keys.iter().zip(masks) {
            assert_eq!(
                (mask, set.get(*key)),
                (answer(key), answer(key)),
                "{key}, {level}"
            );
        }
    }
}

/// Changes a set at random; versions kept on the way must answer as they did.
fn drive<L: Line>(wrap: fn(Lines<L>) -> Layout, masks: &[u32], seed: u64) {
    println!("seed {seed}");
    let mut seed = seed;
    let mut oracle = Oracle::new();
    for _ in 0..SPAN / 4 {
        oracle.insert(
            address(&mut seed),
            masks[splitmix(&mut seed) as usize % masks.len()],
        );
    }
    let mut set = AddressSetV4 {
        layout: layout(wrap, &oracle),
        level: Level::best(),
    };
    let mut kept = vec![(set.clone(), oracle.clone())];
    let changes = if cfg!(miri) { 15 } else { 6000 };
    for change in 0..changes {
        let address = address(&mut seed);
        let mask = match splitmix(&mut seed) % 3 {
            0 => 0,
            _ => masks[splitmix(&mut seed) as usize % masks.len()],
        };
        set.assign(address, ListMask(mask)).expect("memory");
        match mask {
            0 => oracle.remove(&address),
            _ => oracle.insert(address, mask),
        };
        if change % (changes / 3) == 0 {
            kept.push((set.clone(), oracle.clone()));
        }
    }
    kept.push((set, oracle));
    for (set, oracle) in &kept {
        check(set, oracle);
    }
}

const FEW: [u32; 3] = [1, 2, 3];

fn many() -> Vec<u32> {
    (1..600).collect()
}

#[test]
fn wide_lines_change() {
    if cfg!(miri) {
        return drive::<Wide>(Layout::Wide, &FEW, 2);
    }
    drive::<Wide>(Layout::Wide, &[1], 1);
    drive::<Wide>(Layout::Wide, &FEW, 2);
    drive::<Wide>(Layout::Wide, &many(), 3);
}

/// A vector holds the answers of up to 31 codes; from then on they are loaded one by one.
#[test]
fn answers_become_many() {
    let mut oracle = Oracle::new();
    let mut set = AddressSetV4 {
        layout: layout::<Wide>(Layout::Wide, &oracle),
        level: Level::best(),
    };
    for mask in 1..if cfg!(miri) { 40 } else { 400 } {
        let address = mask * 7;
        set.assign(address, ListMask(mask)).expect("memory");
        oracle.insert(address, mask);
        if [1, 30, 31, 32, 39, 253, 254, 255, 399].contains(&mask) {
            check(&set, &oracle);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "65,536 lines")]
fn narrow_lines_change() {
    drive::<Narrow>(Layout::Narrow, &[4], 4);
    drive::<Narrow>(Layout::Narrow, &FEW, 5);
    drive::<Narrow>(Layout::Narrow, &many(), 6);
}

#[test]
#[cfg_attr(miri, ignore = "65,536 lines")]
fn shared_lines_change() {
    drive::<Shared>(Layout::Shared, &FEW, 7);
    drive::<Shared>(Layout::Shared, &many(), 8);
}

/// What an adversary, or an allocation plan, would send: runs, strides, one /8.
#[test]
#[cfg_attr(miri, ignore = "a million addresses")]
fn no_pattern_of_addresses_crowds_the_lines() {
    let count = 1 << 20;
    let mut seed = 5;
    let patterns: [(&str, Vec<u32>); 5] = [
        ("in sequence", (0..count).collect()),
        ("every 256th", (0..count).map(|i| i << 8).collect()),
        ("every 4096th", (0..count).map(|i| i << 12).collect()),
        (
            "both ends",
            (0..count)
                .map(|i| if i % 2 == 0 { i } else { !i })
                .collect(),
        ),
        (
            "one /8",
            (0..count)
                .map(|_| 10 << 24 | splitmix(&mut seed) as u32 >> 8)
                .collect(),
        ),
    ];
    for (name, addresses) in &patterns {
        for secret in 1..4 {
            let (set, _) =
                AddressSetV4::compile(&[addresses], Secret::from_seed(secret)).expect("memory");
            let Layout::Narrow(lines) = &set.layout else {
                panic!("a million addresses of one list are narrow")
            };
            // Random addresses leave one in 5,000 aside.
            let aside = lines.side.len();
            assert!(
                aside < set.len() / 500,
                "{name}, secret {secret}: {aside} aside"
            );
        }
    }
}

/// Sixteen lists of a few thousand addresses: each of their answers has a code.
#[test]
#[cfg_attr(miri, ignore = "10,000 addresses")]
fn few_addresses_of_many_lists_are_not_looked_up_aside() {
    for lists in [16, 29, 32] {
        let columns: Vec<Vec<u32>> = (0..lists)
            .map(|list| (list..10_000).step_by(lists as usize).collect())
            .collect();
        let (set, _) = AddressSetV4::compile(&columns, Secret::from_seed(7)).expect("memory");
        let Layout::Wide(lines) = &set.layout else {
            panic!("10,000 addresses are wide")
        };
        let aside = lines.side.len();
        assert!(aside < 100, "{aside} aside of {lists} lists");
    }
}

/// Which form is chosen, by how many answers there are.
#[test]
#[cfg_attr(miri, ignore = "a million addresses")]
fn the_answers_choose_the_form() {
    let count = NARROW_MIN as u32 + 1000;
    // List `i` of `lists`; then some addresses in two lists, for as many answers more.
    let form = |lists: u32, pairs: u32| {
        let mut columns: Vec<Vec<u32>> = (0..lists)
            .map(|list| (list..count).step_by(lists as usize).collect())
            .collect();
        for pair in 0..pairs {
            let (one, other) = (pair / (lists - 1), pair % (lists - 1));
            let other = other + u32::from(other >= one);
            columns[other as usize].push(one);
        }
        let (set, _) = AddressSetV4::compile(&columns, Secret::from_seed(6)).expect("memory");
        for key in (0..lists).chain(count - 100..count) {
            let alone = 1 << (key % lists);
            assert_eq!(set.get(key).0 & alone, alone);
        }
        assert!(!set.is_crowded());
        name_of(&set)
    };
    assert_eq!(form(1, 0), "narrow");
    assert_eq!(form(2, 0), "shared");
    assert_eq!(form(16, 100), "shared");
    assert_eq!(form(31, 0), "shared");
}

fn name_of(set: &AddressSetV4) -> &'static str {
    match set.layout {
        Layout::Narrow(_) => "narrow",
        Layout::Shared(_) => "shared",
        Layout::Wide(_) => "wide",
    }
}
