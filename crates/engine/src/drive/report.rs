//! What a trial has to say for itself.

use std::time::Duration;

use plane::DropReason;
use port::{Loss, PortError, TimeSource};
use traffic::{ClockSteps, Controls, PacingError, Rate, SinkReport};

use super::link::Outage;
use super::worker::Span;
use crate::ledger::{Cause, Column, Difference, OwnCause, Step};
use crate::{Accounting, EndedBy, Ledger, PortReport, WorkerReport};

/// Counts while a trial goes on, all workers together; up to a millisecond old.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DriveSnapshot {
    /// Since the start.
    pub seconds: f64,
    /// Frames that left by any port.
    pub tx: u64,
    /// Frames sent, not those sent back.
    pub sent: u64,
    /// Their bytes, without FCS.
    pub sent_bytes: u64,
    /// Until the next frame of the capture that is sent is due, nanoseconds; 0 where none is.
    pub pause_nanos: u64,
    /// Frames taken in.
    pub rx: u64,
    /// Of those, frames that bear a signature.
    pub signed: u64,
    /// Frames made and given up.
    pub dropped: u64,
    /// Time in which frames waited for room at the port, all workers together, nanoseconds.
    pub full_nanos: u64,
}

/// How long one reading of the clock is taken for the time of a whole burst: what a time of
/// sending or of arrival may be wrong by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockDoubt {
    /// Bursts looked at.
    pub bursts: u64,
    /// Mean, nanoseconds.
    pub mean_nanos: f64,
    /// The worst burst's, nanoseconds.
    pub worst_nanos: u64,
}

impl ClockDoubt {
    pub(super) fn of(span: Span) -> Self {
        Self {
            bursts: span.count,
            mean_nanos: span.nanos as f64 / span.count.max(1) as f64,
            worst_nanos: span.worst_nanos,
        }
    }
}

/// What was sent of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamSent {
    /// Its number.
    pub stream: u16,
    /// Frames that the port took.
    pub sent: u64,
}

/// The end of a trial.
#[derive(Clone, Debug)]
pub struct TrialReport {
    /// What was asked for.
    pub rate: Rate,
    /// From the start until the port took the last frame; of a sink alone, until the last frame
    /// came.
    pub seconds: f64,
    /// From the start to the end, of what came late too.
    pub run_seconds: f64,
    /// The time that the frames sent are a rate of: where they have one and kept to it, until the
    /// frame behind the last would have been due, and else `seconds`. Of a sink of a capture, from
    /// the first record to the last.
    pub rate_seconds: f64,
    /// Frames that the port took.
    pub sent: u64,
    /// Their bytes, without FCS.
    pub sent_bytes: u64,
    /// Frames of a capture that were longer when they were recorded: what was sent of them is what
    /// the capture had kept.
    pub cut: u64,
    /// Workers that sent.
    pub senders: usize,
    /// The streams that were sent; empty where nothing was signed.
    pub streams: Vec<StreamSent>,
    /// Time in which made frames waited for room at the port: mean of the senders, seconds.
    pub full_seconds: f64,
    /// How well frames kept to their times, all senders together; nothing where they had none.
    pub pacing: Option<PacingError>,
    /// How often the clock of the capture was set that gave frames their times.
    pub clock_steps: ClockSteps,
    /// What arrived at the port that takes frames in.
    pub ahead: Option<SinkReport>,
    /// What came back to the port that sends.
    pub back: Option<SinkReport>,
    /// What came about the link to the port that takes in and to the one that sends, and what was
    /// answered, as far as there are such.
    pub controls: [Option<Controls>; 2],
    /// The times that the link of the port that takes in, and of the one that sends, was not up.
    pub outages: [Option<Outage>; 2],
    /// From the time in a frame until the port had taken its burst.
    pub tx_doubt: ClockDoubt,
    /// From the look that found nothing, or the one before, until the time given to a burst.
    pub rx_doubt: ClockDoubt,
    /// Where the arrivals of `ahead` and of `back` come from, as far as there are such.
    pub times: [Option<TimeSource>; 2],
    /// All workers' books in one.
    pub accounting: Accounting,
    /// Whether the books of each worker and of all balance, and every frame's memory is accounted
    /// for.
    pub balanced: bool,
    /// Frames by where they were counted, and a name for every difference.
    pub ledger: Ledger,
    /// What passed by each port in this trial.
    pub ports: Vec<PortReport>,
    /// Each worker.
    pub workers: Vec<WorkerReport>,
    /// Frames that had not left when they were due: what the rate was missed by. 0 where the last
    /// one was late by no more than a run of that length may be.
    pub behind: u64,
    /// Of those, frames that left later, as all do of a run that ends with a count.
    pub late: u64,
    /// What a replay at the pace of its capture was late by at its end, nanoseconds, where that is
    /// more than a run of its length may be.
    pub lag_nanos: Option<u64>,
    /// So many frames were asked for by a count.
    pub count: Option<u64>,
    /// So long was asked for.
    pub duration: Option<Duration>,
    /// So many frames were asked for, by a count or by a capture.
    pub counted: bool,
    /// Why it ended.
    pub ended_by: EndedBy,
}

impl TrialReport {
    /// Frames sent a second, by the time they are a rate of.
    #[must_use]
    pub fn sent_per_second(&self) -> f64 {
        if self.rate_seconds > 0.0 {
            self.sent as f64 / self.rate_seconds
        } else {
            0.0
        }
    }

    /// Frames that were to be sent, or sent back, and did not leave the machine, by what became of
    /// them. Not those whose time passed before they were made, nor those under way when it ended.
    #[must_use]
    pub fn not_left(&self) -> Vec<(Cause, u64)> {
        let steps = self.ledger.steps();
        let is_sender = |place: &str| {
            let first = |step: &&Step| step.from == Column::Offered || step.to == Column::Forwarded;
            steps.iter().filter(first).any(|step| step.place == place)
        };
        let leaves = |step: &&Step| {
            let to = [Column::SentByUs, Column::Forwarded, Column::LeftInterface];
            to.contains(&step.to) && is_sender(&step.place)
        };
        let lost = |part: &&Difference| !part.adds && !is_late(part.cause);
        let mut causes: Vec<(Cause, u64)> = Vec::new();
        for part in steps
            .iter()
            .filter(leaves)
            .flat_map(Step::named)
            .filter(lost)
        {
            match causes.iter_mut().find(|(cause, _)| *cause == part.cause) {
                Some((_, frames)) => *frames += part.frames,
                None => causes.push((part.cause, part.frames)),
            }
        }
        causes
    }

    /// The mean frame sent, bytes without FCS.
    #[must_use]
    pub fn mean_frame_bytes(&self) -> f64 {
        self.sent_bytes as f64 / self.sent.max(1) as f64
    }
}

/// Whether frames of this cause were never sent, or may leave yet.
fn is_late(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Own(OwnCause::Behind | OwnCause::Late)
            | Cause::Drop(DropReason::Shutdown)
            | Cause::Port(Loss::QdiscBacklog)
    )
}

/// What is left to say when the ports are closed.
#[derive(Clone, Debug, Default)]
pub struct DriveClosing {
    /// What the ports want known, a sentence each.
    pub warnings: Vec<String>,
    /// The first port that failed.
    pub failure: Option<PortError>,
}
