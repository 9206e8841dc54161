//! IPv6 networks that crowd where slots, nodes, leaves, words and the trie meet.

use super::*;

/// `count` networks of `lens` within `within`, the network of `depth` bits that holds an address.
fn crowd(seed: u64, within: (u128, u8), lens: std::ops::Range<u8>, count: usize) -> Map<u128> {
    let mut draws = Draws::new(seed);
    let mut map = Map::from([(0, 0)]);
    for _ in 0..count {
        let (first, last) = one(&mut draws, within, &lens);
        toggle(&mut map, first, last, draws.below(16) as u32);
    }
    map
}

/// A network of `lens` within another; half of them lie in its first 256th.
fn one(draws: &mut Draws, within: (u128, u8), lens: &std::ops::Range<u8>) -> (u128, u128) {
    let (at, depth) = within;
    let host = u128::MAX.checked_shr(u32::from(depth)).unwrap_or(0);
    let low = draws.address::<u128>() & host;
    let low = low >> (8 * draws.below(2));
    let address = at.first_in(depth) | low;
    let len = lens.start + draws.below(u64::from(lens.end - lens.start)) as u8;
    (address.first_in(len), address.last_in(len))
}

/// Changes of `start` within the crowd, some of networks that hold it; what a set says is held
/// against the map, and against the set made anew in the end.
fn change(seed: u64, start: &Map<u128>, within: (u128, u8), steps: usize) {
    let mut draws = Draws::new(seed);
    let mut map = start.clone();
    let mut set = PrefixSet::compile(&runs_of(&map)).unwrap();
    let kept = (set.clone(), map.clone());
    for _ in 0..steps {
        let lens = within.1.min(127)..129;
        let (first, last) = match draws.below(20) {
            0 => (within.0.first_in(within.1), within.0.last_in(within.1)),
            1 => (within.0.first_in(16), within.0.last_in(16)),
            2..=9 => one(&mut draws, within, &(within.1.min(48)..65)),
            _ => one(&mut draws, within, &lens),
        };
        toggle(&mut map, first, last, draws.below(5) as u32);
        set.rewrite(first, last, &map).unwrap();
        let ends = [
            Some(first),
            first.predecessor(),
            Some(last),
            last.successor(),
        ];
        let mut keys: Vec<u128> = ends.into_iter().flatten().collect();
        keys.extend((0..30).map(|_| one(&mut draws, within, &lens).0));
        check(&set, &map, &keys, seed);
    }
    let keys = edges(&map);
    check(&set, &map, &keys, seed);
    check(
        &PrefixSet::compile(&runs_of(&map)).unwrap(),
        &map,
        &keys,
        seed,
    );
    check(&kept.0, &kept.1, &edges(&kept.1), seed);
}

pub(super) fn runs_of(map: &Map<u128>) -> Runs<u128> {
    let mut runs = Runs::none();
    map.iter().for_each(|(&at, &mask)| runs.push(at, mask));
    runs
}

pub(super) const AT: u128 = 0x2a00_1450_8003_7fff_8001_0000_ffff_0000 << 1;

#[test]
fn changes_where_networks_crowd() {
    for seed in 0..3 {
        for depth in [16, 24, 32, 36, 40, 44, 48, 64, 96] {
            for (count, lens) in [(40, 17..49), (1500, 20..49), (1500, 44..65), (900, 49..129)] {
                let lens = lens.start.max(depth)..lens.end.max(depth + 1);
                let within = (AT, depth);
                change(seed, &crowd(seed, within, lens, count), within, 60);
            }
        }
    }
}

/// From a plain block to slots and back to nothing, and the same from few to many in one network
/// of 32 bits: every way of holding a block becomes every other.
#[test]
fn blocks_grow_and_empty_again() {
    for (depth, len) in [(16, 32), (16, 48), (32, 48), (32, 64), (48, 64)] {
        let mut draws = Draws::new(7);
        let mut map = Map::from([(0, 0)]);
        let mut set = PrefixSet::compile(&runs_of(&Map::from([(0, 1)]))).unwrap();
        set.rewrite(0, u128::MAX, &map).unwrap();
        let mut added = Vec::new();
        for step in 0..2 * 1200 {
            let (first, last) = if step < 1200 {
                let network = one(&mut draws, (AT, depth), &(len..len + 1));
                added.push(network);
                network
            } else {
                added.remove(draws.below(added.len() as u64) as usize)
            };
            toggle(&mut map, first, last, 3);
            set.rewrite(first, last, &map).unwrap();
            let keys = [first, last, first.wrapping_sub(1), last.wrapping_add(1), AT];
            check(&set, &map, &keys, 7);
            if step % 300 == 299 {
                check(&set, &map, &edges(&map), 7);
            }
        }
        assert_eq!(map.len(), 1);
    }
}

