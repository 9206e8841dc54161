//! What is searched for: a loss that may be, and how sure the answer has to be.

use std::fmt;
use std::time::Duration;

/// Trials of a first stage take this share of a full one at least.
const SHORTEST: Duration = Duration::from_millis(20);
/// Stages before the last: each has trials as long and intervals as narrow as the geometric mean
/// of its neighbours, so that no stage undoes much of what the one before it found.
const STAGES_BEFORE: u32 = 2;
/// The interval of a stage is this many times as wide as that of the next.
const WIDENING: f64 = 2.0;

/// One rate to be found, after the Search Goal of RFC 9971 (MLRsearch), section 4.
///
/// The rate is a *lower bound*: so many trials of full duration lost no more than `loss` that at
/// most the share `exceed` of `duration_sum` could have lost more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The share of frames that may be lost; 0 is the throughput of RFC 2544, section 26.1, the
    /// no-drop rate.
    pub loss: f64,
    /// Duration of a full trial.
    pub trial: Duration,
    /// Duration of all full trials at one load that are wanted before it is judged.
    pub duration_sum: Duration,
    /// The share of that duration in which more may be lost: noise that does not decide.
    pub exceed: f64,
    /// Distance of lower and upper bound, as a share of the upper one: the stated precision.
    pub width: f64,
    /// Duration of the first, short trials.
    pub first_trial: Duration,
}

/// A goal that cannot be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalError(pub String);

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GoalError {}

impl Goal {
    /// A goal of this loss with trials of this duration: five at a load, of which one may be
    /// noise, and bounds within `width`.
    #[must_use]
    pub fn new(loss: f64, trial: Duration, width: f64) -> Self {
        Self {
            loss,
            trial,
            duration_sum: trial * 5,
            exceed: 0.2,
            width,
            first_trial: (trial / 10).max(SHORTEST).min(trial),
        }
    }

    /// Refuses what has no answer.
    ///
    /// # Errors
    /// A share is outside of its range, or a duration is zero or in the wrong order.
    pub fn check(&self) -> Result<(), GoalError> {
        let refuse = |sentence: String| Err(GoalError(sentence));
        let share = |value: f64| value.is_finite() && (0.0..1.0).contains(&value);
        if !share(self.loss) {
            return refuse(format!(
                "a loss ratio of {} cannot be searched for: give 0 or more and less than 100 %",
                self.loss
            ));
        }
        if !share(self.exceed) {
            return refuse(format!(
                "an exceed ratio of {} cannot be kept: give 0 or more and less than 100 %",
                self.exceed
            ));
        }
        if !(0.0001..=0.5).contains(&self.width) {
            return refuse(format!(
                "a precision of {} is out of reach: give 0.01 % to 50 %",
                self.width
            ));
        }
        let ordered = self.first_trial <= self.trial && self.trial <= self.duration_sum;
        if self.first_trial.is_zero() || !ordered {
            return refuse(
                "trials need some time, the first no more than the last, and the last no more \
                 than all trials at one load together"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// What is asked for before a sought rate is settled, coarse and short first.
    pub(super) fn stages(&self) -> Vec<Stage> {
        let last = Stage {
            trial: self.trial,
            sum: self.duration_sum,
            width: self.width,
        };
        let mut stages: Vec<Stage> = (0..STAGES_BEFORE)
            .map(|place| {
                let trial = self.between(place);
                let width = self.width * WIDENING.powi((STAGES_BEFORE - place) as i32);
                Stage {
                    trial,
                    sum: trial,
                    width: width.min(0.5),
                }
            })
            .collect();
        // Where the first trial is as long as the last, stages before it would only repeat it.
        stages.retain(|stage| stage.trial < self.trial);
        stages.push(last);
        stages
    }

    /// Duration of the trials of an early stage: spread by their logarithm.
    fn between(&self, place: u32) -> Duration {
        let share = f64::from(place) / f64::from(STAGES_BEFORE);
        let (first, last) = (self.first_trial.as_secs_f64(), self.trial.as_secs_f64());
        Duration::from_secs_f64(first * (last / first).powf(share))
    }
}

/// One step towards a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stage {
    pub(super) trial: Duration,
    pub(super) sum: Duration,
    pub(super) width: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_grow_in_duration_and_shrink_in_width() {
        let goal = Goal::new(0.0, Duration::from_secs(1), 0.005);
        goal.check().expect("sound");
        let stages = goal.stages();
        assert_eq!(stages.len(), 3);
        assert!(stages.is_sorted_by(|a, b| a.trial < b.trial && a.width > b.width));
        assert_eq!(stages[0].trial, Duration::from_millis(100));
        assert_eq!(stages[2].sum, Duration::from_secs(5));
        let one = Goal {
            first_trial: goal.trial,
            ..goal
        };
        assert_eq!(one.stages().len(), 1);
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        let goal = Goal::new(0.0, Duration::from_secs(1), 0.005);
        let wrong = [
            Goal { loss: 1.0, ..goal },
            Goal {
                loss: f64::NAN,
                ..goal
            },
            Goal {
                exceed: -0.1,
                ..goal
            },
            Goal { width: 0.0, ..goal },
            Goal {
                duration_sum: Duration::ZERO,
                ..goal
            },
            Goal {
                first_trial: Duration::from_secs(2),
                ..goal
            },
        ];
        for goal in wrong {
            assert!(goal.check().is_err(), "{goal:?}");
        }
    }
}
