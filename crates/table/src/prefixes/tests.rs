//! Both designs against the runs they are made of.

use super::*;
use crate::secret::Secret;

/// Runs that begin at `starts`, with answers drawn from `answers` different masks.
fn runs<A: Address>(mut starts: Vec<A>, answers: u64) -> Runs<A> {
    starts.sort_unstable();
    let draw = Secret::from_seed(5).hash();
    let mut runs = Runs::none();
    for (index, start) in starts.into_iter().enumerate() {
        runs.push(start, (draw.apply(index as u128) % answers) as u32);
    }
    runs
}

/// The same of lists from the 17th on, which leaves of IPv6 hold as classes.
fn moved_up<A: Address>(runs: &Runs<A>) -> Runs<A> {
    let mut moved = Runs::none();
    for (&start, &mask) in runs.starts.iter().zip(&runs.masks) {
        moved.push(start, mask << 16);
    }
    moved
}

fn check<A: Address>(runs: &Runs<A>) {
    check_as_given(runs);
    if A::BITS == 128 {
        check_as_given(&moved_up(runs));
    }
}

fn check_as_given<A: Address>(runs: &Runs<A>) {
    let mut keys = runs.starts.clone();
    keys.extend(runs.starts.iter().filter_map(|start| start.predecessor()));
    keys.push(A::MAX);
    let wanted: Vec<u32> = keys
        .iter()
        .map(|&key| runs.masks[runs.starts.partition_point(|&start| start <= key) - 1])
        .collect();
    let sets = [
        PrefixSet::compile(runs).unwrap(),
        PrefixSet::compile_sorted(runs).unwrap(),
    ];
    let levels = |set: PrefixSet<A>| Level::here().map(move |level| set.clone().at_level(level));
    for set in sets.into_iter().flat_map(levels) {
        let mut masks = vec![ListMask(1 << 31); keys.len()];
        set.add_burst(&keys, &mut masks);
        for ((key, mask), &wanted) in keys.iter().zip(&masks).zip(&wanted) {
            assert_eq!(mask.0, wanted | 1 << 31, "{key:?}");
        }
        set.lookup_burst(&keys, &mut masks);
        assert!(masks.iter().map(|mask| mask.0).eq(wanted.iter().copied()));
    }
}

fn draws(count: usize) -> impl Iterator<Item = u128> {
    let (low, high) = (Secret::from_seed(1).hash(), Secret::from_seed(2).hash());
    (0..count as u128).map(move |at| u128::from(high.apply(at)) << 64 | u128::from(low.apply(at)))
}

const COUNT: usize = 60_000;

#[test]
fn scattered() {
    // Miri takes seconds for each index of 65,536 blocks.
    for answers in [2, 20, 1000] {
        check(&runs(
            draws(COUNT).map(|word| word as u32).collect(),
            answers,
        ));
        check(&runs(draws(COUNT).collect(), answers));
        check(&runs(
            draws(COUNT).map(|word| word & !(u128::MAX >> 48)).collect(),
            answers,
        ));
    }
}

#[test]
fn crowded() {
    let keeps: &[u32] = &[0xff, 0xffff, 0xff_ffff, 0x00ff_00ff];
    for &keep in keeps {
        check(&runs(
            draws(COUNT).map(|word| word as u32 & keep).collect(),
            9,
        ));
        let wide = |word: u128| word & u128::from(keep) | (word & u128::from(keep)) << 70;
        check(&runs(draws(COUNT).map(wide).collect(), 9));
    }
}

/// Whole groups and what is left of a burst, slots that are answers and slots that are leaves.
#[test]
fn bursts_of_every_length() {
    fn check_lengths<A: Address>(starts: Vec<A>) {
        let runs = runs(starts, 9);
        check_runs(&runs);
        if A::BITS == 128 {
            check_runs(&moved_up(&runs));
        }
    }
    fn check_runs<A: Address>(runs: &Runs<A>) {
        let keys: Vec<A> = runs.starts.iter().step_by(3).copied().collect();
        let wanted: Vec<ListMask> = keys.iter().map(|&key| ListMask(runs.at(key))).collect();
        let longest = 270;
        for level in Level::here() {
            let set = PrefixSet::compile(runs).unwrap().at_level(level);
            for length in 0..longest.min(keys.len() / 2) {
                let mut masks = vec![ListMask::EMPTY; length + 1];
                set.add_burst(&keys[length..][..length], &mut masks);
                assert_eq!(
                    masks[..length],
                    wanted[length..][..length],
                    "{level} {length}"
                );
                assert!(masks[length].is_empty());
                masks.fill(ListMask(77));
                set.lookup_burst(&keys[length..][..length], &mut masks);
                assert_eq!(
                    masks[..length],
                    wanted[length..][..length],
                    "{level} {length}"
                );
                assert_eq!(masks[length], ListMask(77));
            }
        }
    }
    let count = 4000;
    check_lengths(draws(count).map(|word| word as u32 & 0x01ff_ffff).collect());
    check_lengths(draws(count).map(|word| word as u32 & 0xff).collect());
    check_lengths(draws(count).map(|word| word as u32 & !0xff).collect());
    check_lengths(draws(count).collect());
    check_lengths(crowd(count).collect());
    // Within one network of 48 bits: every key waits for the trie.
    let below = |word: u128| 0x2a00 << 112 | word & (u128::MAX >> 48);
    check_lengths(draws(count).map(below).collect());
    // Blocks of 16 bits that nodes hold, beside one that slots do.
    let sparse = |word: u128| {
        let block = word & 15;
        let count = if block < 12 { block } else { 12 };
        (0x2400 + count) << 112 | (word >> 8 & 0xffff) << 96
    };
    let starts: Vec<u128> = draws(1600).map(sparse).collect();
    match PrefixSet::compile(&runs(starts.clone(), 9)).unwrap().layout {
        Layout::Slots(slots) => assert_eq!(slots.shapes(), [12, 0, 1]),
        layout => panic!("{layout:?}"),
    }
    check_lengths(starts);
}

