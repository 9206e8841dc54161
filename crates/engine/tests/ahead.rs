//! Bursts that are received before their turn, and bursts that are sent while the next one waits
//! for memory: every frame leaves once, in its order, or is counted, whatever ports do.

mod ports;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{Engine, IdleMode, Limits, Plan, RunReport, allowed_cpus};
use frame::{BURST_MAX, Burst, FramePool};
use plane::{Action, DropReason, Policy, SetRule, Sides};
use port::{Port, PortQueue, PortStatistics, RxState};
use table::{CompiledLists, Entries};
use wire::emit::{Ipv4, Network, Recipe, Transport};

use ports::TestPort;

/// Of an address from which frames are blocked: one in so many.
const BLOCKED: u32 = 7;
/// Frames that come by each port.
const FRAMES: u32 = 20_000;

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * bound as u64) >> 32) as usize
    }
}

/// What both ports know.
#[derive(Default)]
struct Seen {
    /// Numbers of frames that left, by the port they came in by.
    left: [Vec<u32>; 2],
    /// Numbers of frames that came in and are to leave, and have not yet.
    under_way: [VecDeque<u32>; 2],
    /// Receptions that brought frames while others of the same port were under way.
    overlaps: u64,
}

/// How a run goes.
#[derive(Clone, Copy, Debug)]
struct Shape {
    burst: usize,
    /// Frames that come by each port.
    frames: [u32; 2],
    /// A call takes so many frames at most to transmit, sometimes none.
    room: usize,
    lossless: bool,
    limit: Option<u64>,
    /// Transmission ends for good after so many frames.
    fails_after: Option<u64>,
    seed: u64,
}

fn template() -> Vec<u8> {
    let udp = Transport::Udp {
        src_port: 7,
        dst_port: 9,
    };
    let recipe = Recipe {
        network: Network::Ipv4(Ipv4::default(), udp),
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

struct ScriptedQueue {
    place: usize,
    shape: Shape,
    seen: Arc<Mutex<Seen>>,
    random: Random,
    /// Number of the next frame, which is its source address as well.
    next: u32,
    bytes: Vec<u8>,
    /// The worker has left it.
    left: bool,
    statistics: PortStatistics,
}

impl PortQueue for ScriptedQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let mut seen = self.seen.lock().expect("no panic");
        assert!(!self.left, "a queue that was left is not asked");
        // All that there is room for, some, or nothing.
        let wanted = match self.random.below(4) {
            0 if self.shape.room > 0 => 0,
            1 if self.shape.room > 0 => self.random.below(max + 1),
            _ => max,
        };
        let in_hand = !seen.under_way[self.place].is_empty();
        let first = self.next;
        for _ in 0..wanted {
            if self.next == self.shape.frames[self.place] {
                break;
            }
            let mut frame = pool.alloc().expect("the pool has frames for all bursts");
            self.bytes[26..30].copy_from_slice(&self.next.to_be_bytes());
            frame.copy_from(&self.bytes).expect("a short frame");
            if passes(self.next) {
                seen.under_way[self.place].push_back(self.next);
            }
            self.next += 1;
            self.statistics.rx_frames += 1;
            assert!(burst.push(frame).is_ok(), "room for {max}");
        }
        seen.overlaps += u64::from(in_hand && self.next != first);
        match self.next == self.shape.frames[self.place] {
            true => RxState::Ended,
            false => RxState::Open,
        }
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let mut seen = self.seen.lock().expect("no panic");
        let from = 1 - self.place;
        let room = match self.random.below(3) {
            0 => 0,
            1 => self.random.below(self.shape.room + 1),
            _ => self.shape.room,
        };
        let count = if self.failed() {
            0
        } else {
            room.min(burst.len())
        };
        for frame in burst.drain_front(count) {
            let source = frame.bytes()[26..30].try_into().expect("four bytes");
            let number = u32::from_be_bytes(source);
            seen.left[from].push(number);
            // What was dropped for want of room was before it.
            while seen.under_way[from].pop_front().expect("it came in") != number {
                assert!(!self.shape.lossless, "{number} overtook another");
            }
            self.statistics.tx_frames += 1;
            pool.free(frame);
        }
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }

    fn leave(&mut self) -> bool {
        self.left = true;
        false
    }

    fn failed(&self) -> bool {
        let fails_after = self.shape.fails_after;
        fails_after.is_some_and(|frames| self.statistics.tx_frames >= frames)
    }
}

