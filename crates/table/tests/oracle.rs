//! Compiled lists against the oracle: random mixtures, all small inputs, the edges.

use proptest::prelude::*;
use table::oracle;
use table::{CompiledLists, Entries, FamilyEntries, Level, ListMask, Network, Range};

/// Asks every level about every key, in bursts and one by one.
fn check(lists: &[&Entries], keys_v4: &[u32], keys_v6: &[u128]) {
    let mut compiled = CompiledLists::compile(lists).unwrap();
    let v4: Vec<_> = lists.iter().map(|list| &list.v4).collect();
    let v6: Vec<_> = lists.iter().map(|list| &list.v6).collect();
    let (v4, v6) = (oracle::Ordered::new(&v4), oracle::Ordered::new(&v6));
    for level in Level::here() {
        compiled = compiled.at_level(level);
        let mut masks = vec![ListMask(0xdead_beef); keys_v4.len() + 1];
        compiled.lookup_burst_v4(keys_v4, &mut masks);
        for (&key, &mask) in keys_v4.iter().zip(&masks) {
            assert_eq!(mask, v4.lookup(key), "{level}, {key:08x}");
        }
        assert_eq!(
            masks.last(),
            Some(&ListMask(0xdead_beef)),
            "beyond the keys"
        );
        let (mut again, mut calls) = (vec![ListMask(0xdead_beef); masks.len()], 0);
        compiled.lookup_burst_v4_overlapped(keys_v4, &mut again, &mut || calls += 1);
        assert_eq!((again, calls), (masks, 1), "{level}");
        let mut masks = vec![ListMask(0xdead_beef); keys_v6.len()];
        compiled.lookup_burst_v6(keys_v6, &mut masks);
        for (&key, &mask) in keys_v6.iter().zip(&masks) {
            assert_eq!(mask, v6.lookup(key), "{level}, {key:032x}");
        }
    }
    for &key in keys_v4.iter().take(5) {
        assert_eq!(compiled.lookup_v4(key), oracle::lookup_v4(lists, key));
    }
    for &key in keys_v6.iter().take(5) {
        assert_eq!(compiled.lookup_v6(key), oracle::lookup_v6(lists, key));
    }
}

/// Every edge of every entry and what lies beside it.
fn edges<A: table::Address>(lists: &[&FamilyEntries<A>]) -> Vec<A> {
    let mut keys = vec![A::default(), A::MAX];
    for list in lists {
        let networks = list
            .networks
            .iter()
            .flat_map(|network| [network.first(), network.last()]);
        let ranges = list
            .ranges
            .iter()
            .flat_map(|range| [range.first(), range.last()]);
        for key in list.addresses.iter().copied().chain(networks).chain(ranges) {
            keys.push(key);
            keys.extend(key.successor());
            keys.extend(key.predecessor());
        }
    }
    keys
}

fn check_edges(lists: &[&Entries]) {
    let v4: Vec<_> = lists.iter().map(|list| &list.v4).collect();
    let v6: Vec<_> = lists.iter().map(|list| &list.v6).collect();
    check(lists, &edges(&v4), &edges(&v6));
}

/// Addresses that crowd: few values in each byte, so that entries nest, touch and repeat.
fn crowded() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => any::<u32>().prop_map(|a| a & 0x8101_0103),
        2 => any::<u32>().prop_map(|a| 0x0a00_0000 | a & 0x3ff),
        1 => any::<u32>(),
        1 => prop_oneof![Just(0u32), Just(1), Just(u32::MAX), Just(u32::MAX - 1)],
    ]
}

fn crowded_wide() -> impl Strategy<Value = u128> {
    let spread = |a: u32| {
        let bit = |from: u32, to: u32| u128::from(a >> from & 1) << to;
        bit(0, 127)
            | bit(1, 112)
            | bit(2, 111)
            | bit(3, 80)
            | bit(4, 64)
            | bit(5, 63)
            | bit(6, 40)
            | bit(7, 9)
            | bit(8, 8)
            | bit(9, 7)
            | bit(10, 0)
    };
    prop_oneof![
        6 => any::<u32>().prop_map(spread),
        2 => any::<u128>(),
        1 => prop_oneof![Just(0u128), Just(1), Just(u128::MAX), Just(u128::MAX - 1)],
    ]
}

fn family<A: table::Address>(
    address: impl Strategy<Value = A> + Clone + 'static,
) -> impl Strategy<Value = FamilyEntries<A>> {
    let network = (address.clone(), 0..=A::BITS as u8)
        .prop_map(|(address, len)| Network::holding(address, len).unwrap());
    let range = (address.clone(), address.clone())
        .prop_map(|(a, b)| Range::new(a.min(b), a.max(b)).unwrap());
    let count = if cfg!(miri) { 4 } else { 40 };
    (
        proptest::collection::vec(address, 0..count),
        proptest::collection::vec(network, 0..count / 2),
        proptest::collection::vec(range, 0..3),
    )
        .prop_map(|(addresses, networks, ranges)| FamilyEntries {
            addresses,
            networks,
            ranges,
        })
}

