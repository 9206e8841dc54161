//! Whether what was searched holds still: signs that it does not, each with its own measure.

use std::time::Duration;

use super::evidence::Class;
use super::goal::Goal;
use super::history::{Bounds, History};
use super::reason::Reason;
use super::search::{Search, last_stage};
use super::trial::{Purpose, Trial};

/// The rate moved by so many times what the trials of one moment differ among themselves.
const DRIFT_CLEAR: f64 = 2.0;

/// The first sign that it does not.
pub(super) fn sign(search: &Search, bounds: &[Bounds]) -> Option<Reason> {
    let (before, after) = overloads(search);
    inversion(search)
        .or_else(|| Drift::between(&before, &after)?.reason(search))
        .or_else(|| blurred(search, bounds))
        .or_else(|| scattered(search))
        .or_else(|| wandering(search, &before, &after))
}

/// How far apart the forwarding rates at the largest load were before and after, as a share.
pub(super) fn drift(search: &Search) -> Option<f64> {
    let (before, after) = overloads(search);
    Some(Drift::between(&before, &after)?.share())
}

fn overloads(search: &Search) -> (Vec<f64>, Vec<f64>) {
    let of = |purpose| rates(&search.history, purpose, search.overload);
    (of(Purpose::Overload), of(Purpose::Again))
}

/// How much the sender's own limit moved, as a share: from the slowest trial of this duration or
/// more that could not be sent as planned, to the fastest of them or the largest load that could
/// be sent. 0 where all could.
pub(super) fn sender_noise(history: &History, least: Duration) -> f64 {
    let long = history.trials().iter();
    let long = long.filter(|trial| trial.plan.duration >= least);
    let (sent, unsent): (Vec<&Trial>, Vec<&Trial>) = long.partition(|trial| trial.verified);
    let slowest = unsent
        .iter()
        .map(|trial| trial.outcome.offered(&trial.plan));
    let slowest = slowest.fold(f64::INFINITY, f64::min);
    let planned = sent.iter().map(|trial| trial.plan.load as f64);
    let all = unsent
        .iter()
        .map(|trial| trial.outcome.offered(&trial.plan));
    let fastest = all.chain(planned).fold(0.0, f64::max);
    if slowest < fastest {
        (fastest - slowest) / fastest
    } else {
        0.0
    }
}

/// From the smallest load at which a full trial missed the goal to the largest where one met it.
pub(super) fn noise(history: &History, goal: &Goal) -> f64 {
    let pair = contradiction(history, goal, false);
    pair.map_or(0.0, |(missed, met)| (met - missed) as f64 / met as f64)
}

/// The smallest load at which a full trial missed the goal, and the largest at which one met it,
/// where that is more. With `but_one` the trial whose absence brings them closest is left out, as
/// far as the goal allows for noise at all.
fn contradiction(history: &History, goal: &Goal, but_one: bool) -> Option<(u64, u64)> {
    let loads = |met: bool| {
        let full = full_trials(history, goal);
        let of = full.filter(move |trial| (trial.outcome.loss() <= goal.loss) == met);
        let mut loads: Vec<u64> = of.map(|trial| trial.plan.load).collect();
        loads.sort_unstable();
        loads
    };
    let (missed, mut met) = (loads(false), loads(true));
    met.reverse();
    let spare = usize::from(but_one && goal.exceed > 0.0);
    let pairs = [(spare, 0), (0, spare)].map(|(skip_missed, skip_met)| {
        let (missed, met) = (*missed.get(skip_missed)?, *met.get(skip_met)?);
        (missed < met).then_some((missed, met))
    });
    let apart = |pair: &Option<(u64, u64)>| pair.map_or(0, |(missed, met)| met - missed);
    pairs.into_iter().min_by_key(apart)?
}

/// Loads that are classified the wrong way round, by more than the goal's width.
fn inversion(search: &Search) -> Option<Reason> {
    search.plan.goals.iter().find_map(|goal| {
        let classes = search.history.classes(goal, &last_stage(goal));
        let of = |class: Class| {
            let loads = classes.iter().filter(move |(_, found)| *found == class);
            loads.map(|&(load, _)| load)
        };
        let (missed, met) = (of(Class::Upper).min()?, of(Class::Lower).max()?);
        let apart = met.saturating_sub(missed) as f64 / met as f64;
        (apart > goal.width).then_some(Reason::Inversion {
            loss: goal.loss,
            missed,
            met,
        })
    })
}

