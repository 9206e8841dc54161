//! What all searches found, and what is to be said of it.

use lab::Conditions;
use lab::no_drop::{Finding, GoalFinding, LoadLimit, Percent, Verdict};
use traffic::L1_BYTES;

use crate::args::NdrArgs;
use crate::build;
use crate::laboratory::date;
use crate::report::number::brief;

/// A queue that holds more than this share of a trial's frames at its end carries the trial.
const HELD_SHARE: f64 = 0.5;

/// What was found with frames of one size.
#[derive(Clone, Debug)]
pub(super) struct SizeResult {
    pub(super) size: String,
    /// Mean bytes of a frame with FCS.
    pub(super) size_mean: f64,
    pub(super) line: Option<f64>,
    pub(super) finding: Finding,
    pub(super) seconds: f64,
}

/// Everything.
#[derive(Clone, Debug)]
pub(super) struct Results {
    pub(super) sizes: Vec<SizeResult>,
    pub(super) device: String,
    pub(super) simulated: bool,
    pub(super) bidirectional: bool,
    pub(super) date: Option<String>,
    pub(super) conditions: Conditions,
    pub(super) duration: f64,
    pub(super) precision: f64,
    pub(super) confirm: u32,
    pub(super) exceed: f64,
    pub(super) seed: u64,
    pub(super) command: String,
    pub(super) warnings: Vec<String>,
}

impl SizeResult {
    /// Bit/s with preamble, FCS and gap.
    pub(super) fn l1_bits(&self, rate: f64) -> f64 {
        rate * (self.size_mean + L1_BYTES as f64) * 8.0
    }

    /// What spoils the figures, a sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let size = &self.size;
        if let Some(reason) = &self.finding.reason {
            let noise = if reason.has_noise() {
                format!(
                    "; trials contradict each other over {}, so that no rate is claimed",
                    Percent(round(self.finding.noise()))
                )
            } else {
                String::new()
            };
            warnings.push(format!("{size} bytes: {reason}{noise}"));
        }
        let limited = |goal: &&GoalFinding| goal.verdict == Verdict::AtLeast(LoadLimit::Sender);
        if self.finding.goals.iter().any(|goal| limited(&goal)) {
            warnings.push(format!(
                "{size} bytes: the sender was the limit at {} pps: the device does at least \
                 that, and its own rate is not known; give the sender more workers or CPUs. The \
                 sender's own limit moved by {} between trials, and so may this figure from run \
                 to run",
                brief(self.finding.load_max.0 as f64),
                Percent(round(self.finding.sender_noise))
            ));
        }
        warnings.extend(self.carried());
        warnings.extend(self.open_ledgers());
        warnings
    }

    /// Whether frames have no name in the ledger of a trial.
    fn open_ledgers(&self) -> Option<String> {
        let (open, all) = (self.finding.open_ledgers(), self.finding.trials.len());
        (open > 0).then(|| {
            format!(
                "{} bytes: the ledger of {open} of {all} trials does not close: frames have no \
                 name, by another program on these interfaces or by a bug",
                self.size
            )
        })
    }

    /// Whether a queue carried the trials, and how long they would have to be.
    fn carried(&self) -> Option<String> {
        let goal = self.finding.goals.first()?;
        let held = self.finding.held?;
        let allowed = goal.goal.width * HELD_SHARE;
        (held > allowed).then(|| {
            let seconds = goal.goal.trial.as_secs_f64() * held / allowed;
            format!(
                "{} bytes: a queue held {} of a trial's frames when sending ended, so that the \
                 rate is too high by about as much: give --duration {:.0}s",
                self.size,
                Percent(round(held)),
                seconds.ceil()
            )
        })
    }
}

/// To three digits behind the point of a percentage.
pub(super) fn round(share: f64) -> f64 {
    (share * 1e5).round() / 1e5
}

impl Results {
    pub(super) fn new(args: &NdrArgs) -> Self {
        let port = |port: &Option<String>| port.clone().unwrap_or_default();
        let device = match &args.simulate {
            Some(spec) => format!("simulated: {spec}"),
            None => format!("{} to {}", port(&args.tx), port(&args.rx)),
        };
        let mut warnings = Vec::new();
        if build::DEBUG && args.simulate.is_none() {
            warnings.push(build::DEBUG_WARNING.to_owned());
        }
        Self {
            sizes: Vec::new(),
            device,
            simulated: args.simulate.is_some(),
            bidirectional: args.bidirectional,
            date: date::now(),
            conditions: Conditions::read(),
            duration: args.search.duration.as_secs_f64(),
            precision: args.search.precision,
            confirm: args.search.confirm,
            exceed: args.search.exceed,
            seed: args.frames.seed,
            command: command(),
            warnings,
        }
    }

    pub(super) fn all_warnings(&self) -> Vec<String> {
        let own = self.warnings.iter().cloned();
        let of_sizes = self.sizes.iter().flat_map(SizeResult::warnings);
        own.chain(of_sizes).collect()
    }

    /// Whether so many sizes all have a rate for every goal.
    pub(super) fn is_sound(&self, sizes: usize) -> bool {
        self.sizes.len() == sizes && self.sizes.iter().all(|size| size.finding.is_sound())
    }

    /// Whether every frame of every trial has a name.
    pub(super) fn ledgers_close(&self) -> bool {
        let open = |size: &SizeResult| size.finding.open_ledgers();
        self.sizes.iter().map(open).sum::<usize>() == 0
    }
}

/// What was typed, as a shell would take it again.
pub(super) fn command() -> String {
    let word = |word: std::ffi::OsString| {
        let word = word.to_string_lossy().into_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/%@+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words = std::env::args_os().skip(1).map(word);
    std::iter::once("linerate".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A verdict as people read it.
pub(super) fn verdict(goal: &GoalFinding) -> &'static str {
    match goal.verdict {
        Verdict::Found => "found",
        Verdict::AtLeast(LoadLimit::LineRate) => "line rate",
        Verdict::AtLeast(LoadLimit::Sender) => "at least: sender",
        Verdict::AtLeast(LoadLimit::Asked) => "at least: --max",
        Verdict::NeverMet => "never met",
        Verdict::Unstable => "NOT STABLE",
        Verdict::Unsettled => "not settled",
    }
}
