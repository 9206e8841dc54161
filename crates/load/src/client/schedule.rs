//! When requests are due.

use frame::Nanos;
use traffic::Random;

use super::Pace;

/// When requests are due.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// How many in which time.
    pub pace: Pace,
    /// Times are random and independent of each other (Poisson), instead of at equal distances.
    pub is_random: bool,
}

impl Arrivals {
    /// At equal distances, where it is by rates.
    #[must_use]
    pub const fn even(pace: Pace) -> Self {
        Self {
            pace,
            is_random: false,
        }
    }
}

/// The part of a schedule that one of several workers has: every n-th time, and of random times
/// a share of its own.
#[derive(Clone, Debug)]
pub struct Schedule {
    arrivals: Arrivals,
    start: Nanos,
    /// So many requests of the whole schedule are due before the next. Nothing is added up where
    /// times are not random, so no error grows.
    position: f64,
    /// Workers that share it.
    workers: u64,
    random: Random,
    /// None behind the end.
    next: Option<Nanos>,
    /// Times that are left, where they are limited.
    left: Option<u64>,
}

/// Which part of a schedule is made.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Number of the worker.
    pub worker: u64,
    /// How many there are.
    pub workers: u64,
    /// Random times are those of this seed.
    pub seed: u64,
}

impl Schedule {
    /// A schedule from `start` on.
    #[must_use]
    pub fn new(arrivals: Arrivals, start: Nanos, part: Part) -> Self {
        let mut schedule = Self {
            position: part.worker as f64,
            arrivals,
            start,
            workers: part.workers,
            random: Random::new(part.seed, part.worker),
            next: None,
            left: None,
        };
        if schedule.arrivals.is_random {
            schedule.position = schedule.gap();
        }
        schedule.find();
        schedule
    }

    /// The same with at most `count` times.
    #[must_use]
    pub fn limited(self, count: u64) -> Self {
        Self {
            left: Some(count),
            ..self
        }
    }

    /// The next time, which [`Self::advance`] takes.
    #[must_use]
    pub fn next(&self) -> Option<Nanos> {
        self.next.filter(|_| self.left != Some(0))
    }

    /// Goes on to the time after the next.
    pub fn advance(&mut self) {
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.position += match self.arrivals.is_random {
            true => self.gap(),
            false => self.workers as f64,
        };
        self.find();
    }

    fn find(&mut self) {
        let time = self.arrivals.pace.time_of(self.position);
        self.next = time.map(|time| self.start.after(time.0));
    }

    /// Takes all times before `end`; how many there were.
    pub fn take_until(&mut self, end: Nanos) -> u64 {
        let mut count = 0;
        while self.next().is_some_and(|next| next < end) {
            self.advance();
            count += 1;
        }
        count
    }

    /// Exponential, with the mean that this worker's share of all requests has.
    fn gap(&mut self) -> f64 {
        // 53 random bits and a half: above zero and below one.
        let share = ((self.random.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        -share.ln() * self.workers as f64
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Rates;
    use super::*;

    fn constant(rate: f64) -> Arrivals {
        Arrivals::even(Pace::Rates(Rates::constant(rate)))
    }

    fn poisson(rate: f64) -> Arrivals {
        Arrivals {
            is_random: true,
            ..constant(rate)
        }
    }

    fn part(worker: u64, workers: u64) -> Part {
        Part {
            worker,
            workers,
            seed: 7,
        }
    }

    fn times(arrivals: &Arrivals, workers: u64, end: u64) -> Vec<u64> {
        let mut times = Vec::new();
        for worker in 0..workers {
            let mut schedule = Schedule::new(arrivals.clone(), Nanos(5), part(worker, workers));
            while let Some(next) = schedule.next().filter(|next| next.0 < end + 5) {
                times.push(next.0 - 5);
                schedule.advance();
            }
        }
        times.sort_unstable();
        times
    }

    #[test]
    fn workers_share_equal_distances() {
        for workers in [1, 2, 3, 7] {
            let times = times(&constant(1000.0), workers, 1_000_000_000);
            let expected: Vec<u64> = (0..1000).map(|index| index * 1_000_000).collect();
            let near = times
                .iter()
                .zip(&expected)
                .all(|(a, b)| a.abs_diff(*b) <= 1);
            assert!(
                near && times.len() == 1000,
                "{workers} workers: {}",
                times.len()
            );
        }
    }

    #[test]
    fn random_times_have_the_rate_and_the_spread_of_their_kind() {
        for workers in [1, 4] {
            let times = times(&poisson(10_000.0), workers, 10_000_000_000);
            // Five standard deviations of a count of 100,000.
            assert!(times.len().abs_diff(100_000) < 1_600, "{}", times.len());
            let gaps: Vec<f64> = times
                .windows(2)
                .map(|two| (two[1] - two[0]) as f64)
                .collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let above = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
            // Of exponential gaps, 1/e are longer than their mean.
            assert!((above - 0.3679).abs() < 0.01, "{above}");
        }
    }

    #[test]
    fn changing_rates_count_what_lies_under_their_line() {
        let parse = |text: &str| match text.strip_suffix('s') {
            Some(number) => Ok(Duration::from_secs(number.parse().expect("a number"))),
            None => Err(text.to_owned()),
        };
        for (text, seconds, count) in [
            ("0-100:10s,100", 10, 500),
            ("100-0.5:10s,0.5", 10, 502),
            ("0-100:10s,100", 12, 700),
            ("50-50:10s,50", 4, 200),
            ("100:1s,200:1s,0:5s,300:1s", 20, 600),
            ("100:1s,200:1s", 1, 100),
        ] {
            let pace = Pace::Rates(Rates::parse(text, parse).expect(text));
            let arrivals = Arrivals::even(pace);
            for workers in [1, 3] {
                let times = times(&arrivals, workers, seconds * 1_000_000_000);
                assert!(times.len().abs_diff(count) <= 1, "{text}: {}", times.len());
            }
            let random = Arrivals {
                is_random: true,
                ..arrivals
            };
            // Five standard deviations.
            let random = times(&random, 2, seconds * 1_000_000_000).len();
            let most = 5.0 * (count as f64).sqrt();
            assert!(random.abs_diff(count) as f64 <= most, "{text}: {random}");
        }
    }

    #[test]
    fn recorded_times_are_shared_and_end() {
        let recorded: Vec<u64> = vec![0, 3, 3, 10, 1000];
        let pace = Pace::Replay(recorded.iter().map(|time| Nanos(*time)).collect());
        for workers in [1, 2, 7] {
            let times = times(&Arrivals::even(pace.clone()), workers, 5000);
            assert_eq!(times, recorded, "{workers} workers");
        }
    }

    #[test]
    fn a_limited_schedule_ends() {
        let whole = Schedule::new(constant(100.0), Nanos(0), part(0, 1));
        assert_eq!(whole.clone().limited(7).take_until(Nanos(u64::MAX)), 7);
        assert_eq!(whole.clone().limited(7).take_until(Nanos(50_000_000)), 5);
        assert_eq!(whole.limited(0).next(), None);
    }
}
