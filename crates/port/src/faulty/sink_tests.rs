//! What a faulty queue did is what the sink of test traffic reports, to the frame.

use frame::{Burst, FramePool, Nanos};
use traffic::{
    Cover, Flows, Protocol, Random, Recipe, Sink, SinkLimits, SinkReport, Sizes, Source, Stamp,
};

use super::*;
use crate::Share;
use crate::tests_support::{Script, expect_whole, pool};

const FRAMES: usize = 5_000;
const STREAM: u16 = 3;

/// A seed that changes from run to run; a test that fails prints it.
fn seed() -> u64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    let seed = since.map_or(1, |since| since.as_nanos() as u64);
    println!("seed {seed}");
    seed
}

/// Test frames of all kinds, for a path that changes no byte.
fn test_frames(pool: &mut FramePool, seed: u64, flows: Flows) -> Vec<Vec<u8>> {
    let cover = Cover::Link;
    let recipe = Recipe {
        sizes: Sizes::Range(96, 400),
        protocol: [
            Protocol::Udp,
            Protocol::Tcp { flags: 2 },
            Protocol::IcmpEcho,
        ][seed as usize % 3],
        ipv6: Share::new(0.5).unwrap(),
        flows,
        seed,
        stamp: Some(Stamp {
            first_stream: STREAM,
            cover,
        }),
        ..Recipe::default()
    };
    let mut source = Source::new(&recipe, 0, 1).unwrap();
    let (mut burst, mut frames) = (Burst::new(), Vec::new());
    while frames.len() < FRAMES {
        source.fill(pool, &mut burst, 100, Nanos(0));
        frames.extend(burst.frames().iter().map(|frame| frame.bytes().to_vec()));
        pool.free_burst(&mut burst);
    }
    frames
}

/// Receives test frames that suffer `faults`; what the sink says, and what was done.
fn run(faults: Faults, seed: u64, pool: &mut FramePool) -> (SinkReport, FaultCounts) {
    run_of(Flows::Endless, faults, seed, pool)
}

fn run_of(
    flows: Flows,
    faults: Faults,
    seed: u64,
    pool: &mut FramePool,
) -> (SinkReport, FaultCounts) {
    let plan = FaultPlan {
        rx: faults,
        tx: Faults::default(),
        seed,
    };
    let mut queue = Faulty::new(Script::new(test_frames(pool, seed, flows)), &plan);
    let mut sink = Sink::new(SinkLimits::default());
    let mut random = Random::new(seed, 9);
    let mut burst = Burst::new();
    loop {
        let state = queue.rx_burst(pool, &mut burst, 1 + random.below(60) as usize);
        for frame in burst.frames() {
            sink.take(frame.bytes(), Nanos(40_000));
        }
        pool.free_burst(&mut burst);
        if state == RxState::Ended {
            break;
        }
    }
    expect_whole(pool, &mut burst);
    (sink.report(), queue.rx_counts())
}

fn share(share: f64) -> Share {
    Share::new(share).unwrap()
}

/// Loss, duplicates and order, all at once.
#[test]
fn lost_doubled_and_reordered_frames_are_reported_exactly() {
    let (seed, mut pool) = (seed(), pool(600));
    for run_number in 0..12 {
        let faults = Faults {
            loss: share(0.07),
            duplication: share(0.05),
            reordering: share(0.1),
            corruption: Share::NONE,
        };
        // Of one flow all that is out of order is reordered; of flows of one frame, nothing.
        let one = run_number % 2 == 0;
        let flows = if one { Flows::Fixed(1) } else { Flows::Endless };
        let (report, counts) = run_of(flows, faults, seed + run_number, &mut pool);
        let stream = &report.streams[0];
        assert_eq!(stream.stream, STREAM);
        let out_of_order = if one {
            stream.reordered
        } else {
            stream.across_flows
        };
        assert_eq!(stream.reordered + stream.across_flows, out_of_order);
        let told = (
            stream.lost_of(FRAMES as u64),
            stream.duplicated,
            out_of_order,
        );
        assert_eq!(told, (counts.lost, counts.duplicated, counts.reordered));
        assert_eq!(
            (report.corrupted, report.foreign, stream.outside_window),
            (0, 0, 0)
        );
        assert_eq!(
            stream.received,
            FRAMES as u64 - counts.lost + counts.duplicated
        );
        assert!(counts.lost > 250 && counts.duplicated > 150 && counts.reordered > 300);
        assert_eq!(stream.reordered_by_max >= 1, one);
        assert_eq!((stream.latency.min, stream.latency.max), (40_000, 40_000));
    }
}

/// Loss and one flipped bit anywhere, beside each other.
#[test]
fn corrupted_frames_are_reported_exactly() {
    let (seed, mut pool) = (seed(), pool(600));
    for run_number in 0..12 {
        let faults = Faults {
            loss: share(0.05),
            corruption: share(0.2),
            ..Faults::default()
        };
        let (report, counts) = run(faults, seed + run_number, &mut pool);
        let stream = &report.streams[0];
        assert_eq!((report.corrupted, report.foreign), (counts.corrupted, 0));
        assert_eq!(
            stream.lost_of(FRAMES as u64),
            counts.lost + counts.corrupted
        );
        assert_eq!((stream.duplicated, stream.reordered), (0, 0));
        assert!(counts.corrupted > 800 && stream.corrupted <= counts.corrupted);
    }
}

#[test]
fn an_honest_queue_is_reported_as_such() {
    let (seed, mut pool) = (seed(), pool(600));
    let (report, counts) = run(Faults::default(), seed, &mut pool);
    assert_eq!(counts, FaultCounts::default());
    let stream = &report.streams[0];
    assert_eq!(
        (stream.received, stream.unique, stream.lost),
        (5_000, 5_000, 0)
    );
    assert_eq!(
        stream.duplicated + stream.reordered + report.corrupted + report.foreign,
        0
    );
}
