//! The clock in simulated time.

use super::*;
use crate::Random;

const SECOND: u64 = 1_000_000_000;

/// Asks every `step` ns until `end`; returns how many frames of `bytes` went and when.
fn run(pacer: &mut Pacer, step: u64, end: u64, bytes: u64) -> Vec<u64> {
    let mut sent = Vec::new();
    for now in (0..=end).step_by(step as usize) {
        let due = pacer.due(Nanos(now));
        sent.extend(std::iter::repeat_n(now, due));
        pacer.sent(due, due as u64 * bytes);
    }
    sent
}

#[test]
fn frame_k_is_due_at_k_over_rate() {
    for rate in [1, 3, 1_000, 999_983, 7_000_001, 148_809_523] {
        let mut pacer = Pacer::new(Rate::Frames(rate), 4, Nanos(0));
        for frame in 0..5_000_u64 {
            let due = (u128::from(frame) * u128::from(SECOND)).div_ceil(u128::from(rate)) as u64;
            let at = pacer.next_due();
            assert_eq!(at, Nanos(due.max(pacer.until.0)), "frame {frame} at {rate}");
            if due > pacer.until.0 {
                assert_eq!(pacer.due(Nanos(due - 1)), 0);
            }
            assert!(pacer.due(at) >= 1);
            pacer.sent(1, 60);
        }
        let error = pacer.error();
        assert_eq!(
            (error.frames, error.lost_ns, error.late_max_ns),
            (5_000, 0, 0)
        );
    }
}

#[test]
fn a_frame_that_is_late_was_due_in_its_time() {
    // Rate, when it is looked, and how long after the start the frames up to then were due.
    for (rate, now, due) in [
        (
            Rate::Frames(1_000),
            3_500_000,
            vec![0, 1_000_000, 2_000_000, 3_000_000],
        ),
        (
            Rate::Frames(3),
            SECOND,
            vec![0, 333_333_334, 666_666_667, SECOND],
        ),
        (Rate::MicroFrames(1_500_000), SECOND, vec![0, 666_666_667]),
        (Rate::BitsL2(64 * 8 * 1_000), 1_000_000, vec![0, 1_000_000]),
    ] {
        let mut pacer = Pacer::new(rate, 8, Nanos(0));
        pacer.set_frame_bytes(60.0);
        assert_eq!(pacer.due(Nanos(now)), due.len(), "{rate:?}");
        for at in due {
            assert_eq!(pacer.due_at(), Nanos(at), "{rate:?}");
            pacer.sent(1, 60);
        }
        assert!(pacer.due_at() > Nanos(now), "{rate:?}");
        assert_eq!(pacer.due_at(), pacer.next_due(), "{rate:?}");
    }
}

#[test]
fn frames_are_due_at_rates_below_one_a_second_and_between() {
    for (micros, third) in [
        (500_000, 4 * SECOND),
        (1_500_000, 4 * SECOND / 3 + 1),
        (100, 20_000 * SECOND),
    ] {
        let mut pacer = Pacer::new(Rate::MicroFrames(micros), 4, Nanos(0));
        for _ in 0..2 {
            assert_eq!(pacer.due(pacer.next_due()), 1);
            pacer.sent(1, 60);
        }
        assert_eq!(pacer.next_due(), Nanos(third), "{micros}");
        assert_eq!(pacer.error().lost_ns, 0);
    }
}

#[test]
fn bits_are_those_of_their_layer() {
    // Of 10 Gb/s and frames of 64 bytes with FCS.
    for (rate, frames) in [
        (Rate::BitsL1(10 * SECOND), 14_880_952),
        (Rate::BitsL2(10 * SECOND), 19_531_250),
        (Rate::Frames(14_880_952), 14_880_952),
    ] {
        let mut pacer = Pacer::new(rate, 64, Nanos(0));
        let sent = run(&mut pacer, 1_000, SECOND / 10, 60).len() as u64;
        assert!((sent * 10).abs_diff(frames) <= 10, "{rate}: {sent}");
        assert_eq!(pacer.error().lost_ns, 0);
    }
}

/// Whatever the mean was said to be: bytes that went decide.
#[test]
fn sizes_that_differ_keep_the_rate_in_bits() {
    let mut random = Random::new(11, 0);
    let mut pacer = Pacer::new(Rate::BitsL1(SECOND), 32, Nanos(0));
    pacer.set_frame_bytes(900.0);
    let mut bits = 0;
    let mut now = 0;
    while now < SECOND {
        now += 1 + random.below(20_000);
        for _ in 0..pacer.due(Nanos(now)) {
            let bytes = 60 + random.below(1_455);
            pacer.sent(1, bytes);
            bits += (bytes + 24) * 8;
        }
    }
    assert!(bits.abs_diff(SECOND) < 50_000, "{bits}");
    assert_eq!(pacer.error().lost_ns, 0);
}

