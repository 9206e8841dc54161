//! Datagrams in fragments, whole ones and tunnels mixed, whose frames come by queues drawn at
//! random: each fragment stays in the order in which its queue received those of its datagram, all
//! have the verdict that one worker alone gives, and nothing goes uncounted.

use std::sync::Arc;

use engine::{DispatchKind, DispatchPolicy, EndedBy, Engine, Plan, RunReport, Running};
use frame::Nanos;
use plane::{Action, DropReason, Policy, SetRule, Sides};
use table::fragments::FragmentLimits;
use table::{CompiledLists, Entries};
use wire::HashHeader;

use super::Shape;
use super::flows::Judge;
use super::moves::shuffle;
use super::pieces::{Mix, Sieve, Spread, Traffic, piece_port, sieve_port};

const SEED: u64 = 11;

fn mix(queues: usize) -> Mix {
    Mix {
        datagrams: 3_000,
        queues,
        spread: Spread::Frames,
        hostile: false,
        seed: SEED,
    }
}

/// Room for all that can wait: a worker without a CPU keeps the others' fragments waiting.
fn limits() -> FragmentLimits {
    FragmentLimits {
        held: 4096,
        timeout: Nanos(600_000_000_000),
        source_part: 1,
        ..FragmentLimits::default()
    }
}

fn shape(workers: usize, policy: DispatchPolicy) -> Shape {
    Shape {
        stateful: true,
        ..Shape::new(workers, policy)
    }
}

/// Runs until all is sent; else as [`run_some`].
fn run(
    shape: Shape,
    (traffic, limits): (&Traffic, FragmentLimits),
    overlap: impl FnOnce(&Running),
) -> (RunReport, Arc<Sieve>) {
    let (report, sieve) = run_some(shape, (traffic, limits), overlap);
    assert_eq!(report.ended_by, EndedBy::Sources, "{shape:?}");
    assert_eq!(report.accounting.rx, traffic.frames as u64, "{shape:?}");
    (report, sieve)
}

/// Runs to whatever end. Whatever happens, nothing is reordered, and what did not leave was dropped
/// by name.
fn run_some(
    shape: Shape,
    (traffic, limits): (&Traffic, FragmentLimits),
    overlap: impl FnOnce(&Running),
) -> (RunReport, Arc<Sieve>) {
    let (plan, sieve) = planned(shape, (traffic, limits));
    let running = Engine::start(plan).expect("a run");
    overlap(&running);
    let report = running.join().expect("a report");
    assert!(report.balanced, "{shape:?}: {report:#?}");
    assert!(report.dispatch.balances(), "{shape:?}: {report:#?}");
    assert_eq!(sieve.faults(), (0, 0), "{shape:?}, seed {SEED}");
    let left = sieve.left().iter().filter(|&&left| left).count() as u64;
    assert_eq!(report.accounting.tx, left, "{shape:?}");
    let ended = report.accounting.dropped_total() + report.accounting.consumed;
    let begun = report.accounting.rx + report.accounting.originated;
    assert_eq!(left + ended, begun, "{shape:?}");
    (report, sieve)
}

/// A run to be, and what sees its frames leave.
fn planned(shape: Shape, (traffic, limits): (&Traffic, FragmentLimits)) -> (Plan, Arc<Sieve>) {
    let sieve = Sieve::new(traffic);
    let mut plan = shape.plan(1, &Judge::new(super::FLOWS));
    plan.ports = vec![
        Box::new(piece_port(traffic, shape.lossless)),
        Box::new(sieve_port(shape.tx_queues, &sieve)),
    ];
    plan.policy.fragments = Some(limits);
    plan.policy.reassembles = shape.reassembles;
    plan.stride_bytes = 1088;
    (plan, sieve)
}

fn gathered_elsewhere(report: &RunReport) -> u64 {
    let rows = report.dispatch.rows.iter();
    let gathering = rows.filter(|row| row.kind == DispatchKind::Gather);
    gathering.map(|row| row.counts.queued).sum()
}

const HASHES: [Option<HashHeader>; 3] = [None, Some(HashHeader::Outer), Some(HashHeader::Inner)];

#[test]
fn every_fragment_passes_in_its_order() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for workers in [1, 2, 3] {
            for hash in HASHES {
                let traffic = Traffic::new(mix(workers));
                let shape = Shape {
                    hash,
                    ..shape(workers, policy)
                };
                let (report, _) = run(shape, (&traffic, limits()), |_| {});
                assert_eq!(report.accounting.dropped, [], "{shape:?}");
                assert_eq!(gathered_elsewhere(&report) > 0, workers > 1, "{shape:?}");
            }
        }
    }
}