/// Places of changes in eight networks of 32 bits, some of them behind bit 47: so many in each that
/// four have a leaf a part, and four, where they crowd, nodes; and loopback's, so that address 0
/// is in the trie.
fn crowd(count: usize) -> impl Iterator<Item = u128> {
    let place = |word: u128| {
        let deep = if word >> 100 & 15 == 0 {
            word >> 64 & 0xffff
        } else {
            0
        };
        // Half of them in one 256th.
        let within = (word >> 8 & 0xffff) >> (2 * (word & 4) * (word >> 3 & 1));
        0x2001 << 112 | (word & 7) << 96 | within << 80 | deep << 32
    };
    draws(count).map(place).chain([1, 2])
}

/// Columns whose pages no longer lie side by side: changed and changed back beside a clone.
#[test]
fn bursts_among_copied_pages() {
    let runs = runs(crowd(4000).collect::<Vec<u128>>(), 9);
    check_copied_pages(&runs);
    check_copied_pages(&moved_up(&runs));
}

fn check_copied_pages(runs: &Runs<u128>) {
    match PrefixSet::compile(runs).unwrap().layout {
        Layout::Slots(slots) => {
            assert_eq!(slots.kinds()[1..], [4, 4]);
            assert!(slots.is_compact());
        }
        layout => panic!("{layout:?}"),
    }
    let masks = runs.masks.iter().copied();
    let mut map: BTreeMap<u128, u32> = runs.starts.iter().copied().zip(masks).collect();
    let keys: Vec<u128> = runs.starts.iter().step_by(3).copied().collect();
    let wanted: Vec<ListMask> = keys.iter().map(|&key| ListMask(runs.at(key))).collect();
    for level in Level::here() {
        let mut set = PrefixSet::compile(runs).unwrap().at_level(level);
        let kept = set.clone();
        for at in [runs.starts[runs.starts.len() / 2], runs.starts[5]] {
            let last = map
                .range(at + 1..)
                .next()
                .map_or(u128::MAX, |next| next.0 - 1);
            let mask = map[&at];
            for mask in [mask ^ 1 << 9, mask] {
                map.insert(at, mask);
                set.rewrite(at, last, &map).unwrap();
            }
        }
        match &set.layout {
            Layout::Slots(slots) => assert!(!slots.is_compact()),
            layout => panic!("{layout:?}"),
        }
        let check = |set: &PrefixSet<u128>, length| {
            for (keys, wanted) in keys.chunks(length).zip(wanted.chunks(length)) {
                let mut masks = vec![ListMask::EMPTY; keys.len()];
                set.add_burst(keys, &mut masks);
                assert_eq!(masks, wanted, "{level} {length}");
            }
        };
        for (set, length) in [(&set, 301), (&kept, 301), (&set, 128), (&set, 7)] {
            check(set, length);
        }
        drop(kept);
        compact(&mut set);
        match &set.layout {
            Layout::Slots(slots) => assert!(slots.is_compact()),
            layout => panic!("{layout:?}"),
        }
        check(&set, 301);
    }
}

/// What a writer does when changes have paused, with a reader that follows.
fn compact<A: Address>(set: &mut PrefixSet<A>) {
    loop {
        let read = set.clone();
        let mut work = Compacting::new(3);
        set.compact(&mut work).unwrap();
        drop(read);
        if work.copied == 0 {
            assert_eq!(work.displaced, 0);
            return;
        }
    }
}

