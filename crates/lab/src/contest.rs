//! Variants that bring their own measurement, in groups that fit memory one after the other.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, DispatchSettings, IdleMode, Limits, Plan};
use frame::CpuId;
use plane::Policy;
use port::Port;
use table::CompiledLists;

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

/// The first two CPUs allowed; else what an experiment that needs two workers says instead.
pub(crate) fn two_cpus() -> Result<Vec<CpuId>, Box<Outcome>> {
    let mut cpus = engine::allowed_cpus();
    cpus.truncate(2);
    if cpus.len() == 2 {
        return Ok(cpus);
    }
    Err(Box::new(Outcome {
        skipped: vec!["all of it: two workers need two CPUs".to_owned()],
        ..Outcome::default()
    }))
}

/// Room for a frame of 1,514 bytes, its record and headroom.
pub(crate) const STRIDE_BYTES: u32 = 2112;

/// Workers on these CPUs between these ports, without sets, that never sleep.
pub(crate) fn plain_plan(ports: Vec<Box<dyn Port>>, cpus: Vec<CpuId>) -> Result<Plan, LabError> {
    Ok(Plan {
        ports,
        policy: Policy::new(Vec::new()).map_err(refused)?,
        lists: Arc::new(CompiledLists::compile(&[]).map_err(refused)?),
        cpus,
        burst: DEFAULT_BURST,
        stride_bytes: STRIDE_BYTES,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: DispatchSettings::default(),
        idle: IdleMode::Spin,
        limits: Limits::default(),
    })
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
            wire: None,
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

/// Things done between two looks at the clock: 10 us or more, against 50 ns that a look takes.
const STEP: usize = 1 << 12;

/// Things a second of `work`, which does as many as it is told, for at least as long as `wanted`.
/// First it does `warm` untimed, or what it can in [`WARM`]: the variants before have taken the
/// caches.
pub(crate) fn rate(wanted: Duration, warm: usize, mut work: impl FnMut(usize)) -> f64 {
    let begun = Instant::now();
    for _ in 0..warm.div_ceil(STEP) {
        work(STEP);
        if begun.elapsed() > WARM {
            break;
        }
    }
    let begun = Instant::now();
    let mut count = 0;
    loop {
        work(STEP);
        count += STEP;
        let taken = begun.elapsed();
        if taken >= wanted {
            return count as f64 / taken.as_secs_f64();
        }
    }
}

/// The better of two halves of a trial. Limits are the better of two methods, each with half the
/// time of a trial: what is held against them must have as many chances to meet a moment in which
/// nobody else's work slows it.
pub(crate) fn better_half(mut half: impl FnMut(usize) -> f64) -> f64 {
    half(0).max(half(1))
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
            wire: None,
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
        assert!(told.iter().all(|(done, all)| done <= all), "{told:?}");
        assert!(
            told.last().is_some_and(|(done, all)| done == all),
            "{told:?}"
        );
    }

    #[test]
    fn trials_last_as_long_as_wanted() {
        let mut counts = Vec::new();
        let wanted = Duration::from_millis(2);
        let begun = Instant::now();
        let found = rate(wanted, 5000, |count| counts.push(count));
        assert!(begun.elapsed() >= wanted);
        assert!(counts.len() >= 3 && counts.iter().all(|&count| count == STEP));
        assert!(found <= ((counts.len() - 2) * STEP) as f64 / wanted.as_secs_f64());
    }
}
