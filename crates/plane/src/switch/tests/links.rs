//! Workers that tell each other, and a table that is replaced.

use std::sync::Arc;

use frame::Nanos;

use super::super::*;
use super::bench::{A, B, Bench, C, MS, config, frame, station};
use crate::{DropReason, Ports};

fn two(room: usize) -> [Bench; 2] {
    let mut links = Links::mesh(2, room).into_iter();
    [(); 2].map(|()| Bench::linked(config(VlanMode::Default, 3), links.next().expect("two")))
}

#[test]
fn a_station_is_known_at_the_next_step_of_the_other_worker() {
    let [mut one, mut other] = two(16);
    assert_eq!(one.left(A, station(9), station(1)), Ok(vec![1, 2]));
    assert_eq!(other.left(B, station(1), station(2)), Ok(vec![0, 2]));
    other.switch.poll(other.now);
    assert_eq!(other.left(B, station(1), station(2)), Ok(vec![0]));
    one.switch.poll(one.now);
    assert_eq!(one.left(A, station(2), station(1)), Ok(vec![1]));
}

#[test]
fn what_a_full_ring_lost_is_told_at_the_next_frame() {
    let [mut one, mut other] = two(1);
    for number in 1..4 {
        assert!(one.left(A, station(9), station(number)).is_ok());
    }
    other.switch.poll(other.now);
    assert_eq!(other.switch.fdb().len(), 1);
    for number in 2..4 {
        assert!(one.left(A, station(9), station(number)).is_ok());
        other.switch.poll(other.now);
    }
    assert_eq!(other.switch.fdb().len(), 3);
}

#[test]
fn the_later_sighting_wins_at_both() {
    let [mut one, mut other] = two(16);
    assert!(one.left(A, station(9), station(1)).is_ok());
    other.now = Nanos(other.now.0 + MS);
    assert!(other.left(C, station(9), station(1)).is_ok());
    for _ in 0..3 {
        one.switch.poll(other.now);
        other.switch.poll(other.now);
    }
    assert_eq!(one.left(B, station(1), station(2)), Ok(vec![2]));
    assert_eq!(other.left(B, station(1), station(2)), Ok(vec![2]));
}

#[test]
fn a_new_table_changes_ports_statics_and_limits() {
    let mut first = config(VlanMode::Default, 3);
    let entry = |number, port| StaticStation {
        mac: station(number),
        vlan: 0,
        port,
    };
    first.statics = vec![entry(7, A), entry(8, B)];
    let mut bench = Bench::new(first);
    assert!(bench.left(C, station(9), station(3)).is_ok());
    assert!(bench.left(A, station(9), station(1)).is_ok());
    let mut second = config(VlanMode::Default, 2);
    second.statics = vec![entry(8, A)];
    let table = SwitchTable::new(second).expect("right settings");
    bench.switch.replace(Arc::new(table));
    // A is still known, C is gone and what was behind it is unknown.
    assert_eq!(bench.left(B, station(1), station(2)), Ok(vec![0]));
    assert_eq!(bench.left(B, station(3), station(2)), Ok(vec![0]));
    assert_eq!(
        bench.left(B, station(7), station(2)),
        Ok(vec![0]),
        "unknown"
    );
    assert_eq!(
        bench.left(B, station(8), station(2)),
        Ok(vec![0]),
        "at A now"
    );
    assert_eq!(
        bench.left(A, station(8), station(1)),
        Err(DropReason::SamePort)
    );
}

/// Whether B is still known behind a port, by what a new table takes from the port.
#[test]
fn stations_are_forgotten_behind_ports_that_left() {
    let vlan = |id, letters: &[PortId]| Vlan {
        id,
        untagged: letters
            .iter()
            .fold(Ports::NONE, |all, &port| all.with(port)),
        tagged: Ports::NONE,
    };
    let dot1q = |vlans: Vec<Vlan>| {
        let mut dot1q = config(VlanMode::Dot1q, 3);
        dot1q.ports.iter_mut().for_each(|port| port.pvid = Some(10));
        dot1q.vlans = vlans;
        dot1q
    };
    let grouped = |groups: Vec<Ports>| {
        let mut grouped = config(VlanMode::Port, 3);
        grouped.groups = groups;
        grouped
    };
    let all = [A, B, C];
    let both = Ports::first(3);
    for (before, after, is_known) in [
        (
            dot1q(vec![vlan(10, &all)]),
            dot1q(vec![vlan(10, &all), vlan(20, &all)]),
            true,
        ),
        (
            dot1q(vec![vlan(10, &all), vlan(20, &all)]),
            dot1q(vec![vlan(10, &all), vlan(20, &[A, C])]),
            false,
        ),
        (
            dot1q(vec![vlan(10, &all), vlan(20, &all)]),
            dot1q(vec![vlan(10, &all)]),
            false,
        ),
        (
            dot1q(vec![vlan(10, &all), vlan(20, &all)]),
            dot1q(vec![vlan(10, &all), vlan(20, &[B])]),
            true,
        ),
        (grouped(vec![both]), grouped(vec![both]), true),
        (grouped(vec![both]), grouped(vec![both, both]), false),
    ] {
        let said = format!("{before:?} {after:?}");
        let mut bench = Bench::new(before);
        assert!(bench.left(B, station(9), station(1)).is_ok(), "{said}");
        let table = SwitchTable::new(after).expect("right settings");
        bench.switch.replace(Arc::new(table));
        let expected = if is_known { vec![1] } else { vec![1, 2] };
        assert_eq!(
            bench.left(A, station(1), station(2)),
            Ok(expected),
            "{said}"
        );
    }
}

#[test]
fn a_port_whose_link_went_down_is_forgotten() {
    let mut bench = Bench::new(config(VlanMode::Default, 3));
    assert!(bench.left(C, station(9), station(3)).is_ok());
    assert_eq!(bench.left(A, station(3), station(1)), Ok(vec![2]));
    bench.switch.forget_port(C);
    assert_eq!(bench.left(A, station(3), station(1)), Ok(vec![1, 2]));
}

#[test]
fn a_static_station_neither_moves_nor_ages() {
    let mut first = config(VlanMode::Default, 3);
    first.statics.push(StaticStation {
        mac: station(7),
        vlan: 0,
        port: B,
    });
    let mut bench = Bench::new(first);
    // Somebody else takes its address: the frame passes, as at the kernel's bridge.
    let taken = frame(station(9), station(7), &[]);
    assert_eq!(bench.one(C, &taken).map(|sent| sent.len()), Ok(2));
    assert_eq!(bench.switch.counts().refused, 1);
    bench.now = Nanos(1_000_000 * 1_000 * MS);
    bench.switch.poll(bench.now);
    assert_eq!(bench.left(A, station(7), station(1)), Ok(vec![1]));
}
