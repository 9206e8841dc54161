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

/// Turns the times of a capture into times at which its frames are due. Distances between frames
/// are kept or multiplied; a time before the one in front of it is taken as that one's, so that no
/// frame overtakes another.
///
/// A frame that is late by more than `lag_max` puts off all behind it, instead of having them
/// follow each other faster than they were recorded: [`PacingError::lost_ns`] says by how much.
#[derive(Debug, Clone)]
pub struct Replay {
    speed: Speed,
    lag_max: u64,
    /// When the frame before was due.
    due: Nanos,
    /// When the frame before was recorded, in ns.
    recorded: Option<u64>,
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
            recorded: None,
            fraction: 0.0,
            error: PacingError::default(),
            late_sum: 0.0,
        }
    }

    /// When the next frame, recorded at `recorded_ns`, is due. Each frame is asked for once.
    pub fn next(&mut self, recorded_ns: u64) -> Nanos {
        let before = self.recorded.unwrap_or(recorded_ns);
        self.recorded = Some(before.max(recorded_ns));
        let Speed::Times(times) = self.speed else {
            return self.due;
        };
        let apart = recorded_ns.saturating_sub(before);
        let scaled = apart as f64 / times + self.fraction;
        self.fraction = scaled.fract();
        // One is exact also where a float is not: 104 days apart.
        let whole = if times == 1.0 { apart } else { scaled as u64 };
        self.due = self.due.after(whole);
        self.due
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
        self.recorded = Some(0);
        self.next(gap_ns);
        self.recorded = None;
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

    #[test]
    fn times_that_run_backwards_overtake_nothing() {
        assert_eq!(due(Speed::Times(1.0), &[100, 40, 90, 110]), [0, 0, 0, 10]);
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
