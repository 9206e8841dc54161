//! Why a run could not begin.

use std::fmt;

/// What is wrong, and what helps, as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(String);

impl LoadError {
    pub(crate) fn new(sentence: impl fmt::Display) -> Self {
        Self(sentence.to_string())
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}
