//! The arithmetic of the ledger, with books that are right and books that are wrong on purpose.

use std::collections::{BTreeMap, HashSet};

use frame::PortId;
use plane::DropReason;
use port::interface::{LinkCounts, QueueCounts, Queueing, QueueingCounts, Reading};
use port::{Loss, QueueLoss};

use super::bridge::{cross_bypassed, of_bridge};
use super::interface::{Around, PortCounts};
use super::meters::Meters;
use super::{Cause, Column, Ledger, OwnCause, Step};
use crate::Accounting;

const FROM: Column = Column::ArrivedAtInterface;
const TO: Column = Column::ReceivedByUs;

fn step(before: u64, after: u64) -> Step {
    Step::new("xdp:a", (FROM, before), (TO, after))
}

fn named(step: &Step) -> Vec<(&'static str, Option<u32>, u64)> {
    let parts = step.named();
    parts
        .map(|part| (part.cause.name(), part.queue, part.frames))
        .collect()
}

#[test]
fn a_step_closes_when_names_add_up() {
    let right = step(100, 95)
        .lost(Loss::RxRingFull, Some(1), 7)
        .gained(OwnCause::Cloned, None, 2);
    assert_eq!(right.unexplained, 0);
    let one_missing =
        step(100, 94)
            .lost(Loss::RxRingFull, Some(1), 7)
            .gained(OwnCause::Cloned, None, 2);
    assert_eq!(one_missing.unexplained, 1);
    let one_too_many =
        step(100, 96)
            .lost(Loss::RxRingFull, Some(1), 7)
            .gained(OwnCause::Cloned, None, 2);
    assert_eq!(one_too_many.unexplained, -1);
    assert_eq!(step(5, 5).unexplained, 0);
    assert_eq!(step(0, u64::MAX).unexplained, -i128::from(u64::MAX));
}

#[test]
fn bounds_stand_for_what_is_left_and_no_more() {
    let of = |after| {
        step(100, after)
            .lost(Loss::FillRingEmpty, None, 10)
            .lost_up_to(Loss::RxDriver, Some(0), 1, 5)
            .lost_up_to(Loss::StartOrEnd, None, 0, 3)
            .gained_up_to(Loss::OthersSent, None, 0, 4)
    };
    // Rows: what came, which name stands for how many, what is left.
    let cases: [(u64, &[u64], i128); 7] = [
        (89, &[10, 1], 0),
        (86, &[10, 4], 0),
        (85, &[10, 5], 0),
        (84, &[10, 5, 1], 0),
        (81, &[10, 5, 3], 1),
        (90, &[10, 1, 1], 0),
        (94, &[10, 1, 4], -1),
    ];
    for (after, frames, unexplained) in cases {
        let step = of(after);
        let got: Vec<u64> = named(&step).iter().map(|&(.., frames)| frames).collect();
        assert_eq!(
            (&got[..], step.unexplained),
            (frames, unexplained),
            "{after}"
        );
        for part in &step.differences {
            assert!((part.least..=part.most).contains(&part.frames), "{part:?}");
        }
    }
}

#[test]
fn opposite_faults_do_not_hide_each_other() {
    let mut ledger = Ledger::new();
    ledger.add(step(10, 9));
    ledger.add(Step::new("xdp:b", (FROM, 9), (TO, 10)));
    assert_eq!((ledger.unexplained(), ledger.closes()), (2, false));
}

#[test]
fn a_count_that_is_there_twice_must_agree() {
    let mut ledger = Ledger::new();
    ledger.add(step(10, 10));
    ledger.state("xdp:a", TO, 10);
    ledger.state("xdp:b", TO, 3);
    assert!(ledger.closes());
    ledger.state("xdp:a", TO, 12);
    assert_eq!(ledger.unexplained(), 2);
    assert_eq!(ledger.contradictions(), [("xdp:a", TO, 10, 12)]);
    assert_eq!(ledger.places(), ["xdp:a", "xdp:b"]);
    assert_eq!(ledger.frames("xdp:b", TO), Some(3));
    assert_eq!(ledger.frames("xdp:b", FROM), None);
}

