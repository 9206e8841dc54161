//! Blocks of 16 bits with few changes: in nodes by the bits 16 to 31, and what they become.

use super::crowds::runs_of;
use super::*;

/// Blocks at both ends of the address space and within.
const BLOCKS: [u128; 3] = [0, 0x2001 << 112, 0xffff << 112];

fn shapes(set: &PrefixSet<u128>) -> [usize; 3] {
    match &set.layout {
        Layout::Slots(slots) => slots.shapes(),
        layout => panic!("{layout:?}"),
    }
}

/// A network in a block: of any length below it, half of them in its first 64th, some at its ends.
fn within(draws: &mut Draws, block: u128) -> (u128, u128) {
    let low = draws.address::<u128>() >> 16;
    let low = match draws.below(8) {
        0 => 0,
        1 => u128::MAX >> 16,
        2..=4 => low >> 6,
        _ => low,
    };
    let len = match draws.below(3) {
        0 => 32,
        1 => 17 + draws.below(16) as u8,
        _ => 33 + draws.below(96) as u8,
    };
    ((block | low).first_in(len), (block | low).last_in(len))
}

/// Networks come until there are so many, and go again; versions kept on the way keep answering.
fn come_and_go(seed: u64, block: u128, count: usize) {
    println!("seed {seed}");
    let mut draws = Draws::new(seed);
    let mut map = Map::from([(0, 0), (1 << 126, 9)]);
    let mut set = PrefixSet::compile(&runs_of(&map)).unwrap();
    let mut networks: Vec<(u128, u128, u32)> = Vec::new();
    let mut kept = Vec::new();
    for step in 0..2 * count {
        let (first, last, list) = if step < count {
            let (first, last) = within(&mut draws, block);
            networks.push((first, last, draws.below(5) as u32));
            networks[networks.len() - 1]
        } else {
            networks.swap_remove(draws.below(networks.len() as u64) as usize)
        };
        toggle(&mut map, first, last, list);
        set.rewrite(first, last, &map).unwrap();
        let mut keys = vec![first, last, first.saturating_sub(1), last.saturating_add(1)];
        keys.extend((0..20).map(|_| within(&mut draws, block).0));
        check(&set, &map, &keys, seed);
        if step % 16 == 0 {
            check(&set, &map, &edges(&map), seed);
        }
        if step % (count / 2) == 0 {
            kept.push((set.clone(), map.clone()));
        }
    }
    for (set, map) in kept {
        check(&set, &map, &edges(&map), seed);
        let anew = PrefixSet::compile(&runs_of(&map)).unwrap();
        check(&anew, &map, &edges(&map), seed);
    }
}

#[test]
fn networks_come_and_go_in_sparse_blocks() {
    for (seed, count) in (0..).zip([10, 40, 150, 400]) {
        for block in BLOCKS {
            come_and_go(seed, block, count);
        }
    }
}

/// A few networks are in one node, more in many, 256 have a slot each for their networks of 32
/// bits; what crowds too much is in the trie, until it is far from that.
#[test]
fn how_a_block_is_held() {
    let set = |networks: &mut dyn Iterator<Item = u128>| {
        let mut map = Map::from([(0, 0)]);
        for at in networks {
            let first = BLOCKS[1] | at << 92;
            toggle(&mut map, first, first.last_in(36), (at % 3) as u32);
        }
        let set = PrefixSet::compile(&runs_of(&map)).unwrap();
        check(&set, &map, &edges(&map), 0);
        (shapes(&set), map, set)
    };
    assert_eq!(set(&mut [7].into_iter()).0, [1, 0, 0]);
    assert_eq!(set(&mut (0..120).map(|at| at * 8_000)).0, [1, 0, 0]);
    assert_eq!(set(&mut (0..200).map(|at| at * 5_000)).0, [0, 0, 1]);
    // Neighbours whose networks of 32 bits all have changes within.
    let (shape, mut map, mut set) = set(&mut (0..100).map(|at| 0x1001 + 16 * at));
    assert_eq!(shape, [0, 1, 0]);
    let kept = (set.clone(), map.clone());
    for at in (3..100).map(|at| 0x1001 + 16 * at) {
        let first = BLOCKS[1] | at << 92;
        toggle(&mut map, first, first.last_in(36), (at % 3) as u32);
        set.rewrite(first, first.last_in(36), &map).unwrap();
    }
    assert_eq!(shapes(&set), [1, 0, 0]);
    for (set, map) in [kept, (set, map)] {
        check(&set, &map, &edges(&map), 0);
    }
}

/// What a change does not touch stays where it is, and what it gives back the next one takes.
#[test]
fn changes_of_a_sparse_block_take_no_room() {
    let mut map = Map::from([(0, 0)]);
    for at in 0..100 {
        let first = BLOCKS[1] | (at * 600) << 96 | 5 << 80;
        toggle(&mut map, first, first.last_in(48), (at % 16) as u32);
    }
    let mut set = PrefixSet::compile(&runs_of(&map)).unwrap();
    let (first, bytes) = (BLOCKS[1] | 0x7777 << 96, set.bytes());
    for _ in 0..1000 {
        toggle(&mut map, first, first.last_in(32), 9);
        set.rewrite(first, first.last_in(32), &map).unwrap();
    }
    assert!(set.bytes() < bytes + (32 << 10) && !set.is_crowded());
    check(&set, &map, &edges(&map), 0);
}

/// As few changes as ask for as many nodes as possible.
#[test]
fn memory_for_a_change_of_a_sparse_block_is_bounded() {
    const ROOT: usize = 4 << 16;
    for count in [15, 16, 17, 18, 19, 37, 60, 110] {
        for apart in [2, 3, 8, 16, 32, 64, 400] {
            let mut map = Map::from([(0, 0)]);
            for at in 0..count {
                map.insert(
                    BLOCKS[1] | (2 * at * apart) << 95 | 1 << 90,
                    1 + (at % 2) as u32,
                );
            }
            let set = PrefixSet::compile(&runs_of(&map)).unwrap();
            // And a leaf a change.
            let (bytes, most) = (set.bytes() - ROOT, (1200 + 64) * map.len());
            assert!(bytes <= most, "{bytes} of {most}, {count} {apart}");
            check(&set, &map, &edges(&map), 0);
        }
    }
}

/// There are no slots left: blocks with nodes keep them, and ask for no more than they take.
#[test]
fn nodes_without_more_slots_stay() {
    let mut map = Map::from([(0, 0)]);
    let mut put = |block: u128, count: u128, mask: u32| {
        for at in 0..count {
            let first = block << 112 | (1 + at * 500) << 96 | 5 << 92;
            map.insert(first, mask);
            map.insert(first + (1 << 92), 0);
        }
    };
    (0..255).for_each(|block| put(0x3000 + block, 128, 1));
    (0..380).for_each(|block| put(0x2100 + block, 115, 4));
    let mut set = PrefixSet::compile(&runs_of(&map)).unwrap();
    let before = shapes(&set);
    for block in 0..300u128 {
        let first = (0x2100 + block) << 112 | 501 << 96 | 9 << 92;
        toggle(&mut map, first, first.last_in(36), 3);
        set.rewrite(first, first.last_in(36), &map).unwrap();
    }
    assert_eq!(shapes(&set), before);
    check(&set, &map, &edges(&map), 0);
}
