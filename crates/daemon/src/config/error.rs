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
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            what,
            remedy,
        } = self;
        match line {
            0 => write!(f, "{file}: {what}: {remedy}"),
            line => write!(f, "{file}:{line}: {what}: {remedy}"),
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
