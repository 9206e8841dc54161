//! What is wrong with a configuration: one sentence that says what, where and the remedy.

use std::fmt;

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1; 0 where no line is to blame.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
    /// What is wrong with other sections of the same file.
    pub others: Vec<Self>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            what,
            remedy,
            others,
        } = self;
        match line {
            0 => write!(f, "{file}: {what}: {remedy}")?,
            line => write!(f, "{file}:{line}: {what}: {remedy}")?,
        }
        others.iter().try_for_each(|other| write!(f, "\n{other}"))
    }
}

/// Faults of several sections: all are told at once.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<ConfigError>);

impl Faults {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was read; none after a fault.
    pub(super) fn take<T>(&mut self, read: Result<T, ConfigError>) -> Option<T> {
        let keep = |mut error: ConfigError| {
            let others = std::mem::take(&mut error.others);
            self.0.push(error);
            self.0.extend(others);
        };
        read.map_err(keep).ok()
    }

    /// What was read of several.
    pub(super) fn take_all<T>(
        &mut self,
        reads: impl Iterator<Item = Result<T, ConfigError>>,
    ) -> Vec<T> {
        reads.filter_map(|read| self.take(read)).collect()
    }

    /// All faults so far as one error, in the order of the file.
    pub(super) fn result(&mut self) -> Result<(), ConfigError> {
        self.0.sort_by_key(|error| error.line);
        let mut faults = std::mem::take(&mut self.0).into_iter();
        match faults.next() {
            None => Ok(()),
            Some(first) => Err(ConfigError {
                others: faults.collect(),
                ..first
            }),
        }
    }
}

impl std::error::Error for ConfigError {}

/// What is wrong with one value, before it is known where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl Wrong {
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}
