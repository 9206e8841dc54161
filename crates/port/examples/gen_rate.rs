//! How long the generator takes to make a frame, alone: nanoseconds a frame for the variants that
//! matter, the median of several trials in turn. The time to allocate and free frames, which every
//! source pays, is measured beside it.
//!
//! `cargo run --release -p linerate-port --example gen_rate [gen:SPEC [QUEUES]]`

use std::sync::Arc;
use std::time::Instant;

use frame::{Burst, FramePool, PoolRequest, PortId, QueueId, Region};
use port::{OpenContext, PortQueue, PortSpec};

const SPECS: [(&str, usize); 11] = [
    ("gen:size=64", 1),
    ("gen:size=64,hit=0.1", 1),
    ("gen:size=64,hit=1", 1),
    ("gen:size=64,hit=0.1", 2),
    ("gen:size=64,vlan=7.8", 1),
    ("gen:size=64,addresses=1000000", 1),
    ("gen:size=64,addresses=1000000,hit=0.1", 1),
    ("gen:size=66,ipv6=1", 1),
    ("gen:size=64,ipv6=0.5", 1),
    ("gen:size=imix", 1),
    ("gen:size=1518", 1),
];
const BURST: usize = 64;
const FRAMES: usize = 1 << 21;
const TRIALS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if cfg!(debug_assertions) {
        eprintln!("this is a debug build: its figures mean nothing; add --release");
    }
    let context = context();
    let request = PoolRequest {
        frames: 2048,
        stride_bytes: 1920,
        headroom_bytes: 128,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request])?;
    let pool = &mut pools[0];
    let mut queues = Vec::new();
    let specs = specs()?;
    for (text, of) in &specs {
        let mut port = port::open(&PortSpec::parse(text)?, PortId(0), &context)?;
        queues.push(port.open_queue(QueueId(0), *of)?);
    }
    let mut nanos = vec![Vec::new(); specs.len() + 1];
    for _ in 0..TRIALS {
        nanos[0].push(time(|| allocate_and_free(pool)));
        for (queue, nanos) in queues.iter_mut().zip(&mut nanos[1..]) {
            nanos.push(time(|| generate(queue.as_mut(), pool)));
        }
    }
    println!(
        "{:<44} {:>6.2} ns a frame",
        "allocate and free alone",
        median(&mut nanos[0])
    );
    for ((text, of), nanos) in specs.iter().zip(&mut nanos[1..]) {
        let what = format!("{text} (queue 0 of {of})");
        println!("{what:<44} {:>6.2} ns a frame", median(nanos));
    }
    Ok(())
}

/// The one spec asked for, or all that matter.
fn specs() -> Result<Vec<(String, usize)>, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(spec) = arguments.next() else {
        return Ok(SPECS.map(|(text, of)| (text.to_owned(), of)).to_vec());
    };
    let of = arguments.next().map_or(Ok(1), |of| of.parse())?;
    Ok(vec![(spec, of)])
}

/// Six million samples, as the demo has.
fn context() -> OpenContext {
    let mut number = 1_u32;
    let mut next = || {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        number
    };
    let samples_v4: Arc<[u32]> = (0..6_000_000).map(|_| next()).collect();
    let samples_v6: Arc<[u128]> = samples_v4
        .iter()
        .map(|&low| 1 << 125 | u128::from(low))
        .collect();
    OpenContext {
        samples_v4,
        samples_v6,
        seed: 1,
        ..OpenContext::default()
    }
}

fn allocate_and_free(pool: &mut FramePool) {
    let mut burst = Burst::new();
    for _ in 0..FRAMES / BURST {
        pool.alloc_burst(&mut burst, BURST);
        std::hint::black_box(&mut burst);
        pool.free_burst(&mut burst);
    }
}

fn generate(queue: &mut dyn PortQueue, pool: &mut FramePool) {
    let mut burst = Burst::new();
    for _ in 0..FRAMES / BURST {
        queue.rx_burst(pool, &mut burst, BURST);
        std::hint::black_box(&mut burst);
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
