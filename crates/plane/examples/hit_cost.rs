//! What a hit costs for being counted by its address: `cargo run --release -p linerate-plane
//! --example hit_cost`. Rounds of all streams take turns with a round that counts nothing.

use std::hint::black_box;
use std::time::Instant;

use plane::{HitAddresses, Side};

const HITS: u32 = 200_000;
const ROUNDS: usize = 41;

/// The address of a hit by its number.
type Stream = fn(u32) -> u32;

const STREAMS: [(&str, Stream); 4] = [
    ("one address", |_| 7),
    ("500 addresses", |hit| spread(hit % 500)),
    ("5,000 addresses", |hit| spread(hit % 5_000)),
    ("never the same", spread),
];

/// An odd multiplier: each number has another.
fn spread(number: u32) -> u32 {
    number.wrapping_mul(0x9E37_79B1)
}

/// Nanoseconds a hit.
fn timed(stream: Stream, mut each: impl FnMut(u32)) -> f64 {
    let begun = Instant::now();
    for hit in 0..HITS {
        each(black_box(stream(hit)));
    }
    begun.elapsed().as_nanos() as f64 / f64::from(HITS)
}

fn main() {
    let mut table = HitAddresses::new([0x5EED, 0x0006]);
    let mut differences = STREAMS.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for ((_, stream), differences) in STREAMS.iter().zip(&mut differences) {
            let without = timed(*stream, |address| _ = black_box(address));
            table.clear();
            let with = timed(*stream, |address| {
                table.count_soon(address.into(), true, Side::Src);
            });
            differences.push(with - without);
        }
    }
    for ((name, _), differences) in STREAMS.iter().zip(&mut differences) {
        differences.sort_by(f64::total_cmp);
        let at = |share: usize| differences[differences.len() * share / 4];
        println!(
            "{name}: {:.1} ns a hit ({:.1} to {:.1})",
            at(2),
            at(1),
            at(3)
        );
    }
}
