//! How evenly flows fall into buckets, and what is left after buckets were moved.

use engine::placement::{Balancer, Pressure, Thresholds};
use frame::{Nanos, WorkerId};
use table::random_key;
use wire::toeplitz::{Key, Toeplitz};

use super::contestant;
use crate::contest::Contestant;
use crate::shuffle::Seeded;

pub(super) const BUCKETS: usize = 128;
const FLOWS: usize = 4096;
const ZIPF_FLOWS: u64 = 10_000;

pub(super) const KEYS: [&str; 3] = ["microsoft", "symmetric", "random"];

/// One flow of a kind of traffic by its number and random bits: addresses and ports.
type Flow = fn(u32, u64) -> [u32; 3];

/// Kinds of traffic.
pub(super) const TRAFFIC: [(&str, Flow); 4] = [
    ("random four-tuples", |_, random| {
        let (src, dst) = (random as u32, (random >> 32) as u32);
        [src, dst, src.rotate_left(7) ^ dst.wrapping_mul(0x9E37_79B1)]
    }),
    // Ephemeral ports, as one host draws them.
    ("clients of a /24 to one server", |_, random| {
        let port = 32_768 + (random >> 8 & 0x6FFF) as u32;
        [
            0x0A00_0000 | u32::from(random as u8),
            0xC000_0201,
            port << 16 | 443,
        ]
    }),
    ("one host, ports in sequence", |number, _| {
        [0x0A00_0001, 0xC000_0201, (1024 + number) << 16 | 443]
    }),
    ("addresses alone, in sequence", |number, _| {
        [0x0A00_0000 + number, 0xC000_0201, 0]
    }),
];

/// Exponents of Zipf's law, as rows name them.
pub(super) const EXPONENTS: [(&str, f64); 3] = [("0.9", 0.9), ("1.0", 1.0), ("1.1", 1.1)];

fn key(name: &str) -> Key {
    match name {
        "microsoft" => Key::MICROSOFT,
        "symmetric" => Key::SYMMETRIC,
        // The system's random source not being random, the published key shows it.
        _ => random_key(false).unwrap_or(Key::MICROSOFT),
    }
}

/// How many flows fall into each bucket.
pub(super) fn counts(flow: Flow, key: &Key, seed: u64) -> [u64; BUCKETS] {
    let (hash, mut random) = (Toeplitz::new(key), Seeded::new(seed));
    let mut counts = [0; BUCKETS];
    for number in 0..FLOWS {
        let [src, dst, ports] = flow(number as u32, random.next());
        counts[hash.hash_v4(src, dst, ports) as usize % BUCKETS] += 1;
    }
    counts
}

pub(super) fn max_to_mean(counts: &[u64]) -> f64 {
    let (most, sum) = (counts.iter().max(), counts.iter().sum::<u64>());
    most.map_or(0.0, |most| {
        *most as f64 * counts.len() as f64 / sum.max(1) as f64
    })
}

/// Pearson's statistic over its degrees of freedom.
pub(super) fn chi_square(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let squares = counts
        .iter()
        .map(|count| (*count as f64 - mean).powi(2) / mean);
    squares.sum::<f64>() / (counts.len() - 1) as f64
}

pub(super) fn contestants() -> Vec<Contestant> {
    let mut contestants = Vec::new();
    for (traffic, flow) in TRAFFIC {
        for name in KEYS {
            let variant = vec![("traffic", traffic.into()), ("key", name.into())];
            contestants.push(contestant(variant.clone(), "max_to_mean", move |trial| {
                max_to_mean(&counts(flow, &key(name), trial.seed))
            }));
            contestants.push(contestant(variant, "chi_square_per_bucket", move |trial| {
                chi_square(&counts(flow, &key(name), trial.seed))
            }));
        }
    }
    contestants
}

/// Loads of buckets when flows have their rates by Zipf's law.
pub(super) fn zipf(exponent: f64, seed: u64) -> Vec<u64> {
    let (hash, mut random) = (Toeplitz::new(&Key::SYMMETRIC), Seeded::new(seed));
    let mut loads = vec![0; BUCKETS];
    for rank in 1..=ZIPF_FLOWS {
        let word = random.next();
        let bucket = hash.hash_v4(word as u32, (word >> 32) as u32, 0) as usize % BUCKETS;
        loads[bucket] += (1e9 * (rank as f64).powf(-exponent)) as u64;
    }
    loads
}

/// The busier of two workers over their mean: as dealt, and as the balancer leaves it; and how many
/// buckets it moved.
pub(super) fn balanced(loads: &[u64]) -> (f64, f64, usize) {
    let mut owners: Vec<_> = (0..loads.len() as u16)
        .map(|bucket| WorkerId(bucket % 2))
        .collect();
    let workers = |owners: &[WorkerId]| {
        let mut workers = [0; 2];
        for (owner, load) in owners.iter().zip(loads) {
            workers[usize::from(owner.0)] += load;
        }
        workers
    };
    let before = workers(&owners);
    // At once and whatever the load: what is measured is what moving buckets can bring.
    let thresholds = Thresholds {
        overloaded: 1,
        spare: 1000,
        looks: 1,
        ..Thresholds::default()
    };
    let seen = Pressure {
        buckets: loads,
        fixed: &[0, 0],
        busy: &[1000, 0],
    };
    let proposal = Balancer::new(loads.len(), thresholds).plan(&seen, &owners, Nanos::ZERO);
    for change in &proposal.moves {
        owners[usize::from(change.bucket)] = change.to;
    }
    (
        max_to_mean(&before),
        max_to_mean(&workers(&owners)),
        proposal.moves.len(),
    )
}

pub(super) fn skewed() -> Vec<Contestant> {
    let mut contestants = Vec::new();
    for (name, exponent) in EXPONENTS {
        let variant =
            |placement: &'static str| vec![("zipf", name.into()), ("placement", placement.into())];
        let of = move |seed| balanced(&zipf(exponent, seed));
        contestants.push(contestant(variant("dealt"), "max_to_mean", move |trial| {
            of(trial.seed).0
        }));
        contestants.push(contestant(
            variant("balanced"),
            "max_to_mean",
            move |trial| of(trial.seed).1,
        ));
        contestants.push(contestant(
            variant("buckets moved"),
            "moves",
            move |trial| of(trial.seed).2 as f64,
        ));
    }
    contestants
}
