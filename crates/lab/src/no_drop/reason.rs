//! Why a search gives no rate, in a sentence.

use std::fmt;

/// A bound that did not stand a second look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaken {
    /// The loss of the goal.
    pub loss: f64,
    /// The load that was tried once more, frames a second.
    pub load: u64,
    /// Whether the goal should have been met there; else it should have been missed.
    pub expected_met: bool,
    /// Trials of the second look that missed it.
    pub missed: usize,
    /// All trials of the second look.
    pub trials: usize,
}

/// Why a search gives no rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Trials at one load say one thing first and another later, again and again.
    Contradiction(Shaken),
    /// A load that loses lies below one that does not, by more than the precision.
    Inversion {
        /// The loss of the goal.
        loss: f64,
        /// The goal is missed here, frames a second.
        missed: u64,
        /// And met here.
        met: u64,
    },
    /// The largest load was not forwarded at the same rate before and after.
    Drift {
        /// Frames a second before the search.
        before: f64,
        /// And after.
        after: f64,
    },
    /// More full trials contradict the bounds than the exceed ratio allows.
    Blurred {
        /// The loss of the goal.
        loss: f64,
        /// The bound on whose wrong side they are, frames a second.
        bound: u64,
        /// Trials that contradict it.
        against: usize,
        /// All trials on that side.
        trials: usize,
    },
    /// Single trials contradict each other over more than twice the precision.
    Scattered {
        /// The loss of the goal.
        loss: f64,
        /// A trial missed the goal here, frames a second.
        missed: u64,
        /// And another met it here, which is more.
        met: u64,
    },
    /// Trials at the largest load differ by more than twice the precision, and a full trial
    /// contradicts another by more than it.
    Wandering {
        /// The smallest of the forwarding rates, frames a second, one outlier left out.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// What could be sent before no longer could.
    SenderChanged {
        /// Frames a second.
        load: u64,
    },
    /// Not even the smallest load could be sent.
    NothingSent {
        /// Frames a second that were tried.
        load: u64,
    },
    /// The number of trials that was allowed did not suffice.
    TrialsUsedUp,
    /// Somebody ended it.
    Interrupted,
}

impl Reason {
    /// Whether it is told with the noise that was seen: of the device, or of the sender.
    #[must_use]
    pub const fn has_noise(&self) -> bool {
        !matches!(self, Self::Interrupted)
    }

    /// Whether it is the device, or what it runs on, that does not hold still.
    #[must_use]
    pub const fn is_unstable(&self) -> bool {
        matches!(
            self,
            Self::Contradiction(_)
                | Self::Inversion { .. }
                | Self::Drift { .. }
                | Self::Blurred { .. }
                | Self::Scattered { .. }
                | Self::Wandering { .. }
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mpps = |rate: f64| format!("{:.4} Mpps", rate / 1e6);
        let at = |load: &u64| mpps(*load as f64);
        match self {
            Self::Contradiction(shaken) => write!(
                f,
                "at {}, {} the rate that the search had found, {} of {} trials lost more than {}",
                at(&shaken.load),
                if shaken.expected_met {
                    "which is"
                } else {
                    "just above"
                },
                shaken.missed,
                shaken.trials,
                Percent(shaken.loss)
            ),
            Self::Inversion { loss, missed, met } => write!(
                f,
                "more than {} is lost at {}, and no more than that at {}, which is faster",
                Percent(*loss),
                at(missed),
                at(met)
            ),
            Self::Drift { before, after } => write!(
                f,
                "the largest load was forwarded at {} before the search and at {} after it",
                mpps(*before),
                mpps(*after)
            ),
            Self::Blurred {
                loss,
                bound,
                against,
                trials,
            } => write!(
                f,
                "{against} of {trials} trials contradict the bound of {} for a loss of {}",
                at(bound),
                Percent(*loss)
            ),
            Self::Scattered { loss, missed, met } => write!(
                f,
                "trials at {} lost more than {} and others did not at {}, which is faster",
                at(missed),
                Percent(*loss),
                at(met)
            ),
            Self::Wandering { least, most } => write!(
                f,
                "the largest load was forwarded at anything from {} to {}",
                mpps(*least),
                mpps(*most)
            ),
            Self::SenderChanged { load } => {
                write!(
                    f,
                    "{} could be sent first and no longer later, again and again",
                    at(load)
                )
            }
            Self::NothingSent { load } => write!(
                f,
                "not even the smallest load could be sent, when {} was tried",
                at(load)
            ),
            Self::TrialsUsedUp => f.write_str("the trials that were allowed did not suffice"),
            Self::Interrupted => f.write_str("it was ended before its time"),
        }
    }
}

/// A share as percent, with as many digits as it needs: `0 %`, `0.5 %`, `0.01 %`.
#[derive(Clone, Copy, Debug)]
pub struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.4}", self.0 * 100.0);
        let short = text.trim_end_matches('0').trim_end_matches('.');
        write!(f, "{short} %")
    }
}