/// Eight gather, however many receive and decide.
#[test]
fn more_workers_than_gather() {
    let traffic = Traffic::new(mix(10));
    let shape = shape(10, DispatchPolicy::Hybrid);
    let (report, _) = run(shape, (&traffic, limits()), |_| {});
    assert_eq!(report.accounting.dropped, [], "{shape:?}");
    let rows = report.dispatch.rows.iter();
    let gathering = rows.filter(|row| row.kind == DispatchKind::Gather && row.counts.queued > 0);
    let mut gatherers: Vec<u16> = gathering.map(|row| row.worker.0).collect();
    gatherers.dedup();
    assert_eq!(gatherers, (0..8).collect::<Vec<u16>>());
}

#[test]
fn queues_for_some_workers_alone() {
    for (workers, queues, tx_queues) in [(2, 1, 2), (3, 2, 1), (3, 1, 1)] {
        let traffic = Traffic::new(mix(queues));
        let shape = Shape {
            tx_queues,
            ..shape(workers, DispatchPolicy::Hybrid)
        };
        let (report, _) = run(shape, (&traffic, limits()), |_| {});
        assert_eq!(report.accounting.dropped, [], "{shape:?}");
    }
}

/// What one worker alone makes of it, all fragments of a datagram by one queue.
#[test]
fn verdicts_are_those_of_one_worker() {
    for hash in HASHES {
        let traffic = Traffic::new(Mix {
            spread: Spread::Datagrams,
            hostile: true,
            ..mix(2)
        });
        let alone = Shape {
            hash,
            ..shape(1, DispatchPolicy::Hybrid)
        };
        let (expected, one) = run(alone, (&traffic, limits()), |_| {});
        let reasons = expected.accounting.dropped;
        for reason in [
            DropReason::FragmentDuplicate,
            DropReason::FragmentOverlap,
            DropReason::NotEstablished,
            DropReason::Shutdown,
        ] {
            assert!(
                reasons.iter().any(|&(found, _)| found == reason),
                "{reasons:?}"
            );
        }
        for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
            let shape = Shape {
                hash,
                ..shape(2, policy)
            };
            let (report, two) = run(shape, (&traffic, limits()), |_| {});
            assert_eq!(report.accounting.dropped, reasons, "{shape:?}, seed {SEED}");
            assert!(two.left() == one.left(), "{shape:?}, seed {SEED}");
        }
    }
}

#[test]
fn moving_buckets_loses_and_reorders_no_fragment() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for (workers, tx_queues) in [(2, 2), (3, 3), (3, 1)] {
            let traffic = Traffic::new(Mix {
                datagrams: 12_000,
                ..mix(workers)
            });
            let shape = Shape {
                tx_queues,
                ..shape(workers, policy)
            };
            // A run may be over before anything was moved.
            let mut moved = 0;
            for _ in 0..20 {
                let (report, _) = run(shape, (&traffic, limits()), |running| {
                    shuffle(running, workers, SEED);
                });
                assert_eq!(report.accounting.dropped, [], "{shape:?}");
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
fn rings_of_one_frame_hold_no_fragment_up_for_ever() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for (workers, tx_queues) in [(2, 2), (3, 1)] {
            let traffic = Traffic::new(Mix {
                datagrams: 300,
                ..mix(workers)
            });
            let mut shape = shape(workers, policy);
            shape.tx_queues = tx_queues;
            shape.settings.ring_limit = 1;
            let (report, _) = run(shape, (&traffic, limits()), |running| {
                shuffle(running, workers, SEED);
            });
            assert_eq!(report.accounting.dropped, [], "{shape:?}");
        }
    }
}

/// The other mode: packets leave whole, by the worker of their flow, since no other would
/// let them pass.
#[test]
fn packets_put_together_meet_their_flow() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for workers in [1, 2, 3] {
            for hash in HASHES {
                for stateful in [false, true] {
                    let traffic = Traffic::new(Mix {
                        datagrams: 1_000,
                        ..mix(workers)
                    });
                    let shape = Shape {
                        hash,
                        stateful,
                        reassembles: true,
                        ..shape(workers, policy)
                    };
                    let (report, sieve) = run(shape, (&traffic, limits()), |running| {
                        if workers > 1 {
                            shuffle(running, workers, SEED);
                        }
                    });
                    assert_eq!(sieve.parts(), 0, "{shape:?}");
                    let accounting = &report.accounting;
                    assert!(
                        2 * accounting.originated < accounting.consumed,
                        "{shape:?}: {accounting:?}"
                    );
                    // Fragments inside of tunnels are whole packets outside: with the inner
                    // header's flows only their first ones have one.
                    if hash != Some(HashHeader::Inner) || !stateful {
                        assert_eq!(accounting.dropped, [], "{shape:?}");
                    }
                }
            }
        }
    }
}

