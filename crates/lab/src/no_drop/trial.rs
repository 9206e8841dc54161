//! One trial: frames at one load for one duration, and what became of them.

use std::time::Duration;

use engine::Ledger;

/// A trial that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialPlan {
    /// The intended load (RFC 2285, section 3.5.1): frames a second, in each direction.
    pub load: u64,
    /// How long frames are sent.
    pub duration: Duration,
}

impl TrialPlan {
    /// Frames that are to be sent in each direction.
    #[must_use]
    pub fn frames(&self) -> u64 {
        (self.load as f64 * self.duration.as_secs_f64()).round() as u64
    }
}

/// Frames of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// Left the sender: what the device was offered.
    pub sent: u64,
    /// Came back, each counted once.
    pub received: u64,
}

/// Time from sending to receiving, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// The median.
    pub p50: u64,
    /// Nine of ten frames were no slower.
    pub p90: u64,
    /// 99 of 100 were no slower.
    pub p99: u64,
    /// The slowest.
    pub max: u64,
}

impl Latency {
    /// The slower of two directions, figure by figure.
    #[must_use]
    pub fn slower(self, other: Self) -> Self {
        Self {
            p50: self.p50.max(other.p50),
            p90: self.p90.max(other.p90),
            p99: self.p99.max(other.p99),
            max: self.max.max(other.max),
        }
    }
}

/// How a trial is judged where its goal is another than the loss of frames, such as a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The goal is met.
    Met,
    /// The goal is missed.
    Missed,
    /// The sender itself was too slow or too late: nothing is said about the device.
    Spoilt,
}

/// What became of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialOutcome {
    /// One of each direction, so one or two.
    pub directions: Vec<Direction>,
    /// How long sending really took: longer than planned where the sender could not keep up.
    pub sending: Duration,
    /// Whether it meets another goal than the loss of frames; none where that loss is the goal.
    pub judged: Option<Judged>,
    /// Frames that the device still held when sending ended and gave back afterwards; none where
    /// that is not known.
    pub held: Option<u64>,
    /// Where it was measured.
    pub latency: Option<Latency>,
    /// Where frames were lost, by name, as far as it is known.
    pub losses: Vec<(String, u64)>,
    /// Frames by where they were counted; none where nobody counts.
    pub ledger: Option<Ledger>,
}

impl TrialOutcome {
    /// The share of the frames sent that never came, in the worse direction: a device that loses
    /// in one direction only loses. Nothing sent is all lost. Where something else is judged,
    /// nothing or all.
    #[must_use]
    pub fn loss(&self) -> f64 {
        if let Some(judged) = self.judged {
            return f64::from(u8::from(judged != Judged::Met));
        }
        let of = |direction: &Direction| match direction.sent {
            0 => 1.0,
            sent => sent.saturating_sub(direction.received) as f64 / sent as f64,
        };
        self.directions.iter().map(of).fold(0.0, f64::max)
    }

    /// Frames a second that were really sent, in the slower direction.
    #[must_use]
    pub fn offered(&self, plan: &TrialPlan) -> f64 {
        let seconds = self.sending.max(plan.duration).as_secs_f64();
        let sent = self.directions.iter().map(|direction| direction.sent).min();
        sent.unwrap_or(0) as f64 / seconds
    }

    /// Frames a second that came back, in the worse direction: the forwarding rate of RFC 2285,
    /// section 3.6.1.
    #[must_use]
    pub fn forwarded(&self, plan: &TrialPlan) -> f64 {
        let seconds = self.sending.max(plan.duration).as_secs_f64();
        let received = self.directions.iter().map(|d| d.received).min();
        received.unwrap_or(0) as f64 / seconds
    }

    /// Frames sent, both directions.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.directions.iter().map(|direction| direction.sent).sum()
    }

    /// Frames sent that never came, both directions.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let lost = |direction: &Direction| direction.sent.saturating_sub(direction.received);
        self.directions.iter().map(lost).sum()
    }
}

/// A trial that was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What was wanted.
    pub plan: TrialPlan,
    /// What it was for.
    pub purpose: Purpose,
    /// What came of it.
    pub outcome: TrialOutcome,
    /// Whether the load was really sent. Where it was not, the trial says nothing about the
    /// device at this load.
    pub verified: bool,
}

/// What a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The largest load, at the beginning: where to look, and how fast the device is now.
    Overload,
    /// Bounds are narrowed.
    Search,
    /// Bounds that were found are tried once more, in turns.
    Confirm,
    /// A share of the rate found, for its latency.
    Latency,
    /// The largest load once more: whether the device is as fast as it was.
    Again,
}

impl Purpose {
    /// One word for it, in JSON too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overload => "overload",
            Self::Search => "search",
            Self::Confirm => "confirm",
            Self::Latency => "latency",
            Self::Again => "again",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_direction_counts() {
        let plan = TrialPlan {
            load: 1000,
            duration: Duration::from_secs(1),
        };
        let mut outcome = TrialOutcome {
            directions: vec![
                Direction {
                    sent: 1000,
                    received: 1000,
                },
                Direction {
                    sent: 1000,
                    received: 900,
                },
            ],
            sending: Duration::from_secs(2),
            ..TrialOutcome::default()
        };
        assert_eq!((outcome.loss(), outcome.lost()), (0.1, 100));
        assert_eq!(
            (outcome.offered(&plan), outcome.forwarded(&plan)),
            (500.0, 450.0)
        );
        outcome.judged = Some(Judged::Met);
        assert_eq!((outcome.loss(), outcome.forwarded(&plan)), (0.0, 450.0));
        outcome.judged = Some(Judged::Missed);
        assert_eq!(outcome.loss(), 1.0);
        outcome.judged = None;
        outcome.directions[0].sent = 0;
        assert_eq!((outcome.loss(), outcome.offered(&plan)), (1.0, 0.0));
    }
}