fn start(shape: Shape) -> (engine::Running, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let port = |id: u8| -> Box<dyn Port> {
        let (place, seen) = (usize::from(id), Arc::clone(&seen));
        let open = move |_, _| ScriptedQueue {
            place,
            shape,
            seen: Arc::clone(&seen),
            random: Random(shape.seed ^ (place as u64 + 1) << 40),
            next: 0,
            bytes: template(),
            left: false,
            statistics: PortStatistics::default(),
        };
        Box::new(TestPort {
            lossless: shape.lossless,
            ..TestPort::new(id, open)
        })
    };
    let mut entries = Entries::default();
    let blocked = (0..FRAMES).step_by(BLOCKED as usize);
    entries.v4.addresses.extend(blocked);
    let rule = SetRule::new("bad", Action::Block, Sides::SRC);
    let plan = Plan {
        ports: vec![port(0), port(1)],
        policy: Policy::new(vec![rule]).expect("one rule"),
        lists: Arc::new(CompiledLists::compile(&[&entries]).expect("one list")),
        cpus: allowed_cpus().into_iter().take(1).collect(),
        burst: shape.burst,
        stride_bytes: 192,
        pool_frames: Plan::pool_frames_min(shape.burst, 2),
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::default(),
        limits: Limits {
            duration: None,
            frames: shape.limit,
        },
    };
    (Engine::start(plan).expect("a run"), seen)
}

fn run(shape: Shape) -> (RunReport, Seen) {
    let (running, seen) = start(shape);
    let report = running.join().expect("a report");
    assert!(report.balanced, "{shape:?} {report:#?}");
    let seen = Arc::into_inner(seen).expect("the run is over");
    (report, seen.into_inner().expect("no panic"))
}

fn passing(frames: u32) -> Vec<u32> {
    (0..frames).filter(|&number| passes(number)).collect()
}

/// Whether a frame of this number is not blocked.
fn passes(number: u32) -> bool {
    number >= FRAMES || !number.is_multiple_of(BLOCKED)
}

fn seed() -> u64 {
    let given = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or(0x5EED_000A);
    println!("SEED={seed}");
    seed
}

/// Traffic both ways and one way, rooms of a few frames and of more than a burst.
fn shapes(lossless: bool) -> impl Iterator<Item = Shape> {
    let seed = seed();
    let bursts = [1, 7, 64, 128, 129, BURST_MAX];
    let traffic = [[FRAMES, FRAMES], [FRAMES, 0], [0, FRAMES]];
    let rooms = [3, 64, 1000];
    let shape = move |burst, frames, room| Shape {
        burst,
        frames,
        room,
        lossless,
        limit: None,
        fails_after: None,
        seed: seed ^ (burst * 1000 + room) as u64,
    };
    bursts.into_iter().flat_map(move |burst| {
        let of = move |frames| rooms.map(|room| shape(burst, frames, room));
        traffic.into_iter().flat_map(of)
    })
}

/// Traffic both ways that does not end, from sources that wait.
fn endless(room: usize, seed: u64) -> Shape {
    Shape {
        burst: 64,
        frames: [u32::MAX; 2],
        room,
        lossless: true,
        limit: None,
        fails_after: None,
        seed,
    }
}

