//! A simulated NIC, whose clock drifts, is doubtful, is set, and fails.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

const SECOND: u64 = 1_000_000_000;
const TENTH: u64 = SECOND / 10;

/// A NIC whose clock gains `drift` parts in 10^9 and began `ahead` of the kernel's.
#[derive(Debug, Clone, Copy)]
struct Nic {
    now: u64,
    drift: i64,
    ahead: i64,
    doubt: u64,
    /// What a comparison is wrong by, within the doubt.
    wrong: i64,
    broken: bool,
}

impl Nic {
    fn clock_at(&self, kernel: u64) -> u64 {
        let gained = i128::from(kernel) * i128::from(self.drift) / 1_000_000_000;
        u64::try_from(i128::from(kernel) + gained + i128::from(self.ahead)).unwrap()
    }
}

fn simulated(nic: Nic) -> (Arc<Mutex<Nic>>, NicClock) {
    let nic = Arc::new(Mutex::new(nic));
    let same = Arc::clone(&nic);
    let compare = move || {
        let nic = same.lock().unwrap();
        if nic.broken {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Comparison {
            kernel: nic.now.checked_add_signed(nic.wrong).unwrap(),
            nic: nic.clock_at(nic.now),
            doubt: nic.doubt,
        })
    };
    let clock = NicClock::by("/dev/ptp9".to_owned(), Box::new(compare)).unwrap();
    (nic, clock)
}

const CARD: Nic = Nic {
    now: 1000 * SECOND,
    drift: 0,
    ahead: 37 * SECOND as i64,
    doubt: 300,
    wrong: 0,
    broken: false,
};

proptest! {
    /// Whatever the drift and wherever the clocks began: a frame's time is right within the error
    /// that is stated.
    #[test]
    fn times_are_right_within_the_stated_error(
        drift in -100_000_i64..100_000,
        ahead in -900_000_000_000_i64..2_000_000_000_000_000_000,
        wrongs in proptest::collection::vec(-300_i64..=300, 40),
    ) {
        let (nic, mut clock) = simulated(Nic { drift, ahead, ..CARD });
        let mut reader = clock.reader();
        let mut off_worst = 0;
        for (turn, &wrong) in wrongs.iter().enumerate() {
            let now = {
                let mut nic = nic.lock().unwrap();
                nic.now += TENTH;
                nic.wrong = wrong;
                *nic
            };
            // Frames of the time since the last comparison, by the line that was known then.
            for early in [0, TENTH / 2, TENTH - 1] {
                let kernel = now.now - early;
                let said = reader.kernel_time(now.clock_at(kernel)).unwrap();
                off_worst = off_worst.max(said.abs_diff(kernel));
            }
            clock.follow();
            reader.follow();
            let stated = clock.error();
            prop_assert_eq!(stated.steps, 0);
            prop_assert!(
                off_worst <= stated.worst + 300,
                "turn {}: off by {}, stated {:?}", turn, off_worst, stated
            );
        }
        // Drift is foreseen: it costs the first comparison alone.
        prop_assert!(clock.error().mean < 300 + 40 + drift.unsigned_abs() / 400 + 1_200);
    }

    #[test]
    fn no_time_panics(nic: u64, line_nic: u64, kernel: u64, rate in -RATE_MAX..=RATE_MAX) {
        let _time = Line { nic: line_nic, kernel, rate }.at(nic);
    }
}

#[test]
fn a_clock_that_is_set_begins_a_new_line_and_is_counted() {
    let (nic, mut clock) = simulated(CARD);
    let mut reader = clock.reader();
    for ahead in [37, 37, 5, 5, -3] {
        {
            let mut nic = nic.lock().unwrap();
            nic.now += TENTH;
            nic.ahead = ahead * SECOND as i64;
        }
        clock.follow();
        reader.follow();
        let now = *nic.lock().unwrap();
        assert_eq!(reader.kernel_time(now.clock_at(now.now)), Some(now.now));
    }
    assert_eq!(clock.error().steps, 2);
    assert_eq!(clock.error().worst, 300, "a step is no error of the line");
}

#[test]
fn a_nic_that_goes_away_is_told_and_the_last_line_stays() {
    let (nic, mut clock) = simulated(CARD);
    let reader = clock.reader();
    nic.lock().unwrap().broken = true;
    clock.follow();
    clock.follow();
    let said = clock.failure().unwrap();
    assert!(said.starts_with("/dev/ptp9 cannot be compared"), "{said}");
    let now = *nic.lock().unwrap();
    assert_eq!(reader.kernel_time(now.clock_at(now.now)), Some(now.now));
    let compare = || Err(io::ErrorKind::NotFound.into());
    assert!(NicClock::by("/dev/ptp9".to_owned(), Box::new(compare)).is_err());
}

#[test]
fn a_clock_that_stands_still_is_told_and_its_stamps_are_not_believed() {
    let comparison = |kernel, nic| Comparison {
        kernel,
        nic,
        doubt: 0,
    };
    // How far the NIC's clock goes for each microsecond of the kernel's, and whether it stands.
    for (step, stands) in [(0, true), (1, false), (1000, false)] {
        let mut turn = 0;
        let compare = || {
            turn += 1;
            Ok(comparison(turn * 1000, 7 + turn * step))
        };
        assert_eq!(stands_still(compare), stands, "{step}");
    }
    assert!(!stands_still(|| Err(io::ErrorKind::NotFound.into())));

    let mut turn = 0;
    let compare = move || {
        turn += 1;
        // It goes for two comparisons, and stands then.
        Ok(comparison(turn * TENTH, turn.min(2) * TENTH))
    };
    let mut clock = NicClock::by("/dev/ptp9".to_owned(), Box::new(compare)).unwrap();
    clock.follow();
    assert_eq!(clock.failure(), None);
    clock.follow();
    assert_eq!(clock.failure(), Some("/dev/ptp9 stands still"));

    let reader = clock.reader();
    // Bursts share a stamp where a clock is coarse; a stamp of all frames is none.
    let believed = |stamps: &mut dyn Iterator<Item = u64>| {
        stamps
            .filter(|&stamp| reader.kernel_time(stamp).is_some())
            .count()
    };
    assert_eq!(
        believed(&mut (0..1000).map(|frame| TENTH + frame / 32)),
        1000
    );
    assert_eq!(believed(&mut (0..1000).map(|_| 3 * TENTH)), 64);
    assert_eq!(
        believed(&mut (0..10).map(|_| 4 * TENTH)),
        10,
        "it goes again"
    );
}

#[test]
fn readers_never_see_half_a_line() {
    let shared = Arc::new(Shared::default());
    let writer = Arc::clone(&shared);
    let lines = 100_000;
    let thread = std::thread::spawn(move || {
        for number in 1..=lines {
            writer.put(Line {
                nic: number,
                kernel: number,
                rate: number as i64,
            });
        }
    });
    let mut last = 0;
    while last < lines {
        if let Some((version, line)) = shared.get() {
            assert_eq!((line.kernel, line.rate), (line.nic, line.nic as i64));
            assert_eq!(version, 2 * line.nic);
            assert!(line.nic >= last);
            last = line.nic;
        } else {
            std::thread::yield_now();
        }
    }
    thread.join().unwrap();
}
