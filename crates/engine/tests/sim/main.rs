//! A switch with one to four workers and two to eight ports, simulated in one thread: ports that
//! lose, delay, double and reorder frames, take few at a time and go down; lists that change,
//! buckets that move, stations that move and age, and an end at any moment. Held after every step:
//! the books, the pools, the order within each flow, and where each frame leaves.
//!
//! `LINERATE_SIM_SEED=7` replays one seed; `LINERATE_SIM_SEEDS=100000` tries so many.

mod judged;
mod model;
#[path = "../ports/mod.rs"]
mod ports;
mod random;
mod shape;
mod simulation;
mod wire;
mod world;

use std::env;
use std::time::Instant;

use shape::Shape;
use simulation::{Memories, Outcome, simulate};

/// Seeds without [`env`] variables.
const SEEDS: u64 = 2_000;

/// Says which seed it was when a simulation fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(seed) = self;
            eprintln!(
                "seed {seed}; to replay: LINERATE_SIM_SEED={seed}; {:#?}",
                Shape::of(*seed)
            );
        }
    }
}

fn number(name: &str) -> Option<u64> {
    Some(env::var(name).ok()?.parse().expect("a number"))
}

fn run(seed: u64, memories: &mut Memories) -> Outcome {
    let _says = Seed(seed);
    simulate(&Shape::of(seed), memories)
}

#[test]
fn every_seed_keeps_books_pools_order_and_ports() {
    let seeds = match (number("LINERATE_SIM_SEED"), number("LINERATE_SIM_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, seeds) => 0..seeds.unwrap_or(SEEDS),
    };
    let (begun, mut memories) = (Instant::now(), Memories::default());
    let mut sum = Outcome::default();
    for seed in seeds.clone() {
        sum.add(&run(seed, &mut memories));
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{} seeds in {seconds:.1} s: {sum:?}", seeds.count());
}

#[test]
fn a_seed_replays_exactly() {
    let mut memories = Memories::default();
    for seed in 0..20 {
        let [one, other] = [(); 2].map(|()| run(seed, &mut memories));
        assert_eq!(one, other, "seed {seed}");
    }
}
