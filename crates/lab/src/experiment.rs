//! What an experiment is, and the list of them.

use std::fmt;

use crate::{
    Chart, Noise, Samples, Value, Wire, batch, dispatch, flows, fragments, ladder, locks, memory,
    pipeline, rss, skew, stride, tables, veth,
};

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

/// All experiments.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "ladder",
        sentence: "from one lookup at a time to our set, one change a rung, beside the published",
        over_ports: true,
        run: ladder::run,
    },
    Experiment {
        name: "batch",
        sentence: "lookups by the frames of a batch and by what is prefetched, on each table",
        over_ports: true,
        run: batch::run,
    },
    Experiment {
        name: "stride",
        sentence: "time to read one header of a frame, by the distance between frames in memory",
        over_ports: true,
        run: stride::run,
    },
    Experiment {
        name: "table",
        sentence: "sets of addresses and networks, ours and others, against the lines memory gives",
        over_ports: false,
        run: tables::run,
    },
    Experiment {
        name: "locks",
        sentence: "lookups of several threads while a writer changes their table, by locks or none",
        over_ports: true,
        run: locks::run,
    },
    Experiment {
        name: "memory",
        sentence: "random lines a second by footprint, pages, prefetch: the limit of every table",
        over_ports: false,
        run: memory::run,
    },
    Experiment {
        name: "pipeline",
        sentence: "what each stage of the path costs a frame, by leaving one out at a time",
        over_ports: false,
        run: pipeline::run,
    },
    Experiment {
        name: "flows",
        sentence: "flows found, begun and ended, by how many there are, and by a walk",
        over_ports: false,
        run: flows::run,
    },
    Experiment {
        name: "dispatch",
        sentence: "a frame given to the worker that owns its flow, by policy and burst, and no hop",
        over_ports: false,
        run: dispatch::run,
    },
    Experiment {
        name: "fragments",
        sentence: "packets in fragments, by how many, order and loss: passed on, or put together",
        over_ports: false,
        run: fragments::run,
    },
    Experiment {
        name: "rss",
        sentence: "flows over buckets, Zipf before and after moving some, a hash's cost, workers",
        over_ports: false,
        run: rss::run,
    },
    Experiment {
        name: "skew",
        sentence: "loss and delay of two workers under a skewed load, where buckets stay or move",
        over_ports: false,
        run: skew::run,
    },
    Experiment {
        name: "veth",
        sentence: "this bridge, nft, XDP with a hash map, testpmd between kernel interfaces (root)",
        over_ports: false,
        run: veth::run,
    },
];

/// The experiment of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS
        .iter()
        .find(|experiment| experiment.name == name)
}