#[test]
fn every_name_is_there_once_and_says_something() {
    let mut names = HashSet::new();
    for cause in Cause::all() {
        assert!(names.insert(cause.name()), "{} twice", cause.name());
        assert!(cause.sentence().len() > 10 && !cause.sentence().ends_with('.'));
        assert!(!cause.remedy().is_empty() || matches!(cause, Cause::Drop(_)));
    }
    for column in Column::ALL {
        assert!(names.insert(column.name()), "{} twice", column.name());
    }
}

fn reading(rx_packets: u64, tx_packets: u64) -> Reading {
    Reading {
        index: 3,
        link: LinkCounts {
            rx_packets,
            tx_packets,
            ..LinkCounts::default()
        },
        others_sent: Some(0),
        ..Reading::default()
    }
}

/// An interface on which nothing comes while the run begins or ends.
fn quiet(before: Reading, after: Reading) -> Around {
    Around {
        opened: before.clone(),
        begun: before,
        ended: after.clone(),
        last: after,
        ..Around::default()
    }
}

fn counts(received: u64, sent: u64, losses: &[(Loss, Option<u32>, u64)]) -> PortCounts {
    let losses = losses.iter().map(|&(loss, queue, frames)| QueueLoss {
        loss,
        queue,
        frames,
    });
    PortCounts {
        place: "xdp:a".to_owned(),
        received,
        sent,
        losses: losses.collect(),
        ..PortCounts::default()
    }
}

fn drawn(around: &Around, counts: &PortCounts) -> Ledger {
    let mut ledger = Ledger::new();
    around.enter(counts, 0, &mut ledger);
    ledger
}

fn all_named(ledger: &Ledger) -> Vec<(&'static str, Option<u32>, u64)> {
    ledger.steps().iter().flat_map(named).collect()
}

#[test]
fn an_interface_and_a_port_that_agree_close() {
    let around = quiet(reading(50, 70), reading(1_050, 770));
    let losses = [
        (Loss::FillRingEmpty, Some(0), 20),
        (Loss::KeptLocal, None, 5),
        (Loss::TxRingLeft, Some(0), 4),
    ];
    let ledger = drawn(&around, &counts(975, 704, &losses));
    assert_eq!(ledger.unexplained(), 0, "{ledger:?}");
    assert_eq!(ledger.frames("xdp:a", FROM), Some(1_000));
    assert_eq!(ledger.frames("xdp:a", Column::LeftInterface), Some(700));
    let expect = [
        ("fill_ring_empty", Some(0), 20),
        ("kept_local", None, 5),
        ("tx_ring_left", Some(0), 4),
    ];
    assert_eq!(all_named(&ledger), expect);
    // A frame that is gone from any of the counts is missed.
    for (received, sent) in [(974, 704), (976, 704), (975, 703), (975, 705)] {
        let ledger = drawn(&around, &counts(received, sent, &losses));
        assert_eq!(ledger.unexplained(), 1, "{received} {sent}");
    }
}

#[test]
fn frames_at_the_edges_are_bounded_by_what_came_there() {
    let around = Around {
        opened: reading(100, 0),
        begun: reading(110, 0),
        ended: reading(1_110, 0),
        last: reading(1_115, 0),
        ..Around::default()
    };
    let part = |received| {
        let ledger = drawn(&around, &counts(received, 0, &[]));
        (ledger.unexplained(), all_named(&ledger))
    };
    assert_eq!(part(1_015), (0, vec![]));
    assert_eq!(part(1_000), (0, vec![("start_or_end", None, 15)]));
    assert_eq!(part(999), (1, vec![("start_or_end", None, 15)]));
    assert_eq!(part(1_016), (1, vec![]));
}

#[test]
fn what_the_interface_missed_came_to_it() {
    let mut after = reading(900, 0);
    after.link.rx_missed = 100;
    let ledger = drawn(&quiet(reading(0, 0), after), &counts(900, 0, &[]));
    assert_eq!(all_named(&ledger), [("rx_missed", None, 100)]);
    assert!(ledger.closes());
    assert_eq!(ledger.frames("xdp:a", FROM), Some(1_000));
}