/// Where the source cannot wait, fragments are lost between workers, first ones among them.
#[test]
fn what_full_rings_drop_is_counted() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        let traffic = Traffic::new(mix(2));
        let mut shape = shape(2, policy);
        shape.lossless = false;
        shape.settings.ring_limit = 4;
        let few = FragmentLimits {
            held: 64,
            timeout: Nanos(1_000_000),
            ..limits()
        };
        let (report, _) = run(shape, (&traffic, few), |running| {
            shuffle(running, 2, SEED);
        });
        let dropped = |wanted| {
            let found = report
                .accounting
                .dropped
                .iter()
                .find(|(reason, _)| *reason == wanted);
            found.map_or(0, |&(_, frames)| frames)
        };
        assert!(dropped(DropReason::HandoffRingFull) > 0, "{report:#?}");
        let rows = report.dispatch.rows.iter();
        let full: u64 = rows.map(|row| row.counts.dropped).sum();
        assert_eq!(full, dropped(DropReason::HandoffRingFull), "{report:#?}");
    }
}

/// Fragments twice, overlapping or lost, each by any queue, while time runs out at once or never,
/// little may wait, buckets move, and in both modes.
#[test]
fn hostile_fragments_are_counted() {
    let bounds = [
        limits(),
        FragmentLimits {
            timeout: Nanos(1),
            ..limits()
        },
        FragmentLimits {
            datagrams: 8,
            held: 4,
            pieces: 3,
            source_part: 4,
            timeout: Nanos(200_000),
        },
    ];
    for (reassembles, limits) in bounds.iter().flat_map(|&of| [(false, of), (true, of)]) {
        for (workers, lossless) in [(2, true), (3, false)] {
            let traffic = Traffic::new(Mix {
                hostile: true,
                ..mix(workers)
            });
            let shape = Shape {
                lossless,
                reassembles,
                ..shape(workers, DispatchPolicy::Hybrid)
            };
            let (report, _) = run(shape, (&traffic, limits), |running| {
                shuffle(running, workers, SEED);
            });
            let counted = report.fragments.expect("they are followed");
            assert!(counted.counts.begun > 0, "{counted:?}");
        }
    }
}

/// A set that counts has every frame once, those too that wait in vain where they gather. What
/// waits when the run ends is left out.
#[test]
fn sets_count_what_waits_in_vain() {
    let traffic = Traffic::new(Mix {
        hostile: true,
        ..mix(2)
    });
    let limits = FragmentLimits {
        held: 8,
        timeout: Nanos(200_000),
        ..limits()
    };
    let (mut plan, _) = planned(shape(2, DispatchPolicy::Hybrid), (&traffic, limits));
    let mut sources = Entries::default();
    sources.v4.addresses.push(0x2D53_0201);
    sources.v4.addresses.extend(0x2D53_1000..0x2D53_1100);
    let counting = SetRule::new("sources", Action::Count, Sides::SRC);
    let mut policy = Policy::new(vec![counting]).expect("one rule");
    (policy.stateful, policy.fragments) = (plan.policy.stateful, plan.policy.fragments);
    plan.policy = policy;
    plan.lists = Arc::new(CompiledLists::compile(&[&sources]).expect("one list"));
    let report = Engine::start(plan)
        .expect("a run")
        .join()
        .expect("a report");
    let frames = traffic.queues.iter().flatten();
    let wanted = frames.filter(|frame| frame[12..14] == [8, 0]).count() as u64;
    let dropped = |wanted: DropReason| {
        let dropped = report.accounting.dropped.iter();
        dropped
            .map(|&(reason, count)| if reason == wanted { count } else { 0 })
            .sum::<u64>()
    };
    let in_vain = dropped(DropReason::FragmentTimeout) + dropped(DropReason::FragmentEvicted);
    let (counted, left_out) = (report.sets[0].hits_src, dropped(DropReason::Shutdown));
    println!("{counted} of {wanted}, {in_vain} in vain, {left_out} at the end");
    assert!(in_vain > left_out, "{:?}", report.accounting);
    assert!(counted <= wanted, "{counted} of {wanted}");
    assert!(
        counted + left_out >= wanted,
        "{counted} of {wanted}, {left_out} at the end"
    );
}

/// What waits when a run is asked to end is dropped by name, wherever it is.
#[test]
fn an_end_in_the_middle_is_counted() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for reassembles in [false, true] {
            for part in 1..5_u64 {
                let traffic = Traffic::new(mix(2));
                let mut shape = Shape {
                    reassembles,
                    ..shape(2, policy)
                };
                shape.settings.ring_limit = 16;
                let enough = traffic.frames as u64 * part / 8;
                run_some(shape, (&traffic, limits()), |running| {
                    while !running.is_finished() && running.snapshot().rx < enough {
                        std::thread::yield_now();
                    }
                    running.stop();
                });
            }
        }
    }
}
