//! Sequences of changes against a map of runs; clones made on the way keep their answers.

use super::*;
use crate::secret::Secret;

mod among;
mod crowds;
mod parted;
mod sparse;

/// From an address on, these lists.
type Map<A> = BTreeMap<A, u32>;

/// Numbers from a seed.
pub(super) struct Draws {
    hash: crate::secret::Hash,
    at: u128,
}

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        let hash = Secret::from_seed(seed).hash();
        Self { hash, at: 0 }
    }
    fn next(&mut self) -> u64 {
        self.at += 1;
        self.hash.apply(self.at)
    }
    pub(super) fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }
    fn address<A: Address>(&mut self) -> A {
        let wide = u128::from(self.next()) << 64 | u128::from(self.next());
        A::narrow(wide >> (128 - A::BITS))
    }
}

/// Adds list `list` to a span, or takes it away.
fn toggle<A: Address>(map: &mut Map<A>, first: A, last: A, list: u32) {
    let after = last.successor();
    let after = after.map(|after| (after, mask_at(map, after)));
    let begin = mask_at(map, first);
    map.insert(first, begin);
    map.extend(after);
    for (_, mask) in map.range_mut(first..=last) {
        *mask ^= 1 << list;
    }
    let before = |map: &Map<A>, at: A| at.predecessor().map(|at| mask_at(map, at));
    for edge in [Some(first), after.map(|(after, _)| after)]
        .into_iter()
        .flatten()
    {
        if before(map, edge) == map.get(&edge).copied() {
            map.remove(&edge);
        }
    }
}

fn check<A: Address>(set: &PrefixSet<A>, map: &Map<A>, keys: &[A], seed: u64) {
    for level in Level::here() {
        let set = set.clone().at_level(level);
        let mut masks = vec![ListMask::EMPTY; keys.len()];
        set.add_burst(keys, &mut masks);
        let mut written = vec![ListMask(0x5a5a); keys.len()];
        set.lookup_burst(keys, &mut written);
        assert_eq!(written, masks, "{level}, seed {seed}");
        for (&key, mask) in keys.iter().zip(masks) {
            assert_eq!(mask.0, mask_at(map, key), "{level} {key:x?}, seed {seed}");
        }
    }
}

/// Keys on both sides of all changes.
fn edges<A: Address>(map: &Map<A>) -> Vec<A> {
    let before = map.keys().filter_map(|start| start.predecessor());
    let mut keys: Vec<A> = map.keys().copied().chain(before).collect();
    keys.extend([A::default(), A::MAX]);
    keys
}

/// A network: anywhere, near one that is there, or at an end of the address space.
fn network<A: Address>(draws: &mut Draws, map: &Map<A>) -> (A, A) {
    let near = |address: A, draws: &mut Draws| {
        let next = map
            .range(address..)
            .next()
            .map_or(A::MAX, |(&start, _)| start);
        A::narrow(next.widen() ^ u128::from(draws.next()) >> draws.below(64))
    };
    let address = match draws.below(8) {
        0 => A::default(),
        1 => A::MAX,
        2..=5 => {
            let address = draws.address();
            near(address, draws)
        }
        _ => draws.address(),
    };
    let len = match draws.below(4) {
        0 => A::BITS,
        1 => (A::BITS / 16) * draws.below(17) as u32,
        _ => draws.below(u64::from(A::BITS) + 1) as u32,
    };
    (address.first_in(len as u8), address.last_in(len as u8))
}

/// True when leaves of IPv6 hold classes, not answers.
fn holds_classes<A: Address>(set: &PrefixSet<A>) -> bool {
    match &set.layout {
        Layout::Slots(slots) => !slots.codes_are_answers(),
        _ => false,
    }
}

