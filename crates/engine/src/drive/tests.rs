//! Drives in simulated time: every step checks the books, and a clock says exactly when.

mod cable;
mod replay;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use frame::PortId;
use port::{FaultPlan, Faults, OpenContext, Port, PortSpec, Share};
use traffic::{Cover, Rate, Recipe, SinkReport, Stamp};

use super::worker::Driver;
use super::*;
use crate::clock::Clock;
use crate::counters::Count;
use crate::{DEFAULT_POOL_FRAMES, EngineError, IdleMode, allowed_cpus};
use cable::{Cable, Simulated};

fn plan(tx: Box<dyn Port>, workers: usize) -> DrivePlan {
    DrivePlan {
        tx: Some(tx),
        rx: None,
        returns: true,
        reflect: false,
        apart: false,
        neighbours: [None, None],
        replay: None,
        cpus: allowed_cpus().into_iter().cycle().take(workers).collect(),
        burst: 64,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        idle: IdleMode::Spin,
    }
}

fn trial(rate: Rate, count: u64) -> Trial {
    Trial {
        recipe: Recipe {
            // Every bit counts.
            stamp: Some(Stamp {
                cover: Cover::Link,
                ..Stamp::default()
            }),
            ..Recipe::default()
        },
        rate,
        count: Some(count),
        duration: None,
        drain: Duration::ZERO,
    }
}

/// Steps a drive's workers in turns until all have sent what they had to and `idle` steps in a row
/// moved nothing. A step that moves something takes 300 ns, and one that does not 50.
fn run(drive: &mut Drive, trial: &Trial, time: &Simulated, idle: usize) {
    run_by(drive, trial, (time, 50), idle);
}

/// The same in longer steps, of nanoseconds, where nothing moves.
fn run_by(drive: &mut Drive, trial: &Trial, (time, step): (&Simulated, u64), idle: usize) {
    drive.set_up(trial).expect("a trial");
    for worker in &mut drive.workers {
        worker.wind_up(time.kernel());
    }
    let mut in_a_row = 0;
    while in_a_row < idle || !drive.workers.iter().all(|worker| worker.is_quiet(false)) {
        let moved: usize = drive.workers.iter_mut().map(|own| own.step(time)).sum();
        assert!(drive.workers.iter().all(Driver::accounting_balances));
        in_a_row = if moved == 0 { in_a_row + 1 } else { 0 };
        time.advance(if moved == 0 { step } else { 300 });
    }
    drive.settle();
}

fn came_back(drive: &Drive) -> SinkReport {
    let mut workers = drive.workers.iter();
    let first = workers.next().expect("a worker");
    let mut sum = traffic::Sink::new(traffic::SinkLimits::default());
    sum.merge(&first.takers[0].sink);
    workers.for_each(|worker| sum.merge(&worker.takers[0].sink));
    sum.report()
}

fn count(drive: &Drive, what: Count) -> u64 {
    drive.workers.iter().map(|own| own.counters.get(what)).sum()
}

#[test]
fn frames_go_at_their_times_and_the_delay_of_the_way_is_measured() {
    let time = Simulated::default();
    let cable = Cable::new(&time, 20_000);
    let mut drive = Drive::open(plan(Box::new(cable.port()), 1)).expect("a drive");
    run(
        &mut drive,
        &trial(Rate::Frames(1_000_000), 10_000),
        &time,
        1000,
    );
    let sender = drive.workers[0].sender.as_ref().expect("a sender");
    // The first is due at once, so the last of 10,000 after 9,999 us.
    let took = sender.last.0;
    assert!((9_999_000..9_999_700).contains(&took), "{took} ns");
    assert_eq!(sender.sent, 10_000);
    assert_eq!(sender.pacer.error().lost_ns, 0);
    let sink = came_back(&drive);
    assert_eq!((sink.frames, sink.foreign, sink.corrupted), (10_000, 0, 0));
    let latency = sink.streams[0].latency;
    // A frame waits for the next look at most: 300 ns and 50.
    assert!(
        latency.min >= 20_000 && latency.max <= 20_400,
        "{latency:?}"
    );
    assert_eq!(count(&drive, Count::FullNanos), 0);
}