fn queue(rx_frames: u64, rx_drops: u64) -> QueueCounts {
    QueueCounts {
        rx_frames: Some(rx_frames),
        rx_drops: Some(rx_drops),
    }
}

/// Four receive queues, the port has the first two.
fn four_queues(frames: [u64; 4], drops: [u64; 4]) -> Around {
    let mut after = reading(frames.iter().sum(), 0);
    after.link.rx_dropped = drops.iter().sum();
    let queues = frames.into_iter().zip(drops).zip(0..);
    let queues = queues.map(|((frames, drops), number)| (number, queue(frames, drops)));
    after.queues = queues.collect::<BTreeMap<_, _>>();
    let mut before = reading(0, 0);
    before.queues = (0..4).map(|number| (number, queue(0, 0))).collect();
    Around {
        queues: Some(0..2),
        ..quiet(before, after)
    }
}

#[test]
fn a_queue_without_a_socket_is_named_where_the_driver_tells() {
    let lost = [(Loss::NoSocket, None, 12)];
    let two = four_queues([40, 50, 4, 8], [0; 4]);
    let ledger = drawn(&two, &counts(90, 0, &lost));
    let expect = [("no_socket", Some(2), 4), ("no_socket", Some(3), 8)];
    assert_eq!(
        (ledger.closes(), &all_named(&ledger)[..]),
        (true, &expect[..])
    );
    // Some of them were kept for the host: which, nobody tells.
    let lost = [(Loss::NoSocket, None, 11), (Loss::KeptLocal, None, 1)];
    let ledger = drawn(&two, &counts(90, 0, &lost));
    let expect = [("no_socket", None, 11), ("kept_local", None, 1)];
    assert_eq!(
        (ledger.closes(), &all_named(&ledger)[..]),
        (true, &expect[..])
    );
    let one = four_queues([40, 50, 0, 12], [0; 4]);
    let ledger = drawn(&one, &counts(90, 0, &lost));
    assert_eq!(all_named(&ledger)[0], ("no_socket", Some(3), 11));
}

#[test]
fn drops_of_a_socket_are_no_drops_of_the_driver_as_well() {
    let lost = [(Loss::FillRingEmpty, Some(1), 9)];
    let exact = four_queues([40, 50, 0, 0], [0, 9, 0, 0]);
    let ledger = drawn(&exact, &counts(81, 0, &lost));
    assert_eq!(all_named(&ledger), [("fill_ring_empty", Some(1), 9)]);
    assert!(ledger.closes());
    assert_eq!(drawn(&exact, &counts(80, 0, &lost)).unexplained(), 1);
    // Three more that only the driver knows of, on the queue that it says.
    let more = four_queues([40, 50, 0, 0], [3, 9, 0, 0]);
    let ledger = drawn(&more, &counts(78, 0, &lost));
    assert_eq!(all_named(&ledger)[1], ("rx_driver_drop", Some(0), 3));
    assert!(ledger.closes());
    assert_eq!(drawn(&more, &counts(77, 0, &lost)).unexplained(), 1);
}

#[test]
fn what_others_send_is_told_apart() {
    let mut after = reading(0, 130);
    after.others_sent = Some(30);
    let around = quiet(reading(0, 0), after.clone());
    let ledger = drawn(&around, &counts(0, 100, &[]));
    assert_eq!(all_named(&ledger), [("others_sent", None, 30)]);
    assert!(ledger.closes());
    // One of ours is lost, one of others came: the tap knows.
    assert_eq!(drawn(&around, &counts(0, 101, &[])).unexplained(), 1);
    // Without a tap it cannot be known.
    after.others_sent = None;
    let ledger = drawn(&quiet(reading(0, 0), after), &counts(0, 101, &[]));
    assert_eq!(all_named(&ledger), [("others_sent", None, 29)]);
}

