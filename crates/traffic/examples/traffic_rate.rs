//! How long a source takes to make a frame and a sink to take one in: nanoseconds a frame, the
//! median of several trials in turn. What is taken in was made just before, and that is timed too.
//! What every source pays, allocating and freeing frames, is measured beside it.
//!
//! `cargo run --release -p linerate-traffic --example traffic_rate [PART_OF_A_NAME]`

use std::hint::black_box;
use std::time::Instant;

use frame::{Burst, FramePool, Nanos, PoolRequest, Region};
use traffic::{Recipe, RecipeError, Sink, SinkLimits, Source};

const RECIPES: [&str; 12] = [
    "size=64",
    "size=64 sign=yes",
    "size=64 sign=yes cover=link",
    "size=64 sign=yes flows=1000000",
    "size=64 sign=yes src=10.0.0.0/8 dst=192.0.2.1-192.0.2.99 sport=53",
    "size=68 sign=yes smac=random vlan=1-100",
    "size=76 sign=yes protocol=tcp",
    "size=64 sign=yes protocol=icmp",
    "size=84 sign=yes ipv6=1",
    "size=imix sign=yes",
    "size=1518 sign=yes",
    "size=9018 sign=yes",
];
const BURST: usize = 64;
const FRAMES: usize = 1 << 19;
const TRIALS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if cfg!(debug_assertions) {
        eprintln!("this is a debug build: its figures mean nothing; add --release");
    }
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let request = PoolRequest {
        frames: 1024,
        stride_bytes: 9_600,
        headroom_bytes: 128,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request])?;
    let pool = &mut pools[0];
    let chosen = RECIPES.into_iter().filter(|text| text.contains(&wanted));
    let mut contestants = chosen.map(Contestant::new).collect::<Result<Vec<_>, _>>()?;
    let mut nothing = Vec::new();
    for _ in 0..TRIALS {
        nothing.push(time(|| allocate_and_free(pool)));
        for contestant in &mut contestants {
            contestant.run(pool);
        }
    }
    let alone = median(&mut nothing);
    println!("{:<68} {alone:>6.2} ns a frame", "allocate and free alone");
    for contestant in &mut contestants {
        let (make, both) = (median(&mut contestant.make), median(&mut contestant.both));
        println!(
            "{:<68} {make:>6.2} to make {both:>6.2} with taking in",
            contestant.text
        );
    }
    Ok(())
}

struct Contestant {
    text: &'static str,
    source: Source,
    sink: Sink,
    make: Vec<f64>,
    both: Vec<f64>,
}

impl Contestant {
    fn new(text: &'static str) -> Result<Self, RecipeError> {
        let mut recipe = Recipe::default();
        for part in text.split(' ') {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            recipe.set(key, value)?;
        }
        Ok(Self {
            text,
            source: Source::new(&recipe, 0, 1)?,
            sink: Sink::new(SinkLimits::default()),
            make: Vec::new(),
            both: Vec::new(),
        })
    }

    fn run(&mut self, pool: &mut FramePool) {
        let mut burst = Burst::new();
        let mut now = 0;
        self.make.push(time(|| {
            for _ in 0..FRAMES / BURST {
                now += 1_000;
                self.source.fill(pool, &mut burst, BURST, Nanos(now));
                black_box(&mut burst);
                pool.free_burst(&mut burst);
            }
        }));
        self.both.push(time(|| {
            for _ in 0..FRAMES / BURST {
                now += 1_000;
                self.source.fill(pool, &mut burst, BURST, Nanos(now));
                self.sink.take_burst(burst.frames(), Nanos(now + 5_000));
                pool.free_burst(&mut burst);
            }
        }));
        black_box(self.sink.report());
    }
}

fn allocate_and_free(pool: &mut FramePool) {
    let mut burst = Burst::new();
    for _ in 0..FRAMES / BURST {
        pool.alloc_burst(&mut burst, BURST);
        black_box(&mut burst);
        pool.free_burst(&mut burst);
    }
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / FRAMES as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
