//! Bounds once more: tried anew, in turns, and only what is seen now counts.
//!
//! A bound may have been settled by luck, or by a device that has changed since. Turns take care
//! that a drift meanwhile meets both bounds alike. The upper bound is tried one width further up,
//! where a device whose limit lies between the bounds must miss the goal nearly always: if it
//! still meets it now and then, its limit is not known to the precision that was asked for.

use std::time::Duration;

use super::goal::Goal;
use super::history::{Bounds, History};
use super::reason::Shaken;

/// A trial of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) load: u64,
    pub(super) duration: Duration,
}

/// The bounds that are confirmed and where the fresh trials begin.
#[derive(Clone, Debug, Default)]
pub(super) struct Confirmation {
    from: usize,
    load_max: u64,
    bounds: Vec<Bounds>,
}

/// One bound of one goal, and what the fresh trials say of it.
#[derive(Clone, Copy, Debug)]
struct Side {
    load: u64,
    /// Whether the goal should be met here.
    met: bool,
    /// Whether the fresh trials agree; none where more of them are wanted.
    stands: Option<bool>,
    trials: usize,
    missed: usize,
}

impl Confirmation {
    pub(super) fn new(from: usize, load_max: u64, bounds: Vec<Bounds>) -> Self {
        Self {
            from,
            load_max,
            bounds,
        }
    }

    /// The bounds in the order of the goals.
    pub(super) fn bounds(&self) -> &[Bounds] {
        &self.bounds
    }

    /// How many trials were done before.
    pub(super) fn from(&self) -> usize {
        self.from
    }

    /// The bound with the fewest fresh trials of those that are still open.
    pub(super) fn next(&self, history: &History, goals: &[Goal]) -> Option<Turn> {
        let open = self.sides(history, goals);
        let open = open.filter(|(_, side)| side.stands.is_none());
        let next = open.min_by_key(|(_, side)| (side.trials, side.load));
        next.map(|(goal, side)| Turn {
            load: side.load,
            duration: goal.trial,
        })
    }

    /// The first bound that did not stand.
    pub(super) fn shaken(&self, history: &History, goals: &[Goal]) -> Option<Shaken> {
        let mut sides = self.sides(history, goals);
        let (goal, side) = sides.find(|(_, side)| side.stands == Some(false))?;
        Some(Shaken {
            loss: goal.loss,
            load: side.load,
            expected_met: side.met,
            missed: side.missed,
            trials: side.trials,
        })
    }

    fn sides<'a>(
        &'a self,
        history: &'a History,
        goals: &'a [Goal],
    ) -> impl Iterator<Item = (&'a Goal, Side)> {
        goals
            .iter()
            .zip(&self.bounds)
            .flat_map(move |(goal, bounds)| {
                let beyond = |upper: u64| {
                    let load = (upper as f64 * (1.0 + goal.width)).ceil() as u64;
                    load.clamp(upper, self.load_max.max(upper))
                };
                let lower = bounds.lower.map(|load| (load, true));
                let upper = bounds.upper.map(|load| (beyond(load), false));
                let sides = [lower, upper].into_iter().flatten();
                sides.map(move |(load, met)| (goal, self.side(history, goal, load, met)))
            })
    }

    /// As many of the fresh trials as the exceed ratio leaves must say what is expected.
    fn side(&self, history: &History, goal: &Goal, load: u64, met: bool) -> Side {
        let seconds = |trial: &super::Trial| trial.plan.duration.as_secs_f64();
        let (mut agree, mut differ) = (0.0, 0.0);
        let (mut trials, mut missed) = (0, 0);
        for trial in history.at(load, self.from).filter(|trial| trial.verified) {
            let meets = trial.outcome.loss() <= goal.loss;
            trials += 1;
            missed += usize::from(!meets);
            *(if meets == met {
                &mut agree
            } else {
                &mut differ
            }) += seconds(trial);
        }
        let whole = (agree + differ).max(goal.duration_sum.as_secs_f64());
        let allowed = whole * goal.exceed + 1e-9;
        let stands = match (whole - agree <= allowed, differ > allowed) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        Side {
            load,
            met,
            stands,
            trials,
            missed,
        }
    }
}
