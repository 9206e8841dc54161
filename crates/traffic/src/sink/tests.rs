//! The sink against the slow one, and against frames that were harmed bit by bit.

mod several;

use frame::{Burst, FramePool, PoolRequest, Region};

use super::oracle::Oracle;
use super::window::Window;
use super::*;
use crate::{Cover, Flows, Protocol, Random, Recipe, Share, Sizes, Source, Stamp};

/// A seed that changes from run to run; a test that fails prints it.
fn seed() -> u64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    let seed = since.map_or(1, |since| since.as_nanos() as u64);
    println!("seed {seed}");
    seed
}

fn pool() -> FramePool {
    let request = PoolRequest {
        frames: 256,
        stride_bytes: 1920,
        headroom_bytes: 128,
        node: None,
    };
    Region::with_pools(&[request]).unwrap().1.remove(0)
}

fn signed(cover: Cover) -> Recipe {
    Recipe {
        stamp: Some(Stamp {
            first_stream: 0,
            cover,
        }),
        ..Recipe::default()
    }
}

/// The first `count` frames of a recipe, one each microsecond from 1 ms on.
fn frames(recipe: &Recipe, worker: usize, of: usize, count: usize) -> Vec<Vec<u8>> {
    let (mut pool, mut burst) = (pool(), Burst::new());
    let mut source = Source::new(recipe, worker, of).unwrap();
    let mut frames = Vec::new();
    for number in 0..count as u64 {
        assert_eq!(source.fill(&mut pool, &mut burst, 1, sent_at(number)), 1);
        frames.push(burst.frames()[0].bytes().to_vec());
        pool.free_burst(&mut burst);
    }
    frames
}

fn sent_at(number: u64) -> Nanos {
    Nanos(1_000_000 + 1_000 * number)
}

fn sink(window: usize) -> Sink {
    Sink::new(SinkLimits {
        window,
        ..SinkLimits::default()
    })
}

/// Numbers in an order such as networks make of them, and some that none would.
fn numbers(random: &mut Random, count: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut next = random.below(1000);
    while numbers.len() < count {
        next = match random.below(50) {
            0 => next + random.below(300),
            1 => next.saturating_sub(random.below(300)),
            2 => next + 64 * random.below(4),
            _ => next + 1,
        };
        match random.below(20) {
            0 => {}
            1 => numbers.extend([next, next]),
            2 => numbers.push(next.saturating_sub(random.below(200))),
            _ => numbers.push(next),
        }
    }
    numbers
}

#[test]
fn a_stream_is_what_the_slow_one_says() {
    let mut random = Random::new(seed(), 0);
    for _ in 0..60 {
        let size = 64 << random.below(3);
        let mut stream = Stream::new(0, size);
        let (mut oracle, mut order) = (Oracle::default(), Order::new());
        let flows = 1 + random.below(4);
        for number in numbers(&mut random, 400) {
            let signature = Signature {
                stream: 0,
                sequence: number,
                sent: Nanos(5),
            };
            let flow = random.below(flows);
            let run = Run::of(signature, 60, order.take(0, flow, number));
            stream.take(&run, Some(Nanos(12)), None);
            oracle.take(number, flow, size as u64);
            let report = stream.report();
            assert_eq!(report.received, oracle.received);
            assert_eq!(report.unique, oracle.seen.len() as u64);
            assert_eq!(report.lost, oracle.lost(), "at {number}");
            assert_eq!(report.duplicated, oracle.duplicated);
            assert_eq!(report.reordered, oracle.reordered);
            assert_eq!(report.reordered_by_max, oracle.reordered_by_max);
            assert_eq!(report.across_flows, oracle.across_flows);
            assert_eq!(report.outside_window, oracle.outside);
            assert_eq!(report.bytes, 60 * oracle.received);
            assert_eq!(report.latency.count, oracle.seen.len() as u64);
        }
    }
}

