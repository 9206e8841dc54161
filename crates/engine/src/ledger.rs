//! The ledger: frames by where they were counted, from the rate that was asked for to the sink,
//! and a name for every difference between two counts. A difference without a name is a fault of
//! this program or of what it believes, and is told.
//!
//! Plain arithmetic: who counts, and when, is known in `interface.rs` and `meters.rs`, and
//! to whoever drives a run.

mod bridge;
mod cause;
mod column;
mod drive;
mod interface;
mod meters;
mod step;
mod sum;
#[cfg(test)]
mod tests;

pub(crate) use bridge::{cross_bypassed, of_bridge};
pub use cause::{Cause, OwnCause};
pub use column::Column;
pub(crate) use drive::{Driven, of_drive};
pub(crate) use interface::PortCounts;
pub(crate) use meters::Meters;
pub use step::{Difference, Step};

/// Frames by column and place, with the names of all differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    steps: Vec<Step>,
    /// Counts that belong to no step.
    stated: Vec<(String, Column, u64)>,
    notes: Vec<String>,
    /// Frames without a name that a sum of ledgers shows in no step, since gaps of opposite signs
    /// met there.
    cancelled: u64,
}

impl Ledger {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what is between two columns of a place.
    pub fn add(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Adds a count. The same column of the same place may be counted twice: both must agree.
    pub fn state(&mut self, place: &str, column: Column, frames: u64) {
        self.stated.push((place.to_owned(), column, frames));
    }

    /// Adds a sentence: what could not be counted, and why.
    pub fn note(&mut self, sentence: String) {
        self.notes.push(sentence);
    }

    /// What could not be counted, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The steps, in the order they were added.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Every count: place, column, frames.
    fn counts(&self) -> impl Iterator<Item = (&str, Column, u64)> {
        let ends = |step: &'_ Step| [(step.from, step.before), (step.to, step.after)];
        let of_step = move |step| {
            let step: &Step = step;
            ends(step).map(|(column, frames)| (&step.place[..], column, frames))
        };
        let stated = self.stated.iter();
        let stated = stated.map(|(place, column, frames)| (&place[..], *column, *frames));
        self.steps.iter().flat_map(of_step).chain(stated)
    }

    /// The places, in the order they were first named.
    #[must_use]
    pub fn places(&self) -> Vec<&str> {
        let mut places = Vec::new();
        for (place, ..) in self.counts() {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// Frames in a column of a place, where they were counted.
    #[must_use]
    pub fn frames(&self, place: &str, column: Column) -> Option<u64> {
        let mut counts = self.counts();
        counts.find_map(|(at, of, frames)| (at == place && of == column).then_some(frames))
    }

    /// Counts of one column of one place that do not agree: place, column, the first and the other.
    #[must_use]
    pub fn contradictions(&self) -> Vec<(&str, Column, u64, u64)> {
        let counts = self.counts().filter_map(|(place, column, frames)| {
            let first = self.frames(place, column)?;
            (first != frames).then_some((place, column, first, frames))
        });
        counts.collect()
    }

    /// Frames that no name stands for, those missing and those too many added up: 0 where the
    /// ledger closes.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        let steps = self
            .steps
            .iter()
            .map(|step| step.unexplained.unsigned_abs());
        let twice = self.contradictions().into_iter();
        let twice = twice.map(|(.., first, other)| u128::from(first.abs_diff(other)));
        let hidden = std::iter::once(u128::from(self.cancelled));
        let all = steps.chain(twice).chain(hidden);
        let all = all.fold(0, u128::saturating_add);
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    /// Whether every difference has a name.
    #[must_use]
    pub fn closes(&self) -> bool {
        self.unexplained() == 0
    }
}
