//! When the frames of a capture are due again.

use std::fmt;

use frame::Nanos;

use crate::{PacingError, RecipeError};

/// Fastest and slowest replay, in times of the original.
const TIMES: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// How fast a capture is replayed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// So many times as fast as it was recorded.
    Times(f64),
    /// As fast as frames are taken: times of the capture do not matter.
    Full,
}

impl Speed {
    /// Reads `original`, `2x`, `0.5` or `max`.
    ///
    /// # Errors
    /// A sentence, for anything else and for less than a millionth or more than a million times.
    pub fn parse(text: &str) -> Result<Self, RecipeError> {
        let times = match text {
            "original" => Some(1.0),
            "max" => return Ok(Self::Full),
            _ => text.strip_suffix('x').unwrap_or(text).parse().ok(),
        };
        times
            .filter(|times| TIMES.contains(times))
            .map(Self::Times)
            .ok_or_else(|| {
                let wanted = "original, a number of times like 2x or 0.5x, or max";
                RecipeError::value("speed", text, wanted)
            })
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(times) => write!(f, "{times}x"),
            Self::Full => f.write_str("max"),
        }
    }
}

/// More than any pause of a capture, in ns: a clock that goes ahead by so much was set.
const PAUSE_MAX: u64 = 365 * 86_400 * 1_000_000_000;

/// Times of a capture that are no pauses: its clock was set, or two clocks wrote it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockSteps {
    /// Frames recorded before the frame in front of them.
    pub back: u64,
    /// Frames recorded more than a year after the frame in front of them.
    pub ahead: u64,
}

/// The clock of a capture, as its frames tell it.
#[derive(Debug, Clone, Copy, Default)]
struct RecordedClock {
    /// When the frame before was recorded, in ns.
    before: Option<u64>,
    /// The latest time before the clock was set back, and how far it was ahead of what followed; 0
    /// once the clock has passed it.
    latest: u64,
    lead: u64,
    steps: ClockSteps,
}

impl RecordedClock {
    /// The pause between the frame before and one recorded at `recorded_ns`. There is none where
    /// the clock was set. A frame that returns to the clock of before the last step back (one frame
    /// had a wrong time, two interfaces have clocks that differ) keeps its distance in that clock.
    /// Such a frame is later than all before it, by less than a fifth of the step.
    fn pause(&mut self, recorded_ns: u64) -> u64 {
        let Some(before) = self.before else {
            self.before = Some(recorded_ns);
            return 0;
        };
        if recorded_ns == 0 && before != 0 {
            // It has no time.
            return 0;
        }
        self.before = Some(recorded_ns);
        let Some(apart) = recorded_ns.checked_sub(before) else {
            self.latest = self.latest.max(before);
            self.lead = self.latest - recorded_ns;
            self.steps.back += 1;
            return 0;
        };
        let beyond = apart.checked_sub(self.lead).filter(|_| self.lead != 0);
        let returned = beyond.filter(|beyond| (1..=self.lead / 5).contains(beyond));
        let pause = returned.unwrap_or(apart);
        if recorded_ns >= self.latest {
            (self.latest, self.lead) = (0, 0);
        }
        if pause <= PAUSE_MAX {
            return pause;
        }
        self.steps.ahead += u64::from(before != 0);
        0
    }
}

/// Turns the times of a capture into times at which its frames are due. Distances between frames
/// are kept or multiplied. Where the clock of the capture was set back, or ahead by more than a
/// year, the frame is due with the one in front, so that no frame overtakes another, and distances
/// go on from it: [`Replay::steps`] counts them.
///
/// A frame that is late by more than `lag_max` puts off all behind it, instead of having them
/// follow each other faster than they were recorded: [`PacingError::lost_ns`] says by how much.
#[derive(Debug, Clone)]
pub struct Replay {
    speed: Speed,
    lag_max: u64,
    /// When the frame before was due.
    due: Nanos,
    recorded: RecordedClock,
    /// What of a nanosecond multiplying left over.
    fraction: f64,
    error: PacingError,
    late_sum: f64,
}