#[test]
fn a_window_forgets_what_it_skips() {
    let mut window = Window::new(64);
    assert_eq!(window.take(10), Arrival::Highest);
    assert_eq!(window.take(9), Arrival::Below);
    assert_eq!(window.take(9), Arrival::Duplicate);
    assert_eq!(window.take(10 + 64), Arrival::Highest);
    assert_eq!(window.take(10), Arrival::Outside);
    assert_eq!(window.take(11), Arrival::Below);
    assert_eq!(window.take((1 << 48) - 1), Arrival::Highest);
    assert_eq!(window.take(74), Arrival::Outside);
    assert_eq!(window.take((1 << 48) - 64), Arrival::Below);
    assert_eq!(window.highest(), Some((1 << 48) - 1));
}

use super::window::Arrival;

#[test]
fn sound_frames_are_counted_with_their_latency() {
    let frames = frames(&signed(Cover::Network), 0, 1, 1000);
    let mut sink = sink(1024);
    for (number, bytes) in frames.iter().enumerate() {
        sink.take(bytes, sent_at(number as u64).after(7_000));
    }
    let report = sink.report();
    let stream = &report.streams[0];
    assert_eq!((report.frames, report.bytes), (1000, 60_000));
    assert_eq!(
        (report.corrupted, report.foreign, report.beyond_streams),
        (0, 0, 0)
    );
    assert_eq!(
        (stream.received, stream.unique, stream.lost),
        (1000, 1000, 0)
    );
    assert_eq!((stream.lowest, stream.highest), (0, 999));
    assert_eq!((stream.lost_of(1000), stream.lost_of(1010)), (0, 10));
    let latency = stream.latency;
    assert_eq!(
        (latency.min, latency.max, latency.count),
        (7_000, 7_000, 1000)
    );
    assert!((latency.p50, latency.p999) == (7_000, 7_000) && latency.mean == 7_000.0);
    assert_eq!(report.latency, latency);
}

#[test]
fn clocks_that_differ_are_told() {
    let frames = frames(&signed(Cover::Network), 0, 1, 3);
    let mut sink = sink(64);
    sink.take(&frames[0], Nanos(sent_at(0).0 - 500));
    sink.take(&frames[1], Nanos(sent_at(1).0 - 200));
    sink.take(&frames[2], sent_at(2).after(30));
    let stream = sink.report().streams.remove(0);
    assert_eq!((stream.arrived_early, stream.clock_error_ns), (2, 500));
    assert_eq!((stream.latency.count, stream.latency.max), (1, 30));
}

/// Every single flipped bit of every kind of frame is seen where all is covered.
#[test]
fn every_flipped_bit_is_a_corrupted_frame() {
    let kinds = [
        (Protocol::Udp, "64"),
        (Protocol::Udp, "65"),
        (Protocol::Tcp { flags: 2 }, "76"),
        (Protocol::IcmpEcho, "90"),
    ];
    for (protocol, size) in kinds {
        for (ipv6, extra) in [(Share::NONE, 0), (Share::ALL, 20)] {
            let size = size.parse::<u16>().unwrap() + extra;
            let recipe = Recipe {
                protocol,
                ipv6,
                sizes: Sizes::Fixed(size),
                ..signed(Cover::Link)
            };
            let frames = frames(&recipe, 0, 1, 2);
            let mut sink = sink(64);
            sink.take(&frames[0], sent_at(0).after(100));
            let bits = frames[1].len() * 8;
            for bit in 0..bits {
                let mut harmed = frames[1].clone();
                harmed[bit / 8] ^= 1 << (bit % 8);
                sink.take(&harmed, sent_at(1).after(100));
                let report = sink.report();
                let told = (report.corrupted, report.foreign, report.streams[0].received);
                assert_eq!(
                    told,
                    (bit as u64 + 1, 0, 1),
                    "{protocol:?} {size} bit {bit}"
                );
            }
        }
    }
}