/// Leaves side by side, until one of them has no room for its part.
#[test]
fn a_part_outgrows_its_leaf() {
    let mut map = Map::from([(0, 0)]);
    let network = AT.first_in(32);
    // In neighbours, enough for slots.
    for at in 0..300 {
        map.insert(AT.first_in(16) + (at << 96), 9 + (at % 2) as u32);
    }
    map.insert(network, 1);
    for at in 1..64 {
        map.insert(network | at << 90, (at % 7 + 1) as u32);
    }
    let mut set = PrefixSet::compile(&runs_of(&map)).unwrap();
    assert_eq!(kinds(&set), [0, 1, 0]);
    let networks = |at: u128| {
        // Every third is below bit 47.
        let first = network | (0x0412 + at) << 80;
        let len = if at.is_multiple_of(3) { 64 } else { 48 };
        (first, first.last_in(len))
    };
    let mut seen = Vec::new();
    for at in (0..60).chain(0..60) {
        let (first, last) = networks(at);
        toggle(&mut map, first, last, 9);
        set.rewrite(first, last, &map).unwrap();
        check(&set, &map, &edges(&map), at as u64);
        seen.push(kinds(&set));
    }
    assert_eq!(seen[0], [0, 1, 0]);
    // Which stays, or changes there and back could make all anew each time.
    assert_eq!(seen.last(), Some(&[0, 0, 1]));
    check(
        &PrefixSet::compile(&runs_of(&map)).unwrap(),
        &map,
        &edges(&map),
        0,
    );
    assert_eq!(
        kinds(&PrefixSet::compile(&runs_of(&map)).unwrap()),
        [0, 1, 0]
    );
}

/// Hundreds of changes at once, in spans of 16 to 40 bits, some of lists that codes have no room
/// for: what is made of them meanwhile is read by what is made next.
#[test]
fn many_changes_at_once_of_more_lists_than_codes_hold() {
    const DEPTHS: [u8; 5] = [16, 24, 32, 36, 40];
    for seed in 0..10 {
        println!("seed {seed}");
        let mut draws = Draws::new(seed);
        let mut map: Map<u128> = Map::from([(0, 0)]);
        let network = |draws: &mut Draws, depth: u8| {
            let at = AT.first_in(depth) | draws.address::<u128>() & (u128::MAX >> depth);
            let len = depth + draws.below(129 - u64::from(depth)) as u8;
            (at.first_in(len), at.last_in(len))
        };
        for _ in 0..2000 {
            let depth = DEPTHS[draws.below(5) as usize];
            let (first, last) = network(&mut draws, depth);
            toggle(&mut map, first, last, draws.below(15) as u32);
        }
        let mut set = PrefixSet::compile(&runs_of(&map)).unwrap();
        for step in 0..30 {
            let depth = DEPTHS[draws.below(5) as usize];
            for _ in 0..draws.below(400) {
                let (first, last) = network(&mut draws, depth);
                let lists = [15, 16, 32][step % 3];
                toggle(&mut map, first, last, draws.below(lists) as u32);
            }
            set.rewrite(AT.first_in(depth), AT.last_in(depth), &map)
                .unwrap();
            check(&set, &map, &edges(&map), seed);
            // Made anew without those lists, so that leaves hold answers again.
            if step % 3 == 2 {
                map.values_mut().for_each(|mask| *mask &= 0x7fff);
                set = PrefixSet::compile(&runs_of(&map)).unwrap();
                assert!(!holds_classes(&set));
            }
        }
    }
}

pub(super) fn kinds(set: &PrefixSet<u128>) -> [usize; 3] {
    match &set.layout {
        Layout::Slots(slots) => slots.kinds(),
        layout => panic!("{layout:?}"),
    }
}

/// The last number of the bits 32 to 47 is behind no place that is unused.
#[test]
fn the_last_network_of_48_bits() {
    for count in [1, 14, 15, 16, 30, 31, 100, 480, 2000, 65_535] {
        let first = AT.first_in(32);
        let mut map = Map::from([(0, 0)]);
        for at in 0..count {
            let start = first + (((at + 1) * 65_535 / count) << 80);
            map.insert(start, (at % 7 + 1) as u32);
        }
        map.insert(AT.last_in(32) + 1, 0);
        // Enough for slots.
        for at in 0..300 {
            map.insert(
                (AT.first_in(16) + (at << 96)).min(first - 1),
                9 + (at % 2) as u32,
            );
        }
        let set = PrefixSet::compile(&runs_of(&map)).unwrap();
        check(&set, &map, &edges(&map), 0);
    }
}

/// A change of a network copies few pages, whatever crowds beside it.
#[test]
fn a_change_leaves_the_rest_where_it_is() {
    let within = (AT, 32);
    let mut map = crowd(1, within, 44..49, 20_000);
    let mut set = PrefixSet::compile(&runs_of(&map)).unwrap();
    let bytes = set.bytes();
    let (first, last) = (AT.first_in(128), AT.first_in(128));
    for _ in 0..1000 {
        toggle(&mut map, first, last, 9);
        set.rewrite(first, last, &map).unwrap();
    }
    // What a change gives back the next takes.
    assert!(set.bytes() < bytes + (64 << 10) && !set.is_crowded());
    check(&set, &map, &edges(&map), 1);
}

/// More blocks of 16 bits ask for slots than there may be: the others are in the trie.
#[test]
fn slots_for_all_blocks_are_bounded() {
    let mut map = Map::from([(0, 0)]);
    for block in 0..300u128 {
        for at in 0..256 {
            let start = ((0x2000 + block) << 112) | ((at * 0xf1) << 96) | (0x8000 << 80);
            map.insert(start, (at % 5 + 1) as u32);
        }
    }
    let mut set = PrefixSet::compile(&runs_of(&map)).unwrap();
    assert!(set.bytes() < (64 << 20) + 1100 * map.len());
    check(&set, &map, &edges(&map), 0);
    let mut draws = Draws::new(3);
    for block in [0x2000, 0x212a, 0x2000, 0x212b] {
        let (first, last) = one(&mut draws, (block << 112, 16), &(20..60));
        toggle(&mut map, first, last, 9);
        set.rewrite(first, last, &map).unwrap();
    }
    check(&set, &map, &edges(&map), 0);
}