/// The same for IPv4, in bursts of all lengths: groups without a leaf, with some, of leaves only.
#[test]
fn bursts_of_ipv4_among_copied_pages() {
    let count = if cfg!(miri) { 300 } else { 6000 };
    let drawn: Vec<u32> = draws(2 * count).map(|word| word as u32).collect();
    let (any, words) = drawn.split_at(count);
    let place = |(index, &word): (u32, &u32)| {
        // Some of the networks of 24 bits have several answers, and one has hundreds.
        let low = if index % 5 == 0 { word >> 20 & 0xff } else { 0 };
        10 << 24 | (index / 3) << 8 | low
    };
    let crowded = (0..256).map(|low| 11 << 24 | low);
    let places: Vec<u32> = (0..).zip(words).map(place).chain(crowded).collect();
    let runs = runs(places, 9);
    let masks = runs.masks.iter().copied();
    let mut map: BTreeMap<u32, u32> = runs.starts.iter().copied().zip(masks).collect();
    let keys: Vec<u32> = runs.starts.iter().chain(any).copied().collect();
    let wanted: Vec<ListMask> = keys.iter().map(|&key| ListMask(runs.at(key))).collect();
    let is_compact = |set: &PrefixSet<u32>| match &set.layout {
        Layout::Blocks(blocks) => blocks.is_compact(),
        layout => panic!("{layout:?}"),
    };
    // A network of 24 bits that has one answer: its slot is changed, not a leaf.
    let pairs = runs.starts.windows(2).rev();
    let whole = |pair: &&[u32]| pair[0] & 0xff == 0 && pair[1] - pair[0] >= 256;
    let pair = pairs.filter(whole).nth(50).expect("some have one answer");
    let (at, last) = (pair[0], pair[1] - 1);
    let mask = map[&at];
    for level in Level::here() {
        let mut set = PrefixSet::compile(&runs).unwrap().at_level(level);
        let kept = set.clone();
        for mask in [mask ^ 1 << 20, mask] {
            map.insert(at, mask);
            set.rewrite(at, last, &map).unwrap();
        }
        assert_eq!((is_compact(&kept), is_compact(&set)), (true, false));
        let lengths = (1..300).filter(|length| !cfg!(miri) || [1, 16, 130].contains(length));
        for (set, length) in lengths.flat_map(|length| [(&set, length), (&kept, length)]) {
            let first = 37 * length % (keys.len() - length);
            let mut masks = vec![ListMask::EMPTY; length];
            set.add_burst(&keys[first..first + length], &mut masks);
            assert_eq!(masks, wanted[first..first + length], "{level} {length}");
        }
        for (set, length) in [(&set, 301), (&kept, 512)] {
            let mut masks = vec![ListMask::EMPTY; keys.len()];
            for (keys, masks) in keys.chunks(length).zip(masks.chunks_mut(length)) {
                set.add_burst(keys, masks);
            }
            assert_eq!(masks, wanted, "{level} {length}");
        }
        drop(kept);
        compact(&mut set);
        assert!(is_compact(&set));
        let mut masks = vec![ListMask::EMPTY; keys.len()];
        set.add_burst(&keys, &mut masks);
        assert_eq!(masks, wanted, "{level}");
    }
}

#[test]
fn more_answers_than_values_can_name() {
    let runs = runs(draws(80_000).map(|word| word as u32).collect(), 1 << 30);
    let set = PrefixSet::compile(&runs).unwrap();
    assert!(matches!(set.layout, Layout::Sorted(_)));
    check(&runs);
}

/// Changes at 48, 56, 64 and 80 bits, many in few networks of 32 or of 44 bits: leaves of both
/// kinds, blocks within blocks, gates, and blocks behind bit 47 answer in the same bursts.
#[test]
fn long_prefixes_in_few_networks() {
    // Miri takes seconds for each root.
    let (count, lens, spreads): (_, &[u8], &[u128]) =
        (4_000, &[48, 56, 64, 80], &[0x000f, 0x000f_ffff]);
    for &len in lens {
        for &spread in spreads {
            let crowd = |word: u128| {
                let network = 0x2a00_0000 | (word >> 64) & 7;
                let within = (word & spread) << (128 - 48) | word >> 48 & (u128::MAX >> 48);
                (network << 96 | within).first_in(len)
            };
            check(&runs(draws(count).map(crowd).collect(), 300));
        }
    }
}

/// What hostile sets take at most: changes that share as many bits as possible, in every way.
#[test]
fn memory_for_a_change_is_bounded() {
    const ROOT: usize = 4 << 16;
    for step in [1, 2, 4, 8, 12, 16, 30] {
        for keep in [1, 3, 9] {
            // Digits of `step` bits that have one of a few values each.
            let digits = |word: u128| {
                (0..128 / step).fold(0u128, |address, digit| {
                    let value = (word >> (3 * digit % 120) & 0xff) % (keep + 1);
                    address | value.checked_shl(128 - step * (digit + 1)).unwrap_or(0)
                })
            };
            let runs = runs(draws(20_000).map(digits).collect(), 50);
            let set = PrefixSet::compile(&runs).unwrap();
            let most = ROOT + 1100 * runs.starts.len() + 4 * 50;
            assert!(
                set.bytes() <= most,
                "{} of {most}, {step} {keep}",
                set.bytes()
            );
            check(&runs);
        }
    }
}
