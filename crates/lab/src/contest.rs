//! Variants that bring their own measurement, in groups that fit memory one after the other.

use std::fmt;
use std::time::{Duration, Instant};

use crate::experiment::{LabError, Row, Settings};
use crate::{Noise, Outcome, Samples, Trial, Value, interleave};

/// What something that could not be had says.
pub(crate) fn refused(error: impl fmt::Display) -> LabError {
    LabError(error.to_string())
}

/// Bytes that an experiment may hold at a time: a quarter of what is free, for the machine has
/// other work too.
pub(crate) fn memory_bytes() -> u64 {
    match engine::Machine::read().memory_available_bytes {
        0 => 1 << 30,
        available => available / 4,
    }
}

/// One variant and how a sample of it is taken.
pub(crate) struct Contestant {
    pub(crate) variant: Vec<(&'static str, Value)>,
    pub(crate) metric: &'static str,
    pub(crate) measure: Box<dyn FnMut(&Trial) -> f64>,
}

/// Groups of contestants: those of a group are interleaved.
pub(crate) struct Contest<'a, 'b> {
    settings: &'a mut Settings<'b>,
    rounds: usize,
    groups: usize,
    done: usize,
    ratios: Samples,
}

impl<'a, 'b> Contest<'a, 'b> {
    /// `rounds` each of `groups`.
    pub(crate) fn new(settings: &'a mut Settings<'b>, rounds: usize, groups: usize) -> Self {
        Self {
            settings,
            rounds,
            groups,
            done: 0,
            ratios: Samples::default(),
        }
    }

    /// Takes the samples of one group and adds its rows to the outcome.
    pub(crate) fn run(&mut self, mut contestants: Vec<Contestant>, outcome: &mut Outcome) {
        let (before, groups) = (self.done, self.groups);
        let tell = &mut *self.settings.progress;
        let mut inner = Settings {
            quick: self.settings.quick,
            seed: self.settings.seed.wrapping_add(self.done as u64),
            progress: &mut |done, all| tell(before * all + done, groups * all),
        };
        let found = interleave(
            &mut inner,
            contestants.len(),
            self.rounds,
            |index, trial| (contestants[index].measure)(trial),
        );
        self.done += 1;
        for ratio in found.noise.ratios.all() {
            self.ratios.push(*ratio);
        }
        let rows = contestants.into_iter().zip(found.samples);
        outcome.rows.extend(rows.map(|(contestant, samples)| Row {
            variant: contestant.variant,
            metric: contestant.metric,
            samples,
        }));
    }

    /// What the null runs of all groups showed.
    pub(crate) fn noise(self) -> Noise {
        Noise {
            ratios: self.ratios,
        }
    }
}

/// The longest that a variant is warmed up before a trial.
pub(crate) const WARM: Duration = Duration::from_millis(30);

/// Sizes trials by the first: a fast variant does more in one, so that each takes about as long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    wanted: Duration,
    count: Option<usize>,
}

impl Pace {
    /// Things done in the first trial.
    const FIRST: usize = 1 << 17;
    /// Things done between two looks at the clock while warming up.
    const WARM_STEP: usize = 1 << 12;

    pub(crate) fn new(wanted: Duration) -> Self {
        Self {
            wanted,
            count: None,
        }
    }

    /// Things a second, of `work`, which does as many as it is told. First it does `warm` untimed,
    /// or what it can in [`WARM`]: the variants before have taken the caches.
    pub(crate) fn rate(&mut self, warm: usize, mut work: impl FnMut(usize)) -> f64 {
        let begun = Instant::now();
        for _ in 0..warm.div_ceil(Self::WARM_STEP) {
            work(Self::WARM_STEP);
            if begun.elapsed() > WARM {
                break;
            }
        }
        let count = self.count.unwrap_or(Self::FIRST);
        let begun = Instant::now();
        work(count);
        let rate = count as f64 / begun.elapsed().as_secs_f64();
        if self.count.is_none() {
            let wanted = rate * self.wanted.as_secs_f64();
            self.count = Some((wanted as usize).clamp(1 << 12, 1 << 22) & !0xfff);
        }
        rate
    }
}

/// `a / b`, round by round.
pub(crate) fn ratios(a: &Row, b: &Row) -> Samples {
    let mut ratios = Samples::default();
    for (a, b) in a.samples.all().iter().zip(b.samples.all()) {
        ratios.push(a / b);
    }
    ratios
}

/// The middle of `a / b`, taken round by round.
pub(crate) fn ratio(a: &Row, b: &Row) -> f64 {
    ratios(a, b).median()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(value: u64) -> Contestant {
        Contestant {
            variant: vec![("value", value.into())],
            metric: "lines_per_second",
            measure: Box::new(move |_| value as f64),
        }
    }

    #[test]
    fn groups_follow_each_other_and_progress_goes_on() {
        let mut told = Vec::new();
        let mut progress = |done, all| told.push((done, all));
        let mut settings = Settings {
            quick: true,
            seed: 1,
            progress: &mut progress,
        };
        let mut outcome = Outcome::default();
        let mut contest = Contest::new(&mut settings, 10, 2);
        contest.run(vec![constant(1), constant(4)], &mut outcome);
        contest.run(vec![constant(3)], &mut outcome);
        assert_eq!(contest.noise().ratios.all(), [1.0; 20]);
        let values: Vec<_> = outcome.rows.iter().map(|row| row.number("value")).collect();
        assert_eq!(values, [Some(1), Some(4), Some(3)]);
        assert_eq!(ratio(&outcome.rows[1], &outcome.rows[0]), 4.0);
        assert_eq!(told.last(), Some(&(20, 20)));
    }

    #[test]
    fn trials_grow_to_the_time_wanted() {
        let mut pace = Pace::new(Duration::from_micros(100));
        let mut counts = Vec::new();
        for _ in 0..2 {
            pace.rate(5000, |count| counts.push(count));
        }
        let step = Pace::WARM_STEP;
        assert_eq!(counts[..3], [step, step, Pace::FIRST]);
        assert_eq!(counts[3..5], [step, step]);
        assert!(counts[5] >= 1 << 12 && counts[5] <= 1 << 22);
    }
}