fn lists() -> impl Strategy<Value = Vec<Entries>> {
    // Often one list or two, sometimes all 32.
    let count = prop_oneof![3 => 0..3usize, 2 => 3..8usize, 1 => Just(32usize)];
    let list = (family(crowded().boxed()), family(crowded_wide().boxed()))
        .prop_map(|(v4, v6)| Entries { v4, v6 })
        .boxed();
    count.prop_flat_map(move |count| proptest::collection::vec(list.clone(), count))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { 300 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_mixtures(
        lists in lists(),
        keys_v4 in proptest::collection::vec(crowded(), 1..300),
        keys_v6 in proptest::collection::vec(crowded_wide(), 1..300),
    ) {
        let lists: Vec<&Entries> = lists.iter().collect();
        check(&lists, &keys_v4, &keys_v6);
        check_edges(&lists);
    }
}

/// All sets of networks within a space of three bits, placed where index, nodes and leaves
/// meet, as one list and dealt over two.
#[test]
fn all_small_network_sets() {
    let networks: Vec<(u32, u8)> = (0..=3u8)
        .flat_map(|len| (0..1u32 << len).map(move |at| (at << (3 - len), len)))
        .collect();
    assert_eq!(networks.len(), 15);
    let sets = if cfg!(miri) { 2 } else { 1 << networks.len() };
    let step = if cfg!(debug_assertions) { 7 } else { 1 };
    for set in (0..sets).step_by(step) {
        let shift = [0, 7, 8, 15, 23, 29][set % 6];
        let mut lists = [Entries::default(), Entries::default()];
        for (index, &(at, len)) in networks.iter().enumerate() {
            if set >> index & 1 == 0 {
                continue;
            }
            let list = &mut lists[index & (set >> 5) & 1];
            let v4 = (0x0a00_0000 & !(7u32 << shift)) | at << shift;
            list.v4
                .networks
                .push(Network::holding(v4, 32 - 3 - shift as u8 + len).unwrap());
            let shift = [0, 4, 61, 64, 90, 125][set % 6];
            let v6 = u128::from(at) << shift;
            list.v6
                .networks
                .push(Network::holding(v6, 128 - 3 - shift as u8 + len).unwrap());
        }
        check_edges(&[&lists[0], &lists[1]]);
    }
}

#[test]
fn whole_space_and_its_ends() {
    let mut all = Entries::default();
    all.v4.networks.push(Network::new(0, 0).unwrap());
    all.v6.networks.push(Network::new(0, 0).unwrap());
    let mut ends = Entries::default();
    ends.v4.addresses.extend([0, u32::MAX, 0, u32::MAX]);
    ends.v6.addresses.extend([0, u128::MAX, u128::MAX]);
    let empty = Entries::default();
    check_edges(&[]);
    check_edges(&[&empty]);
    check_edges(&[&empty, &all, &ends, &empty]);
    check_edges(&[&ends]);
    let compiled = CompiledLists::compile(&[&all, &ends]).unwrap();
    let facts = compiled.list(0);
    assert_eq!((facts.covered_v4, facts.covered_v6), (1 << 32, u128::MAX));
    let facts = compiled.list(1);
    assert_eq!((facts.entries_given, facts.duplicates_or_covered), (7, 3));
    assert_eq!((facts.covered_v4, facts.covered_v6), (2, 2));
}

#[test]
fn thirty_two_lists_and_no_more() {
    let lists: Vec<Entries> = (0..33u32)
        .map(|index| {
            let mut list = Entries::default();
            list.v4.addresses.extend([7, index, index * 2]);
            list.v6
                .networks
                .push(Network::holding(1 << 100, 20 + index as u8).unwrap());
            list
        })
        .collect();
    let lists: Vec<&Entries> = lists.iter().collect();
    check_edges(&lists[..32]);
    let error = CompiledLists::compile(&lists).unwrap_err();
    assert_eq!(
        error.to_string(),
        "33 lists; at most 32 compile into one table"
    );
}

#[test]
fn facts_count_what_adds_nothing() {
    let mut list = Entries::default();
    list.v4.addresses.extend([5, 5, 0x0a00_0001, 9]);
    list.v4.networks.push(Network::new(0x0a00_0000, 8).unwrap());
    list.v4
        .networks
        .push(Network::new(0x0a01_0000, 16).unwrap());
    list.v4.networks.push(Network::new(9, 32).unwrap());
    list.v4.ranges.push(Range::new(20, 29).unwrap());
    let compiled = CompiledLists::compile(&[&list]).unwrap();
    let facts = compiled.list(0);
    assert_eq!(facts.entries_given, 8);
    // 5 again, 10.0.0.1, 10.1.0.0/16, 9 again.
    assert_eq!(facts.duplicates_or_covered, 4);
    assert_eq!(facts.covered_v4, (1 << 24) + 10 + 2);
    assert_eq!(facts.covered_v6, 0);
}