impl Replay {
    /// A replay of which the first frame is due at `start`.
    #[must_use]
    pub fn new(speed: Speed, lag_max_ns: u64, start: Nanos) -> Self {
        Self {
            speed,
            lag_max: lag_max_ns,
            due: start,
            recorded: RecordedClock::default(),
            fraction: 0.0,
            error: PacingError::default(),
            late_sum: 0.0,
        }
    }

    /// When the next frame, recorded at `recorded_ns`, is due. Each frame is asked for once.
    pub fn next(&mut self, recorded_ns: u64) -> Nanos {
        let pause = self.recorded.pause(recorded_ns);
        self.put_off(pause);
        self.due
    }

    /// The next frame is due so long after the one before, in the time of the capture.
    fn put_off(&mut self, apart: u64) {
        let Speed::Times(times) = self.speed else {
            return;
        };
        let scaled = apart as f64 / times + self.fraction;
        self.fraction = scaled.fract();
        // One is exact also where a float is not: 104 days apart.
        let whole = if times == 1.0 { apart } else { scaled as u64 };
        self.due = self.due.after(whole);
    }

    /// Takes note that the frame asked for last went at `now`.
    pub fn sent(&mut self, now: Nanos) {
        self.error.frames += 1;
        if self.speed == Speed::Full {
            return;
        }
        let late = now.since(self.due);
        self.late_sum += late as f64;
        self.error.late_max_ns = self.error.late_max_ns.max(late);
        if let Some(lost @ 1..) = late.checked_sub(self.lag_max) {
            self.due = self.due.after(lost);
            self.error.lost_ns += lost;
            self.error.lost_times += 1;
        }
    }

    /// The capture begins anew: its first frame is due `gap_ns` behind the last, at the speed of
    /// the replay.
    pub fn again(&mut self, gap_ns: u64) {
        self.put_off(gap_ns);
        let steps = self.recorded.steps;
        self.recorded = RecordedClock {
            steps,
            ..RecordedClock::default()
        };
    }

    /// How often the clock of the capture was set, as far as its frames were asked for.
    #[must_use]
    pub const fn steps(&self) -> ClockSteps {
        self.recorded.steps
    }

