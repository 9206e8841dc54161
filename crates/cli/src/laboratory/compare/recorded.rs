//! A run as it was written, read again. The file may come from anywhere: what it holds is checked
//! before anything is made of it, and bounded.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

const BYTES_MAX: u64 = 64 << 20;
const ROWS_MAX: usize = 10_000;
/// All quotients of two rows' samples are looked at.
const SAMPLES_MAX: usize = 500;
/// Of all rows together: each is a column.
const FIELDS_MAX: usize = 64;

/// As much of a run as a comparison needs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Recorded {
    pub(super) experiment: String,
    pub(super) version: String,
    pub(super) commit: Option<String>,
    #[serde(default)]
    pub(super) debug_build: bool,
    #[serde(default)]
    pub(super) quick: bool,
    pub(super) seed: u64,
    pub(super) machine: RecordedMachine,
    noise: Option<RecordedNoise>,
    /// What spoiled it, a sentence each.
    #[serde(default)]
    pub(super) warnings: Vec<String>,
    pub(super) rows: Vec<RecordedRow>,
}

/// The machine, as far as it must be the same.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct RecordedMachine {
    pub(super) cpu: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) cpus: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct RecordedNoise {
    share: f64,
}

/// One variant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct RecordedRow {
    pub(super) variant: Fields,
    pub(super) metric: String,
    pub(super) samples: Vec<f64>,
}

/// A variant's fields in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields(pub(super) Vec<(String, Scalar)>);

/// A field's value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Scalar {
    Number(u64),
    Truth(bool),
    Decimal(f64),
    Word(String),
    Nothing(()),
}

impl Recorded {
    /// Reads a file.
    ///
    /// The error is a sentence that names it.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let shown = printable(&path.display().to_string());
        let refused = |error: &dyn fmt::Display| format!("'{shown}' cannot be read: {error}");
        let file = File::open(path).map_err(|error| {
            let name = path.to_str().filter(|name| lab::find(name).is_some());
            let how = name.map_or_else(String::new, |name| {
                format!("; 'linerate lab run {name} --json FILE' writes a file to compare")
            });
            format!("{}{how}", refused(&error))
        })?;
        let mut text = Vec::new();
        let read = file.take(BYTES_MAX + 1).read_to_end(&mut text);
        read.map_err(|error| refused(&error))?;
        if text.len() as u64 > BYTES_MAX {
            return Err(format!(
                "'{shown}' is larger than {} MiB: no run is",
                BYTES_MAX >> 20
            ));
        }
        let run: Self = serde_json::from_slice(&text).map_err(|error| {
            let error = printable(&error.to_string());
            format!("'{shown}' is no run that 'linerate lab run NAME --json FILE' wrote: {error}")
        })?;
        run.check()
            .map_err(|fault| format!("'{shown}' is no sound run: {fault}"))?;
        Ok(run)
    }

    /// The share by which a variant differs from itself.
    pub(super) fn noise(&self) -> f64 {
        self.noise.as_ref().map_or(0.0, |noise| noise.share)
    }

    fn check(&self) -> Result<(), String> {
        if self.rows.len() > ROWS_MAX {
            return Err(format!("more than {ROWS_MAX} rows"));
        }
        if !(0.0..=1e6).contains(&self.noise()) {
            return Err("a null run whose share is no share".to_owned());
        }
        for (place, row) in self.rows.iter().enumerate() {
            row.check()
                .map_err(|fault| format!("row {} has {fault}", place + 1))?;
        }
        let names = self
            .rows
            .iter()
            .flat_map(|row| &row.variant.0)
            .map(|(name, _)| name);
        if names.collect::<HashSet<_>>().len() > FIELDS_MAX {
            return Err(format!("variants of more than {FIELDS_MAX} fields"));
        }
        let keys = self.rows.iter().map(RecordedRow::key);
        let mut keys: Vec<(String, usize)> = keys.zip(1..).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some([(_, first), (_, second)]) => Err(format!(
                "two rows, {first} and {second}, for one variant and metric"
            )),
            _ => Ok(()),
        }
    }
}

impl RecordedRow {
    /// Variant and metric, in an order that does not depend on how they were written.
    pub(super) fn key(&self) -> String {
        self.key_of(|_| true)
    }

    /// What the variant has for a field.
    pub(super) fn field(&self, name: &str) -> Option<&Scalar> {
        let mut fields = self.variant.0.iter();
        fields.find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The same of the fields that count.
    pub(super) fn key_of(&self, counts: impl Fn(&str) -> bool) -> String {
        let fields = self.variant.0.iter().filter(|(name, _)| counts(name));
        let mut fields: Vec<String> = fields
            .map(|(name, value)| format!("{name:?}: {value:?}"))
            .collect();
        fields.sort_unstable();
        format!("{:?} of {}", self.metric, fields.join(", "))
    }

    fn check(&self) -> Result<(), String> {
        if self.samples.is_empty() || self.samples.len() > SAMPLES_MAX {
            return Err(format!(
                "{} samples, not 1 to {SAMPLES_MAX}",
                self.samples.len()
            ));
        }
        // Quotients of what is no usual size mean nothing, and overflow; with 0, which a count may
        // be, or less, which a difference may be, none is made.
        let is_usual = |sample: &f64| *sample == 0.0 || (1e-30..=1e30).contains(&sample.abs());
        if let Some(sample) = self.samples.iter().find(|sample| !is_usual(sample)) {
            return Err(format!("a sample that is no measurement: {sample:e}"));
        }
        Ok(())
    }
}

impl Scalar {
    /// For a table; what would move the cursor is not printed.
    pub(super) fn show(&self, field: &str) -> String {
        use crate::laboratory::field;
        match self {
            Self::Number(number) => field::cell(field, &(*number).into()),
            Self::Truth(truth) => truth.to_string(),
            Self::Decimal(decimal) => decimal.to_string(),
            Self::Word(word) => printable(word),
            Self::Nothing(()) => "-".to_owned(),
        }
    }
}

/// The middle of a row's samples.
pub(super) fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// A text of a stranger for a terminal.
pub(super) fn printable(text: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    let shown = text.chars().take(CHARACTERS_MAX);
    shown
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
        .collect()
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of numbers and words")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields: Vec<(String, Scalar)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Scalar>()? {
            let known = fields.iter().any(|(known, _)| *known == name);
            if known || fields.len() == FIELDS_MAX {
                let fault =
                    format!("a variant has '{name}' twice or more than {FIELDS_MAX} fields");
                return Err(serde::de::Error::custom(fault));
            }
            fields.push((name, value));
        }
        Ok(Fields(fields))
    }
}

/// Runs for tests.
#[cfg(test)]
pub(super) mod sample {
    use super::*;

    pub(in super::super) fn row(entries: u64, bytes: u64, samples: Vec<f64>) -> RecordedRow {
        let fields = [("entries", entries), ("bytes", bytes)];
        let field = |(name, value): (&str, u64)| (name.to_owned(), Scalar::Number(value));
        RecordedRow {
            variant: Fields(fields.map(field).into()),
            metric: "lookups_per_second".to_owned(),
            samples,
        }
    }

    pub(in super::super) fn run(rows: Vec<RecordedRow>) -> Recorded {
        let machine = RecordedMachine {
            cpu: None,
            kernel: None,
            cpus: None,
        };
        Recorded {
            experiment: "table".to_owned(),
            version: "0.1.0".to_owned(),
            commit: None,
            debug_build: false,
            quick: false,
            seed: 1,
            machine,
            noise: None,
            warnings: Vec::new(),
            rows,
        }
    }
}
