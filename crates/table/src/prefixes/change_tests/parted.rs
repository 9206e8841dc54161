//! IPv6 networks of 32 bits whose changes lie in leaves side by side, by upper bits or behind some.

use super::crowds::{AT, kinds, runs_of};
use super::*;
use crate::prefixes::slots::Split;

const NETWORK: u128 = AT >> 96 << 96;

/// Networks beside [`NETWORK`], enough for slots, and one list in all of it.
fn around() -> Map<u128> {
    let mut map = Map::from([(0, 0)]);
    for at in 0..300 {
        map.insert(AT.first_in(16) + (at << 96), 9 + (at % 2) as u32);
    }
    map.insert(NETWORK, 1);
    map
}

/// The first address of a network of 48 bits.
fn at48(at: u128) -> u128 {
    NETWORK | at << 80
}

/// 600 networks: 120 side by side, but for one between two, in each of five of 36 bits.
fn crowds() -> Vec<u128> {
    let crowd = |at: u128| ((at / 120) << 12) | (at % 120 * 2);
    (0..600).map(crowd).map(at48).collect()
}

fn evenly(count: u128) -> Vec<u128> {
    (0..count).map(|at| at48(at * (65_536 / count))).collect()
}

fn with(map: &Map<u128>, networks: &[u128], list: u32) -> Map<u128> {
    let mut map = map.clone();
    for &first in networks {
        toggle(&mut map, first, first.last_in(48), list);
    }
    map
}

fn made(map: &Map<u128>) -> PrefixSet<u128> {
    PrefixSet::compile(&runs_of(map)).unwrap()
}

/// Changes a network of 48 bits in a map and a set of it.
fn change(map: &mut Map<u128>, set: &mut PrefixSet<u128>, first: u128, list: u32) {
    toggle(map, first, first.last_in(48), list);
    set.rewrite(first, first.last_in(48), map).unwrap();
}

/// Of the one network of 32 bits that has several leaves.
fn split(set: &PrefixSet<u128>) -> Option<Split> {
    match &set.layout {
        Layout::Slots(slots) => slots.splits().first().copied(),
        layout => panic!("{layout:?}"),
    }
}

/// What upper bits cannot tell apart goes by bits behind them, and changes there: networks of all
/// lengths, in one part, in some and in all.
#[test]
fn crowds_change_behind_upper_bits() {
    let mut map = with(&around(), &crowds(), 2);
    let mut set = made(&map);
    assert!(split(&set).unwrap().passes_over());
    check(&set, &map, &edges(&map), 0);
    let mut draws = Draws::new(5);
    for step in 0..600 {
        let at = draws.below(600) as usize;
        let near = crowds()[at] + (u128::from(draws.below(3)) << 80);
        let len = [48, 48, 48, 47, 45, 64, 128, 40, 34][draws.below(9) as usize];
        let (first, last) = (near.first_in(len), near.last_in(len));
        toggle(&mut map, first, last, draws.below(3) as u32);
        set.rewrite(first, last, &map).unwrap();
        let keys = [first, last, first.wrapping_sub(1), last.wrapping_add(1)];
        check(&set, &map, &keys, step);
        if step % 100 == 99 {
            check(&set, &map, &edges(&map), step);
        }
    }
}

/// A network with so many changes within that its word is a block of the trie, which knows nothing
/// of the network a key is in, at the end of a piece of a part, and nothing changes in the next
/// piece: its keys are not the word's.
#[test]
fn a_word_ends_with_its_network() {
    let mut map = with(&around(), &crowds(), 2);
    let mut set = made(&map);
    for at in [0x5001, 0x5003, 0x50ff, 0x5100, 0x5fff] {
        let first = at48(at);
        let inner: Vec<u128> = (0..15).map(|at| first | at << 76).collect();
        for (&inner, list) in inner.iter().zip([2, 3].into_iter().cycle()) {
            toggle(&mut map, inner, inner.last_in(52), list);
        }
        set.rewrite(first, first.last_in(48), &map).unwrap();
        let elsewhere = (0..16).flat_map(|up| inner.iter().map(move |key| key ^ up << 92));
        check(&set, &map, &elsewhere.collect::<Vec<_>>(), 0);
    }
}

/// Leaves side by side that lose their changes go, whatever holds in halves of the network, which
/// is in each part behind upper bits.
#[test]
fn leaves_are_given_back() {
    for len in [32, 33] {
        let mut few = around();
        toggle(&mut few, NETWORK, NETWORK.last_in(len), 5);
        let few_bytes = made(&few).bytes();
        for (networks, passes_over) in [(evenly(2048), false), (crowds(), true)] {
            let mut map = with(&few, &networks, 9);
            let mut set = made(&map);
            assert_eq!(kinds(&set), [0, 1, 0]);
            assert_eq!(split(&set).unwrap().passes_over(), passes_over);
            assert!(set.bytes() > few_bytes + (64 << 6), "{}", set.bytes());
            for &first in &networks[1..] {
                change(&mut map, &mut set, first, 9);
            }
            let bytes = set.bytes();
            assert!(bytes < few_bytes + (8 << 10), "{bytes} of {few_bytes}");
            check(&set, &map, &edges(&map), 0);
        }
    }
}

/// Leaves stay until there are twice as many as another layout may have, and no longer.
#[test]
fn leaves_are_given_back_in_time() {
    let networks = evenly(1024);
    let mut map = with(&around(), &networks, 9);
    let mut set = made(&map);
    let before = split(&set).unwrap();
    // 14 runs for each 32 leaves but the first.
    let enough = (before.parts() as usize / 32 - 1) * 14;
    assert!(enough > 40, "{before:?}");
    let mut left = networks.len();
    while 2 * left > enough {
        assert_eq!(split(&set), Some(before), "{left} networks");
        left -= 1;
        change(&mut map, &mut set, networks[left], 9);
    }
    assert_eq!(split(&set), Some(before));
    change(&mut map, &mut set, networks[left - 1], 9);
    assert!(split(&set).is_none_or(|now| now.parts() < before.parts()));
    check(&set, &map, &edges(&map), 0);
}

/// A part that has no room any more makes more parts, never as many by other bits: else two crowds
/// that come and go in turn could have all of a network made anew each time.
#[test]
fn what_grows_is_parted_by_more_bits() {
    for seed in 0..20 {
        let mut draws = Draws::new(seed);
        let mut map = around();
        let mut set = made(&map);
        let (mut before, mut grown) = (None, 0);
        for _ in 0..400 {
            let crowd = u128::from(draws.below(2)) << 12 | u128::from(draws.below(8)) << 5;
            let first = at48(crowd | u128::from(draws.below(32)));
            // It is added or is there.
            if map.get(&first).is_some_and(|mask| mask & 4 != 0) {
                continue;
            }
            let whole = map
                .range(..=first)
                .next_back()
                .is_some_and(|(_, mask)| mask & 4 != 0);
            if whole {
                continue;
            }
            change(&mut map, &mut set, first, 2);
            let Some(now) = split(&set) else { continue };
            if let Some(before) = before.replace(now).filter(|&before| before != now) {
                assert!(
                    now.parts() > before.parts(),
                    "{seed}: {before:?} to {now:?}"
                );
                grown += 1;
            }
        }
        assert!(grown > 1, "{seed}: {grown}");
        check(&set, &map, &edges(&map), seed);
    }
}
