//! The search as a state machine: it names a trial, is told what came of it, and names the next.
//! It sends nothing and reads no clock.

use std::time::Duration;

use super::confirm::{Confirmation, Turn};
use super::finding::{Finding, LatencyPoint};
use super::goal::{Goal, GoalError, Stage};
use super::history::{Bounds, History};
use super::plan::{LoadLimit, SearchPlan};
use super::reason::Reason;
use super::select::{Known, next_load};
use super::trial::{Judged, Purpose, Trial, TrialOutcome, TrialPlan};

/// Trials at the largest load, before and after the search.
const OVERLOADS: usize = 3;
/// So many trials in a row that could not be sent show that the sender is the limit, and no
/// passing disturbance of it.
const UNSENT_MAX: usize = 3;
/// How often the sender may turn out slower than before while bounds are tried once more.
const SLOWER_MAX: usize = 4;
/// How often bounds that did not stand a second look are searched for again.
const ROUNDS_MAX: usize = 3;

/// Where a search stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Overload,
    Narrow,
    Confirm,
    Latency,
    Again,
    Done,
}

/// A search for the rates that meet some goals.
#[derive(Clone, Debug)]
pub struct Search {
    pub(super) plan: SearchPlan,
    pub(super) history: History,
    phase: Phase,
    /// The load of the first trials.
    pub(super) overload: u64,
    /// The stage of each goal.
    places: Vec<usize>,
    confirmation: Confirmation,
    /// Bounds that did not stand, a list a round.
    rounds: Vec<Vec<Bounds>>,
    /// How often the sender was slower than before by then.
    slower: usize,
    pub(super) latencies: Vec<LatencyPoint>,
    pub(super) reason: Option<Reason>,
    /// Sending time of the trials of this phase; of the search, of this stage.
    spent: Duration,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Trials done.
    pub trials: usize,
    /// What is done now.
    pub doing: &'static str,
    /// Sending time of the trials that are still to come, if nothing surprises.
    pub left: Duration,
}

impl Search {
    /// A search that has not begun.
    ///
    /// # Errors
    /// A goal or a limit leaves nothing to find.
    pub fn new(plan: SearchPlan) -> Result<Self, GoalError> {
        let plan = plan.checked()?;
        Ok(Self {
            places: vec![0; plan.goals.len()],
            overload: plan.load_max,
            plan,
            history: History::default(),
            phase: Phase::Overload,
            confirmation: Confirmation::default(),
            rounds: Vec::new(),
            slower: 0,
            latencies: Vec::new(),
            reason: None,
            spent: Duration::ZERO,
        })
    }

    /// The next trial; none when all is found, or nothing more can be.
    pub fn next_trial(&mut self) -> Option<TrialPlan> {
        loop {
            if self.history.len() >= self.plan.trials_max && self.phase != Phase::Done {
                self.reason.get_or_insert(Reason::TrialsUsedUp);
                self.phase = Phase::Done;
            }
            let found = match self.phase {
                Phase::Overload | Phase::Again => self.overload_trial(),
                Phase::Narrow => self.narrowing_trial(),
                Phase::Confirm => self.confirming_trial(),
                Phase::Latency => self.latency_trial(),
                Phase::Done => return None,
            };
            match found {
                Some(plan) => return Some(plan),
                None => {
                    self.phase = self.after();
                    self.spent = Duration::ZERO;
                }
            }
        }
    }

    /// Takes the outcome of a trial that [`Search::next_trial`] asked for.
    pub fn record(&mut self, plan: TrialPlan, outcome: TrialOutcome) {
        let verified = self.was_sent(&plan, &outcome);
        self.spent += plan.duration;
        if self.phase == Phase::Latency {
            let percent = self.plan.latency_at[self.latencies.len()];
            self.latencies.push(LatencyPoint {
                percent,
                load: plan.load,
                latency: outcome.latency,
                loss: outcome.loss(),
            });
        }
        self.history.push(Trial {
            plan,
            purpose: self.purpose(),
            outcome,
            verified,
        });
        if self.history.unsent_in_a_row(plan.load) >= UNSENT_MAX {
            self.lower_ceiling(plan.load);
        }
    }

