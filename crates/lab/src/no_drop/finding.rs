//! What a search found, how sure it is, and why it refuses where it does.

use engine::Ledger;

use super::evidence::conditional_throughput;
use super::goal::Goal;
use super::history::{Bounds, History};
use super::plan::LoadLimit;
use super::reason::Reason;
use super::search::Search;
use super::stability;
use super::trial::{Latency, Trial};

/// What may be said of one goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rate is the device's, within the precision.
    Found,
    /// The device meets the goal at the largest load there was: its own limit lies above.
    AtLeast(LoadLimit),
    /// It misses the goal at the smallest load.
    NeverMet,
    /// The device is not stable: bounds are shown and no rate is claimed.
    Unstable,
    /// The search ended before it was settled.
    Unsettled,
}

impl Verdict {
    /// One word for it, in JSON too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::AtLeast(LoadLimit::LineRate) => "line_rate",
            Self::AtLeast(LoadLimit::Sender) => "sender_limited",
            Self::AtLeast(LoadLimit::Asked) => "at_least",
            Self::NeverMet => "never_met",
            Self::Unstable => "unstable",
            Self::Unsettled => "unsettled",
        }
    }

    /// Whether it comes with a rate that may be quoted.
    #[must_use]
    pub const fn is_sound(self) -> bool {
        matches!(self, Self::Found | Self::AtLeast(_))
    }
}

/// What was found of one goal.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalFinding {
    /// The goal.
    pub goal: Goal,
    /// The rate: the largest load that meets it below all that miss it, frames a second in each
    /// direction.
    pub lower: Option<u64>,
    /// The smallest load that misses it.
    pub upper: Option<u64>,
    /// The rate times the share that arrived in the worst trial that counts.
    pub conditional_throughput: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
    /// By how much full trials contradict each other: from the smallest load at which one missed
    /// the goal to the largest at which one met it, as a share; 0 where none does.
    pub noise: f64,
}

impl GoalFinding {
    /// Distance of the bounds as a share of the upper one.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        let (lower, upper) = (self.lower, self.upper);
        Bounds { lower, upper }.width()
    }
}

/// Latency at a share of the rate found.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyPoint {
    /// Percent of the first goal's rate.
    pub percent: u64,
    /// Frames a second in each direction.
    pub load: u64,
    /// Where it was measured.
    pub latency: Option<Latency>,
    /// The share of frames that was lost meanwhile.
    pub loss: f64,
}

/// All that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// In order of their loss.
    pub goals: Vec<GoalFinding>,
    /// Latency at shares of the first goal's rate.
    pub latencies: Vec<LatencyPoint>,
    /// Why no rate is claimed.
    pub reason: Option<Reason>,
    /// How far apart the forwarding rates at the largest load were before and after, as a share;
    /// none where that was not measured.
    pub drift: Option<f64>,
    /// The largest load, and why there was none above it.
    pub load_max: (u64, LoadLimit),
    /// Trials that could not be sent as planned and were not counted.
    pub unsent: usize,
    /// How much the sender's own limit moved between trials, as a share; 0 where it was not met.
    pub sender_noise: f64,
    /// The device held this share of a full trial's frames, at the rate found, when sending
    /// ended: a queue that filled, and would overflow in a longer trial.
    pub held: Option<f64>,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
}

impl Finding {
    pub(super) fn of(mut search: Search) -> Self {
        let bounds = search.bounds_of_all();
        if search.reason.is_none() {
            search.reason = stability::sign(&search, &bounds);
        }
        let goals = search.plan.goals.iter().zip(&bounds);
        let goals: Vec<GoalFinding> = goals
            .map(|(goal, bounds)| goal_finding(&search, goal, *bounds))
            .collect();
        let held = goals.first().and_then(|found| held(&search.history, found));
        let unsent = search.history.trials().iter();
        Self {
            goals,
            held,
            reason: search.reason,
            drift: stability::drift(&search),
            load_max: (search.plan.load_max, search.plan.limit),
            unsent: unsent.filter(|trial| !trial.verified).count(),
            sender_noise: stability::sender_noise(&search.history, search.plan.overload_trial()),
            latencies: search.latencies,
            trials: search.history.into_trials(),
        }
    }

