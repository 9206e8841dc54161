//! What is searched, and the loop that searches it.

use super::finding::Finding;
use super::goal::GoalError;
use super::plan::SearchPlan;
use super::search::{Progress, Search};
use super::trial::{TrialOutcome, TrialPlan};
use crate::LabError;

/// A device, or a path, that frames can be sent through.
pub trait Device {
    /// Sends frames at this load for this long, waits for what is still on its way, and says
    /// what became of them.
    ///
    /// # Errors
    /// The trial could not be done at all; what could not be sent is no error but an outcome.
    fn trial(&mut self, plan: &TrialPlan) -> Result<TrialOutcome, LabError>;
}

/// Searches a device. `tell` is told before each trial what is about to be done, and ends the
/// search by saying false; what was found until then is returned.
///
/// # Errors
/// The plan leaves nothing to find, or a trial could not be done.
pub fn search(
    device: &mut dyn Device,
    plan: SearchPlan,
    tell: &mut dyn FnMut(&Progress, &TrialPlan) -> bool,
) -> Result<Finding, LabError> {
    let mut search = Search::new(plan).map_err(|GoalError(sentence)| LabError(sentence))?;
    while let Some(trial) = search.next_trial() {
        if !tell(&search.progress(), &trial) {
            search.interrupt();
            break;
        }
        let outcome = device.trial(&trial)?;
        search.record(trial, outcome);
    }
    Ok(search.finish())
}
