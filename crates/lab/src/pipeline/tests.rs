//! The circle is what it says: everything circulates, nothing repeats.

use std::collections::{HashMap, HashSet};

use super::*;

const FRAMES: u32 = 512;

const TRIAL: Trial = Trial {
    round: 0,
    shift_lines: 0,
    seed: 1,
};

fn place(entries: usize) -> Place {
    let rulesets = rulesets(entries, 7).expect("memory and a policy");
    place_with(&rulesets, entries)
}

fn place_with(rulesets: &Rc<Placed<Ruleset>>, entries: usize) -> Place {
    let field = Field::new(&[footprint(rulesets, FRAMES)], 7).expect("memory");
    let circuits = [FRAMES, POOL_NEAR].map(|frames| Circuit::new(frames, 192, Seeded::new(7)));
    Place::new(entries, rulesets, circuits, 192, &field).expect("memory")
}

/// Whatever is left out.
#[test]
fn every_frame_goes_round_as_often_as_any_other() {
    let mut place = place(1000);
    for without in Without::EVERY {
        if without == Without::Rings {
            place.circuit.park();
        }
        let mut visits: HashMap<usize, u32> = HashMap::new();
        for _ in 0..5 {
            assert_eq!(
                place.turn(without, FRAMES as usize, &TRIAL),
                FRAMES as usize
            );
            if without != Without::Rings {
                for (frame, _) in place.circuit.waiting() {
                    *visits.entry(frame).or_default() += 1;
                }
            }
        }
        if without == Without::Rings {
            place.circuit.unpark();
            continue;
        }
        assert_eq!(visits.len(), FRAMES as usize, "{without:?}");
        assert!(visits.values().all(|&times| times == 5), "{without:?}");
    }
}

#[test]
fn frames_come_out_in_the_order_they_went_in() {
    let mut place = place(0);
    let frames = |circuit: &mut Circuit| -> Vec<usize> {
        circuit
            .waiting()
            .into_iter()
            .map(|(frame, _)| frame)
            .collect()
    };
    let before = frames(&mut place.circuit);
    place.turn(Without::Nothing, engine::DEFAULT_BURST, &TRIAL);
    let mut expected = before;
    expected.rotate_left(engine::DEFAULT_BURST);
    assert_eq!(frames(&mut place.circuit), expected);
}

#[test]
fn addresses_are_fresh_on_every_round_unless_stamping_is_left_out() {
    let mut place = place(1000);
    let mut seen: HashSet<u64> = HashSet::new();
    for round in 1..=4 {
        seen.extend(place.circuit.waiting().iter().map(|&(_, pair)| pair));
        assert_eq!(seen.len(), round * FRAMES as usize);
        place.turn(Without::Nothing, FRAMES as usize, &TRIAL);
    }
    let before = place.circuit.waiting();
    place.turn(Without::Stamp, FRAMES as usize, &TRIAL);
    assert_eq!(place.circuit.waiting(), before);
}

#[test]
fn the_far_side_alone_stamps_every_frame_and_sends_it_round() {
    let mut circuit = place(0).far_side;
    let mut seen: HashSet<u64> = HashSet::new();
    for round in 1..=3 {
        let waiting = circuit.waiting();
        assert_eq!(waiting.len(), POOL_NEAR as usize);
        seen.extend(waiting.iter().map(|&(_, pair)| pair));
        assert_eq!(seen.len(), round * waiting.len());
        let turns = waiting.len() / engine::DEFAULT_BURST;
        let frames: usize = (0..turns).map(|_| circuit.turn_far_side()).sum();
        assert_eq!(frames, waiting.len());
    }
}

/// The set holds a tenth of all addresses: what is dropped goes round again, and the counts agree
/// with the table's own answers.
#[test]
fn dropped_frames_are_counted_and_come_back() {
    let mut list = Entries::default();
    let network = table::Network::holding(0x1000_0000, 4).expect("a network");
    list.v4.networks.push(network);
    let lists = Arc::new(CompiledLists::compile(&[&list]).expect("compiles"));
    let policy = Arc::new(policy().expect("a policy"));
    let ruleset = Ruleset::new(Arc::clone(&lists), policy).expect("a set of the lists");
    let mut place = place_with(&Rc::new(Placed::once(ruleset)), 1);
    let sources = |circuit: &mut Circuit| {
        let pairs = circuit.waiting();
        let source = |pair: u64| u32::from_be_bytes(pair.to_ne_bytes()[..4].try_into().expect("4"));
        pairs
            .iter()
            .filter(|&&(_, pair)| !lists.lookup_v4(source(pair)).is_empty())
            .count() as u64
    };
    let (mut expected, mut dropped) = (0, 0);
    for _ in 0..4 {
        expected += sources(&mut place.circuit);
        place.turn(Without::Nothing, FRAMES as usize, &TRIAL);
        dropped = place.bridges[Without::Nothing as usize]
            .hits()
            .of(plane::Side::Src, 0);
        assert_eq!(place.circuit.waiting().len(), FRAMES as usize);
    }
    assert!(dropped > 0);
    assert_eq!(dropped, expected);
}

#[test]
fn rows_keep_the_contract() {
    let place = place(1000);
    for variant in variants(&[place]) {
        let place = tests::place(10);
        let row = row(variant, &place, crate::Samples::default());
        let fields: Vec<&str> = row.variant.iter().map(|&(name, _)| name).collect();
        for field in ["entries", "pool", "stride", "without"] {
            assert!(fields.contains(&field), "{field}");
        }
        let frames = row.is("path", "bridge") || row.is("path", "far_side");
        assert_eq!(row.metric == "frames_per_second", frames);
    }
}