    /// The largest figure of how much this device, or what it runs on, contradicts itself.
    #[must_use]
    pub fn noise(&self) -> f64 {
        let inverted = match self.reason {
            Some(Reason::Inversion { missed, met, .. }) => (met - missed) as f64 / met as f64,
            Some(Reason::Wandering { least, most }) => (most - least) / most,
            _ => 0.0,
        };
        let sender = match (self.reason, self.load_max.1) {
            (Some(Reason::SenderChanged { .. }), _) | (_, LoadLimit::Sender) => self.sender_noise,
            _ => 0.0,
        };
        let goals = self.goals.iter().map(|goal| goal.noise.max(sender));
        goals.fold(inverted.max(self.drift.unwrap_or(0.0)), f64::max)
    }

    /// The ledgers of the trials that count, those that were sent as planned, as one; none where
    /// nobody counts.
    #[must_use]
    pub fn ledger(&self) -> Option<Ledger> {
        let counted = self.trials.iter().filter(|trial| trial.verified);
        let ledgers = counted.filter_map(|trial| trial.outcome.ledger.as_ref());
        ledgers.fold(None, |sum: Option<Ledger>, one| {
            let mut sum = sum.unwrap_or_default();
            sum.add_up(one);
            Some(sum)
        })
    }

    /// Trials whose ledger does not close, those that do not count among them.
    #[must_use]
    pub fn open_ledgers(&self) -> usize {
        let ledgers = self
            .trials
            .iter()
            .filter_map(|trial| trial.outcome.ledger.as_ref());
        ledgers.filter(|ledger| !ledger.closes()).count()
    }

    /// Whether every goal has a rate that may be quoted.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.goals.iter().all(|goal| goal.verdict.is_sound())
    }
}

fn goal_finding(search: &Search, goal: &Goal, bounds: Bounds) -> GoalFinding {
    let conditional = bounds.lower.and_then(|load| {
        let trials: Vec<&Trial> = search.history.at(load, 0).collect();
        conditional_throughput(&trials, goal, load)
    });
    GoalFinding {
        goal: *goal,
        lower: bounds.lower,
        upper: bounds.upper,
        conditional_throughput: conditional,
        verdict: verdict(search, goal, bounds),
        noise: stability::noise(&search.history, goal),
    }
}

fn verdict(search: &Search, goal: &Goal, bounds: Bounds) -> Verdict {
    let settled = bounds.width().is_some_and(|width| {
        let neighbours = bounds.upper == bounds.lower.map(|lower| lower + 1);
        width <= goal.width || neighbours
    });
    let most = search.plan.load_max;
    match (search.reason, bounds.lower, bounds.upper) {
        (Some(reason), ..) if reason.is_unstable() => Verdict::Unstable,
        (Some(_), ..) => Verdict::Unsettled,
        _ if settled => Verdict::Found,
        (None, Some(lower), _) if lower >= most => Verdict::AtLeast(search.plan.limit),
        (None, None, Some(_)) => Verdict::NeverMet,
        _ => Verdict::Unsettled,
    }
}

/// The share of the frames of the full trials at the rate that were still held at their end; the
/// median of those trials.
fn held(history: &History, found: &GoalFinding) -> Option<f64> {
    let lower = found.lower?;
    let full = stability::full_trials(history, &found.goal).filter(|t| t.plan.load == lower);
    let mut shares: Vec<f64> = full
        .filter_map(|trial| Some(trial.outcome.held? as f64 / trial.outcome.sent().max(1) as f64))
        .collect();
    shares.sort_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied()
}