/// What a router changes is no harm where the check covers the network layer, and any other flipped
/// bit is.
#[test]
fn routers_may_change_what_they_change() {
    let frames = frames(&signed(Cover::Network), 0, 1, 2);
    let mut sink = sink(64);
    sink.take(&frames[0], sent_at(0));
    for bit in 0..60 * 8 {
        let mut changed = frames[1].clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let sound = Signature::of(&changed).is_some();
        assert_eq!(sound, bit / 8 < 12, "bit {bit}: the MACs alone");
    }
    let mut routed = frames[1].clone();
    routed[..12].copy_from_slice(&[7; 12]);
    routed[22] -= 1;
    let checksum = u16::from_be_bytes([routed[24], routed[25]]);
    let changed = wire::checksum::update(checksum, 0x4011, 0x3f11);
    routed[24..26].copy_from_slice(&changed.to_be_bytes());
    routed.splice(12..12, [0x81, 0, 0, 9]);
    routed.extend([0; 7]); // padding of some switch
    sink.take(&routed, sent_at(1));
    let report = sink.report();
    assert_eq!((report.streams[0].received, report.corrupted), (2, 0));
}

#[test]
fn foreign_frames_are_not_corrupted_ones() {
    let seed = seed();
    let mut random = Random::new(seed, 1);
    let frames = frames(&signed(Cover::Network), 0, 1, 1);
    let unsigned = self::frames(&Recipe::default(), 0, 1, 200);
    let mut sink = sink(64);
    let now = |number: u64| Nanos(sent_at(0).0 + 1_000_000_000 * (number % 100));
    for number in 0..2 {
        // Before and after the first test frame.
        let strange = (0..5_000).map(|_| {
            let len = random.below(200) as usize;
            (0..len).map(|_| random.next() as u8).collect::<Vec<_>>()
        });
        let zeros = (0..300).map(|len| vec![0; len]);
        let all: Vec<_> = strange
            .chain(zeros)
            .chain(unsigned.iter().cloned())
            .collect();
        for (index, bytes) in all.iter().enumerate() {
            sink.take(bytes, now(index as u64));
        }
        sink.take(&frames[0], sent_at(0));
        let report = sink.report();
        assert_eq!(
            (report.corrupted, report.foreign),
            (0, (number + 1) * 5_500)
        );
    }
}

/// Frames with a right signature and any numbers: bounded memory, no panic, sums that agree.
#[test]
fn hostile_signatures_are_bounded() {
    let mut random = Random::new(seed(), 2);
    let mut sink = Sink::new(SinkLimits {
        streams: 5,
        window: 100,
        record: 0,
    });
    assert_eq!(
        sink.limits,
        SinkLimits {
            streams: 5,
            window: 128,
            record: 0
        }
    );
    for _ in 0..20_000 {
        let signature = Signature {
            stream: random.below(9) as u16,
            sequence: random.next() >> (16 + random.below(48)),
            sent: Nanos(random.next()),
        };
        sink.frames += 1;
        sink.take_run(Some(Run::of(signature, 60, None)), Nanos(random.next()));
    }
    let report = sink.report();
    assert_eq!(report.streams.len(), 5);
    let received: u64 = report.streams.iter().map(|stream| stream.received).sum();
    assert_eq!(received + report.beyond_streams, 20_000);
    // Half of the new numbers are early; of one stream, 1 run in 15 has none.
    let early: u64 = report.streams.iter().map(|own| own.arrived_early).sum();
    assert!(early > 0);
    for stream in &report.streams {
        assert!(stream.outside_window > 0);
        assert_eq!(
            stream.received,
            stream.unique + stream.duplicated + stream.outside_window
        );
        assert_eq!(stream.unique, stream.latency.count + stream.arrived_early);
    }
}

