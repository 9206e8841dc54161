//! Which load is tried next for one goal in one stage.

use super::evidence::Class;
use super::goal::{Goal, Stage};
use super::history::{Bounds, History};

/// A step that looks for a bound goes this much further than the one before.
const STEP_GROWTH: f64 = 2.0;
/// And never further than this share of the load.
const STEP_MAX: f64 = 0.5;

/// What is known besides the trials of the stage itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Smallest and largest load that may be tried.
    pub(super) loads: (u64, u64),
    /// What the stage before found, in its own terms.
    pub(super) hint: Bounds,
    /// Where to begin when nothing at all is known.
    pub(super) start: u64,
}

/// The next load; none where the stage has what it wants or cannot get it.
pub(super) fn next_load(
    history: &History,
    goal: &Goal,
    stage: &Stage,
    known: &Known,
) -> Option<u64> {
    let bounds = history.bounds(goal, stage);
    let (least, most) = known.loads;
    match (bounds.lower, bounds.upper) {
        (Some(lower), Some(upper)) => between(lower, upper, stage.width),
        (Some(lower), None) if lower >= most => None,
        (Some(lower), None) => {
            let hint = known.hint.upper.filter(|&hint| hint > lower);
            let above = hint.unwrap_or_else(|| above(history, goal, stage, lower));
            Some(above.clamp(lower + 1, most))
        }
        (None, Some(upper)) if upper <= least => None,
        (None, Some(upper)) => {
            let hint = known.hint.lower.filter(|&hint| hint < upper);
            let below = hint.unwrap_or_else(|| below(history, goal, stage, upper));
            Some(below.clamp(least, upper - 1))
        }
        // The smaller load first: a lower bound is what is reported.
        (None, None) => {
            let start = known.hint.lower.unwrap_or(known.start);
            Some(start.clamp(least, most))
        }
    }
}

/// The middle of the bounds by their logarithm; none where they are close enough, or neighbours.
fn between(lower: u64, upper: u64, width: f64) -> Option<u64> {
    if (upper - lower) as f64 <= width * upper as f64 {
        return None;
    }
    let middle = (lower as f64 * upper as f64).sqrt().round() as u64;
    (lower < middle && middle < upper).then_some(middle)
}

/// Beyond the largest lower bound by twice its distance to the one before.
fn above(history: &History, goal: &Goal, stage: &Stage, lower: u64) -> u64 {
    let step = step(history, goal, stage, lower, Class::Lower);
    (lower as f64 * (1.0 + step)).ceil() as u64
}

/// Below the smallest upper bound by twice its distance to the one before.
fn below(history: &History, goal: &Goal, stage: &Stage, upper: u64) -> u64 {
    let step = step(history, goal, stage, upper, Class::Upper);
    (upper as f64 * (1.0 - step)).floor() as u64
}

fn step(history: &History, goal: &Goal, stage: &Stage, at: u64, class: Class) -> f64 {
    let distance = |load: u64| load.abs_diff(at) as f64 / at as f64;
    let others = history.classes(goal, stage).into_iter();
    let nearest = others
        .filter(|&(load, found)| load != at && found == class)
        .filter(|&(load, _)| (load < at) == (class == Class::Lower))
        .map(|(load, _)| distance(load))
        .fold(f64::INFINITY, f64::min);
    let step = if nearest.is_finite() {
        STEP_GROWTH * nearest
    } else {
        0.0
    };
    step.clamp(stage.width, STEP_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_lies_strictly_between() {
        assert_eq!(between(100, 110, 0.2), None);
        assert_eq!(between(100, 121, 0.01), Some(110));
        assert_eq!(between(100, 101, 0.001), None);
        assert_eq!(between(100, 102, 0.001), Some(101));
    }
}
