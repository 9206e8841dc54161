//! What a search is given.

use std::time::Duration;

use super::goal::{Goal, GoalError};

/// Why no load above the largest is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadLimit {
    /// The link carries no more.
    LineRate,
    /// The sender sends no more.
    Sender,
    /// Somebody asked for no more.
    Asked,
}

/// Goals and limits of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchPlan {
    /// What is searched for, at once: a trial counts for each goal.
    pub goals: Vec<Goal>,
    /// The smallest load tried, frames a second in each direction.
    pub load_min: u64,
    /// The largest.
    pub load_max: u64,
    /// Why no more than that.
    pub limit: LoadLimit,
    /// After so many trials the search ends, settled or not.
    pub trials_max: usize,
    /// Shares of the first goal's rate, in percent, at which latency is measured.
    pub latency_at: Vec<u64>,
}

impl SearchPlan {
    /// A plan without limits but those of the sender.
    #[must_use]
    pub fn new(goals: Vec<Goal>, load_max: u64, limit: LoadLimit) -> Self {
        Self {
            goals,
            load_min: 1,
            load_max,
            limit,
            trials_max: 400,
            latency_at: vec![10, 50, 90, 100],
        }
    }

    /// Refuses what has no answer, and puts the goals in order, the smallest loss first.
    pub(super) fn checked(mut self) -> Result<Self, GoalError> {
        let refuse = |sentence: &str| Err(GoalError(sentence.to_owned()));
        if self.goals.is_empty() {
            return refuse("a search needs a goal: give a loss ratio");
        }
        for goal in &self.goals {
            goal.check()?;
        }
        if self.load_min == 0 || self.load_min > self.load_max {
            return Err(GoalError(format!(
                "there is no load from {} to {} frames/s: raise the largest or lower the smallest",
                self.load_min, self.load_max
            )));
        }
        self.goals.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        self.goals.dedup_by(|a, b| a.loss == b.loss);
        Ok(self)
    }

    /// Duration of the trials at the largest load.
    pub(super) fn overload_trial(&self) -> Duration {
        let middle = |goal: &Goal| {
            let stages = goal.stages();
            stages[stages.len() / 2].trial
        };
        let trials = self.goals.iter().map(middle);
        trials.max().unwrap_or_default()
    }
}