#[test]
fn frames_past_the_workers_leave_by_the_other_interface() {
    let mut both = [
        counts(0, 0, &[(Loss::Bypassed, None, 40)]),
        PortCounts {
            id: PortId(1),
            place: "xdp:b".to_owned(),
            ..counts(0, 5, &[])
        },
    ];
    cross_bypassed(&mut both);
    let ledger = drawn(&quiet(reading(0, 0), reading(0, 45)), &both[1]);
    assert_eq!(all_named(&ledger), [("bypassed", None, 40)]);
    assert!(ledger.closes());
}

#[test]
fn the_program_of_the_run_before_forwards_at_most_what_came_meanwhile() {
    let around = quiet(reading(0, 0), reading(0, 45));
    let of = |passed| {
        let mut ledger = Ledger::new();
        around.enter(&counts(0, 40, &[]), passed, &mut ledger);
        (ledger.unexplained(), all_named(&ledger))
    };
    assert_eq!(of(9), (0, vec![("bypassed", None, 5)]));
    assert_eq!(of(4), (1, vec![("bypassed", None, 4)]));
}

fn queueing(dropped: u64, backlog: u64) -> Queueing {
    Queueing {
        root: Some(QueueingCounts {
            sent: 0,
            dropped,
            backlog,
        }),
        queues: Vec::new(),
    }
}

#[test]
fn a_full_queueing_discipline_has_a_name() {
    let mut after = reading(0, 60);
    after.queueing = queueing(35, 5);
    let around = Around {
        by_qdisc: true,
        ..quiet(reading(0, 0), after)
    };
    let refused = [(Loss::Qdisc, Some(0), 30)];
    let of = |sent| {
        let ledger = drawn(&around, &counts(0, sent, &refused));
        (ledger.unexplained(), all_named(&ledger))
    };
    assert_eq!(of(90), (0, vec![("qdisc", None, 30)]));
    let both = vec![("qdisc", None, 35), ("qdisc_backlog", None, 5)];
    assert_eq!(of(100), (0, both.clone()));
    assert_eq!(of(101), (1, both));
    // Frames that go past it are none of its own.
    let past = Around {
        by_qdisc: false,
        ..around
    };
    assert_eq!(drawn(&past, &counts(0, 61, &[])).unexplained(), 1);
}

#[test]
fn an_interface_that_was_made_anew_is_no_gap() {
    let mut other = reading(5, 5);
    other.index = 9;
    for last in [other, Reading::default(), reading(10, 10)] {
        let mut around = quiet(reading(20, 20), reading(30, 30));
        around.last = last;
        let ledger = drawn(&around, &counts(1, 1, &[]));
        assert!(ledger.closes() && ledger.steps().is_empty());
        assert!(ledger.notes()[0].contains("went away"), "{ledger:?}");
    }
}

fn accounting(rx: u64, tx: u64, dropped: u64) -> Accounting {
    Accounting {
        rx,
        originated: 0,
        cloned: 0,
        tx,
        consumed: 0,
        punted: 0,
        held: 0,
        handed_off: 0,
        received: 0,
        dropped: vec![(DropReason::BlockedSrc, dropped)],
    }
}

#[test]
fn a_bridge_without_interfaces_has_its_books() {
    let ports = [counts(10, 0, &[]), {
        let mut other = counts(0, 7, &[]);
        other.place = "ring:b".to_owned();
        other
    }];
    let draw = |accounting: &Accounting| of_bridge(accounting, &ports, &Meters::default());
    let ledger = draw(&accounting(10, 7, 3));
    assert!(ledger.closes(), "{ledger:?}");
    assert_eq!(all_named(&ledger), [("blocked_src", None, 3)]);
    assert_eq!(ledger.frames("bridge", Column::Forwarded), Some(7));
    // Drops that nobody counted; a frame that a port did not give; one that it did not take.
    assert_eq!(draw(&accounting(10, 7, 2)).unexplained(), 1);
    assert_eq!(draw(&accounting(11, 7, 4)).unexplained(), 1);
    assert_eq!(draw(&accounting(10, 8, 2)).unexplained(), 1);
}