    /// How well the frames kept to their times so far.
    #[must_use]
    pub fn error(&self) -> PacingError {
        PacingError {
            late_mean_ns: self.late_sum / self.error.frames.max(1) as f64,
            ..self.error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half past some year, in ns: where floats are 256 ns apart.
    const RECORDED: u64 = 1_700_000_000_000_000_123;

    fn due(speed: Speed, recorded: &[u64]) -> Vec<u64> {
        let mut replay = Replay::new(speed, 1_000, Nanos(50));
        let due = recorded.iter().map(|time| {
            let due = replay.next(RECORDED + time);
            replay.sent(due);
            due.0 - 50
        });
        due.collect()
    }

    #[test]
    fn distances_are_kept_or_multiplied() {
        let recorded = [0, 7, 8, 1_000, 1_001, 1_002, 1_003, 5_000_000_001];
        assert_eq!(due(Speed::Times(1.0), &recorded), recorded);
        assert_eq!(due(Speed::Full, &recorded), [0; 8]);
        let half = [0, 3, 4, 500, 500, 501, 501, 2_500_000_000];
        assert_eq!(due(Speed::Times(2.0), &recorded), half);
        let double = recorded.map(|time| 2 * time);
        assert_eq!(due(Speed::Times(0.5), &recorded), double);
    }

    /// When frames recorded at these times are due, and what is said of their clock.
    fn due_of(recorded: &[u64]) -> (Vec<u64>, ClockSteps) {
        let mut replay = Replay::new(Speed::Times(1.0), 0, Nanos(0));
        let due = recorded.iter().map(|&time| replay.next(time).0).collect();
        (due, replay.steps())
    }

    const YEAR: u64 = PAUSE_MAX;
    const NOW: u64 = RECORDED;

    /// Recorded times, when their frames are due, and steps of the clock: back and ahead.
    type Case = (&'static str, &'static [u64], &'static [u64], u64, u64);

    const CLOCKS: &[Case] = &[
        ("once", &[100, 40, 90, 110], &[0, 0, 50, 70], 1, 0),
        (
            "often",
            &[1_100, 1_110, 1_050, 1_060, 1_000, 1_010, 1_005, 1_015],
            &[0, 10, 10, 20, 20, 30, 30, 40],
            3,
            0,
        ),
        (
            "by years",
            &[NOW, NOW + 10, 5, 15, 40],
            &[0, 10, 10, 20, 45],
            1,
            0,
        ),
        (
            "ahead by years",
            &[5, 15, NOW, NOW + 10, NOW + 30],
            &[0, 10, 10, 20, 40],
            0,
            1,
        ),
        (
            "to another interface",
            &[5_000, 5_010, 9, 19, 30],
            &[0, 10, 10, 20, 31],
            1,
            0,
        ),
        (
            "two interfaces in turns, one 1,000 behind",
            &[5_000, 4_010, 5_020, 4_030, 5_040],
            &[0, 0, 20, 20, 40],
            2,
            0,
        ),
        (
            "one frame with a wrong time",
            &[NOW, NOW + 10, 7, NOW + 30, NOW + 40],
            &[0, 10, 10, 30, 40],
            1,
            0,
        ),
        (
            "frames without a time",
            &[0, NOW, 0, 0, NOW + 10],
            &[0, 0, 0, 0, 10],
            0,
            0,
        ),
        (
            "a capture that begins at 0",
            &[0, 10, 20],
            &[0, 10, 20],
            0,
            0,
        ),
        (
            "a pause longer than the step",
            &[100, 90, 100, 400],
            &[0, 0, 10, 310],
            1,
            0,
        ),
        ("a pause of a year", &[1, YEAR + 1], &[0, YEAR], 0, 0),
        ("the ends of time", &[1, u64::MAX, 1], &[0, 0, 0], 1, 1),
    ];

    #[test]
    fn pauses_go_on_behind_a_clock_that_was_set() {
        for &(what, recorded, due, back, ahead) in CLOCKS {
            let steps = ClockSteps { back, ahead };
            assert_eq!(due_of(recorded), (due.to_vec(), steps), "{what}");
        }
    }

    #[test]
    fn steps_are_counted_over_rounds_and_their_seam_is_none() {
        let mut replay = Replay::new(Speed::Times(1.0), 0, Nanos(0));
        for due in [[0, 0, 5], [5, 5, 10]] {
            assert_eq!([9, 1, 6].map(|time| replay.next(time).0), due);
            replay.again(0);
        }
        assert_eq!(replay.steps().back, 2);
    }

    #[test]
    fn a_capture_begins_anew_behind_its_last_frame() {
        let mut replay = Replay::new(Speed::Times(2.0), 0, Nanos(0));
        assert_eq!(
            [5, 105].map(|time| replay.next(time)),
            [Nanos(0), Nanos(50)]
        );
        replay.again(30);
        assert_eq!(
            [5, 105].map(|time| replay.next(time)),
            [Nanos(65), Nanos(115)]
        );
    }

    #[test]
    fn lag_beyond_the_bound_puts_off_the_rest() {
        let mut replay = Replay::new(Speed::Times(1.0), 100, Nanos(0));
        replay.next(0);
        replay.sent(Nanos(80));
        assert_eq!(replay.next(1_000), Nanos(1_000));
        replay.sent(Nanos(1_350));
        assert_eq!(replay.next(2_000), Nanos(2_250));
        replay.sent(Nanos(2_250));
        let error = replay.error();
        assert_eq!(
            (error.lost_ns, error.lost_times, error.late_max_ns),
            (250, 1, 350)
        );
        assert!((error.late_mean_ns - 430.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn speeds_are_read_and_written() {
        for (text, speed) in [
            ("original", Speed::Times(1.0)),
            ("2x", Speed::Times(2.0)),
            ("0.25", Speed::Times(0.25)),
            ("max", Speed::Full),
        ] {
            assert_eq!(Speed::parse(text), Ok(speed));
            assert_eq!(Speed::parse(&speed.to_string()), Ok(speed));
        }
        for text in ["", "x", "0", "-1", "nan", "inf", "1e9"] {
            assert!(Speed::parse(text).unwrap_err().to_string().contains("2x"));
        }
    }
}