fn random_changes<A: Address>(seed: u64, start: &Map<A>, steps: usize, lists: u64) {
    let mut draws = Draws::new(seed);
    let mut map = start.clone();
    let mut runs = Runs::none();
    map.iter()
        .for_each(|(&start, &mask)| runs.push(start, mask));
    let mut set = PrefixSet::compile(&runs).unwrap();
    let mut kept = Vec::new();
    for step in 0..steps {
        if step % (steps / 4).max(1) == 0 {
            kept.push((set.clone(), map.clone()));
        }
        let (first, last) = network(&mut draws, &map);
        toggle(&mut map, first, last, draws.below(lists) as u32);
        set.rewrite(first, last, &map).unwrap();
        let ends = [
            Some(first),
            first.predecessor(),
            Some(last),
            last.successor(),
        ];
        let mut keys: Vec<A> = ends.into_iter().flatten().collect();
        keys.extend((0..20).map(|_| draws.address::<A>()));
        check(&set, &map, &keys, seed);
    }
    check(&set, &map, &edges(&map), seed);
    assert!(lists > 15 || !holds_classes(&set), "seed {seed}");
    for (set, map) in kept {
        check(&set, &map, &edges(&map), seed);
    }
}

const STEPS: usize = 400;
const SEEDS: std::ops::Range<u64> = 0..8;

#[test]
fn changes_from_nothing() {
    for seed in SEEDS {
        random_changes::<u32>(seed, &Map::from([(0, 0)]), STEPS, 3);
        random_changes::<u128>(seed, &Map::from([(0, 0)]), STEPS, 3);
    }
}

/// Many networks of the lengths that are usual.
fn usual<A: Address>(seed: u64, count: usize, len: u32, spread: u32) -> Map<A> {
    let mut draws = Draws::new(seed);
    let mut map = Map::from([(A::default(), 0)]);
    for _ in 0..count {
        let address = A::narrow(draws.address::<A>().widen() >> spread);
        let len = len - draws.below(9) as u32;
        let list = draws.below(16) as u32;
        toggle(
            &mut map,
            address.first_in(len as u8),
            address.last_in(len as u8),
            list,
        );
    }
    map
}

#[test]
fn changes_of_large_sets() {
    let count = 3_000;
    for seed in SEEDS.take(2) {
        for spread in [0, 12] {
            random_changes::<u32>(seed, &usual(seed, count, 24, spread), STEPS, 32);
            random_changes::<u32>(seed, &usual(seed, count, 32, spread), STEPS, 32);
            // Of 15 lists leaves hold answers throughout, of more they come to hold classes.
            for lists in [15, 32] {
                random_changes::<u128>(seed, &usual(seed, count, 48, spread), STEPS, lists);
                random_changes::<u128>(seed, &usual(seed, count, 128, spread + 100), STEPS, lists);
                random_changes::<u128>(seed, &usual(seed, count, 128, spread), STEPS, lists);
            }
        }
    }
}

/// All lengths, one within the other.
fn nested<A: Address>(at: A, lists: u32) -> Map<A> {
    let mut map = Map::from([(A::default(), 0)]);
    for len in 0..=A::BITS {
        toggle(
            &mut map,
            at.first_in(len as u8),
            at.last_in(len as u8),
            len % lists,
        );
    }
    map
}

#[test]
fn changes_of_nested_sets() {
    for seed in SEEDS {
        let mut draws = Draws::new(seed);
        random_changes::<u32>(seed, &nested(draws.address(), 32), STEPS, 32);
        for lists in [15, 32] {
            let at = draws.address();
            random_changes::<u128>(seed, &nested(at, lists), STEPS, lists.into());
            random_changes::<u128>(seed, &nested(u128::MAX, lists), STEPS, lists.into());
        }
    }
}

#[test]
fn the_whole_space_and_its_ends() {
    fn ends<A: Address>() {
        let mut map = Map::from([(A::default(), 0)]);
        let mut set = PrefixSet::<A>::compile(&Runs::none()).unwrap();
        let spans = [
            (A::default(), A::MAX),
            (A::MAX, A::MAX),
            (A::default(), A::default()),
        ];
        let steps = 9;
        for (list, (first, last)) in spans.into_iter().cycle().take(steps).enumerate() {
            toggle(&mut map, first, last, list as u32 % 4);
            set.rewrite(first, last, &map).unwrap();
            check(&set, &map, &edges(&map), 0);
        }
    }
    ends::<u32>();
    ends::<u128>();
}

