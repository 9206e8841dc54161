//! Sinks of several workers, joined in the end.

use super::*;

#[test]
fn sinks_of_several_workers_are_one_in_the_end() {
    let recipe = signed(Cover::Network);
    let streams = [0, 1].map(|worker| frames(&recipe, worker, 2, 300));
    let mut sinks = [sink(512), sink(512)];
    for (number, frame) in streams.iter().flat_map(|frames| frames.iter().enumerate()) {
        if number % 50 != 7 {
            sinks[usize::from(number % 3 == 0)].take(frame, sent_at(number as u64).after(9));
        }
    }
    let [mut first, second] = sinks;
    first.merge(&second);
    let report = first.report();
    assert_eq!(report.frames, 2 * (300 - 6));
    for (stream, number) in report.streams.iter().zip(0..) {
        assert_eq!(
            (stream.stream, stream.unique, stream.lost),
            (number, 294, 6)
        );
        assert_eq!((stream.duplicated, stream.reordered), (0, 0));
        assert_eq!((stream.lowest, stream.highest), (0, 299));
    }
    assert_eq!(report.latency.count, 588);
}

/// Numbers that came to several workers are told as the slow one tells them, which saw them all.
#[test]
fn duplicates_that_went_to_different_workers_are_found() {
    let mut random = Random::new(seed(), 0);
    for workers in [2, 3] {
        let limits = SinkLimits {
            window: 1 << 12,
            ..SinkLimits::of_several()
        };
        let mut sinks: Vec<Sink> = (0..workers).map(|_| Sink::new(limits)).collect();
        let mut oracles = [Oracle::default(), Oracle::default()];
        // Across a border of blocks, which lies at 65,536.
        let first = (1 << 16) - 700 + random.below(400);
        for number in numbers(&mut random, 4_000) {
            let stream = random.below(2);
            let signature = Signature {
                stream: stream as u16,
                sequence: first + number,
                sent: Nanos(5),
            };
            let worker = random.below(workers) as usize;
            sinks[worker].take_run(Some(Run::of(signature, 60, None)), Nanos(12));
            oracles[stream as usize].take(signature.sequence, 0, 1 << 40);
        }
        let mut sum = Sink::new(SinkLimits::default());
        sinks.iter().for_each(|sink| sum.merge(sink));
        for (stream, oracle) in sum.report().streams.iter().zip(&oracles) {
            assert!(oracle.duplicated > 5, "{oracle:?}");
            assert_eq!(stream.received, oracle.received);
            assert_eq!(stream.unique, oracle.seen.len() as u64);
            assert_eq!(stream.lost, oracle.lost());
            assert_eq!(stream.duplicated, oracle.duplicated);
            assert_eq!((stream.outside_window, stream.uncompared), (0, 0));
        }
    }
}

#[test]
fn what_no_record_has_room_for_is_told() {
    let limits = SinkLimits {
        record: 1,
        ..SinkLimits::default()
    };
    let mut sinks = [Sink::new(limits), Sink::new(limits)];
    for number in [0, 1, 65_535, 65_536, 65_537] {
        for sink in &mut sinks {
            let signature = Signature {
                stream: 0,
                sequence: number,
                sent: Nanos(5),
            };
            sink.take_run(Some(Run::of(signature, 60, None)), Nanos(12));
        }
    }
    let [mut first, second] = sinks;
    first.merge(&second);
    let stream = first.report().streams.remove(0);
    // Three were compared, and two of each worker were not.
    assert_eq!((stream.received, stream.duplicated), (10, 3));
    assert_eq!((stream.uncompared, stream.unique), (4, 7));
}