#[test]
fn what_a_port_does_not_take_is_kept_and_sent_later() {
    let time = Simulated::default();
    let cable = Cable {
        room: 7,
        ..Cable::new(&time, 5_000)
    };
    let mut drive = Drive::open(plan(Box::new(cable.port()), 1)).expect("a drive");
    run(&mut drive, &trial(Rate::Unlimited, 1_000), &time, 200);
    let sink = came_back(&drive);
    assert_eq!(count(&drive, Count::Originated), 1_000);
    assert_eq!(count(&drive, Count::Sent), 1_000);
    assert_eq!(sink.streams[0].unique, 1_000);
    assert_eq!(sink.streams[0].reordered, 0);
    // 7 frames every 5 us: it waited most of the time.
    let waited = count(&drive, Count::FullNanos);
    assert!(waited > 500_000 && waited <= time.kernel().0, "{waited} ns");
}

#[test]
fn a_rate_that_was_not_reached_is_told_of_however_few_frames_there_were() {
    // Frames that fit on a cable of a millisecond, rate, frames; whether the rate was missed.
    let table = [
        (usize::MAX, Rate::Frames(1_000_000), 10, false),
        (usize::MAX, Rate::Frames(1_000_000), 2_000, false),
        (usize::MAX, Rate::Unlimited, 10, false),
        (1, Rate::Unlimited, 10, false),
        (1, Rate::Frames(900), 20, false),
        // The faults of a cable, which here do nothing, hold some frames.
        (1, Rate::Frames(1_000_000), 999, true),
        (1, Rate::Frames(2_000), 999, true),
        (64, Rate::Frames(1_000_000), 2_000, true),
    ];
    for (room, rate, frames, missed) in table {
        let time = Simulated::default();
        let cable = Cable {
            room,
            ..Cable::new(&time, 1_000_000)
        };
        let mut drive = Drive::open(plan(Box::new(cable.port()), 1)).expect("a drive");
        run(&mut drive, &trial(rate, frames), &time, 200);
        let worker = &drive.workers[0];
        let sender = worker.sender.as_ref().expect("a sender");
        assert_eq!(sender.sent, frames);
        let short = sender.short(worker.began, 60.0).unwrap_or_default();
        let told = format!("{room} {rate} {frames}: {short:?}");
        assert_eq!(short.behind > frames / 200, missed, "{told}");
        // All left in the end.
        assert_eq!(short.late, short.behind, "{told}");
        assert!(short.behind <= frames, "{told}");
    }
}

#[test]
fn faults_are_reported_exactly() {
    let half_percent = Share::parse("loss", "0.5%").expect("a share");
    let cases = [
        Faults {
            loss: half_percent,
            ..Faults::default()
        },
        Faults {
            corruption: half_percent,
            ..Faults::default()
        },
        Faults {
            duplication: half_percent,
            ..Faults::default()
        },
        Faults {
            reordering: half_percent,
            ..Faults::default()
        },
    ];
    for (case, tx) in cases.into_iter().enumerate() {
        for seed in 1..=3 {
            faults_of(case, tx, seed);
        }
    }
}

fn faults_of(case: usize, tx: Faults, seed: u64) {
    const SENT: u64 = 20_000;
    let time = Simulated::default();
    let (done, overtaken) = (Arc::default(), Arc::default());
    let cable = Cable {
        faults: FaultPlan {
            tx,
            seed,
            ..FaultPlan::default()
        },
        done: Arc::clone(&done),
        overtaken: Arc::clone(&overtaken),
        ..Cable::new(&time, 1_000)
    };
    let mut drive = Drive::open(plan(Box::new(cable.port()), 1)).expect("a drive");
    run(&mut drive, &trial(Rate::Unlimited, SENT), &time, 100);
    let (sink, done) = (came_back(&drive), *done.lock().unwrap());
    let stream = &sink.streams[0];
    // Every frame is a flow of its own.
    let out_of_order = stream.reordered + stream.across_flows;
    let told = format!("case {case}, seed {seed}: {done:?} {stream:?}");
    assert_eq!(count(&drive, Count::Sent), SENT, "{told}");
    assert_eq!(stream.lost_of(SENT), done.lost + done.corrupted, "{told}");
    assert_eq!(sink.corrupted + sink.foreign, done.corrupted, "{told}");
    assert_eq!(stream.duplicated, done.duplicated, "{told}");
    if done.reordered != 0 {
        // The last of a burst is held back, and overtaken by nobody.
        assert_eq!(out_of_order, overtaken.load(Ordering::Relaxed), "{told}");
        assert!(out_of_order <= done.reordered, "{told}");
    } else {
        assert_eq!(out_of_order, 0, "{told}");
    }
    let harmed = done.lost + done.corrupted + done.duplicated + out_of_order;
    assert!(harmed > 50, "nothing was put to the test: {told}");
}

