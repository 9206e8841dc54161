//! What a search of a server found, and what is to be said of it.

use lab::no_drop::{Finding, GoalFinding, Judged, LoadLimit, Percent, Reason, Verdict};
use load::client::{Limit, Url, Wish};

use super::super::result::{command, round};
use super::device::{ClosedLoop, RequestTrial};
use crate::args::NdrArgs;
use crate::build;
use crate::laboratory::date;
use crate::report::number::{rate, seconds};

/// What was asked for, and what a closed loop got.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) args: &'a NdrArgs,
    pub(super) url: &'a Url,
    pub(super) closed: ClosedLoop,
}

/// Everything.
pub(super) struct Results<'a> {
    pub(super) asked: Asked<'a>,
    pub(super) finding: Finding,
    /// Beside the trials of the finding, one for one.
    pub(super) trials: Vec<RequestTrial>,
    pub(super) date: Option<String>,
    pub(super) command: String,
    /// What spoils the figures, a sentence each.
    pub(super) warnings: Vec<String>,
}

impl<'a> Results<'a> {
    pub(super) fn new(asked: Asked<'a>, finding: Finding, trials: Vec<RequestTrial>) -> Self {
        let mut results = Self {
            asked,
            finding,
            trials,
            date: date::now(),
            command: command(),
            warnings: Vec::new(),
        };
        let debug = build::DEBUG.then(|| build::DEBUG_WARNING.to_owned());
        let sentences = [
            debug,
            results.no_rate(),
            results.at_least(),
            results.queued(),
            results.spoilt(),
            results.connections(),
        ];
        results.warnings = sentences.into_iter().flatten().collect();
        results
    }

    /// The one goal: what was expected.
    pub(super) fn goal(&self) -> &GoalFinding {
        &self.finding.goals[0]
    }

    pub(super) fn url(&self) -> String {
        let Url {
            is_https,
            host,
            path,
        } = self.asked.url;
        let scheme = if *is_https { "https" } else { "http" };
        format!("{scheme}://{host}{path}")
    }

    pub(super) fn expected(&self) -> Vec<&str> {
        let all = self.asked.args.http.expect.0.iter();
        all.map(|one| one.text.as_str()).collect()
    }

    pub(super) fn reason(&self) -> Option<String> {
        self.finding.reason.as_ref().map(sentence)
    }

    fn no_rate(&self) -> Option<String> {
        let reason = self.finding.reason.as_ref()?;
        let noise = reason.has_noise().then(|| {
            format!(
                "; trials contradict each other over {}, so that no rate is claimed",
                Percent(round(self.finding.noise()))
            )
        });
        Some(sentence(reason) + &noise.unwrap_or_default())
    }

    fn at_least(&self) -> Option<String> {
        let limited = self.goal().verdict == Verdict::AtLeast(LoadLimit::Sender);
        limited.then(|| {
            format!(
                "the server keeps what is expected at {}, and this client tried no more (its \
                 connections got {} in a closed loop): give more connections (-c) or longer \
                 trials (--duration)",
                rate(self.finding.load_max.0 as f64, "req/s"),
                rate(self.asked.closed.rate, "req/s")
            )
        })
    }

    /// Whether a queue can grow through a whole trial without missing a bound.
    fn queued(&self) -> Option<String> {
        let search = &self.asked.args.search;
        let bounds = self.asked.args.http.expect.0.iter();
        let least = bounds.filter_map(|one| match one.wish {
            Wish::Within { nanos, .. } => Some(nanos as f64 / 1e9),
            Wish::Errors(_) | Wish::Rate(_) => None,
        });
        let bound = least.fold(f64::INFINITY, f64::min);
        let share = bound / search.duration.as_secs_f64();
        // The rounding of a share is no reason for a sentence.
        (bound.is_finite() && share > search.precision * 1.001).then(|| {
            format!(
                "a queue that grows through a trial of {} and stays below {} may make the rate \
                 too high by {}: --duration {}s makes that the precision",
                seconds(search.duration.as_secs_f64()),
                seconds(bound),
                Percent(round(share)),
                (bound / search.precision).ceil()
            )
        })
    }

    fn spoilt(&self) -> Option<String> {
        let spoilt = |trial: &&RequestTrial| trial.judged == Judged::Spoilt;
        let count = self.trials.iter().filter(spoilt).count();
        (count > 0).then(|| {
            format!(
                "{count} of {} trials say nothing: this client itself was too late or too busy; \
                 a machine without other programs, or more threads (-t), help",
                self.trials.len()
            )
        })
    }

    /// Whether trials that missed what is expected had all connections in use.
    fn connections(&self) -> Option<String> {
        let waited = |trial: &&RequestTrial| {
            let waits = |limit: &Limit| matches!(limit, Limit::Connections { .. });
            trial.judged == Judged::Missed && trial.limits.iter().any(waits)
        };
        let found = self.goal().verdict == Verdict::Found;
        (found && self.trials.iter().any(|trial| waited(&trial))).then(|| {
            format!(
                "where the bound was missed, all {} connections were in use: more of them (-c) \
                 tell whether that is the server's limit",
                self.asked.args.http.pool.clients.connections
            )
        })
    }
}

/// Why there is no rate, in the words of requests.
fn sentence(reason: &Reason) -> String {
    let at = |load: f64| rate(load, "req/s");
    match *reason {
        Reason::Contradiction(shaken) => format!(
            "at {}, {} the rate that the search had found, {} of {} trials missed what is expected",
            at(shaken.load as f64),
            match shaken.expected_met {
                true => "which is",
                false => "just above",
            },
            shaken.missed,
            shaken.trials
        ),
        Reason::Inversion { missed, met, .. } | Reason::Scattered { missed, met, .. } => format!(
            "what is expected was missed at {} and met at {}, which is more",
            at(missed as f64),
            at(met as f64)
        ),
        Reason::Drift { before, after } => format!(
            "at the largest load {} were answered before the search and {} after it",
            at(before),
            at(after)
        ),
        Reason::Blurred {
            bound,
            against,
            trials,
            ..
        } => format!(
            "{against} of {trials} trials contradict the bound of {}",
            at(bound as f64)
        ),
        Reason::Wandering { least, most } => format!(
            "at the largest load anything from {} to {} was answered",
            at(least),
            at(most)
        ),
        Reason::SenderChanged { load } => format!(
            "this client could send {} first and no longer later, again and again",
            at(load as f64)
        ),
        Reason::NothingSent { load } => format!(
            "this client could not even send the smallest load, when {} was tried",
            at(load as f64)
        ),
        Reason::TrialsUsedUp | Reason::Interrupted => reason.to_string(),
    }
}
