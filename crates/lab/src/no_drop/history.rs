//! Every trial of a search, by load.

use std::collections::BTreeMap;

use super::evidence::{Class, classify};
use super::goal::{Goal, Stage};
use super::trial::{Purpose, Trial};

/// The trials done so far, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    trials: Vec<Trial>,
    by_load: BTreeMap<u64, Vec<usize>>,
    /// From these loads on, trials before the number beside them count no longer.
    void: Vec<(u64, usize)>,
}

/// The tightest bounds of a goal: RFC 9971's Relevant Lower Bound and Relevant Upper Bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The largest load that meets the goal and lies below all that miss it.
    pub(super) lower: Option<u64>,
    /// The smallest load that misses it.
    pub(super) upper: Option<u64>,
}

impl Bounds {
    /// Distance of the bounds as a share of the upper one; none where one is missing.
    pub(super) fn width(&self) -> Option<f64> {
        let (lower, upper) = (self.lower?, self.upper?);
        Some((upper - lower) as f64 / upper as f64)
    }
}

impl History {
    pub(super) fn push(&mut self, trial: Trial) {
        let place = self.trials.len();
        self.by_load.entry(trial.plan.load).or_default().push(place);
        self.trials.push(trial);
    }

    pub(super) fn len(&self) -> usize {
        self.trials.len()
    }

    pub(super) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    pub(super) fn into_trials(self) -> Vec<Trial> {
        self.trials
    }

    /// Trials at a load, in their order, those before `from` left out.
    pub(super) fn at(&self, load: u64, from: usize) -> impl Iterator<Item = &Trial> {
        let places = self.by_load.get(&load).map_or(&[][..], Vec::as_slice);
        let fresh = places.iter().filter(move |&&place| place >= from);
        fresh.map(|&place| &self.trials[place])
    }

    /// What was seen at this load and above it counts no longer: later trials, further up, showed
    /// that it was a disturbance. The next search tries them again.
    pub(super) fn void_from(&mut self, load: u64, before: usize) {
        self.void.push((load, before));
    }

    pub(super) fn class(&self, load: u64, goal: &Goal, stage: &Stage) -> Class {
        let void = self.void.iter().filter(|(from, _)| load >= *from);
        let from = void.map(|&(_, before)| before).max();
        classify(self.at(load, from.unwrap_or(0)), goal, stage)
    }

    /// Loads and what is said of them, the smallest first.
    pub(super) fn classes(&self, goal: &Goal, stage: &Stage) -> Vec<(u64, Class)> {
        let loads = self.by_load.keys().copied();
        loads
            .map(|load| (load, self.class(load, goal, stage)))
            .collect()
    }

    pub(super) fn bounds(&self, goal: &Goal, stage: &Stage) -> Bounds {
        let classes = self.classes(goal, stage);
        let upper = classes.iter().find(|(_, class)| *class == Class::Upper);
        let upper = upper.map(|&(load, _)| load);
        let below = |load: u64| upper.is_none_or(|upper| load < upper);
        let lower = classes
            .iter()
            .rev()
            .find(|&&(load, class)| class == Class::Lower && below(load));
        Bounds {
            lower: lower.map(|&(load, _)| load),
            upper,
        }
    }

    /// Trials of one purpose that really offered this load.
    pub(super) fn of(&self, purpose: Purpose, load: u64) -> impl Iterator<Item = &Trial> {
        let wanted = move |trial: &&Trial| trial.purpose == purpose && trial.verified;
        self.at(load, 0).filter(wanted)
    }

    /// How many of the last trials, one after the other, were at this load and could not be sent.
    pub(super) fn unsent_in_a_row(&self, load: u64) -> usize {
        let unsent = |trial: &&Trial| trial.plan.load == load && !trial.verified;
        self.trials.iter().rev().take_while(unsent).count()
    }
}