/// Flows that take different ways through a machine keep their order each.
#[test]
fn order_is_judged_within_a_flow() {
    // Flows, whether each takes its own way, and whether frames are reordered, and only across.
    for (flows, apart, reordered, across) in [
        (Flows::Fixed(1), false, true, false),
        (Flows::Fixed(8), true, false, true),
        (Flows::Endless, false, false, true),
    ] {
        let recipe = Recipe {
            flows,
            ..signed(Cover::Network)
        };
        let mut frames = frames(&recipe, 0, 1, 200);
        if apart {
            // By way: all of one port first, as from queues of which one is read after the other.
            frames.sort_by_key(|frame| frame[34..38].to_vec());
        } else {
            frames[50..100].reverse();
        }
        let mut sink = sink(1024);
        for frame in &frames {
            sink.take(frame, sent_at(300));
        }
        let stream = sink.report().streams.remove(0);
        assert_eq!(stream.reordered > 0, reordered, "{flows:?}: {stream:?}");
        assert_eq!(stream.across_flows > 0, across, "{flows:?}: {stream:?}");
        assert_eq!((stream.unique, stream.lost), (200, 0), "{flows:?}");
    }
}

/// What a network may make of the frames of three streams: lost, doubled, late, harmed, and strange
/// ones between them.
fn disturbed(random: &mut Random) -> Vec<Vec<u8>> {
    let recipe = signed(Cover::Network);
    let mut streams = [0, 1, 2].map(|worker| frames(&recipe, worker, 3, 200).into_iter());
    let mut all: Vec<Vec<u8>> = Vec::new();
    while streams.iter().any(|stream| stream.len() > 0) {
        let stream = &mut streams[random.below(3) as usize];
        let run = 1 + random.below(40) as usize;
        all.extend(stream.by_ref().take(run));
        match random.below(6) {
            0 => drop(stream.next()),
            1 => all.extend(all.last().cloned()),
            2 => all.push(vec![random.next() as u8; random.below(90) as usize]),
            3 => {
                let first = all.len().saturating_sub(1 + random.below(30) as usize);
                all[first..].reverse();
            }
            4 => {
                if let Some(last) = all.last_mut().filter(|last| last.len() == 60) {
                    last[random.below(60) as usize] ^= 1 << random.below(8);
                }
            }
            _ => {}
        }
    }
    all
}

/// A burst is accounted for as its frames are one by one, whatever came.
#[test]
fn bursts_are_what_their_frames_are() {
    let mut random = Random::new(seed(), 3);
    let mut pool = pool();
    for _ in 0..20 {
        let all = disturbed(&mut random);
        let (mut whole, mut single) = (sink(128), sink(128));
        let (mut burst, mut rest, mut now) = (Burst::new(), &all[..], sent_at(50));
        while !rest.is_empty() {
            let (some, later) = rest.split_at(1 + random.below(rest.len().min(64) as u64) as usize);
            pool.alloc_burst(&mut burst, some.len());
            for (frame, bytes) in burst.frames_mut().iter_mut().zip(some) {
                frame.copy_from(bytes).unwrap();
            }
            let sound = some.iter().filter(|bytes| single.take(bytes, now)).count();
            assert_eq!(whole.take_burst(burst.frames(), now), sound);
            pool.free_burst(&mut burst);
            (rest, now) = (later, now.after(random.below(90_000)));
        }
        assert!(whole.report() == single.report());
        assert!(
            whole
                .report()
                .streams
                .iter()
                .all(|stream| stream.received > 50)
        );
    }
}

#[test]
fn an_error_that_quotes_a_test_frame_is_no_test_frame() {
    for cover in [Cover::Network, Cover::Link] {
        let made = frames(&signed(cover), 0, 1, 2);
        let mut sink = Sink::new(SinkLimits::default());
        sink.take(&made[0], sent_at(0));
        let (link, packet) = made[1].split_at(14);
        // Destination unreachable, the port, behind an IPv4 header of its own.
        let length = (28 + packet.len()) as u16;
        let mut error = link.to_vec();
        error.extend([0x45, 0]);
        error.extend(length.to_be_bytes());
        error.extend([0, 0, 0, 0, 64, 1, 0, 0, 192, 0, 2, 9, 192, 0, 2, 1]);
        error.extend([3, 3, 0, 0, 0, 0, 0, 0]);
        error.extend(packet);
        assert!(IcmpError::read(&error).is_some());
        sink.take(&error, sent_at(1));
        let said = sink.report();
        assert_eq!((said.corrupted, said.foreign), (0, 1), "{cover:?}");
    }
}
