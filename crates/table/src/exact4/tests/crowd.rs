//! More addresses in a line than it holds.

use super::*;

/// All addresses of one line and its neighbours, by undoing the permutation the slow way.
#[test]
#[cfg_attr(miri, ignore = "searches the address space")]
fn a_line_overflows_and_empties_again() {
    let permutation = Secret::from_seed(11).permutation();
    let crowd: Vec<u32> = (0..40_000_000u32)
        .filter(|&address| permutation.apply(address) >> 16 == 5)
        .collect();
    assert!(crowd.len() > 300, "{} in one line", crowd.len());
    for masks in [&many()[..1], &many()[..16], &many()[..30], &many()] {
        crowd_in::<Shared>(Layout::Shared, &crowd, masks);
        crowd_in::<Narrow>(Layout::Narrow, &crowd, masks);
    }
}

fn crowd_in<L: Line>(wrap: fn(Lines<L>) -> Layout, crowd: &[u32], masks: &[u32]) {
    // Elsewhere there are all answers, so that those of the line are not neighbours.
    let elsewhere = (0..3000)
        .map(|number| !number)
        .zip(masks.iter().copied().cycle());
    let mut oracle: Oracle = elsewhere.collect();
    let mut set = AddressSetV4 {
        layout: layout::<L>(wrap, &oracle),
        level: Level::best(),
    };
    let (others, mut seed) = (set.len(), 7);
    for (count, &address) in crowd.iter().enumerate() {
        let mask = masks[splitmix(&mut seed) as usize % masks.len()];
        set.assign(address, ListMask(mask)).expect("memory");
        oracle.insert(address, mask);
        // As a table that is built of so many has it.
        if matches!(count, 0..40 | 300) {
            let built = AddressSetV4 {
                layout: layout(wrap, &oracle),
                level: Level::best(),
            };
            answers_as(&built, &oracle, crowd);
            answers_as(&set, &oracle, crowd);
        }
    }
    // To other answers, and back to nothing held aside where they allow it.
    for &address in crowd {
        let mask = masks[splitmix(&mut seed) as usize % masks.len()];
        set.assign(address, ListMask(mask)).expect("memory");
        oracle.insert(address, mask);
    }
    answers_as(&set, &oracle, crowd);
    let full = set.clone();
    let hits = |set: &AddressSetV4| set.contains_burst(crowd, &mut vec![false; crowd.len()]);
    assert_eq!(hits(&set), crowd.len());
    for (count, &address) in crowd.iter().enumerate() {
        set.assign(address, ListMask::EMPTY).expect("memory");
        assert_eq!(hits(&set), crowd.len() - count - 1);
        if count + 1 == crowd.len() / 2 {
            absent_beside_present(&set, crowd);
        }
    }
    assert_eq!(set.len(), others);
    let all: Vec<u32> = oracle.keys().copied().collect();
    answers_as(&full, &oracle, &all);
}

fn answers_as(set: &AddressSetV4, oracle: &Oracle, keys: &[u32]) {
    let mut answers = vec![ListMask(77); keys.len()];
    for level in Level::here() {
        set.clone().at_level(level).lookup_burst(keys, &mut answers);
        for (&key, &answer) in keys.iter().zip(&answers) {
            let wanted = ListMask(oracle.get(&key).copied().unwrap_or(0));
            assert_eq!((answer, set.get(key)), (wanted, wanted), "{key}, {level}");
        }
    }
}

/// A line that still overflows sends all its addresses to be looked up aside, those that it has no
/// longer as well: in bursts of the lengths that have a job of their own, they are not counted.
fn absent_beside_present(set: &AddressSetV4, crowd: &[u32]) {
    let (absent, present) = crowd.split_at(crowd.len() / 2);
    for burst in [64, 128] {
        let pairs = absent.iter().zip(present).take(burst / 2);
        let keys: Vec<u32> = pairs
            .flat_map(|(&absent, &present)| [absent, present])
            .collect();
        for level in Level::here() {
            let set = set.clone().at_level(level);
            let mut found = vec![true; burst];
            assert_eq!(set.contains_burst(&keys, &mut found), burst / 2, "{level}");
            assert!(found.chunks(2).all(|pair| pair == [false, true]), "{level}");
        }
    }
}
