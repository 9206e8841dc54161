//! What is read before it is known whether it counts: a variable of a script, one of several lists
//! of a JSON document.

use crate::held::Held;
use crate::intake::{Intake, Sink};
use crate::report::BadLine;

/// What is read while it is not known whether it counts.
pub(crate) struct Trial<S> {
    held: Held<S>,
    bad: Vec<BadLine>,
    bad_count: u64,
}

impl<S: Sink> Trial<S> {
    pub(crate) fn new(intake: &Intake<'_, S>) -> Self {
        Self {
            held: Held::new(intake.held.sink.fresh()),
            bad: Vec::new(),
            bad_count: 0,
        }
    }

    /// Lets `intake` hold it, or gives back what `intake` held before.
    pub(crate) fn exchange(&mut self, intake: &mut Intake<'_, S>) {
        intake.exchange(&mut self.held);
        std::mem::swap(&mut self.bad, &mut intake.bad);
        std::mem::swap(&mut self.bad_count, &mut intake.bad_count);
    }

    pub(crate) fn entry_count(&self) -> u64 {
        self.held.entry_count
    }

    /// Adds what is wrong with it to what is wrong with the text.
    pub(crate) fn report(&self, intake: &mut Intake<'_, S>) {
        intake.bad_count = intake.bad_count.saturating_add(self.bad_count);
        let room = intake
            .options
            .limits
            .bad_kept_max
            .saturating_sub(intake.bad.len());
        intake.bad.extend(self.bad.iter().take(room).cloned());
    }

    /// What it holds.
    pub(crate) fn held(&self) -> &Held<S> {
        &self.held
    }

    /// Forgets it.
    pub(crate) fn discard(mut self, intake: &mut Intake<'_, S>) {
        intake.drop_held(&mut self.held);
    }

    /// What it holds.
    pub(crate) fn into_held(self) -> Held<S> {
        self.held
    }
}