#[test]
fn workers_share_count_and_rate_and_have_streams_of_their_own() {
    let time = Simulated::default();
    let cable = Cable::new(&time, 1_000);
    let mut drive = Drive::open(plan(Box::new(cable.port()), 3)).expect("a drive");
    run(
        &mut drive,
        &trial(Rate::Frames(1_000_000), 10_001),
        &time,
        100,
    );
    let sink = came_back(&drive);
    let received: Vec<_> = sink
        .streams
        .iter()
        .map(|own| (own.stream, own.received))
        .collect();
    assert_eq!(received, [(0, 3_334), (1, 3_334), (2, 3_333)]);
    assert!(
        sink.streams
            .iter()
            .all(|own| own.lost_of(own.received) == 0)
    );
    let took = drive.workers.iter().filter_map(|own| own.sender.as_ref());
    let took = took.map(|sender| sender.last.0).max().unwrap_or(0);
    assert!((9_990_000..10_010_000).contains(&took), "{took} ns");
    // A second trial: streams that no late frame of the first can be taken for.
    let streams = drive.set_up(&trial(Rate::Frames(2), 7)).expect("a trial");
    assert_eq!(streams, 3..5, "two frames a second are two workers'");
    let senders = drive.workers.iter().filter_map(|own| own.sender.as_ref());
    let parts: Vec<_> = senders.map(|own| (own.quota, own.rate)).collect();
    assert_eq!(parts, [(4, Rate::Frames(1)), (3, Rate::Frames(1))]);
}

#[test]
fn a_rate_and_a_time_make_their_product_of_frames() {
    for (rate, millis, workers, frames) in [
        ("1pps", 3_000, 1, 3),
        ("10pps", 1_000, 1, 10),
        ("100pps", 500, 1, 50),
        ("0.5pps", 4_000, 1, 2),
        ("10pps", 500, 3, 5),
        ("1001pps", 700, 2, 701),
        // 672 bits a frame with preamble and gap.
        ("67200bps", 100, 1, 10),
        ("300bps", 1_000, 1, 1),
    ] {
        let time = Simulated::default();
        let cable = Cable::new(&time, 1_000);
        let mut drive = Drive::open(plan(Box::new(cable.port()), workers)).expect("a drive");
        let rate = Rate::parse(rate).expect("a rate");
        let all = Trial {
            count: None,
            duration: Some(Duration::from_millis(millis)),
            ..trial(rate, 1)
        };
        run_by(&mut drive, &all, (&time, 100_000), 100);
        let name = format!("{rate} for {millis} ms by {workers}");
        assert_eq!(count(&drive, Count::Sent), frames, "{name}");
        let took = drive.rate_seconds().expect("a schedule");
        let pps = frames as f64 / took;
        let asked = rate.frames_per_second(60.0).expect("a rate");
        assert!((pps / asked - 1.0).abs() < 0.01, "{name}: {pps} pps");
    }
}

#[test]
fn a_plan_that_cannot_work_is_refused() {
    let time = Simulated::default();
    let cable = || Box::new(Cable::new(&time, 0).port());
    let refusal = |plan: DrivePlan| Drive::open(plan).map(|_| ()).expect_err("a refusal");
    let burst = DrivePlan {
        burst: 0,
        ..plan(cable(), 1)
    };
    assert!(matches!(refusal(burst), EngineError::Burst(0)));
    let cpus = DrivePlan {
        cpus: Vec::new(),
        ..plan(cable(), 1)
    };
    assert!(matches!(refusal(cpus), EngineError::NoCpu));
    let nothing = DrivePlan {
        tx: None,
        ..plan(cable(), 1)
    };
    assert!(matches!(refusal(nothing), EngineError::NoSource));
    let null = port::open(&PortSpec::Null, PortId(1), &OpenContext::default()).expect("a port");
    let deaf = DrivePlan {
        rx: Some(null),
        ..plan(cable(), 1)
    };
    assert!(matches!(refusal(deaf), EngineError::NotASource(_)));
    let drive = Drive::open(plan(cable(), 1)).expect("a drive");
    let mut long = trial(Rate::Unlimited, 1);
    long.recipe.set("size", "9000").expect("a size");
    // Frames that fit no chunk are told, not waited for.
    let told = drive
        .start(&long)
        .map(|_| ())
        .map_err(|error| error.to_string());
    assert!(told.is_err_and(|text| text.contains("2112")), "no sentence");
}
