//! What an experiment is, and what comes of it.

use std::fmt;

use crate::{Chart, Noise, Samples, Value, Wire};

/// How an experiment is run.
pub struct Settings<'a> {
    /// Fewer variants and rounds, for a first look.
    pub quick: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Ports to run over, of an experiment that can.
    pub wire: Option<Wire<'a>>,
    /// Told `(trials done, trials in all)` as it goes.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

/// One variant's samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was varied, by name, in the order of the table's columns.
    pub variant: Vec<(&'static str, Value)>,
    /// What was measured, with its unit last, as in `ns_per_frame`.
    pub metric: &'static str,
    /// The samples.
    pub samples: Samples,
}

impl Row {
    /// What this row has for `field`.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<&Value> {
        let found = self.variant.iter().find(|(name, _)| *name == field);
        found.map(|(_, value)| value)
    }

    /// The number this row has for `field`.
    #[must_use]
    pub fn number(&self, field: &str) -> Option<u64> {
        match self.value(field) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// True when this row has this value for `field`.
    #[must_use]
    pub fn is(&self, field: &str, value: impl Into<Value>) -> bool {
        self.value(field) == Some(&value.into())
    }
}

/// A figure somebody published, beside one of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The index of our row.
    pub row: usize,
    /// Their figure, in `unit`.
    pub figure: f64,
    /// As in `Mpps`.
    pub unit: &'static str,
    /// Their ratio to the first figure of their series.
    pub ratio: f64,
}

/// What an experiment found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// A row a variant.
    pub rows: Vec<Row>,
    /// What follows from the rows, a sentence each.
    pub findings: Vec<String>,
    /// What was varied and what was held, a sentence each.
    pub varies: Vec<String>,
    /// What this machine cannot run and why, a sentence each.
    pub skipped: Vec<String>,
    /// Published figures beside ours.
    pub published: Vec<Published>,
    /// What a page draws.
    pub charts: Vec<Chart>,
    /// What the null run showed; none where an experiment has no rows.
    pub noise: Option<Noise>,
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
    /// Whether it runs over ports, too.
    pub over_ports: bool,
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
