//! Buckets that change hands again and again while frames go by: no flow is reordered, nothing is
//! lost that is not counted.

use engine::{DispatchPolicy, MoveError, Running};
use frame::WorkerId;

use super::flows::Random;
use super::{SEED, Shape, full_rings};

/// Moves a few random buckets to random workers, as soon as the moves before are done, until the
/// run is over; returns how many changes were made.
pub(crate) fn shuffle(running: &Running, workers: usize, seed: u64) -> u64 {
    let buckets = running.buckets().len() as u64;
    let mut random = Random::new(seed);
    let mut changes = 0;
    while !running.is_finished() {
        let moves: Vec<(u16, WorkerId)> = (0..=random.below(8))
            .map(|_| {
                let bucket = random.below(buckets) as u16;
                (bucket, WorkerId(random.below(workers as u64) as u16))
            })
            .collect();
        match running.move_buckets(&moves) {
            Ok(()) => changes += 1,
            Err(MoveError::UnderWay) => std::thread::yield_now(),
            Err(other) => panic!("{other}"),
        }
    }
    changes
}

#[test]
fn no_flow_is_reordered_while_buckets_move() {
    let given = std::env::var("LINERATE_DISPATCH_FRAMES").ok();
    let frames = given.map_or(300_000, |text| text.parse().expect("a number"));
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for (workers, tx_queues, lossless) in [
            (2, 2, true),
            (2, 2, false),
            (3, 3, true),
            (3, 1, true),
            (2, 1, false),
        ] {
            let shape = Shape {
                tx_queues,
                lossless,
                ..Shape::new(workers, policy)
            };
            let mut changes = 0;
            let report = shape.run_with(frames, |running| {
                changes = shuffle(running, workers, SEED + workers as u64);
            });
            assert!(report.dispatch.moved > 0, "{shape:?}: {report:#?}");
            if lossless {
                assert_eq!(report.accounting.dropped, [], "{shape:?}");
            }
            println!(
                "{} frames by {workers} workers, {}, {tx_queues} to transmit, {}: {} buckets moved \
                 in {changes} changes, {} dropped because a ring was full, 0 reordered, {:.0} ns a \
                 frame",
                report.accounting.rx,
                policy.name(),
                if lossless {
                    "the source waits"
                } else {
                    "the source does not wait"
                },
                report.dispatch.moved,
                full_rings(&report),
                report.seconds * 1e9 / report.accounting.rx as f64,
            );
        }
    }
}

/// The least room between workers: every wait that can be is.
#[test]
fn moves_end_where_rings_have_room_for_one_frame() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for (workers, tx_queues) in [(2, 2), (3, 3), (3, 1)] {
            let mut shape = Shape::new(workers, policy);
            shape.tx_queues = tx_queues;
            shape.settings.ring_limit = 1;
            // Few frames, since each waits for another worker's turn; a run of so few may be over
            // before anything was moved.
            let mut moved = 0;
            for _ in 0..20 {
                let report = shape.run_with(4_000, |running| {
                    shuffle(running, workers, SEED);
                });
                assert_eq!(report.accounting.tx, report.accounting.rx, "{shape:?}");
                moved += report.dispatch.moved;
                if moved > 0 {
                    break;
                }
            }
            assert!(moved > 0, "{shape:?}");
        }
    }
}

#[test]
fn what_does_not_exist_cannot_be_moved() {
    let shape = Shape::new(2, DispatchPolicy::Hybrid);
    shape.run_with(10_000, |running| {
        let buckets = running.buckets();
        assert!(buckets.iter().all(|bucket| bucket.owner.0 < 2));
        let beyond = buckets.len() as u16;
        assert_eq!(
            running.move_buckets(&[(0, WorkerId(1)), (beyond, WorkerId(1))]),
            Err(MoveError::NoBucket(beyond))
        );
        assert_eq!(
            running.move_buckets(&[(0, WorkerId(2))]),
            Err(MoveError::NoWorker(WorkerId(2)))
        );
        assert_eq!(running.buckets()[0].owner, WorkerId(0), "nothing moved");
    });
}
