//! What is wrong with a port spec.

use std::fmt;

/// Why a port spec cannot be understood: one sentence that names the thing and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    sentence: String,
}

impl SpecError {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self {
            sentence: sentence.into(),
        }
    }

    /// For a value that a key does not take; `wanted` finishes "it takes ...".
    pub(crate) fn value(key: &str, value: &str, wanted: &str) -> Self {
        Self::new(format!(
            "{key}={value} is not understood: {key} takes {wanted}"
        ))
    }

    /// The same with the spec it is about in front.
    pub(super) fn within(self, spec: &str) -> Self {
        Self {
            sentence: format!("port `{spec}`: {}", self.sentence),
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for SpecError {}
