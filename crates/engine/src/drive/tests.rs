//! Drives in simulated time: every step checks the books, and a clock says exactly when.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use frame::{Burst, Frame, FramePool, Nanos, PortId, QueueId};
use port::{
    FaultCounts, FaultPlan, Faults, Faulty, OpenContext, Port, PortError, PortQueue, PortSpec,
    PortStatistics, RxState, Share,
};
use traffic::{Cover, Rate, Recipe, Signature, SinkReport, Speed, Stamp};

use super::worker::Driver;
use super::*;
use crate::clock::Clock;
use crate::counters::Count;
use crate::{DEFAULT_POOL_FRAMES, EngineError, IdleMode, allowed_cpus};

/// Simulated time, shared with ports that delay.
#[derive(Clone, Default)]
struct Simulated(Arc<AtomicU64>);

impl Simulated {
    fn advance(&self, nanos: u64) {
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Clock for Simulated {
    fn now(&self) -> Nanos {
        self.kernel()
    }

    fn kernel(&self) -> Nanos {
        Nanos(self.0.load(Ordering::Relaxed))
    }
}

/// A cable from a port to itself: frames take `delay_ns`, and `room` of them fit.
struct Cable {
    time: Simulated,
    delay_ns: u64,
    room: usize,
    faults: FaultPlan,
    /// What the faults did.
    done: Arc<Mutex<FaultCounts>>,
    /// Frames that came onto the cable behind one with a higher number.
    overtaken: Arc<AtomicU64>,
}

impl Cable {
    fn new(time: &Simulated, delay_ns: u64) -> Self {
        Self {
            time: time.clone(),
            delay_ns,
            room: usize::MAX,
            faults: FaultPlan::default(),
            done: Arc::default(),
            overtaken: Arc::default(),
        }
    }
}

impl Port for Cable {
    fn id(&self) -> PortId {
        PortId(0)
    }

    fn spec(&self) -> &str {
        "cable:"
    }

    fn mode(&self) -> String {
        "simulated".to_owned()
    }

    fn queues_max(&self) -> usize {
        16
    }

    fn lossless(&self) -> bool {
        true
    }

    fn rx_source(&self) -> bool {
        true
    }

    fn tx_sink(&self) -> bool {
        true
    }

    fn frame_bytes_max_hint(&self) -> usize {
        0
    }

    fn open_queue(&mut self, _: QueueId, _: usize) -> Result<Box<dyn PortQueue>, PortError> {
        let queue = CableQueue {
            time: self.time.clone(),
            delay_ns: self.delay_ns,
            room: self.room,
            under_way: VecDeque::new(),
            highest: 0,
            overtaken: Arc::clone(&self.overtaken),
            statistics: PortStatistics::default(),
        };
        Ok(Box::new(Watched {
            queue: Faulty::new(queue, &self.faults),
            done: Arc::clone(&self.done),
        }))
    }
}

struct CableQueue {
    time: Simulated,
    delay_ns: u64,
    room: usize,
    under_way: VecDeque<(Nanos, Frame)>,
    highest: u64,
    overtaken: Arc<AtomicU64>,
    statistics: PortStatistics,
}

impl PortQueue for CableQueue {
    fn rx_burst(&mut self, _: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let now = self.time.kernel();
        for _ in 0..max {
            match self.under_way.pop_front_if(|(at, _)| *at <= now) {
                Some((_, frame)) => burst.push(frame).expect("room for what was asked for"),
                None => break,
            }
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, _: &mut FramePool) {
        let count = burst
            .len()
            .min(self.room - self.under_way.len().min(self.room));
        let at = self.time.kernel().after(self.delay_ns);
        self.statistics.tx_frames += count as u64;
        for frame in &burst.frames()[..count] {
            let number = Signature::of(frame.bytes()).map_or(0, |own| own.sequence);
            let behind = u64::from(number < self.highest);
            self.overtaken.fetch_add(behind, Ordering::Relaxed);
            self.highest = self.highest.max(number);
        }
        let frames = burst.drain_front(count);
        self.under_way.extend(frames.map(|frame| (at, frame)));
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    fn in_flight(&self) -> u32 {
        self.under_way.len() as u32
    }
}

/// Tells outside what faults did.
struct Watched {
    queue: Faulty<CableQueue>,
    done: Arc<Mutex<FaultCounts>>,
}

impl PortQueue for Watched {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        self.queue.rx_burst(pool, burst, max)
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        self.queue.tx_burst(burst, pool);
        *self.done.lock().unwrap() = self.queue.tx_counts();
    }

    fn reclaim(&mut self, pool: &mut FramePool) {
        self.queue.reclaim(pool);
    }

    fn statistics(&self) -> PortStatistics {
        self.queue.statistics()
    }

    fn in_flight(&self) -> u32 {
        self.queue.in_flight()
    }
}

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
        assert!(drive.workers.iter().all(Driver::books_balance));
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
    drive.workers.iter().map(|own| own.words.get(what)).sum()
}

#[test]
fn frames_go_at_their_times_and_the_delay_of_the_way_is_measured() {
    let time = Simulated::default();
    let cable = Cable::new(&time, 20_000);
    let mut drive = Drive::open(plan(Box::new(cable), 1)).expect("a drive");
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
    let mut drive = Drive::open(plan(Box::new(cable), 1)).expect("a drive");
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
    let mut drive = Drive::open(plan(Box::new(cable), 1)).expect("a drive");
    run(&mut drive, &trial(Rate::Unlimited, SENT), &time, 100);
    let (sink, done) = (came_back(&drive), *done.lock().unwrap());
    let stream = &sink.streams[0];
    let told = format!("case {case}, seed {seed}: {done:?} {stream:?}");
    assert_eq!(count(&drive, Count::Sent), SENT, "{told}");
    assert_eq!(stream.lost_of(SENT), done.lost + done.corrupted, "{told}");
    assert_eq!(sink.corrupted + sink.foreign, done.corrupted, "{told}");
    assert_eq!(stream.duplicated, done.duplicated, "{told}");
    if done.reordered != 0 {
        // The last of a burst is held back, and overtaken by nobody.
        assert_eq!(
            stream.reordered,
            overtaken.load(Ordering::Relaxed),
            "{told}"
        );
        assert!(stream.reordered <= done.reordered, "{told}");
    } else {
        assert_eq!(stream.reordered, 0, "{told}");
    }
    let harmed = done.lost + done.corrupted + done.duplicated + stream.reordered;
    assert!(harmed > 50, "nothing was put to the test: {told}");
}

#[test]
fn workers_share_count_and_rate_and_have_streams_of_their_own() {
    let time = Simulated::default();
    let cable = Cable::new(&time, 1_000);
    let mut drive = Drive::open(plan(Box::new(cable), 3)).expect("a drive");
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
        let mut drive = Drive::open(plan(Box::new(cable), workers)).expect("a drive");
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
fn a_capture_begins_anew_whatever_its_times_are() {
    for (times_us, loops, took_us) in [
        (&[7][..], 3, 0),
        (&[7, 7, 7], 2, 0),
        // What runs backwards overtakes nothing, and is no new beginning either.
        (&[0, 500, 0, 600], 1, 600),
        (&[0, 500, 0, 600], 2, 1_200),
    ] {
        let plan = replay_of(times_us, Speed::Times(1.0), loops);
        let time = Simulated::default();
        let mut drive = Drive::open(plan).expect("a drive");
        let all = Trial {
            count: None,
            ..trial(Rate::Unlimited, 1)
        };
        run(&mut drive, &all, &time, 100);
        let sender = drive.workers[0].sender.as_ref().expect("a sender");
        assert_eq!(sender.sent, loops * times_us.len() as u64, "{times_us:?}");
        let took = sender.last.0 / 1_000;
        assert!(
            (took_us..took_us + 2).contains(&took),
            "{times_us:?}: {took} us"
        );
    }
}

#[test]
fn a_capture_keeps_its_pace() {
    // Twice, since the second time begins where the first ended.
    for (speed, loops, microseconds) in [
        (Speed::Times(1.0), 1, 9_000),
        (Speed::Times(1.0), 2, 18_000),
        (Speed::Times(3.0), 1, 3_000),
        (Speed::Full, 2, 0),
    ] {
        let (time, plan) = (Simulated::default(), replay_of_ten(speed, loops));
        let mut drive = Drive::open(plan).expect("a drive");
        let all = Trial {
            count: None,
            ..trial(Rate::Unlimited, 1)
        };
        run(&mut drive, &all, &time, 100);
        let sender = drive.workers[0].sender.as_ref().expect("a sender");
        assert_eq!(sender.sent, 10 * loops, "{speed}");
        let took = sender.last.0 / 1_000;
        assert!(
            (microseconds..microseconds + 2).contains(&took),
            "{speed}: {took} us"
        );
        assert_eq!(count(&drive, Count::Originated), 0);
    }
}

/// Ten frames, a millisecond from each other.
fn replay_of_ten(speed: Speed, loops: u64) -> DrivePlan {
    let times_us: Vec<u32> = (0..10).map(|number| number * 1_000).collect();
    replay_of(&times_us, speed, loops)
}

/// Frames recorded at these times.
fn replay_of(times_us: &[u32], speed: Speed, loops: u64) -> DrivePlan {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ten.pcap");
    let mut bytes = Vec::new();
    bytes.extend(0xa1b2_3c4d_u32.to_le_bytes());
    bytes.extend([
        2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 1, 0, 0, 0,
    ]);
    for time_us in times_us {
        for word in [1_700_000_000, 5 + time_us * 1_000, 60, 60] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([7; 60]);
    }
    std::fs::write(&file, bytes).expect("a capture");
    let spec =
        PortSpec::parse(&format!("pcap:in={},loop={loops}", file.display())).expect("a spec");
    let context = OpenContext::default();
    let open = |spec: &PortSpec, id| port::open(spec, PortId(id), &context).expect("a port");
    DrivePlan {
        returns: false,
        neighbours: [None, None],
        replay: Some(Replayed {
            port: open(&spec, 1),
            speed,
        }),
        ..plan(open(&PortSpec::Null, 0), 1)
    }
}

#[test]
fn a_plan_that_cannot_work_is_refused() {
    let time = Simulated::default();
    let cable = || Box::new(Cable::new(&time, 0));
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