/// Full trials up to the rate should meet the goal, and those a width beyond the upper bound miss
/// it, but for the share that the exceed ratio leaves to noise. Between the bounds, and as far
/// again, lies the device's own limit, where either is right.
fn blurred(search: &Search, bounds: &[Bounds]) -> Option<Reason> {
    let goals = search.plan.goals.iter().zip(bounds);
    goals.into_iter().find_map(|(goal, bounds)| {
        let side = |bound: Option<u64>, met: bool| {
            let bound = if met {
                bound?
            } else {
                (bound? as f64 * (1.0 + goal.width)) as u64
            };
            let within = |load: u64| if met { load <= bound } else { load >= bound };
            let all = full_trials(&search.history, goal).filter(|t| within(t.plan.load));
            let agrees = |trial: &&Trial| (trial.outcome.loss() <= goal.loss) == met;
            let (agree, differ): (Vec<_>, Vec<_>) = all.partition(agrees);
            let (against, trials) = (differ.len(), agree.len() + differ.len());
            let beyond = against as f64 > goal.exceed * trials as f64;
            beyond.then_some(Reason::Blurred {
                loss: goal.loss,
                bound,
                against,
                trials,
            })
        };
        side(bounds.lower, true).or_else(|| side(bounds.upper, false))
    })
}

/// Trials of full duration that were sent as planned.
pub(super) fn full_trials<'a>(
    history: &'a History,
    goal: &'a Goal,
) -> impl Iterator<Item = &'a Trial> {
    let full = |trial: &&Trial| trial.verified && trial.plan.duration >= goal.trial;
    history.trials().iter().filter(full)
}

/// Full trials contradict each other over more than twice the width, even when the one that does
/// so most is left out.
fn scattered(search: &Search) -> Option<Reason> {
    search.plan.goals.iter().find_map(|goal| {
        let (missed, met) = contradiction(&search.history, goal, true)?;
        let apart = (met - missed) as f64 / met as f64;
        (apart > 2.0 * goal.width).then_some(Reason::Scattered {
            loss: goal.loss,
            missed,
            met,
        })
    })
}

/// Two signs together: a device may well be uneven where it is overloaded and sharp at its rate.
fn wandering(search: &Search, before: &[f64], after: &[f64]) -> Option<Reason> {
    let mut all = [before, after].concat();
    all.sort_by(f64::total_cmp);
    // One of them may be an outlier, at either end.
    let ends = [all.get(1..)?, all.get(..all.len() - 1)?];
    let apart = |rates: &&[f64]| rates.last().unwrap_or(&0.0) - rates.first().unwrap_or(&0.0);
    let closer = ends
        .into_iter()
        .min_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let (least, most) = (*closer.first()?, *closer.last()?);
    let goals = &search.plan.goals;
    let uneven = |goal: &Goal| (most - least) / most > 2.0 * goal.width;
    let wide = |goal: &Goal| noise(&search.history, goal) > goal.width;
    let both = goals.iter().any(|goal| uneven(goal) && wide(goal));
    both.then_some(Reason::Wandering { least, most })
}

fn rates(history: &History, purpose: Purpose, load: u64) -> Vec<f64> {
    let trials = history.of(purpose, load);
    let mut rates: Vec<f64> = trials.map(|t| t.outcome.forwarded(&t.plan)).collect();
    rates.sort_by(f64::total_cmp);
    rates
}

/// The forwarding rate at the largest load, before and after.
#[derive(Clone, Copy, Debug)]
struct Drift {
    before: f64,
    after: f64,
    /// Largest difference among trials of one moment, as a share.
    spread: f64,
}

impl Drift {
    fn between(before: &[f64], after: &[f64]) -> Option<Self> {
        let middle = |rates: &[f64]| rates.get(rates.len() / 2).copied();
        let spread = |rates: &[f64]| match (rates.first(), rates.last()) {
            (Some(low), Some(high)) if *high > 0.0 => (high - low) / high,
            _ => 0.0,
        };
        Some(Self {
            before: middle(before)?,
            after: middle(after)?,
            spread: spread(before).max(spread(after)),
        })
    }

    fn share(&self) -> f64 {
        let larger = self.before.max(self.after);
        if larger > 0.0 {
            (self.before - self.after).abs() / larger
        } else {
            0.0
        }
    }

    /// It counts as drift where it is larger than the precision and clearly larger than what
    /// trials of one moment differ by.
    fn reason(&self, search: &Search) -> Option<Reason> {
        let widths = search.plan.goals.iter().map(|goal| goal.width);
        let width = widths.fold(0.0, f64::max);
        let clear = self.share() > width.max(DRIFT_CLEAR * self.spread);
        clear.then_some(Reason::Drift {
            before: self.before,
            after: self.after,
        })
    }
}