#[test]
fn lateness_is_that_of_each_frame() {
    // A frame each 100 ns, asked each 1,000: frames are late by 0, 100 ... 900.
    let mut pacer = Pacer::new(Rate::Frames(10_000_000), 64, Nanos(0));
    let sent = run(&mut pacer, 1_000, 1_000_000, 60);
    assert_eq!(sent.len(), 10_001);
    let error = pacer.error();
    assert!((error.late_mean_ns - 450.0).abs() < 1.0, "{error:?}");
    assert_eq!((error.late_max_ns, error.lost_ns), (900, 0));
}

#[test]
fn time_beyond_the_burst_is_lost_and_told() {
    let mut pacer = Pacer::new(Rate::Frames(1_000_000), 10, Nanos(0));
    assert_eq!(pacer.due(Nanos(0)), 1);
    pacer.sent(1, 60);
    // Frames of 1 to 100 us are due: ten may go, the oldest ten us late, and 89 us are gone.
    assert_eq!(pacer.due(Nanos(100_000)), 10);
    pacer.sent(10, 600);
    assert_eq!(pacer.due(Nanos(100_000)), 0);
    let error = pacer.error();
    assert_eq!((error.lost_times, error.frames), (1, 11));
    assert!(error.lost_ns.abs_diff(89_000) <= 1, "{error:?}");
    // From there on at the rate, and never more than ten in any ten microseconds and a burst.
    let mut pacer = Pacer::new(Rate::Frames(1_000_000), 10, Nanos(0));
    let mut random = Random::new(5, 0);
    let (mut now, mut sent) = (0, Vec::new());
    for _ in 0..20_000 {
        let pause = if random.below(50) == 0 {
            200_000
        } else {
            3_000
        };
        now += random.below(pause);
        let due = pacer.due(Nanos(now));
        assert!(due <= 10);
        pacer.sent(due, 60 * due as u64);
        sent.extend(std::iter::repeat_n(now, due));
    }
    for pair in sent.windows(21) {
        assert!(
            pair[20] - pair[0] >= 10_000,
            "21 frames in {} ns",
            pair[20] - pair[0]
        );
    }
    let error = pacer.error();
    let expected = (now - error.lost_ns) / 1_000;
    assert!(
        (sent.len() as u64).abs_diff(expected) <= 11,
        "{} {expected}",
        sent.len()
    );
    assert!(error.late_max_ns < 11_000);
}

#[test]
fn frames_that_a_port_refused_stay_due() {
    let mut pacer = Pacer::new(Rate::Frames(1_000_000), 8, Nanos(0));
    assert_eq!(pacer.due(Nanos(3_500)), 4);
    pacer.sent(1, 60);
    assert_eq!(pacer.due(Nanos(3_500)), 3);
    assert_eq!(pacer.next_due(), Nanos(3_500));
    pacer.sent(3, 180);
    assert_eq!(pacer.next_due(), Nanos(4_000));
    assert_eq!(pacer.error().lost_ns, 0);
}

#[test]
fn without_a_rate_bursts_are_all_that_bounds() {
    let mut pacer = Pacer::new(Rate::Unlimited, 32, Nanos(9));
    assert_eq!((pacer.due(Nanos(0)), pacer.due(Nanos(u64::MAX))), (32, 32));
    pacer.sent(32, 0);
    let frames = 32;
    assert_eq!(
        pacer.error(),
        PacingError {
            frames,
            ..PacingError::default()
        }
    );
}

#[test]
fn the_ends_of_all_numbers_are_no_trouble() {
    for rate in [
        Rate::Frames(u64::MAX),
        Rate::MicroFrames(1),
        Rate::MicroFrames(u64::MAX),
        Rate::BitsL1(1),
        Rate::BitsL2(u64::MAX),
    ] {
        let mut pacer = Pacer::new(rate, 0, Nanos(0));
        pacer.set_frame_bytes(f64::MAX);
        pacer.set_frame_bytes(f64::NAN);
        for now in [0, 1, u64::MAX, 5, u64::MAX] {
            let due = pacer.due(Nanos(now));
            assert!(due <= 1);
            pacer.sent(due, 9_018);
            let _ = (pacer.next_due(), pacer.error());
        }
    }
}

#[test]
fn what_is_left_at_a_time_is_told_however_much_it_is() {
    // Frames that went by 100 ms at 1000 a second; when; how late the next is; how many are due.
    for (went, at, late, left) in [
        (101, 100, 0, 0),
        (100, 100, 0, 1),
        (40, 100, 60, 61),
        (1, 2_000, 1_999, 2_000),
        (50, 49, 0, 0),
    ] {
        let millis = |at: u64| Nanos(at * 1_000_000);
        let mut pacer = Pacer::new(Rate::Frames(1_000), 1_000, Nanos::ZERO);
        pacer.due(millis(100));
        pacer.sent(went, 0);
        let found = (pacer.late(millis(at)), pacer.left(millis(at)));
        assert_eq!(found, (late * 1_000_000, left), "{went} {at}");
    }
}
