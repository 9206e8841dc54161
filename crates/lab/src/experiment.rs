//! What an experiment is, and the list of them.

use std::fmt;

use crate::{Samples, stride};

/// How an experiment is run.
pub struct Settings<'a> {
    /// Fewer variants and rounds, for a first look.
    pub quick: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Told `(rounds done, rounds in all)` as it goes.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

/// One variant's samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was varied, by name, in the order of the table's columns.
    pub variant: Vec<(&'static str, u64)>,
    /// What was measured, with its unit last, as in `ns_per_frame`.
    pub metric: &'static str,
    /// The samples.
    pub samples: Samples,
}

/// What an experiment found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// A row a variant.
    pub rows: Vec<Row>,
    /// What follows from the rows, a sentence each.
    pub findings: Vec<String>,
}

/// An experiment that could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabError(pub String);

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LabError {}

/// An experiment by name.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// As the user writes it.
    pub name: &'static str,
    /// What it varies and what for, in a sentence.
    pub sentence: &'static str,
    /// Runs it.
    pub run: fn(&mut Settings<'_>) -> Result<Outcome, LabError>,
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Experiment")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// All experiments.
pub const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "stride",
    sentence: "distance of two frames in memory against the time to read one header of each",
    run: stride::run,
}];

/// The experiment of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS
        .iter()
        .find(|experiment| experiment.name == name)
}
