//! Flows of a bridge with several workers: each known to one of them, which is another one
//! after its bucket has moved.

use engine::{DispatchPolicy, Engine, EngineError, RunReport};

use super::flows::Judge;
use super::moves::shuffle;
use super::{FLOWS, SEED, Shape};

/// Each flow began once and is known: what was known of it was never lost, and never there twice.
fn known_once(shape: Shape, report: &RunReport) {
    let flows = report.flows.expect("a bridge that remembers");
    assert_eq!(flows.known, [flows.begun, 0], "{shape:?}");
    // All frames of a flow may be dropped where a worker gets no CPU.
    let all = if shape.lossless { FLOWS as u64 } else { 1 };
    assert!(
        (all..=FLOWS as u64).contains(&flows.begun),
        "{shape:?}: {flows:?}"
    );
    assert_eq!((flows.expired, flows.refused), (0, 0), "{shape:?}");
}

#[test]
fn flows_go_where_their_buckets_go() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for (workers, lossless) in [(1, true), (2, true), (2, false), (3, true)] {
            let shape = Shape {
                lossless,
                stateful: true,
                ..Shape::new(workers, policy)
            };
            let report = shape.run_with(300_000, |running| {
                shuffle(running, workers, SEED);
            });
            assert_eq!(report.dispatch.moved > 0, workers > 1, "{shape:?}");
            known_once(shape, &report);
        }
    }
}

#[test]
fn without_a_choice_frames_go_to_who_knows_them() {
    let mut shape = Shape::new(3, DispatchPolicy::Hybrid);
    shape.stateful = true;
    shape.settings.policy = None;
    let report = shape.run(100_000);
    let ports = &report.dispatch.ports;
    let hybrid = |port: &engine::DispatchPort| port.policy == DispatchPolicy::Hybrid;
    assert!(ports.iter().all(hybrid), "{ports:?}");
    known_once(shape, &report);
}

#[test]
fn direct_is_refused_with_several_workers() {
    for workers in [1, 2] {
        let mut shape = Shape::new(workers, DispatchPolicy::Direct);
        shape.stateful = true;
        let judge = Judge::new(FLOWS);
        let started = Engine::start(shape.plan(10_000, &judge));
        match started {
            Ok(running) => {
                assert_eq!(workers, 1);
                running.join().expect("a report");
            }
            Err(error) => {
                assert!(matches!(error, EngineError::StatefulDirect(2)), "{error}");
                assert_eq!(workers, 2);
            }
        }
    }
}
