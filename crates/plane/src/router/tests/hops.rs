//! Which next hop a flow takes: by weight, always the same, and another one only if it must.

use std::collections::BTreeMap;

use super::super::*;
use super::lab::ip;

fn hop(number: u16) -> Hop {
    Hop {
        gateway: Some(ip(&format!("10.0.0.{number}"))),
        interface: InterfaceId(number % 3),
    }
}

fn set(weights: &[(u16, u16)]) -> HopSet {
    let weighted = weights
        .iter()
        .map(|&(number, weight)| (hop(number), weight));
    HopSet::new(&weighted.collect::<Vec<_>>())
}

/// The next hops of many flows.
fn taken(set: &HopSet) -> Vec<Hop> {
    let flows = (0..10_000u64).map(|flow| flow.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
    flows
        .map(|flow| *set.of_flow(flow).expect("a hop"))
        .collect()
}

#[test]
fn a_hop_that_goes_moves_its_flows_and_no_others() {
    for count in [2, 3, 8, 16] {
        let all: Vec<(u16, u16)> = (1..=count).map(|number| (number, 1)).collect();
        for gone in 1..=count {
            let rest: Vec<_> = all.iter().copied().filter(|one| one.0 != gone).collect();
            let (before, after) = (taken(&set(&all)), taken(&set(&rest)));
            let moved = before
                .iter()
                .zip(&after)
                .filter(|(one, other)| one != other);
            assert!(
                moved.clone().all(|(one, _)| *one == hop(gone)),
                "{gone} of {count}"
            );
            assert!(moved.count() > 0, "{gone} of {count}");
        }
    }
}

#[test]
fn each_hop_takes_about_its_share() {
    for weights in [
        &[(1, 1), (2, 1)][..],
        &[(1, 1), (2, 3)],
        &[(1, 256), (2, 128), (3, 128)],
    ] {
        let total: u16 = weights.iter().map(|one| one.1).sum();
        let mut shares = BTreeMap::new();
        for hop in taken(&set(weights)) {
            *shares.entry(hop.gateway).or_insert(0u32) += 1;
        }
        for (number, weight) in weights {
            let found = f64::from(shares[&hop(*number).gateway]) / 10_000.0;
            let right = f64::from(*weight) / f64::from(total);
            assert!(
                (found - right).abs() < 0.1,
                "{found} for {right} of {weights:?}"
            );
        }
    }
}

#[test]
fn the_order_of_hops_does_not_matter() {
    let (one, other) = (
        set(&[(1, 1), (2, 2), (3, 1)]),
        set(&[(3, 1), (1, 1), (2, 2)]),
    );
    assert_eq!(taken(&one), taken(&other));
}

#[test]
fn one_hop_takes_all_and_none_takes_nothing() {
    assert!(!set(&[(1, 1)]).is_several());
    assert!(taken(&set(&[(1, 1)])).iter().all(|own| *own == hop(1)));
    assert_eq!(set(&[]).of_flow(7), None);
}
