//! Changes of networks with single addresses among them, and layouts made anew meanwhile.

use super::*;

fn runs_of<A: Address>(source: Source<'_, A>) -> Runs<A> {
    let mut runs = Runs::none();
    for (start, mask) in source.changes(A::default()) {
        runs.push(start, mask);
    }
    runs
}

/// The changed set, and one built anew, against both maps.
fn check_both<A: Address>(set: &PrefixSet<A>, map: &Map<A>, alone: &Map<A>, seed: u64) {
    let source = Source::new(map, Some(alone));
    let anew = PrefixSet::compile(&runs_of(source)).unwrap();
    let around = alone
        .keys()
        .flat_map(|&at| [at.predecessor(), Some(at), at.successor()]);
    let keys: Vec<A> = edges(map).into_iter().chain(around.flatten()).collect();
    for set in [set, &anew] {
        let mut masks = vec![ListMask::EMPTY; keys.len()];
        set.add_burst(&keys, &mut masks);
        for (key, mask) in keys.iter().zip(masks) {
            let wanted = mask_at(map, *key) | alone.get(key).copied().unwrap_or(0);
            assert_eq!(mask.0, wanted, "{key:x?}, seed {seed}");
        }
    }
}

fn changes<A: Address>(seed: u64, len: u32, spread: u32) {
    let mut draws = Draws::new(seed);
    let mut map = usual::<A>(seed, 1_500, len, spread);
    let mut alone = Map::new();
    let mut set = PrefixSet::compile(&runs_of(Source::new(&map, None))).unwrap();
    for step in 0..STEPS {
        let (mut first, mut last) = network(&mut draws, &map);
        if step % 3 == 0 {
            // An address: at an edge, within, or one that is there.
            first = [first, last, draws.address()][draws.below(3) as usize];
            if let Some((&there, _)) = alone.range(first..).next().filter(|_| step % 6 == 0) {
                first = there;
            }
            last = first;
            let mask = alone.remove(&first).unwrap_or(0) ^ 1 << draws.below(16);
            alone.extend((mask != 0).then_some((first, mask)));
        } else {
            toggle(&mut map, first, last, draws.below(16) as u32);
        }
        let source = Source::new(&map, Some(&alone));
        set.rewrite_from(first, last, source).unwrap();
        if step % (STEPS / 4) == 0 {
            check_both(&set, &map, &alone, seed);
        }
    }
    check_both(&set, &map, &alone, seed);
}

#[test]
fn addresses_among_networks() {
    for seed in SEEDS.take(2) {
        changes::<u32>(seed, 24, 8);
        changes::<u128>(seed, 48, 0);
        changes::<u128>(seed, 48, 16);
        changes::<u128>(seed, 64, 24);
    }
}

/// The family is made anew from all networks and addresses, not from those beside the change.
#[test]
fn another_layout_has_what_lies_elsewhere() {
    let mut map: Map<u128> = Map::from([(0, 0)]);
    for list in 0..20 {
        toggle(&mut map, 0x2a00 << 112, 0x2a01 << 112, list);
    }
    let alone: Map<u128> = [0x2001 << 112, u128::MAX].map(|at| (at, 1 << 31)).into();
    let source = Source::new(&map, Some(&alone));
    let mut set = PrefixSet::compile(&runs_of(source)).unwrap();
    assert!(matches!(set.layout, Layout::Slots(_)));
    for at in 0..slots::CLASSES_MAX as u128 {
        map.insert(0x2600 << 112 | at << 80, at as u32);
    }
    map.insert(0x2601 << 112, 0);
    let source = Source::new(&map, Some(&alone));
    set.rewrite_from(0x2600 << 112, (0x2601 << 112) - 1, source)
        .unwrap();
    assert!(matches!(set.layout, Layout::Sorted(_)));
    check_both(&set, &map, &alone, 0);
}
