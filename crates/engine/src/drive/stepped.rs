//! A drive in time that its owner makes: for devices that only exist in simulated time.
//!
//! The workers are those of any other drive, and so are the ports, the books and the report; but
//! nobody starts a thread and nobody reads a clock.

use std::ops::Range;

use frame::Nanos;

use super::open::Drive;
use super::running::report_of;
use super::{Trial, TrialReport};
use crate::clock::Told;
use crate::{EndedBy, EngineError};

/// A trial that goes on as its owner says.
pub struct SteppedDrive {
    drive: Drive,
    trial: Trial,
    streams: Range<u32>,
    clock: Told,
}

impl Drive {
    /// Begins a trial at `now`, a time of the caller's own. Its duration and its drain are the
    /// caller's to keep; its count is kept by the workers.
    ///
    /// # Errors
    ///
    /// A recipe that cannot be made. The ports are closed then.
    pub fn start_stepped(mut self, trial: &Trial, now: Nanos) -> Result<SteppedDrive, EngineError> {
        let streams = self.set_up(trial)?;
        for worker in &mut self.workers {
            worker.wind_up(now);
        }
        Ok(SteppedDrive {
            drive: self,
            trial: trial.clone(),
            streams,
            clock: Told::new(now),
        })
    }
}

impl SteppedDrive {
    /// One turn of every worker at `now`; says how many frames moved.
    pub fn step(&mut self, now: Nanos) -> usize {
        self.clock.set(now);
        let workers = self.drive.workers.iter_mut();
        workers.map(|worker| worker.step(&self.clock)).sum()
    }

    /// Whether all frames of the trial's count are made and sent.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        let mut workers = self.drive.workers.iter();
        workers.all(|worker| worker.is_quiet(false))
    }

    /// Ends the trial: the drive is at rest again.
    #[must_use]
    pub fn end(self) -> (Drive, TrialReport) {
        report_of(self.drive, self.trial, self.streams, EndedBy::Frames)
    }
}