#[test]
fn every_frame_leaves_once_in_its_order_where_sources_wait() {
    for shape in shapes(true) {
        let (report, seen) = run(shape);
        for (left, frames) in seen.left.iter().zip(shape.frames) {
            assert!(*left == passing(frames), "{shape:?}");
        }
        let came: u64 = shape.frames.iter().map(|&frames| u64::from(frames)).sum();
        let left: usize = seen.left.iter().map(Vec::len).sum();
        assert_eq!(report.accounting.rx, came, "{shape:?}");
        assert_eq!(report.accounting.tx, left as u64, "{shape:?}");
        let blocked = (DropReason::BlockedSrc, came - left as u64);
        assert_eq!(report.accounting.dropped, [blocked], "{shape:?}");
        // Frames of one port alone: nothing is staged when its queue is asked in its turn.
        let alone = shape.frames.contains(&0);
        assert!(seen.overlaps > 0 || !alone, "{shape:?}");
    }
}

#[test]
fn what_finds_no_room_is_counted_where_sources_cannot_wait() {
    for shape in shapes(false) {
        let (report, seen) = run(shape);
        let dropped = |reason| {
            let mut dropped = report.accounting.dropped.iter();
            dropped
                .find(|&&(one, _)| one == reason)
                .map_or(0, |&(_, frames)| frames)
        };
        let wanted: usize = shape
            .frames
            .iter()
            .map(|&frames| passing(frames).len())
            .sum();
        let left: usize = seen.left.iter().map(Vec::len).sum();
        let lost = dropped(DropReason::TxRingFull);
        assert_eq!(left as u64 + lost, wanted as u64, "{shape:?}");
        assert!(lost > 0 || shape.room > shape.burst, "{shape:?}");
    }
}

#[test]
fn a_limit_is_met_to_the_frame() {
    let seed = seed();
    for (burst, limit) in [(1, 1), (7, 13), (64, 64), (64, 65), (64, 1000), (256, 9999)] {
        let (report, seen) = run(Shape {
            burst,
            limit: Some(limit),
            ..endless(100, seed)
        });
        assert_eq!(report.accounting.rx, limit, "bursts of {burst}");
        assert_eq!(
            report.accounting.tx + report.accounting.dropped_total(),
            limit
        );
        assert!(seen.under_way.iter().all(VecDeque::is_empty));
    }
}

/// Nothing waits for a port that takes no more.
#[test]
fn a_port_that_fails_leaves_the_books_balanced() {
    let seed = seed();
    for fails_after in [0, 1, 63, 100, 1000, 5000] {
        let (report, _) = run(Shape {
            fails_after: Some(fails_after),
            ..endless(64, seed ^ fails_after)
        });
        let dropped = report.accounting.dropped.iter();
        let dropped: Vec<_> = dropped.map(|&(reason, _)| reason).collect();
        assert!(dropped.contains(&DropReason::PortFailed), "{dropped:?}");
    }
}

/// What is in hand then is counted as dropped at the end, or has left.
#[test]
fn an_end_at_any_time_leaves_the_books_balanced() {
    let seed = seed();
    for after in 0..20 {
        let (running, _) = start(endless(20, seed ^ after));
        std::thread::sleep(Duration::from_micros(200 * after));
        running.stop();
        let report = running.join().expect("a report");
        assert!(report.balanced, "{report:#?}");
        let mut reasons = report.accounting.dropped.iter().map(|&(reason, _)| reason);
        assert!(reasons.all(|reason| reason == DropReason::BlockedSrc));
    }
}

/// Nothing can leave, so the run is cut off in the end, with a burst ahead.
#[test]
fn what_never_finds_room_is_dropped_at_the_end() {
    let (running, _) = start(endless(0, seed()));
    std::thread::sleep(Duration::from_millis(10));
    running.stop();
    let report = running.join().expect("a report");
    assert!(report.balanced, "{report:#?}");
    assert_eq!(report.accounting.tx, 0);
    let shutdown = |&&(reason, _): &&(DropReason, u64)| reason == DropReason::Shutdown;
    let at_end = report.accounting.dropped.iter().find(shutdown);
    assert!(
        at_end.is_some_and(|&(_, frames)| frames > 64),
        "{report:#?}"
    );
}
