//! What a faulty queue does is what it says it did.

use std::collections::HashMap;

use super::*;
use crate::Share;
use crate::tests_support::{Script, expect_whole, pool};

const FRAMES: usize = 2_000;

fn share(share: f64) -> Share {
    Share::new(share).unwrap()
}

fn frames() -> Vec<Vec<u8>> {
    (0..FRAMES as u32)
        .map(|number| number.to_be_bytes().repeat(4))
        .collect()
}

/// Receives all there is, in bursts, and returns the bytes.
fn receive_all(queue: &mut Faulty<Script>, pool: &mut FramePool) -> Vec<Vec<u8>> {
    let mut received = Vec::new();
    let mut burst = Burst::new();
    for turn in 0.. {
        let state = queue.rx_burst(pool, &mut burst, 1 + turn % 40);
        assert!(burst.len() <= 1 + turn % 40, "more than was asked for");
        received.extend(burst.frames().iter().map(|frame| frame.bytes().to_vec()));
        pool.free_burst(&mut burst);
        if state == RxState::Ended {
            break;
        }
    }
    assert_eq!(queue.in_flight(), 0);
    expect_whole(pool, &mut burst);
    received
}

/// Sends all of `frames` over a queue that takes few at a time, and returns what arrived.
fn send_all(queue: &mut Faulty<Script>, pool: &mut FramePool, frames: &[Vec<u8>]) {
    let mut burst = Burst::new();
    let mut frames = frames.iter();
    loop {
        while burst.room() > 200
            && let Some(bytes) = frames.next()
        {
            let mut frame = pool.alloc().unwrap();
            frame.copy_from(bytes).unwrap();
            burst.push(frame).unwrap();
        }
        if burst.is_empty() && queue.in_flight() == 0 {
            break;
        }
        queue.tx_burst(&mut burst, pool);
        queue.reclaim(pool);
        assert_eq!(
            pool.free_count() + queue.in_flight() + burst.len() as u32,
            pool.total()
        );
    }
    expect_whole(pool, &mut burst);
}

fn all_faults() -> Faults {
    Faults {
        loss: share(0.1),
        corruption: share(0.1),
        duplication: share(0.1),
        reordering: share(0.2),
    }
}

fn plan(seed: u64) -> FaultPlan {
    FaultPlan {
        rx: all_faults(),
        tx: all_faults(),
        seed,
    }
}

#[test]
fn without_faults_nothing_changes() {
    let mut pool = pool(600);
    let mut queue = Faulty::new(Script::new(frames()), &FaultPlan::default());
    assert_eq!(receive_all(&mut queue, &mut pool), frames());
    send_all(&mut queue, &mut pool, &frames());
    assert_eq!(queue.inner.sent, frames());
    assert_eq!(queue.rx_counts(), FaultCounts::default());
    assert_eq!(queue.tx_counts(), FaultCounts::default());
}

/// Counts agree with what arrived, frame by frame.
fn check(received: &[Vec<u8>], counts: FaultCounts) {
    let mut times: HashMap<&Vec<u8>, i64> = HashMap::new();
    received
        .iter()
        .for_each(|bytes| *times.entry(bytes).or_default() += 1);
    let original = frames();
    let whole = |bytes: &&Vec<u8>| bytes.chunks(4).all(|word| word == &bytes[..4]);
    let bent = received.iter().filter(|bytes| !whole(bytes)).count() as u64;
    let expected = FRAMES as u64 - counts.lost + counts.duplicated;
    assert_eq!(received.len() as u64, expected, "{counts:?}");
    // A corrupted frame that was also doubled comes bent twice.
    assert!(bent >= counts.corrupted && bent <= counts.corrupted + counts.duplicated);
    let unseen = original
        .iter()
        .filter(|bytes| !times.contains_key(bytes))
        .count() as u64;
    assert_eq!(unseen, counts.lost + counts.corrupted);
    for count in [counts.lost, counts.corrupted, counts.duplicated] {
        assert!(
            (120..300).contains(&count),
            "a share of 0.1 of {FRAMES}: {counts:?}"
        );
    }
    assert!((280..520).contains(&counts.reordered), "{counts:?}");
}

#[test]
fn received_frames_suffer_as_counted() {
    let mut pool = pool(600);
    let mut queue = Faulty::new(Script::new(frames()), &plan(3));
    let received = receive_all(&mut queue, &mut pool);
    check(&received, queue.rx_counts());
    let statistics = queue.statistics();
    assert_eq!(statistics.rx_frames, received.len() as u64);
    assert_eq!(statistics.missed, queue.rx_counts().lost);
}

#[test]
fn sent_frames_suffer_as_counted() {
    let mut pool = pool(600);
    let mut script = Script::new([]);
    script.tx_max = 7;
    let mut queue = Faulty::new(script, &plan(4));
    send_all(&mut queue, &mut pool, &frames());
    check(&queue.inner.sent, queue.tx_counts());
    assert_eq!(queue.statistics().tx_frames, FRAMES as u64);
    assert_eq!(queue.statistics().tx_bytes, 16 * FRAMES as u64);
    assert_eq!(queue.rx_counts(), FaultCounts::default());
}

#[test]
fn a_seed_does_the_same_again() {
    let mut pool = pool(600);
    let mut run = |seed| {
        let mut queue = Faulty::new(Script::new(frames()), &plan(seed));
        receive_all(&mut queue, &mut pool)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn reordering_moves_no_frame_far_and_loses_none() {
    let mut pool = pool(600);
    let faults = Faults {
        reordering: share(0.3),
        ..Faults::default()
    };
    let plan = FaultPlan {
        rx: faults,
        ..FaultPlan::default()
    };
    let mut queue = Faulty::new(Script::new(frames()), &plan);
    let received = receive_all(&mut queue, &mut pool);
    assert_ne!(received, frames());
    let mut sorted = received.clone();
    sorted.sort();
    assert_eq!(sorted, frames());
    let number = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    for (place, bytes) in received.iter().enumerate() {
        let moved = number(bytes).abs_diff(place as u32);
        assert!(
            u64::from(moved) <= 2 * Faults::OVERTAKEN_BY_MAX,
            "moved by {moved}"
        );
    }
}

#[test]
fn everything_at_once_and_always_ends() {
    let mut pool = pool(600);
    let all = Faults {
        loss: Share::NONE,
        corruption: Share::ALL,
        duplication: Share::ALL,
        reordering: Share::ALL,
    };
    let mut queue = Faulty::new(
        Script::new(frames()),
        &FaultPlan {
            rx: all,
            tx: all,
            seed: 1,
        },
    );
    assert_eq!(receive_all(&mut queue, &mut pool).len(), 2 * FRAMES);
    send_all(&mut queue, &mut pool, &frames());
    assert_eq!(queue.inner.sent.len(), 2 * FRAMES);
    assert_eq!(queue.tx_counts().corrupted, FRAMES as u64);
}

#[test]
fn a_full_pool_makes_no_copies() {
    let mut pool = pool(1);
    let faults = Faults {
        duplication: Share::ALL,
        ..Faults::default()
    };
    let plan = FaultPlan {
        rx: faults,
        ..FaultPlan::default()
    };
    let mut queue = Faulty::new(Script::new([vec![7; 60]]), &plan);
    let mut burst = Burst::new();
    queue.rx_burst(&mut pool, &mut burst, 1);
    assert_eq!((burst.len(), queue.rx_counts().duplicated), (1, 0));
    expect_whole(&mut pool, &mut burst);
}