    /// Ends the search: what it would still have tried stays open.
    pub fn interrupt(&mut self) {
        self.reason.get_or_insert(Reason::Interrupted);
        self.phase = Phase::Done;
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            trials: self.history.len(),
            doing: match self.phase {
                Phase::Overload => "first look",
                Phase::Narrow => "searching",
                Phase::Confirm => "confirming",
                Phase::Latency => "latency",
                Phase::Again | Phase::Done => "last look",
            },
            left: self.left(),
        }
    }

    /// What was found; at any time.
    #[must_use]
    pub fn finish(self) -> Finding {
        Finding::of(self)
    }

    fn purpose(&self) -> Purpose {
        match self.phase {
            Phase::Overload => Purpose::Overload,
            Phase::Narrow => Purpose::Search,
            Phase::Confirm => Purpose::Confirm,
            Phase::Latency => Purpose::Latency,
            Phase::Again | Phase::Done => Purpose::Again,
        }
    }

    fn after(&mut self) -> Phase {
        match self.phase {
            Phase::Overload => Phase::Narrow,
            Phase::Narrow => {
                let (done, bounds) = (self.history.len(), self.bounds_of_all());
                self.confirmation = Confirmation::new(done, self.plan.load_max, bounds);
                Phase::Confirm
            }
            Phase::Confirm => self.judged(),
            Phase::Latency => Phase::Again,
            Phase::Again | Phase::Done => Phase::Done,
        }
    }

    /// Bounds that stood go on to the latency; others are looked for again, a few times.
    fn judged(&mut self) -> Phase {
        let Some(shaken) = self.confirmation.shaken(&self.history, &self.plan.goals) else {
            return Phase::Latency;
        };
        self.rounds.push(self.confirmation.bounds().to_vec());
        if !shaken.expected_met {
            let bounds = self.confirmation.bounds().iter();
            let upper = bounds.filter_map(|bounds| bounds.upper).min();
            self.history
                .void_from(upper.unwrap_or(shaken.load), self.confirmation.from());
        }
        if self.rounds.len() >= ROUNDS_MAX {
            if shaken.expected_met && self.rounds_agree() {
                return Phase::Latency;
            }
            self.reason = Some(Reason::Contradiction(shaken));
            return Phase::Again;
        }
        self.narrow_again();
        Phase::Narrow
    }

    /// From the last stage on.
    fn narrow_again(&mut self) {
        let last = |goal: &Goal| goal.stages().len() - 1;
        self.places = self.plan.goals.iter().map(last).collect();
        self.phase = Phase::Narrow;
    }

    /// Whether the bounds of all rounds lie within the precision: then a load was tried that lies
    /// on the device's very limit, and falls now to this side and now to that.
    fn rounds_agree(&self) -> bool {
        let apart = |loads: Vec<u64>| match (loads.iter().min(), loads.iter().max()) {
            (Some(&least), Some(&most)) => (most - least) as f64 / most as f64,
            _ => 0.0,
        };
        let goals = self.plan.goals.iter().enumerate();
        goals.into_iter().all(|(place, goal)| {
            let rounds = || self.rounds.iter().map(|bounds| bounds[place]);
            let lowers = apart(rounds().filter_map(|bounds| bounds.lower).collect());
            let uppers = apart(rounds().filter_map(|bounds| bounds.upper).collect());
            lowers.max(uppers) <= goal.width
        })
    }

    /// The bounds of each goal in its last stage.
    pub(super) fn bounds_of_all(&self) -> Vec<Bounds> {
        let bounds = |goal: &Goal| self.history.bounds(goal, &last_stage(goal));
        self.plan.goals.iter().map(bounds).collect()
    }

    fn overload_trial(&self) -> Option<TrialPlan> {
        let done = self.history.of(self.purpose(), self.overload).count();
        (done < OVERLOADS).then(|| TrialPlan {
            load: self.overload,
            duration: self.plan.overload_trial(),
        })
    }

    /// The goal that is least far along goes first.
    fn narrowing_trial(&mut self) -> Option<TrialPlan> {
        loop {
            let unfinished = |(place, goal): (usize, &Goal)| {
                let left = goal.stages().len() - self.places[place];
                (left > 0).then_some((self.places[place], place))
            };
            let goals = self.plan.goals.iter().enumerate();
            let (_, place) = goals.filter_map(unfinished).min()?;
            let goal = self.plan.goals[place];
            let stage = goal.stages()[self.places[place]];
            if let Some(load) = next_load(&self.history, &goal, &stage, &self.known(place)) {
                return Some(TrialPlan {
                    load,
                    duration: stage.trial,
                });
            }
            self.places[place] += 1;
            self.spent = Duration::ZERO;
        }
    }

    fn known(&self, place: usize) -> Known {
        let goal = &self.plan.goals[place];
        let before = self.places[place].checked_sub(1);
        let hint = before.map(|stage| self.history.bounds(goal, &goal.stages()[stage]));
        let seen = self.history.of(Purpose::Overload, self.overload);
        let rates = seen.map(|trial| trial.outcome.forwarded(&trial.plan));
        Known {
            loads: (self.plan.load_min, self.plan.load_max),
            hint: hint.unwrap_or_default(),
            start: rates.fold(0.0, f64::max) as u64,
        }
    }

    fn confirming_trial(&self) -> Option<TrialPlan> {
        let turn: Turn = self.confirmation.next(&self.history, &self.plan.goals)?;
        Some(TrialPlan {
            load: turn.load,
            duration: turn.duration,
        })
    }

    fn latency_trial(&self) -> Option<TrialPlan> {
        let goal = &self.plan.goals[0];
        let percent = *self.plan.latency_at.get(self.latencies.len())?;
        let rate = self.history.bounds(goal, &last_stage(goal)).lower?;
        Some(TrialPlan {
            load: (rate.saturating_mul(percent) / 100).max(1),
            duration: goal.trial,
        })
    }

    /// Whether the device was offered what was meant: within half of the narrowest width, and two
    /// frames for the ends of the trial.
    fn was_sent(&self, plan: &TrialPlan, outcome: &TrialOutcome) -> bool {
        let widths = self.plan.goals.iter().map(|goal| goal.width);
        let tolerance = widths.fold(1.0, f64::min) / 2.0;
        let ends = 2.0 / plan.duration.as_secs_f64().max(1e-9);
        let spoilt = outcome.judged == Some(Judged::Spoilt);
        !spoilt && outcome.offered(plan) >= plan.load as f64 * (1.0 - tolerance) - ends
    }

    /// The sender is the limit from here on; what it did send, it can send again.
    fn lower_ceiling(&mut self, load: u64) {
        let tried = self.history.at(load, 0).filter(|trial| !trial.verified);
        let sent = tried.map(|trial| trial.outcome.offered(&trial.plan));
        let most = sent.fold(0.0, f64::max).floor() as u64;
        // At the end a larger load is tried once more than has long been out of reach.
        let lowered = most.min(load.saturating_sub(1)).min(self.plan.load_max);
        if lowered < self.plan.load_min {
            self.reason = Some(Reason::NothingSent { load });
            self.phase = Phase::Done;
            return;
        }
        self.plan.load_max = lowered;
        self.plan.limit = LoadLimit::Sender;
        match self.phase {
            Phase::Overload => self.overload = lowered,
            Phase::Narrow | Phase::Done => {}
            // What is checked was sent before and is no longer: what it could send then says
            // nothing, and the search goes on below it.
            Phase::Confirm if self.slower < SLOWER_MAX => {
                self.slower += 1;
                self.history.void_from(lowered + 1, self.history.len());
                self.narrow_again();
            }
            // The sender itself is unsteady.
            Phase::Confirm => {
                self.reason.get_or_insert(Reason::SenderChanged { load });
                self.phase = Phase::Done;
            }
            Phase::Latency | Phase::Again => self.phase = Phase::Done,
        }
    }

    /// Sending time to come, the trial in work included: in each early stage about four trials,
    /// then both bounds in full, and both again. Bounds that do not stand take longer.
    fn left(&self) -> Duration {
        let early = |stage: &Stage| stage.trial * 4;
        let of = |(place, goal): (usize, &Goal)| -> Duration {
            let stages = goal.stages();
            let from = self.places[place].min(stages.len());
            let to_come = stages[from..].iter();
            to_come
                .map(|stage| early(stage).max(stage.sum * 2))
                .sum::<Duration>()
        };
        let goals = self.plan.goals.iter().enumerate();
        let narrowing: Duration = goals.map(of).sum();
        let both = |goal: &Goal| goal.duration_sum * 3 / 2;
        let confirming: Duration = self.plan.goals.iter().map(both).sum();
        let latencies = self.plan.latency_at.len() - self.latencies.len();
        let latency = self.plan.goals[0].trial * latencies as u32;
        let last = self.plan.overload_trial() * OVERLOADS as u32;
        // Each latency counts itself.
        let (now, after) = match self.phase {
            Phase::Overload => (last, narrowing + confirming + latency + last),
            Phase::Narrow => (narrowing, confirming + latency + last),
            Phase::Confirm => (confirming, latency + last),
            Phase::Latency => return latency + last,
            Phase::Again => (last, Duration::ZERO),
            Phase::Done => return Duration::ZERO,
        };
        now.saturating_sub(self.spent) + after
    }
}

/// What a goal asks for in the end.
pub(super) fn last_stage(goal: &Goal) -> Stage {
    Stage {
        trial: goal.trial,
        sum: goal.duration_sum,
        width: goal.width,
    }
}