#[test]
fn answers_that_no_longer_fit_change_the_layout() {
    let mut map: Map<u32> = (0..40_000).map(|at| (at << 8, at)).collect();
    let mut runs = Runs::none();
    map.iter()
        .take(blocks::CLASSES_MAX - 1)
        .for_each(|(&at, &mask)| runs.push(at, mask));
    let mut set = PrefixSet::compile(&runs).unwrap();
    assert!(matches!(set.layout, Layout::Blocks(_)));
    set.rewrite(0, u32::MAX, &map).unwrap();
    assert!(matches!(set.layout, Layout::Sorted(_)));
    toggle(&mut map, 7, 9, 31);
    set.rewrite(7, 9, &map).unwrap();
    check(&set, &map, &edges(&map), 0);
}

/// Leaves hold answers until one of all 16 lists comes, or one of a list that is none of these.
#[test]
fn leaves_hold_answers_while_they_have_room() {
    let deep = 0x2001_0db8 << 96 | 5;
    for answer in [0xffff, 1 << 16, 1 << 31 | 3] {
        let mut map = usual(1, 300, 48, 3);
        map.insert(deep, 3);
        map.insert(deep + 1, 0xfffe);
        let mut set = PrefixSet::compile(&crowds::runs_of(&map)).unwrap();
        assert!(!holds_classes(&set));
        check(&set, &map, &edges(&map), 0);
        let kept = (set.clone(), map.clone());
        for last in [0x2001_0db8 << 96 | u128::MAX >> 48, deep + 7] {
            let (first, behind) = (last - 7, mask_at(&map, last + 1));
            map.retain(|start, _| !(first..=last).contains(start));
            map.insert(first, answer);
            map.insert(last + 1, behind);
            set.rewrite(first, last, &map).unwrap();
            assert!(holds_classes(&set), "{answer:x}");
            check(&set, &map, &edges(&map), 0);
            // They do from the next layout on.
            map.insert(first, 2);
            set.rewrite(first, last, &map).unwrap();
            check(&set, &map, &edges(&map), 0);
            assert!(holds_classes(&set));
            set = PrefixSet::compile(&crowds::runs_of(&map)).unwrap();
            assert!(!holds_classes(&set));
        }
        check(&kept.0, &kept.1, &edges(&kept.1), 0);
    }
}

/// The first network in a list beyond the 16th makes nothing anew: of so many lists leaves hold
/// classes from the beginning.
#[test]
fn the_number_of_lists_decides_what_leaves_hold() {
    let mut map = usual(2, 300, 48, 3);
    let runs = crowds::runs_of(&map);
    for (list_count, are_classes) in [(1, false), (16, false), (17, true), (32, true)] {
        let set = PrefixSet::of_lists(list_count, &runs).unwrap();
        assert_eq!(holds_classes(&set), are_classes, "{list_count}");
        check(&set, &map, &edges(&map), 0);
    }
    // It is kept in mind while a set is empty.
    let mut set = PrefixSet::<u128>::of_lists(17, &Runs::none()).unwrap();
    set.rewrite(0, u128::MAX, &map).unwrap();
    assert!(holds_classes(&set));
    let network = 0x2001_0db8_u128 << 96;
    toggle(&mut map, network, network.last_in(48), 16);
    set.rewrite(network, network.last_in(48), &map).unwrap();
    check(&set, &map, &edges(&map), 0);
}

#[test]
fn garbage_is_counted() {
    fn crowd<A: Address>(len: u8, longer: u8) {
        let mut map = usual::<A>(5, 20_000, u32::from(len), 0);
        let mut runs = Runs::none();
        map.iter().for_each(|(&at, &mask)| runs.push(at, mask));
        let mut set = PrefixSet::compile(&runs).unwrap();
        let bytes = set.bytes();
        let mut draws = Draws::new(9);
        for step in 0.. {
            assert!(step < 200_000, "never crowded");
            if set.is_crowded() {
                break;
            }
            let address: A = draws.address();
            let (first, last) = (address.first_in(longer), address.last_in(longer));
            toggle(&mut map, first, last, 9);
            set.rewrite(first, last, &map).unwrap();
        }
        assert!(set.bytes() > bytes / 2);
    }
    crowd::<u32>(24, 27);
    crowd::<u128>(48, 60);
}
